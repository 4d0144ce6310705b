/* What a kernel may read and write: every byte of VTCM has a state (enum pf_shadow) in the checked model, and DDR is what
 * the request names. Every other backend compiles the checks away.
 */
#ifndef PF_SHADOW_H
#define PF_SHADOW_H

#if defined(PF_MODEL_CHECKED)

/* The range must lie inside VTCM while it is held, clear of the reserved end but for the bias record and, in a run, inside
 * one stage of one window. */
static inline void pf_check_vtcm(pf_device *dev, const uint8_t *p, size_t bytes)
{
    uintptr_t base = (uintptr_t)dev->vtcm, at = (uintptr_t)p;
    pf_check(dev, at >= base && at - base <= dev->vtcm_bytes && bytes <= dev->vtcm_bytes - (at - base),
             "access outside VTCM", p, bytes);
    pf_check(dev, dev->vtcm_held || !dev->plan, "VTCM is used outside pf_vtcm_acquire and pf_vtcm_release", p, bytes);
    size_t offset = at - base;
    if (offset >= dev->vtcm_bytes - PF_BIAS_BYTES)
        return;
    pf_check(dev, offset + bytes <= dev->vtcm_bytes - PF_CORNER_BYTES, "access to the reserved end of VTCM", p, bytes);
    if (!dev->plan)
        return;
    for (uint32_t i = 0; i < dev->plan->window_count; i++) {
        const struct pf_window *window = &dev->plan->windows[i];
        size_t length = (size_t)window->stage_bytes * window->stages;
        if (offset < window->offset || offset - window->offset >= length)
            continue;
        size_t into = (offset - window->offset) % window->stage_bytes;
        if (bytes <= window->stage_bytes - into)
            return;
    }
    pf_trap(dev, "access outside every window stage of the plan", p, bytes);
}

static inline int pf_in_range(uint64_t base, uint64_t length, const void *p, size_t bytes)
{
    uint64_t at = (uint64_t)(uintptr_t)p;
    return at >= base && at - base <= length && bytes <= length - (at - base);
}

/* The range must lie inside one operand, the row exponents or the row flags of the request. */
static inline void pf_check_ddr(pf_device *dev, const void *p, size_t bytes, int writes)
{
    pf_own_check_ddr(dev, p, bytes);
    pf_touch(dev, p, bytes, writes);
    const struct pf_request *request = dev->request;
    if (!request)
        return;
    for (uint32_t i = 0; i < PF_MAX_OPERANDS; i++)
        if (request->operands[i].address && pf_in_range(request->operands[i].address, request->operands[i].bytes, p, bytes))
            return;
    if (request->row_exponents && pf_in_range(request->row_exponents, 4ull * request->axes[0], p, bytes))
        return;
    if (request->row_flags && pf_in_range(request->row_flags, request->axes[0], p, bytes))
        return;
    pf_trap(dev, "access to DDR outside every operand of the request", p, bytes);
}

static inline void pf_check_read(pf_device *dev, const uint8_t *p, size_t bytes, int overflow_guarded)
{
    pf_own_check_read(dev, p, bytes);
    pf_check_vtcm(dev, p, bytes);
    pf_touch(dev, p, bytes, 0);
    const uint8_t *shadow = dev->shadow + (p - dev->vtcm);
    uint8_t odd = 0;
    for (size_t i = 0; i < bytes; i++)
        odd |= shadow[i] ^ PF_WRITTEN;
    for (size_t i = 0; odd && i < bytes; i++) {
        if (shadow[i] == PF_WRITTEN || (shadow[i] == PF_OVERFLOWED && overflow_guarded))
            continue;
        pf_trap(dev,
                shadow[i] == PF_IN_FLIGHT    ? "read of bytes whose DMA or scatter was not waited for"
                : shadow[i] == PF_OVERFLOWED ? "an overflowed HMX result is used without the retry check"
                                             : "read of never-written VTCM bytes",
                p + i, bytes - i);
    }
}

static inline void pf_check_write(pf_device *dev, uint8_t *p, size_t bytes)
{
    pf_own_check_write(dev, p, bytes);
    pf_check_vtcm(dev, p, bytes);
    pf_touch(dev, p, bytes, 1);
    uint8_t *shadow = dev->shadow + (p - dev->vtcm);
    const uint8_t *flying = memchr(shadow, PF_IN_FLIGHT, bytes);
    if (flying)
        pf_trap(dev, "write to bytes whose DMA or scatter was not waited for", dev->vtcm + (flying - dev->shadow), bytes);
    memset(shadow, PF_WRITTEN, bytes);
}

static inline void pf_check_tile(pf_device *dev, const uint8_t *p)
{
    pf_check_aligned(dev, p, PF_TILE_BYTES, PF_TILE_BYTES, "a tile must be aligned to 2048 bytes");
}

#else

static inline void pf_check_ddr(pf_device *dev, const void *p, size_t bytes, int writes)
{
    (void)dev, (void)p, (void)bytes, (void)writes;
}
static inline void pf_check_read(pf_device *dev, const uint8_t *p, size_t bytes, int overflow_guarded)
{
    (void)dev, (void)p, (void)bytes, (void)overflow_guarded;
}
static inline void pf_check_write(pf_device *dev, uint8_t *p, size_t bytes) { (void)dev, (void)p, (void)bytes; }
static inline void pf_check_tile(pf_device *dev, const uint8_t *p) { (void)dev, (void)p; }

#endif

#endif
