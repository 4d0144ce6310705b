/* A kernel around the body of one step: FP16 tile i of operand 1 is made from input tile i of operand 0. Tiles are the rows of
 * the request. Patches of rows lie in pairs, side by side, so that a body meets the distance between rows.
 *
 * In front of it stand the body and STEP, its function; STEP_WORDS, STEP_SOURCE, KERNEL_ID, INPUT_BYTES, and PATCHES where the
 * input is rows.
 */
enum { PATCH_BYTES = 64, PAIR_BYTES = 2 * PATCH_BYTES, ROW_STRIDE = 3 * PF_VECTOR_BYTES };

/* The body stores every vector of its tile. */
static void check_whole(pf_device *dev, const uint8_t *to)
{
#if defined(PF_MODEL_CHECKED)
    for (uint32_t vector = 0; vector < PF_TILE_BYTES / PF_VECTOR_BYTES; vector++)
        if (dev->shadow[to - dev->vtcm + vector * PF_VECTOR_BYTES] == PF_NEVER_WRITTEN) {
            static char words[64];
            snprintf(words, sizeof words, "the body leaves vector %u of its 16 unwritten", vector);
            pf_trap(dev, words, NULL, 0);
        }
#endif
    pf_check_read(dev, to, PF_TILE_BYTES, 0);
}

static int step_entry(pf_device *dev, const struct pf_plan *plan, const struct pf_request *request)
{
    int status = pf_enter(dev, plan, request, KERNEL_ID);
    if (status == PF_OK)
        status = pf_vtcm_acquire(dev);
    if (status != PF_OK)
        return status;
    uint8_t *from = dev->vtcm + plan->windows[0].offset, *to = dev->vtcm + plan->windows[1].offset;
    const uint8_t *input = (const uint8_t *)(uintptr_t)request->operands[0].address;
    uint8_t *output = (uint8_t *)(uintptr_t)request->operands[1].address;
    for (uint32_t tile = request->row_begin; tile < request->row_end; ++tile) {
        PF_STEP(dev, "none", STEP_SOURCE, STEP_WORDS, {"tile", tile});
#if defined(PF_MODEL_CHECKED)
        /* What the body leaves unwritten is not what the tile before had there. */
        memset(dev->shadow + plan->windows[0].offset, PF_NEVER_WRITTEN, plan->windows[0].stage_bytes);
        memset(dev->shadow + plan->windows[1].offset, PF_NEVER_WRITTEN, PF_TILE_BYTES);
#endif
        pf_begin_tiles(dev, to, PF_TILE_BYTES, 1);
#if defined(PATCHES)
        const uint8_t *pair = input + (size_t)(tile / 2) * PF_TILE * PAIR_BYTES, *patch = from + tile % 2 * PATCH_BYTES;
        pf_dma_wait(dev, pf_dma_rows(dev, from, ROW_STRIDE, pair, PAIR_BYTES, PAIR_BYTES, PF_TILE));
        pf_own_begin(dev);
        pf_own_tile(dev, to, patch, PF_TILE, PATCH_BYTES, ROW_STRIDE);
        STEP(dev, to, patch, ROW_STRIDE);
#else
        const uint32_t padded = (INPUT_BYTES + PF_VECTOR_BYTES - 1) / PF_VECTOR_BYTES * PF_VECTOR_BYTES;
        const uint8_t *packed = input + (size_t)tile * INPUT_BYTES;
        pf_dma_wait(dev, pf_dma_rows(dev, from, INPUT_BYTES, packed, INPUT_BYTES, INPUT_BYTES, 1));
        pf_own_begin(dev);
        pf_own_tile(dev, to, from, 1, padded, padded);
        STEP(dev, to, from);
#endif
        pf_own_end(dev);
        check_whole(dev, to);
        memcpy(output + (size_t)tile * PF_TILE_BYTES, to, PF_TILE_BYTES);
    }
    pf_vtcm_release(dev);
    return PF_OK;
}

static const struct pf_kernel pf_kernels[] = {{KERNEL_ID, "none", step_entry}};
