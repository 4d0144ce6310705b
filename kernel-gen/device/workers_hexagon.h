/* HVX workers on the phone. Worker 0 of a parallel region is the thread that runs the loops; the others wait in a pool that
 * whoever opens the device makes. Without a pool, and in builds without QuRT, the caller is the only worker.
 */
#ifndef PF_WORKERS_HEXAGON_H
#define PF_WORKERS_HEXAGON_H

/* One worker's share of the work that `argument` describes; it must not depend on how many workers there are. */
typedef void pf_share(pf_device *dev, const void *argument, uint32_t worker, uint32_t workers);

#if defined(PF_VENDOR)

#define PF_WORKER_STACK 16384u

struct pf_worker {
    struct pf_pool *pool;
    uint32_t index;
    qurt_thread_t thread;
    qurt_sem_t start;
    uint8_t stack[PF_WORKER_STACK] __attribute__((aligned(128)));
};

/* The pool must not move once it is open. */
struct pf_pool {
    pf_device *dev;
    pf_share *share; /* NULL asks a worker to end */
    const void *argument;
    uint32_t workers; /* the caller included */
    qurt_sem_t done;
    struct pf_worker threads[PF_MOST_WORKERS - 1u];
};

static void pf_worker_run(void *argument)
{
    struct pf_worker *worker = argument;
    struct pf_pool *pool = worker->pool;
    for (;;) {
        qurt_sem_down(&worker->start);
        if (!pool->share)
            break;
        pool->share(pool->dev, pool->argument, worker->index, pool->workers);
        qurt_sem_up(&pool->done);
    }
    qurt_thread_exit(QURT_EOK);
}

/* HVX contexts of this part; never a constant of the build. */
static inline uint32_t pf_hvx_contexts(void)
{
    return (uint32_t)(qurt_hvx_get_units() >> 8) & 0xFFu;
}

static inline void pf_pool_close(struct pf_pool *pool)
{
    pool->dev->pool = NULL;
    pool->share = NULL;
    for (uint32_t i = 0; i + 1u < pool->workers; i++) {
        int status;
        qurt_sem_up(&pool->threads[i].start);
        qurt_thread_join(pool->threads[i].thread, &status);
        qurt_sem_destroy(&pool->threads[i].start);
    }
    qurt_sem_destroy(&pool->done);
}

/* Starts the threads. Fewer than asked for is no error: results do not depend on their number. */
static inline void pf_pool_open(struct pf_pool *pool, pf_device *dev)
{
    uint32_t wanted = pf_smaller(pf_hvx_contexts(), PF_MOST_WORKERS);
    pool->dev = dev;
    pool->workers = 1;
    qurt_sem_init_val(&pool->done, 0);
    while (pool->workers < wanted) {
        struct pf_worker *worker = &pool->threads[pool->workers - 1u];
        worker->pool = pool;
        worker->index = pool->workers;
        qurt_sem_init_val(&worker->start, 0);
        qurt_thread_attr_t attributes;
        qurt_thread_attr_init(&attributes);
        qurt_thread_attr_set_name(&attributes, "pf_hvx");
        qurt_thread_attr_set_stack_addr(&attributes, worker->stack);
        qurt_thread_attr_set_stack_size(&attributes, PF_WORKER_STACK);
        qurt_thread_attr_set_priority(&attributes, (unsigned short)qurt_thread_get_priority(qurt_thread_get_id()));
        if (qurt_thread_create(&worker->thread, &attributes, pf_worker_run, worker) != QURT_EOK) {
            qurt_sem_destroy(&worker->start);
            break;
        }
        pool->workers++;
    }
    dev->pool = pool;
}

/* Returns when every share is done. The semaphores order the workers' memory accesses with the caller's. */
static inline void pf_parallel(pf_device *dev, pf_share *share, const void *argument)
{
    struct pf_pool *pool = dev->pool;
    if (!pool) {
        share(dev, argument, 0, 1);
        return;
    }
    pool->share = share;
    pool->argument = argument;
    for (uint32_t i = 0; i + 1u < pool->workers; i++)
        qurt_sem_up(&pool->threads[i].start);
    share(dev, argument, 0, pool->workers);
    for (uint32_t i = 0; i + 1u < pool->workers; i++)
        qurt_sem_down(&pool->done);
}

#else

static inline void pf_parallel(pf_device *dev, pf_share *share, const void *argument)
{
    share(dev, argument, 0, 1);
}

#endif

#endif
