/* One variant of the device layer with two test kernels: one primitive per run, or one broken rule per run. */
#include "device.h"

#include "cases.h"

#define SOURCE_STRIDE 4096u /* bytes of a row-major FP16 row in window 0 */
#define Q8_STRIDE 1152u     /* a Q8 tile in VTCM, padded to whole vectors */
#define Q4_STRIDE 640u      /* a Q4 tile */

static uint8_t *operand(const struct pf_request *request, uint32_t index)
{
    return (uint8_t *)(uintptr_t)request->operands[index].address;
}

static void fetch(pf_device *dev, uint8_t *dst, uint32_t dst_stride, const uint8_t *src, uint32_t src_stride,
                  uint32_t width, uint32_t rows)
{
    pf_dma_wait(dev, pf_dma_rows(dev, dst, dst_stride, src, src_stride, width, rows));
}

/* HMX with the identity bias. */
static void begin(pf_device *dev)
{
    uint8_t *record = pf_bias_record(dev);
    pf_hmx_begin(dev);
    pf_vstore(dev, record, pf_vsplat_word(0x3C00));
    pf_vstore(dev, record + PF_VECTOR_BYTES, pf_vzero());
    pf_hmx_bias(dev, record);
}

static void issue(pf_device *dev, const uint8_t *act, const uint8_t *wgt, uint32_t tiles)
{
    uint32_t last = tiles * PF_TILE_BYTES - 1u;
    pf_hmx_issue(dev, (struct pf_packet){{act, last}, {wgt, last}});
}

static void store(pf_device *dev, uint8_t *dst)
{
    pf_hmx_convert(dev, PF_CONVERT_NO_RELU);
    pf_hmx_store(dev, dst);
}

/* Activation and weight tiles of the operand: in short packets, with both roles sharing tiles, and after every kind of
 * writer has gone over tiles that were multiplied before. A result is multiplied again only if it cannot overflow. */
static void multiply(pf_device *dev, uint8_t *tiles, uint8_t *out, const uint8_t *in, uint32_t count, int small)
{
    uint8_t *weights = tiles + count * PF_TILE_BYTES;
    fetch(dev, tiles, PF_TILE_BYTES, in, PF_TILE_BYTES, PF_TILE_BYTES, 2 * count);
    begin(dev);
    for (uint32_t k = 0; k < count; k += 5)
        issue(dev, tiles + k * PF_TILE_BYTES, weights + k * PF_TILE_BYTES, pf_smaller(5, count - k));
    store(dev, small ? tiles : out);
    issue(dev, tiles, tiles + PF_TILE_BYTES, count);
    issue(dev, tiles, tiles, count);
    store(dev, out);
    fetch(dev, weights, PF_TILE_BYTES, in, PF_TILE_BYTES, PF_TILE_BYTES, count);
    issue(dev, tiles, weights, count);
    pf_pack_rows(dev, weights, PF_TILE_BYTES, (const float *)in, 4 * PF_TILE, PF_TILE, PF_TILE, NULL);
    issue(dev, tiles, weights, count);
    store(dev, out + PF_TILE_BYTES);
    pf_hmx_end(dev);
}

/* The store of an accumulator that holds exactly the operand's f32 numbers. */
static void convert(pf_device *dev, uint8_t *tile, uint8_t *out, const uint8_t *in)
{
    pf_pack_rows(dev, tile, PF_TILE_BYTES, (const float *)in, 4 * PF_TILE, PF_TILE, PF_TILE, NULL);
    begin(dev);
    issue(dev, tile, tile, 1);
    memcpy(dev->accumulator, in, sizeof dev->accumulator);
    store(dev, out);
    pf_hmx_end(dev);
}

