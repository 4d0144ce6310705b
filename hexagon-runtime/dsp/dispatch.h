/* From a packet to a kernel: offsets become addresses, cache flags are held against roles, the kernel is found by its id. */
#ifndef PF_DISPATCH_H
#define PF_DISPATCH_H

#define PF_HANDED_OVER (DSPQUEUE_BUFFER_FLAG_FLUSH_SENDER | DSPQUEUE_BUFFER_FLAG_INVALIDATE_RECIPIENT)

static const struct pf_kernel *pf_find_kernel(uint32_t id)
{
    for (uint32_t i = 0; i < sizeof pf_kernels / sizeof pf_kernels[0]; i++)
        if (pf_kernels[i].id == id)
            return &pf_kernels[i];
    return NULL;
}

/* Turns an offset into an address, if the bytes lie in the buffer and the buffer was handed over as its role wants. */
static int pf_locate(const struct pf_place *place, const struct dspqueue_buffer *buffers, uint32_t count, uint64_t bytes,
                     uint64_t *address)
{
    if (place->role == PF_ABSENT) {
        *address = 0;
        return PF_OK;
    }
    if (place->role > PF_OUTPUT || place->buffer >= count)
        return PF_BAD_MESSAGE;
    const struct dspqueue_buffer *buffer = &buffers[place->buffer];
    if (place->role != PF_CONSTANT && (buffer->flags & PF_HANDED_OVER) != PF_HANDED_OVER)
        return PF_BAD_MESSAGE;
    if (!buffer->ptr || *address > buffer->size || bytes > buffer->size - *address)
        return PF_BAD_MESSAGE;
    *address += (uintptr_t)buffer->ptr;
    return PF_OK;
}

static int pf_locate_all(struct pf_message *message, const struct dspqueue_buffer *buffers, uint32_t count)
{
    struct pf_request *request = &message->request;
    for (uint32_t i = 0; i < PF_MAX_OPERANDS; i++) {
        struct pf_operand *operand = &request->operands[i];
        if (pf_locate(&message->places[i], buffers, count, operand->bytes, &operand->address))
            return PF_BAD_MESSAGE;
    }
    uint64_t rows = request->axes[0];
    if (pf_locate(&message->places[PF_ROW_EXPONENTS], buffers, count, 4u * rows, &request->row_exponents)
        || pf_locate(&message->places[PF_ROW_FLAGS], buffers, count, rows, &request->row_flags))
        return PF_BAD_MESSAGE;
    return PF_OK;
}

/* Runs the request of a message, on the thread that owns the DMA engine. */
static int pf_dispatch(struct pf_session *session, struct pf_message *message, uint32_t bytes,
                       const struct dspqueue_buffer *buffers, uint32_t count)
{
    if (bytes != sizeof *message || message->abi_version != PF_ABI_VERSION || message->bytes != sizeof *message)
        return PF_BAD_ABI;
    if (message->plan.arch != __HEXAGON_ARCH__)
        return PF_WRONG_ARCH;
    const struct pf_kernel *kernel = pf_find_kernel(message->request.kernel);
    if (!kernel)
        return PF_BAD_PLAN;
    int status = pf_locate_all(message, buffers, count);
    return status ? status : kernel->entry(&session->dev, &message->plan, &message->request);
}

#endif
