/* The thread that answers packets. Everything a kernel does as worker 0, its DMA and its HMX, happens on this one thread. */
#ifndef PF_SERVER_H
#define PF_SERVER_H

#define PF_ANSWER_WAIT_US 1000000u

static void pf_packet_arrived(dspqueue_t queue, int error, void *context)
{
    struct pf_session *session = context;
    (void)error;
    session->queue = queue; /* the first packet may come before the import has returned */
    qurt_sem_up(&session->arrived);
}

/* The queue broke: nothing more will come, and the application sees its own error. */
static void pf_queue_failed(dspqueue_t queue, int error, void *context)
{
    (void)queue;
    (void)context;
    FARF(ERROR, "permafrost: the packet queue failed with 0x%x", error);
}

static uint64_t pf_cycles(void)
{
    uint64_t cycles;
    __asm__ volatile("%0 = c15:14" : "=r"(cycles));
    return cycles;
}

/* What is sent back: outputs, flushed here and invalidated there. The request's references stay the application's business. */
static uint32_t pf_hand_back(const struct pf_message *message, struct dspqueue_buffer *buffers, uint32_t count)
{
    uint32_t outputs = 0;
    for (uint32_t i = 0; i < count; i++) {
        int written = 0;
        for (uint32_t place = 0; place < PF_PLACES; place++)
            written |= message->places[place].role == PF_OUTPUT && message->places[place].buffer == i;
        if (!written)
            continue;
        buffers[outputs] = buffers[i];
        buffers[outputs].flags = PF_HANDED_OVER;
        outputs++;
    }
    return outputs;
}

/* One packet, if there is one. */
static int pf_serve(struct pf_session *session)
{
    struct dspqueue_buffer buffers[PF_MOST_BUFFERS];
    struct pf_message *message = &session->message;
    uint32_t flags = 0, count = 0, bytes = 0;
    int failed = dspqueue_read_noblock(session->queue, &flags, PF_MOST_BUFFERS, &count, buffers, sizeof *message, &bytes,
                                       (uint8_t *)message);
    if (failed) {
        if (failed != AEE_EWOULDBLOCK)
            FARF(ERROR, "permafrost: a packet could not be read: 0x%x", failed);
        return 0;
    }
    struct pf_answer answer = {.abi_version = PF_ABI_VERSION, .bytes = sizeof answer};
    uint64_t begin = pf_cycles();
    answer.status = (uint32_t)pf_dispatch(session, message, bytes, buffers, count);
    answer.cycles = pf_cycles() - begin;
    int readable = answer.status != PF_BAD_ABI || bytes == sizeof *message;
    answer.id = readable ? message->request.id : 0;
    if (answer.status != PF_OK)
        FARF(ERROR, "permafrost: request %u: %s", (unsigned int)answer.id, pf_status_words((int)answer.status));
    uint32_t outputs = readable ? pf_hand_back(message, buffers, count) : 0;
    failed = dspqueue_write(session->queue, 0, outputs, buffers, sizeof answer, (const uint8_t *)&answer, PF_ANSWER_WAIT_US);
    if (failed)
        FARF(ERROR, "permafrost: request %u could not be answered: 0x%x", (unsigned int)answer.id, failed);
    return 1;
}

static void pf_server_run(void *argument)
{
    struct pf_session *session = argument;
    pf_device *dev = &session->dev;
    session->status = pf_vtcm_acquire(dev);
    if (session->status == PF_OK) {
        pf_dma_open(dev, dev->vtcm + dev->vtcm_bytes - PF_CORNER_BYTES);
        pf_vtcm_release(dev);
        pf_pool_open(&session->pool, dev);
    }
    qurt_sem_up(&session->ready);
    while (session->status == PF_OK) {
        qurt_sem_down(&session->arrived);
        if (session->ending)
            break;
        while (pf_serve(session)) {
        }
    }
    if (session->status == PF_OK)
        pf_pool_close(&session->pool);
    qurt_thread_exit(QURT_EOK);
}

#endif
