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
    char block[160] = "";
    size_t length = 0;
    for (uint32_t i = 0; i < dev->index_count && length < sizeof block; i++)
        length += (size_t)snprintf(block + length, sizeof block - length, "%s%s=%u", i ? ", " : " at ",
                                   dev->indices[i].name, dev->indices[i].value);
    if (dev->in_region && length < sizeof block)
        snprintf(block + length, sizeof block - length, "%sworker=%u", length ? ", " : " at ", dev->worker);
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
#define PF_STEP(dev, ...) ((void)(dev))

#endif

#endif