static void run_primitive(pf_device *dev, const struct pf_plan *plan, const struct pf_request *request)
{
    uint32_t rows = request->axes[0], cols = request->axes[2], stride = request->axes[3], tiles = pf_tiles_for(cols);
    uint32_t in_stride = request->operands[0].row_stride, out_stride = request->operands[2].row_stride;
    uint8_t *in = operand(request, 0), *out = operand(request, 2);
    uint8_t *source = pf_window(dev, plan, 0, 0), *tile = pf_window(dev, plan, 1, 0);
    const int32_t *exponents = (const int32_t *)(uintptr_t)request->row_exponents;
    uint8_t *flags = (uint8_t *)(uintptr_t)request->row_flags;
    enum primitive which = request->axes[1];
    switch (which) {
    case PACK_ROWS:
        pf_pack_rows(dev, tile, stride, (const float *)in, in_stride, rows, cols, exponents);
        break;
    case PACK_COLS:
        pf_pack_cols(dev, tile, stride, (const float *)in, in_stride, rows, cols, exponents);
        break;
    case PACK_ROWS_F16:
        pf_pack_rows_f16(dev, tile, stride, (const uint16_t *)in, in_stride, rows, cols, exponents);
        break;
    case PACK_COLS_F16:
        pf_pack_cols_f16(dev, tile, stride, (const uint16_t *)in, in_stride, rows, cols, exponents);
        break;
    case PACK_ROWS_BF16: /* from the middle of a vector on */
        pf_pack_rows_bf16(dev, tile, stride, (const uint16_t *)in + 32, in_stride, rows, cols, exponents);
        break;
    case PACK_COLS_BF16:
        pf_pack_cols_bf16(dev, tile, stride, (const uint16_t *)in, in_stride, rows, cols, exponents);
        break;
    case INTERLEAVE_PAIRS:
        fetch(dev, source, SOURCE_STRIDE, in, in_stride, tiles * 64, PF_TILE);
        pf_interleave_pairs(dev, tile, stride, source, SOURCE_STRIDE, tiles);
        break;
    case SCATTER_WORDS:
        fetch(dev, source, SOURCE_STRIDE, in, in_stride, tiles * 64, PF_TILE);
        pf_scatter_words(dev, tile, stride, source, SOURCE_STRIDE, tiles);
        pf_scatter_release(dev);
        break;
    case DEQUANTISE_Q8:
        fetch(dev, source, Q8_STRIDE, in, PF_TILE_Q8_BYTES, PF_TILE_Q8_BYTES, tiles);
        pf_dequantise_q8(dev, tile, stride, source, Q8_STRIDE, tiles);
        break;
    case DEQUANTISE_Q4:
        fetch(dev, source, Q4_STRIDE, in, PF_TILE_Q4_BYTES, PF_TILE_Q4_BYTES, tiles);
        pf_dequantise_q4(dev, tile, stride, source, Q4_STRIDE, tiles);
        break;
    case MULTIPLY:
        multiply(dev, tile, source, in, tiles, stride == 0);
        memcpy(out, source, 2 * PF_TILE_BYTES);
        return;
    case CONVERT:
        convert(dev, tile, source, in);
        memcpy(out, source, PF_TILE_BYTES);
        return;
    default: /* the unpacks, whose column factors are operands 1 and 3 */
        fetch(dev, tile, stride, in, PF_TILE_BYTES, PF_TILE_BYTES, tiles);
        if (which >= UNPACK_ROWS_AFFINE) {
            const float *scale = (const float *)operand(request, 1), *bias = (const float *)operand(request, 3);
            int add = which == ADD_ROWS_AFFINE || which == ADD_COLS_AFFINE;
            (which <= ADD_ROWS_AFFINE ? pf_unpack_rows_affine : pf_unpack_cols_affine)(
                dev, tile, stride, (float *)out, out_stride, rows, cols, exponents, flags, add, scale, bias);
            return;
        }
        if (which == UNPACK_ROWS || which == ADD_ROWS)
            pf_unpack_rows(dev, tile, stride, (float *)out, out_stride, rows, cols, exponents, flags, which == ADD_ROWS);
        else
            pf_unpack_cols(dev, tile, stride, (float *)out, out_stride, rows, cols, exponents, flags, which == ADD_COLS);
        return;
    }
    for (uint32_t i = 0; i < tiles; i++)
        memcpy(out + i * PF_TILE_BYTES, tile + i * stride, PF_TILE_BYTES);
}

static int primitive(pf_device *dev, const struct pf_plan *plan, const struct pf_request *request)
{
    int status = pf_enter(dev, plan, request, KERNEL_PRIMITIVE);
    if (status == PF_OK)
        status = pf_vtcm_acquire(dev);
    if (status == PF_OK) {
        run_primitive(dev, plan, request);
        pf_vtcm_release(dev);
    }
    return status;
}

/* Window 1 holds 32 good tiles of values near 100, whose products overflow FP16; window 0 was never written. */
static void overflow(pf_device *dev, uint8_t *blank, uint8_t *good)
{
    begin(dev);
    issue(dev, good, good, 32);
    store(dev, blank);
}

