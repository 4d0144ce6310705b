/* What every kernel checks before it touches memory, on the phone as in the models. */
#ifndef PF_ENTER_H
#define PF_ENTER_H

/* One emitted kernel; the emitted dispatch table `pf_kernels` is an array of these. */
struct pf_kernel {
    uint32_t id;
    const char *name;
    int (*entry)(pf_device *dev, const struct pf_plan *plan, const struct pf_request *request);
};

/* Row scales outside +-126 would not be normal f32 numbers, and multiplying by them would not be exact. */
#define PF_MOST_EXPONENT 126

/* Windows in ascending order, whole tiles apart and clear of one another: what the planner makes. */
static inline int pf_plan_fits(const pf_device *dev, const struct pf_plan *plan)
{
    if (plan->window_count > PF_MAX_WINDOWS || dev->vtcm_bytes < PF_CORNER_BYTES
        || plan->vtcm_bytes > dev->vtcm_bytes - PF_CORNER_BYTES)
        return 0;
    uint64_t end = 0;
    for (uint32_t i = 0; i < plan->window_count; i++) {
        const struct pf_window *window = &plan->windows[i];
        if (!window->stage_bytes || !window->stages || window->offset < end || window->offset % PF_TILE_BYTES
            || window->stage_bytes % PF_TILE_BYTES)
            return 0;
        end = window->offset + (uint64_t)window->stage_bytes * window->stages;
        if (end > plan->vtcm_bytes)
            return 0;
    }
    return 1;
}

static inline int pf_request_fits(const struct pf_plan *plan, const struct pf_request *request)
{
    /* Axis 0 is the token axis: a request may fill its bucket only in part. */
    if (request->axes[0] > plan->axes[0] || request->row_begin > request->row_end || request->row_end > request->axes[0])
        return 0;
    for (uint32_t i = 1; i < PF_MAX_AXES; i++)
        if (request->axes[i] != plan->axes[i])
            return 0;
    if (!request->row_exponents)
        return 1;
    const int32_t *exponents = (const int32_t *)(uintptr_t)request->row_exponents;
    for (uint32_t row = request->row_begin; row < request->row_end; row++)
        if (exponents[row] < -PF_MOST_EXPONENT || exponents[row] > PF_MOST_EXPONENT)
            return 0;
    return 1;
}

/* Whether an operand holds `lines` whole lines of row_stride bytes. A line is a row of a row-major operand or a row of
 * tiles of a tiled one, which only the kernel knows: it returns PF_BAD_REQUEST when this is 0. */
static inline int pf_operand_holds(const struct pf_operand *operand, uint64_t lines)
{
    return operand->address && operand->bytes >= lines * operand->row_stride;
}

/* PF_OK when the kernel may run this request under this plan; otherwise the status the kernel must return. */
static inline int pf_enter(pf_device *dev, const struct pf_plan *plan, const struct pf_request *request, uint32_t kernel_id)
{
    if (plan->abi_version != PF_ABI_VERSION || plan->bytes != sizeof *plan || request->abi_version != PF_ABI_VERSION
        || request->bytes != sizeof *request)
        return PF_BAD_ABI;
    if (plan->kernel != kernel_id || !pf_plan_fits(dev, plan))
        return PF_BAD_PLAN;
    if (request->kernel != kernel_id || !pf_request_fits(plan, request))
        return PF_BAD_REQUEST;
    return PF_OK;
}

#endif
