/* Strip bodies of the fast model in plain C loops. */
#ifndef PF_FAST_STRIPS_PORTABLE_H
#define PF_FAST_STRIPS_PORTABLE_H

/* One row of one tile, element c at halfword out[c * step]. */
static inline void pf_pack_row(uint16_t *out, uint32_t step, const uint8_t *from, uint32_t valid, float scale,
                               enum pf_element element)
{
    float value[PF_TILE];
    if (element == PF_F32)
        memcpy(value, from, valid * sizeof *value);
    else
        for (uint32_t c = 0; c < valid; c++) {
            uint16_t half;
            memcpy(&half, from + 2u * c, sizeof half);
            value[c] = element == PF_BF16 ? pf_float((uint32_t)half << 16) : pf_float_from_half(half);
        }
    for (uint32_t c = 0; c < valid; c++)
        out[c * step] = pf_half_from_float(value[c] * scale);
    for (uint32_t c = valid; c < PF_TILE; c++)
        out[c * step] = 0;
}

static inline void pf_pack_rows_body(pf_device *dev, uint8_t *dst, uint32_t dst_tile_stride, const uint8_t *src,
                                     uint32_t src_stride, uint32_t rows, uint32_t cols, const int32_t *row_exp,
                                     enum pf_element element)
{
    (void)dev;
    const size_t tile_bytes = PF_TILE * pf_element_bytes(element);
    for (uint32_t tile = 0; tile < pf_tiles_for(cols); tile++) {
        uint16_t *out = (uint16_t *)(dst + (size_t)tile * dst_tile_stride);
        uint32_t valid = pf_smaller(cols - tile * PF_TILE, PF_TILE);
        for (uint32_t row = 0; row < PF_TILE; row++) {
            const uint8_t *from = src + (row < rows ? (size_t)row * src_stride + tile * tile_bytes : 0);
            pf_pack_row(out + pf_tile_index(row, 0), 2, from, row < rows ? valid : 0, pf_row_scale(row_exp, row, rows),
                        element);
        }
    }
}

static inline void pf_pack_cols_body(pf_device *dev, uint8_t *dst, uint32_t dst_tile_stride, const uint8_t *src,
                                     uint32_t src_stride, uint32_t rows, uint32_t cols, const int32_t *row_exp,
                                     enum pf_element element)
{
    (void)dev;
    const size_t tile_bytes = PF_TILE * pf_element_bytes(element);
    for (uint32_t tile = 0; tile < pf_tiles_for(cols); tile++) {
        uint16_t *out = (uint16_t *)(dst + (size_t)tile * dst_tile_stride);
        uint32_t valid = pf_smaller(cols - tile * PF_TILE, PF_TILE);
        for (uint32_t row = 0; row < PF_TILE; row++) {
            const uint8_t *from = src + (row < rows ? (size_t)row * src_stride + tile * tile_bytes : 0);
            uint16_t packed[PF_TILE];
            pf_pack_row(packed, 1, from, row < rows ? valid : 0, pf_row_scale(row_exp, row, rows),
                        element);
            for (uint32_t pair = 0; pair < 16; pair++)
                memcpy(out + pair * 64u + row * 2u, packed + pair * 2u, 4);
        }
    }
}

static inline void pf_interleave_pairs_body(pf_device *dev, uint8_t *dst, uint32_t dst_tile_stride, const uint8_t *src,
                                            uint32_t src_stride, uint32_t tiles)
{
    (void)dev;
    for (uint32_t tile = 0; tile < tiles; tile++) {
        uint16_t *out = (uint16_t *)(dst + (size_t)tile * dst_tile_stride);
        for (uint32_t row = 0; row < PF_TILE; row += 2) {
            const uint16_t *even = (const uint16_t *)(src + (size_t)row * src_stride) + tile * PF_TILE;
            const uint16_t *odd = (const uint16_t *)(src + (size_t)(row + 1) * src_stride) + tile * PF_TILE;
            for (uint32_t k = 0; k < PF_TILE; k++) {
                out[row * 32u + 2u * k] = even[k];
                out[row * 32u + 2u * k + 1u] = odd[k];
            }
        }
    }
}

static inline void pf_scatter_words_body(pf_device *dev, uint8_t *dst, uint32_t dst_tile_stride, const uint8_t *src,
                                         uint32_t src_stride, uint32_t tiles)
{
    (void)dev;
    for (uint32_t tile = 0; tile < tiles; tile++)
        for (uint32_t row = 0; row < PF_TILE; row++) {
            const uint8_t *from = src + (size_t)row * src_stride + (size_t)tile * 64u;
            uint8_t *to = dst + (size_t)tile * dst_tile_stride + row * 4u;
            for (uint32_t pair = 0; pair < 16; pair++)
                memcpy(to + pair * 128u, from + pair * 4u, 4);
        }
}