static void break_rule(pf_device *dev, const struct pf_plan *plan, const struct pf_request *request)
{
    uint8_t *blank = pf_window(dev, plan, 0, 0), *good = pf_window(dev, plan, 1, 0), *in = operand(request, 0);
    uint8_t *end = dev->vtcm + dev->vtcm_bytes, *flags = (uint8_t *)(uintptr_t)request->row_flags;
    const float *x = (const float *)in;
    float *y = (float *)operand(request, 2);
    switch ((enum rule)request->axes[1]) {
    case RULE_clean: break;
    case RULE_guarded_overflow:
        overflow(dev, blank, good);
        pf_unpack_rows(dev, blank, 2048, y, 4096, 32, 32, NULL, flags, 0);
        pf_unpack_cols(dev, blank, 2048, y, 4096, 32, 32, NULL, flags, 1);
        pf_hmx_end(dev);
        break;
    case RULE_read_never_written: begin(dev), issue(dev, blank, good, 1); break;
    case RULE_read_before_dma_wait:
        pf_dma_rows(dev, blank, 2048, in, 2048, 2048, 1);
        begin(dev), issue(dev, blank, good, 1);
        break;
    case RULE_write_before_dma_wait:
        pf_dma_rows(dev, blank, 2048, in, 2048, 2048, 1);
        pf_pack_rows(dev, blank, 2048, x, 4096, 32, 32, NULL);
        break;
    case RULE_return_before_dma_wait: pf_dma_rows(dev, blank, 2048, in, 2048, 2048, 1); break;
    case RULE_wait_for_no_ticket: pf_dma_wait(dev, 1); break;
    case RULE_dma_wide_stride: pf_dma_rows(dev, blank, 1u << 24, in, 2048, 2048, 1); break;
    case RULE_dma_many_rows: pf_dma_rows(dev, blank, 2048, in, 2048, 1, 1u << 16); break;
    case RULE_dma_past_operand: pf_dma_rows(dev, blank, 2048, in + 31 * 4096, 4096, 2048, 2); break;
    case RULE_dma_past_stage: pf_dma_rows(dev, good, 4096, in, 4096, 4096, 17); break;
    case RULE_read_before_scatter_release:
    case RULE_return_before_scatter_release:
        fetch(dev, blank, 4096, in, 4096, 64, 32);
        pf_scatter_words(dev, good, 2048, blank, 4096, 1);
        if (request->axes[1] == RULE_read_before_scatter_release)
            begin(dev), issue(dev, good, good, 1);
        break;
    case RULE_unaligned_tile: pf_pack_rows(dev, good + 128, 2048, x, 4096, 32, 32, NULL); break;
    case RULE_unaligned_row: pf_pack_rows(dev, good, 2048, x + 1, 4096, 32, 32, NULL); break;
    case RULE_unaligned_half_row: pf_pack_rows_bf16(dev, good, 2048, (const uint16_t *)x + 8, 4096, 32, 32, NULL); break;
    case RULE_reserved_corner: pf_pack_rows(dev, end - 2048, 2048, x, 4096, 32, 32, NULL); break;
    case RULE_outside_vtcm: pf_pack_rows(dev, end, 2048, x, 4096, 32, 32, NULL); break;
    case RULE_no_such_window: pf_window(dev, plan, 2, 0); break;
    case RULE_no_such_stage: pf_window(dev, plan, 0, 1); break;
    case RULE_too_many_rows: pf_pack_rows(dev, good, 2048, x, 4096, 33, 32, NULL); break;
    case RULE_multiply_without_lock: issue(dev, good, good, 1); break;
    case RULE_return_with_lock: begin(dev); break;
    case RULE_lock_twice: begin(dev), begin(dev); break;
    case RULE_packet_of_33: begin(dev), issue(dev, good, good, 33); break;
    case RULE_store_without_multiply: begin(dev), store(dev, blank); break;
    case RULE_discarded_accumulator: begin(dev), issue(dev, good, good, 1), pf_hmx_end(dev); break;
    case RULE_overflow_multiplied: overflow(dev, blank, good), issue(dev, blank, good, 1); break;
    case RULE_unpack_without_flags:
        overflow(dev, blank, good);
        pf_unpack_rows(dev, blank, 2048, y, 4096, 32, 32, NULL, NULL, 0);
        break;
    case RULE_COUNT: break;
    }
}

static int rule(pf_device *dev, const struct pf_plan *plan, const struct pf_request *request)
{
    int status = pf_enter(dev, plan, request, KERNEL_RULE);
    if (status)
        return status;
    status = pf_vtcm_acquire(dev);
    if (status)
        return status;
    PF_STEP(dev, "rule", "unit.c:7:9", "broken", {"m", 64}, {"stage", request->axes[1] & 1u});
    const float *x = (const float *)operand(request, 0);
    pf_pack_rows(dev, pf_window(dev, plan, 1, 0), PF_TILE_BYTES, x, 4096, 32, 1024, NULL);
    break_rule(dev, plan, request);
    pf_vtcm_release(dev);
    return PF_OK;
}

static const struct pf_kernel pf_kernels[] = {
    {KERNEL_PRIMITIVE, "primitive", primitive},
    {KERNEL_RULE, "rule", rule},
};

#include "model_table.h"
