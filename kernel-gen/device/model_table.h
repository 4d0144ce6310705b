/* The last line of a model's translation unit: devices, the run function and the variant's exported table.
 * Needs PF_VARIANT, a bare name, and the emitted table `pf_kernels`.
 */
#ifndef PF_MODEL_TABLE_H
#define PF_MODEL_TABLE_H

#include <stdlib.h>

#define PF_CAT_(a, b) a##b
#define PF_CAT(a, b) PF_CAT_(a, b)
#define PF_TEXT_(a) #a
#define PF_TEXT(a) PF_TEXT_(a)

static void pf_model_close(pf_device *dev)
{
    if (!dev)
        return;
#if defined(PF_MODEL_CHECKED)
    free(dev->shadow);
    free(dev->twin);
    free(dev->scattered);
    free(dev->lines);
#else
    free(dev->mirror);
    free(dev->mirror_role);
#endif
    free(dev->vtcm);
    free(dev);
}

static pf_device *pf_model_open(uint32_t vtcm_bytes, uint32_t overflow, uint32_t workers)
{
    if (vtcm_bytes < PF_CORNER_BYTES || vtcm_bytes % PF_TILE_BYTES || overflow > PF_OVERFLOW_INFINITY || !workers
        || workers > PF_MOST_WORKERS)
        return NULL;
    size_t bytes = (sizeof(pf_device) + 63u) & ~(size_t)63u;
    pf_device *dev = aligned_alloc(64, bytes);
    if (!dev)
        return NULL;
    memset(dev, 0, bytes);
    dev->vtcm_bytes = vtcm_bytes;
    dev->overflow = overflow;
    dev->workers = workers;
    dev->vtcm = aligned_alloc(PF_TILE_BYTES, vtcm_bytes);
#if defined(PF_MODEL_CHECKED)
    dev->shadow = calloc(vtcm_bytes, 1);
    dev->twin = malloc(vtcm_bytes);
    dev->kernel = dev->position = dev->step = "none";
    int ready = dev->vtcm && dev->shadow && dev->twin;
#else
    /* Pages of the mirror that no kernel multiplies from are never touched, and so cost nothing. */
    dev->mirror = aligned_alloc(4096, (size_t)vtcm_bytes * 2u);
    dev->mirror_role = calloc(vtcm_bytes / PF_TILE_BYTES, 1);
    int ready = dev->vtcm && dev->mirror && dev->mirror_role;
#endif
    if (ready)
        return dev;
    pf_model_close(dev);
    return NULL;
}

static const struct pf_kernel *pf_find_kernel(uint32_t kernel_id)
{
    for (size_t i = 0; i < sizeof pf_kernels / sizeof pf_kernels[0]; i++)
        if (pf_kernels[i].id == kernel_id)
            return &pf_kernels[i];
    return NULL;
}

#if defined(PF_MODEL_CHECKED)

static const char *pf_model_fault(pf_device *dev)
{
    return dev->fault;
}

/* VTCM may be taken away between requests, so every run starts from poison: NaN patterns that nobody wrote. */
static void pf_model_poison(pf_device *dev, const struct pf_plan *plan)
{
    uint32_t bytes = pf_smaller(plan->vtcm_bytes, dev->vtcm_bytes); /* nothing beyond the windows can be reached */
    memset(dev->vtcm, 0xFF, bytes);
    memset(dev->shadow, PF_NEVER_WRITTEN, bytes);
    memset(dev->shadow + dev->vtcm_bytes - PF_BIAS_BYTES, PF_NEVER_WRITTEN, PF_BIAS_BYTES);
    memset(dev->accumulator, 0xFF, sizeof dev->accumulator);
    dev->transfer_count = 0;
    dev->scattered_count = 0;
    dev->vtcm_held = dev->hmx_held = dev->bias_loaded = dev->multiplied = dev->converted = dev->in_region = 0;
    dev->own.to = NULL;
    dev->fault[0] = '\0';
}

/* Outside a run the plan's windows do not apply. */
static void pf_model_leave(pf_device *dev)
{
    dev->plan = NULL;
    dev->request = NULL;
}

static int pf_model_call(pf_device *dev, const struct pf_kernel *kernel, const struct pf_plan *plan,
                         const struct pf_request *request)
{
    pf_model_poison(dev, plan);
    dev->plan = plan;
    dev->request = request;
    pf_set_step(dev, kernel->name, "kernel entry", "enter", NULL, 0);
    if (setjmp(dev->escape)) {
        pf_model_leave(dev);
        return PF_TRAPPED;
    }
    int status = kernel->entry(dev, plan, request);
    pf_check(dev, !dev->hmx_held, "the kernel returned without releasing HMX", NULL, 0);
    pf_check(dev, !dev->vtcm_held, "the kernel returned without releasing VTCM", NULL, 0);
    pf_model_leave(dev);
    return status;
}

#else

static const char *pf_model_fault(pf_device *dev)
{
    (void)dev;
    return "";
}

static int pf_model_call(pf_device *dev, const struct pf_kernel *kernel, const struct pf_plan *plan,
                         const struct pf_request *request)
{
    memset(dev->mirror_role, PF_MIRROR_NONE, dev->vtcm_bytes / PF_TILE_BYTES);
    return kernel->entry(dev, plan, request);
}

#endif

static int pf_model_run(pf_device *dev, uint32_t kernel_id, const struct pf_plan *plan, const struct pf_request *request)
{
    const struct pf_kernel *kernel = pf_find_kernel(kernel_id);
    dev->ticket = 0;
    return kernel ? pf_model_call(dev, kernel, plan, request) : PF_BAD_PLAN;
}

static void pf_model_counts(pf_device *dev, struct pf_counts *out)
{
    *out = dev->counts;
}

extern const struct pf_model_table PF_CAT(pf_model_, PF_VARIANT);
const struct pf_model_table PF_CAT(pf_model_, PF_VARIANT) = {
    .name = PF_TEXT(PF_VARIANT),
    .open = pf_model_open,
    .close = pf_model_close,
    .fault = pf_model_fault,
    .run = pf_model_run,
    .counts = pf_model_counts,
};

#endif
