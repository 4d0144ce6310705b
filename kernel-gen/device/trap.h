/* The rules the hardware does not enforce. In the checked model a broken one stops the kernel with its source position;
 * every other backend compiles the checks away.
 */
#ifndef PF_TRAP_H
#define PF_TRAP_H

#if defined(PF_MODEL_CHECKED)

#include <stdio.h>

/* Records where and why, and leaves the kernel. `address` may be NULL when the rule is not about memory. */
_Noreturn static inline void pf_trap(pf_device *dev, const char *rule, const void *address, size_t bytes)
{
    char place[96] = "";
    const uint8_t *at = address;
    if (at >= dev->vtcm && at <= dev->vtcm + dev->vtcm_bytes)
        snprintf(place, sizeof place, " (%zu bytes at VTCM + 0x%zx)", bytes, (size_t)(at - dev->vtcm));
    else if (address)
        snprintf(place, sizeof place, " (%zu bytes at %p, outside VTCM)", bytes, address);
    else if (bytes)
        snprintf(place, sizeof place, " (got %zu)", bytes);
    char block[128] = "";
    size_t length = 0;
    for (uint32_t i = 0; i < dev->index_count && length < sizeof block; i++)
        length += (size_t)snprintf(block + length, sizeof block - length, "%s%s=%u", i ? ", " : " at ",
                                   dev->indices[i].name, dev->indices[i].value);
    snprintf(dev->fault, sizeof dev->fault, "%s: kernel `%s`, step `%s`%s: %s%s", dev->position, dev->kernel, dev->step,
             block, rule, place);
    longjmp(dev->escape, 1);
}

static inline void pf_check(pf_device *dev, int held, const char *rule, const void *address, size_t bytes)
{
    if (!held)
        pf_trap(dev, rule, address, bytes);
}

static inline void pf_check_aligned(pf_device *dev, const void *p, size_t alignment, size_t bytes, const char *rule)
{
    pf_check(dev, ((uintptr_t)p & (alignment - 1)) == 0, rule, p, bytes);
}

/* The range must lie inside VTCM, clear of the reserved corner and, in a run, inside one stage of one window. */
static inline void pf_check_vtcm(pf_device *dev, const uint8_t *p, size_t bytes)
{
    uintptr_t base = (uintptr_t)dev->vtcm, at = (uintptr_t)p;
    pf_check(dev, at >= base && at - base <= dev->vtcm_bytes && bytes <= dev->vtcm_bytes - (at - base),
             "access outside VTCM", p, bytes);
    size_t offset = at - base;
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
static inline void pf_check_ddr(pf_device *dev, const void *p, size_t bytes)
{
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
    pf_check_vtcm(dev, p, bytes);
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
    pf_check_vtcm(dev, p, bytes);
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

static inline void pf_set_step(pf_device *dev, const char *kernel, const char *position, const char *step,
                               const struct pf_index *indices, size_t count)
{
    dev->kernel = kernel;
    dev->position = position;
    dev->step = step;
    dev->index_count = 0;
    for (size_t i = 0; i < count && i < PF_MOST_INDICES; i++)
        dev->indices[dev->index_count++] = indices[i];
}

/* PF_STEP(dev, kernel, position, step, {"m", at->m}, ...). The first index below only keeps the list from being empty. */
#define PF_STEP(dev, kernel, position, step, ...)                                                                      \
    pf_set_step((dev), (kernel), (position), (step), (const struct pf_index[]){{NULL, 0}, __VA_ARGS__} + 1,            \
                sizeof((const struct pf_index[]){{NULL, 0}, __VA_ARGS__}) / sizeof(struct pf_index) - 1u)

#else

static inline void pf_check(pf_device *dev, int held, const char *rule, const void *address, size_t bytes)
{
    (void)dev, (void)held, (void)rule, (void)address, (void)bytes;
}
static inline void pf_check_aligned(pf_device *dev, const void *p, size_t alignment, size_t bytes, const char *rule)
{
    (void)dev, (void)p, (void)alignment, (void)bytes, (void)rule;
}
static inline void pf_check_ddr(pf_device *dev, const void *p, size_t bytes) { (void)dev, (void)p, (void)bytes; }
static inline void pf_check_read(pf_device *dev, const uint8_t *p, size_t bytes, int overflow_guarded)
{
    (void)dev, (void)p, (void)bytes, (void)overflow_guarded;
}
static inline void pf_check_write(pf_device *dev, uint8_t *p, size_t bytes) { (void)dev, (void)p, (void)bytes; }
static inline void pf_check_tile(pf_device *dev, const uint8_t *p) { (void)dev, (void)p; }

#define PF_STEP(dev, ...) ((void)(dev))

#endif

#endif
