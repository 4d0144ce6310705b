/* The session of this process: what is held, by which thread it is used, and the packets that wait. */
#ifndef PF_SESSION_H
#define PF_SESSION_H

#include "wire.h"

#define PF_SERVER_STACK 65536u

struct pf_session {
    pf_device dev;
    struct pf_pool pool;
    compute_res_attr_t attributes;
    dspqueue_t queue;
    qurt_sem_t arrived; /* up for every packet, and once to stop */
    qurt_sem_t ready;   /* up when the server has opened its DMA engine, or could not */
    qurt_thread_t server;
    volatile uint32_t ending;
    volatile uint32_t asked_back; /* times a client of higher priority asked for VTCM */
    uint32_t started;
    int status; /* of the server's start */
    struct pf_message message;
    uint8_t stack[PF_SERVER_STACK] __attribute__((aligned(128)));
};

static struct pf_session pf_session;

#endif
