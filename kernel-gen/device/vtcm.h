/* Windows: the named pieces of VTCM a plan hands out. */
#ifndef PF_VTCM_H
#define PF_VTCM_H

/* Address of one stage of a window. */
static inline uint8_t *pf_window(pf_device *dev, const struct pf_plan *plan, uint32_t index, uint32_t stage)
{
    pf_check(dev, index < plan->window_count, "no such window in the plan", NULL, index);
    const struct pf_window *window = &plan->windows[index];
    pf_check(dev, stage < window->stages, "no such stage in the window", NULL, stage);
    return dev->vtcm + window->offset + (size_t)stage * window->stage_bytes;
}

#endif
