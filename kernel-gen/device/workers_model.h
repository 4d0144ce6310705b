/* HVX workers of the models: the shares of a parallel region run one after another, in the order of the workers. */
#ifndef PF_WORKERS_MODEL_H
#define PF_WORKERS_MODEL_H

/* One worker's share of the work that `argument` describes; it must not depend on how many workers there are. */
typedef void pf_share(pf_device *dev, const void *argument, uint32_t worker, uint32_t workers);

static inline void pf_parallel(pf_device *dev, pf_share *share, const void *argument)
{
    pf_region_begin(dev);
    for (uint32_t worker = 0; worker < dev->workers; worker++) {
        pf_region_worker(dev, worker);
        share(dev, argument, worker, dev->workers);
    }
    pf_region_end(dev);
}

#endif
