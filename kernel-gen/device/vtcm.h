/* VTCM: taken for one request, its windows, and its reserved end. */
#ifndef PF_VTCM_H
#define PF_VTCM_H

#if defined(PF_HEXAGON)

#define PF_VTCM_WAIT_US 1000000u

/* Takes VTCM, and HMX for this thread. PF_OK, PF_BUSY when another client keeps the VTCM, or PF_NO_HMX. What VTCM held before
 * is lost. Without the DSP's runtime whoever opened the device must have both. */
static inline int pf_vtcm_acquire(pf_device *dev)
{
#if defined(PF_VENDOR)
    if (HAP_compute_res_acquire_cached(dev->resource, PF_VTCM_WAIT_US))
        return PF_BUSY;
    if (HAP_compute_res_hmx_lock(dev->resource)) {
        HAP_compute_res_release_cached(dev->resource);
        return PF_NO_HMX;
    }
    return PF_OK;
#else
    (void)dev;
    return PF_OK;
#endif
}

static inline void pf_vtcm_release(pf_device *dev)
{
#if defined(PF_VENDOR)
    HAP_compute_res_hmx_unlock(dev->resource);
    HAP_compute_res_release_cached(dev->resource);
#else
    (void)dev;
#endif
}

#else

static inline int pf_vtcm_acquire(pf_device *dev)
{
#if defined(PF_MODEL_CHECKED)
    pf_check(dev, !dev->vtcm_held, "pf_vtcm_acquire while VTCM is already held", NULL, 0);
    dev->vtcm_held = 1;
#else
    (void)dev;
#endif
    return PF_OK;
}

/* Whatever is still under way would reach memory that belongs to somebody else. */
static inline void pf_vtcm_release(pf_device *dev)
{
#if defined(PF_MODEL_CHECKED)
    pf_check(dev, dev->vtcm_held, "pf_vtcm_release without pf_vtcm_acquire", NULL, 0);
    pf_check(dev, !dev->transfer_count, "VTCM is released with DMA descriptors in flight", NULL, dev->transfer_count);
    pf_check(dev, !dev->scattered_count, "VTCM is released with scattered words on their way", NULL,
             dev->scattered_count);
    dev->vtcm_held = 0;
#else
    (void)dev;
#endif
}

#endif

/* Address of one stage of a window. */
static inline uint8_t *pf_window(pf_device *dev, const struct pf_plan *plan, uint32_t index, uint32_t stage)
{
    pf_check(dev, index < plan->window_count, "no such window in the plan", NULL, index);
    const struct pf_window *window = &plan->windows[index];
    pf_check(dev, stage < window->stages, "no such stage in the window", NULL, stage);
    return dev->vtcm + window->offset + (size_t)stage * window->stage_bytes;
}

/* Where the HMX bias record is written: the last 256 bytes of VTCM. */
static inline uint8_t *pf_bias_record(pf_device *dev)
{
    return dev->vtcm + dev->vtcm_bytes - PF_BIAS_BYTES;
}

#endif
