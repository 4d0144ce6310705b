/* The DSP library: the kernels, and the session that runs them. skel.c calls it. */
#define PF_VENDOR 1
#include "device.h"
#include "status.h"

#include "permafrost_kernels.c"

#include "module.h"
#include "session.h"
#include "power.h"
#include "resource.h"
#include "dispatch.h"
#include "server.h"

static void pf_say_hello(struct pf_hello *hello, int status)
{
    hello->status = (uint32_t)status;
    hello->abi_version = PF_ABI_VERSION;
    hello->plan_bytes = sizeof(struct pf_plan);
    hello->request_bytes = sizeof(struct pf_request);
    hello->message_bytes = sizeof(struct pf_message);
    hello->arch = __HEXAGON_ARCH__;
    hello->hvx_contexts = pf_hvx_contexts();
    hello->vtcm_bytes = pf_session.started ? pf_session.dev.vtcm_bytes : pf_vtcm_there();
}

void pf_module_query(struct pf_hello *hello)
{
    pf_say_hello(hello, PF_OK);
}

/* Starts the server and waits until it is ready. */
static int pf_server_start(struct pf_session *session)
{
    qurt_thread_attr_t attributes;
    int joined;
    session->ending = 0;
    qurt_sem_init_val(&session->arrived, 0);
    qurt_sem_init_val(&session->ready, 0);
    qurt_thread_attr_init(&attributes);
    qurt_thread_attr_set_name(&attributes, "pf_server");
    qurt_thread_attr_set_stack_addr(&attributes, session->stack);
    qurt_thread_attr_set_stack_size(&attributes, PF_SERVER_STACK);
    qurt_thread_attr_set_priority(&attributes, (unsigned short)qurt_thread_get_priority(qurt_thread_get_id()));
    if (qurt_thread_create(&session->server, &attributes, pf_server_run, session) != QURT_EOK) {
        qurt_sem_destroy(&session->arrived);
        qurt_sem_destroy(&session->ready);
        return PF_NO_THREAD;
    }
    qurt_sem_down(&session->ready);
    if (session->status != PF_OK) {
        qurt_thread_join(session->server, &joined);
        qurt_sem_destroy(&session->arrived);
        qurt_sem_destroy(&session->ready);
    }
    return session->status;
}

static void pf_server_stop(struct pf_session *session)
{
    int joined;
    session->ending = 1;
    qurt_sem_up(&session->arrived);
    qurt_thread_join(session->server, &joined);
    qurt_sem_destroy(&session->arrived);
    qurt_sem_destroy(&session->ready);
}

/* Everything in order; what was taken before a refusal is given back. */
static int pf_session_open(struct pf_session *session, const struct pf_start *start)
{
    if (session->started)
        return PF_STARTED;
    if (start->abi_version != PF_ABI_VERSION || start->plan_bytes != sizeof(struct pf_plan)
        || start->request_bytes != sizeof(struct pf_request) || start->message_bytes != sizeof(struct pf_message))
        return PF_BAD_ABI;
    int status = pf_power_up();
    if (status == PF_OK)
        status = pf_resource_take(session);
    if (status == PF_OK) {
        status = pf_server_start(session);
        if (status == PF_OK
            && dspqueue_import(start->queue, pf_packet_arrived, pf_queue_failed, session, &session->queue)) {
            pf_server_stop(session);
            status = PF_NO_QUEUE;
        }
    }
    if (status != PF_OK) {
        pf_resource_give(session);
        pf_power_down();
        return status;
    }
    session->started = 1;
    return PF_OK;
}

void pf_module_start(const struct pf_start *start, struct pf_hello *hello)
{
    int status = pf_session_open(&pf_session, start);
    if (status != PF_OK)
        FARF(ERROR, "permafrost: not started: %s", pf_status_words(status));
    pf_say_hello(hello, status);
}

void pf_module_stop(struct pf_hello *hello)
{
    struct pf_session *session = &pf_session;
    if (!session->started) {
        pf_say_hello(hello, PF_NOT_STARTED);
        return;
    }
    /* The request that runs ends first, so that nothing is written to buffers the application takes back. */
    pf_server_stop(session);
    dspqueue_close(session->queue);
    pf_resource_give(session);
    pf_power_down();
    session->started = 0;
    pf_say_hello(hello, PF_OK);
}