static inline void pf_dequantise_q8_body(pf_device *dev, uint8_t *dst, uint32_t dst_tile_stride, const uint8_t *src,
                                         uint32_t src_tile_stride, uint32_t tiles)
{
    (void)dev;
    for (uint32_t tile = 0; tile < tiles; tile++) {
        const int8_t *quants = (const int8_t *)(src + (size_t)tile * src_tile_stride);
        const uint16_t *scales = (const uint16_t *)(quants + 1024);
        uint16_t *out = (uint16_t *)(dst + (size_t)tile * dst_tile_stride);
        float scale[64];
        for (uint32_t i = 0; i < 64; i++)
            scale[i] = pf_float_from_half(scales[i / 2u]);
        for (uint32_t pair = 0; pair < 16; pair++)
            for (uint32_t i = 0; i < 64; i++)
                out[pair * 64u + i] = pf_half_from_float((float)quants[pair * 64u + i] * scale[i]);
    }
}

static inline void pf_dequantise_q4_body(pf_device *dev, uint8_t *dst, uint32_t dst_tile_stride, const uint8_t *src,
                                         uint32_t src_tile_stride, uint32_t tiles)
{
    (void)dev;
    for (uint32_t tile = 0; tile < tiles; tile++) {
        const uint8_t *packed = src + (size_t)tile * src_tile_stride;
        const uint16_t *scales = (const uint16_t *)(packed + 512);
        uint16_t *out = (uint16_t *)(dst + (size_t)tile * dst_tile_stride);
        float scale[PF_TILE];
        for (uint32_t n = 0; n < PF_TILE; n++)
            scale[n] = pf_float_from_half(scales[n]);
        for (uint32_t pair = 0; pair < 16; pair++)
            for (uint32_t n = 0; n < PF_TILE; n++) {
                int32_t byte = packed[pair * 32u + n];
                out[pair * 64u + 2u * n] = pf_half_from_float((float)((byte & 15) - 8) * scale[n]);
                out[pair * 64u + 2u * n + 1u] = pf_half_from_float((float)((byte >> 4) - 8) * scale[n]);
            }
    }
}

/* One row of one output tile, element c at halfword in[c * step], columns from `first` on; returns the largest
 * magnitude's pattern. */
static inline uint32_t pf_unpack_row(float *to, const uint16_t *in, uint32_t step, uint32_t first, uint32_t valid,
                                     float scale, int accumulate, struct pf_columns columns)
{
    uint32_t worst = 0;
    for (uint32_t c = 0; c < valid; c++) {
        uint32_t magnitude = in[c * step] & 0x7FFFu;
        worst = magnitude > worst ? magnitude : worst;
    }
    float value[PF_TILE];
    for (uint32_t c = 0; c < valid; c++)
        value[c] = pf_float_from_half(in[c * step]) * scale;
    if (columns.scale)
        for (uint32_t c = 0; c < valid; c++)
            value[c] *= columns.scale[first + c];
    if (accumulate)
        for (uint32_t c = 0; c < valid; c++)
            to[c] += value[c];
    else if (columns.bias)
        for (uint32_t c = 0; c < valid; c++)
            to[c] = value[c] + columns.bias[first + c];
    else
        memcpy(to, value, valid * sizeof *value);
    return worst;
}

static inline void pf_unpack_rows_body(pf_device *dev, const uint8_t *src, uint32_t src_tile_stride, float *dst,
                                       uint32_t dst_stride, uint32_t rows, uint32_t cols, const int32_t *row_exp,
                                       uint8_t *row_flags, int accumulate, struct pf_columns columns)
{
    (void)dev;
    for (uint32_t row = 0; row < rows; row++)
        for (uint32_t tile = 0; tile < pf_tiles_for(cols); tile++) {
            const uint16_t *in = (const uint16_t *)(src + (size_t)tile * src_tile_stride) + pf_tile_index(row, 0);
            float *to = dst + (size_t)row * (dst_stride / 4u) + tile * PF_TILE;
            if (pf_unpack_row(to, in, 2, tile * PF_TILE, pf_smaller(cols - tile * PF_TILE, PF_TILE),
                              pf_row_unscale(row_exp, row, rows), accumulate, columns) >= PF_RETRY_HALF)
                row_flags[row] = 1;
        }
}

static inline void pf_unpack_cols_body(pf_device *dev, const uint8_t *src, uint32_t src_tile_stride, float *dst,
                                       uint32_t dst_stride, uint32_t rows, uint32_t cols, const int32_t *row_exp,
                                       uint8_t *row_flags, int accumulate, struct pf_columns columns)
{
    (void)dev;
    for (uint32_t tile = 0; tile < pf_tiles_for(cols); tile++)
        for (uint32_t row = 0; row < rows; row++) {
            const uint8_t *tile_column = src + (size_t)tile * src_tile_stride + row * 4u;
            uint16_t in[PF_TILE];
            for (uint32_t pair = 0; pair < 16; pair++)
                memcpy(in + pair * 2u, tile_column + pair * 128u, 4);
            float *to = dst + (size_t)row * (dst_stride / 4u) + tile * PF_TILE;
            if (pf_unpack_row(to, in, 1, tile * PF_TILE, pf_smaller(cols - tile * PF_TILE, PF_TILE),
                              pf_row_unscale(row_exp, row, rows), accumulate, columns) >= PF_RETRY_HALF)
                row_flags[row] = 1;
        }
}

#endif
