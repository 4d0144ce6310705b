/* Strip bodies in vector operations: what the phone runs, and what the checked model runs with every access checked.
 * One call works on a strip of 32 rows and walks its tiles along the columns.
 */
#ifndef PF_STRIPS_VECTOR_H
#define PF_STRIPS_VECTOR_H

/* Valid f32 bytes of tile `tile` in a row of `cols` columns. */
static inline uint32_t pf_row_bytes(uint32_t cols, uint32_t tile)
{
    return 4u * pf_smaller(cols - tile * PF_TILE, PF_TILE);
}

/* Row `row` of tile `tile` as 32 f32. */
static inline pf_vec pf_load_row(pf_device *dev, const uint8_t *src, uint32_t src_stride, uint32_t row, uint32_t rows,
                                 uint32_t tile, uint32_t cols, enum pf_element element)
{
    if (row >= rows)
        return pf_vzero();
    const uint8_t *from = src + (size_t)row * src_stride + (size_t)tile * PF_TILE * pf_element_bytes(element);
    if (element == PF_F32)
        return pf_vload_ddr(dev, from, pf_row_bytes(cols, tile));
    /* 32 halfwords are half a vector: the first, or the second after some the tile before has. */
    uint32_t before = (uint32_t)((uintptr_t)from % PF_VECTOR_BYTES);
    pf_check(dev, before % 64u == 0, "16-bit rows must be taken from a multiple of 32 columns on", from, before);
    pf_vec halves = pf_vload_ddr(dev, from - before, before + pf_row_bytes(cols, tile) / 2u);
    if (before)
        halves = pf_vror(halves, before);
    if (element == PF_BF16) /* the upper half of an f32 */
        return pf_vshuff(halves, pf_vzero(), -2).lo;
    return pf_vwiden(pf_vshuff(halves, halves, -2).lo).lo;
}

static inline void pf_pack_rows_body(pf_device *dev, uint8_t *dst, uint32_t dst_tile_stride, const uint8_t *src,
                                     uint32_t src_stride, uint32_t rows, uint32_t cols, const int32_t *row_exp,
                                     enum pf_element element)
{
    for (uint32_t row = 0; row < PF_TILE; row += 2) {
        float even_scale = pf_row_scale(row_exp, row, rows), odd_scale = pf_row_scale(row_exp, row + 1, rows);
        for (uint32_t tile = 0; tile < pf_tiles_for(cols); tile++) {
            pf_vec even = pf_load_row(dev, src, src_stride, row, rows, tile, cols, element);
            pf_vec odd = pf_load_row(dev, src, src_stride, row + 1, rows, tile, cols, element);
            pf_vstore(dev, dst + (size_t)tile * dst_tile_stride + row * 64u,
                      pf_vscale_narrow(even, even_scale, odd, odd_scale));
        }
    }
}

/* Tokens j and j + 16 share a vector, so that the transpose below exchanges exactly (j, column pair). */
static inline void pf_pack_cols_body(pf_device *dev, uint8_t *dst, uint32_t dst_tile_stride, const uint8_t *src,
                                     uint32_t src_stride, uint32_t rows, uint32_t cols, const int32_t *row_exp,
                                     enum pf_element element)
{
    for (uint32_t tile = 0; tile < pf_tiles_for(cols); tile++) {
        pf_vec v[16];
        for (uint32_t j = 0; j < 16; j++) {
            pf_vec low = pf_load_row(dev, src, src_stride, j, rows, tile, cols, element);
            pf_vec high = pf_load_row(dev, src, src_stride, j + 16, rows, tile, cols, element);
            v[j] = pf_vdeal_h(pf_vscale_narrow(low, pf_row_scale(row_exp, j, rows), high,
                                               pf_row_scale(row_exp, j + 16, rows)));
        }
        pf_vtranspose_words(v);
        for (uint32_t pair = 0; pair < 16; pair++)
            pf_vstore(dev, dst + (size_t)tile * dst_tile_stride + pair * PF_VECTOR_BYTES, v[pair]);
    }
}

static inline void pf_interleave_pairs_body(pf_device *dev, uint8_t *dst, uint32_t dst_tile_stride, const uint8_t *src,
                                            uint32_t src_stride, uint32_t tiles)
{
    for (uint32_t row = 0; row < PF_TILE; row += 2) {
        const uint8_t *even = src + (size_t)row * src_stride, *odd = even + src_stride;
        for (uint32_t tile = 0; tile < tiles; tile += 2) {
            /* One vector of a row covers two tiles; the last may be half used. */
            uint32_t bytes = 64u * pf_smaller(tiles - tile, 2);
            pf_vec_pair both = pf_vshuff(pf_vload_first(dev, odd + (size_t)tile * 64u, bytes),
                                         pf_vload_first(dev, even + (size_t)tile * 64u, bytes), -2);
            uint8_t *to = dst + (size_t)tile * dst_tile_stride + row * 64u;
            pf_vstore(dev, to, both.lo);
            if (tile + 1 < tiles)
                pf_vstore(dev, to + dst_tile_stride, both.hi);
        }
    }
}

static inline void pf_scatter_words_body(pf_device *dev, uint8_t *dst, uint32_t dst_tile_stride, const uint8_t *src,
                                         uint32_t src_stride, uint32_t tiles)
{
    for (uint32_t row = 0; row < PF_TILE; row++) {
        for (uint32_t tile = 0; tile < tiles; tile += 2) {
            uint32_t bytes = 64u * pf_smaller(tiles - tile, 2);
            pf_vec v = pf_vload_first(dev, src + (size_t)row * src_stride + (size_t)tile * 64u, bytes);
            uint8_t *to = dst + (size_t)tile * dst_tile_stride;
            pf_vscatter_column(dev, to, row, v);
            if (tile + 1 < tiles)
                pf_vscatter_column(dev, to + dst_tile_stride, row, pf_vror(v, 64));
        }
    }
}

static inline void pf_dequantise_q8_body(pf_device *dev, uint8_t *dst, uint32_t dst_tile_stride, const uint8_t *src,
                                         uint32_t src_tile_stride, uint32_t tiles)
{
    for (uint32_t tile = 0; tile < tiles; tile++) {
        const uint8_t *from = src + (size_t)tile * src_tile_stride;
        uint8_t *to = dst + (size_t)tile * dst_tile_stride;
        pf_vec scales = pf_vload_first(dev, from + 1024, 64);
        scales = pf_vshuff(scales, scales, -2).lo; /* halfwords 2n and 2n + 1 both hold the scale of row n */
        for (uint32_t i = 0; i < 8; i++) {
            pf_vec_pair quants = pf_vhf_from_b(pf_vload(dev, from + i * PF_VECTOR_BYTES));
            pf_vstore(dev, to + i * 256u, pf_vmul_hf(quants.lo, scales));
            pf_vstore(dev, to + i * 256u + PF_VECTOR_BYTES, pf_vmul_hf(quants.hi, scales));
        }
    }
}

static inline void pf_dequantise_q4_body(pf_device *dev, uint8_t *dst, uint32_t dst_tile_stride, const uint8_t *src,
                                         uint32_t src_tile_stride, uint32_t tiles)
{
    pf_vec nibble = pf_vsplat_word(0x0F0F0F0Fu), eight = pf_vsplat_word(0x08080808u);
    for (uint32_t tile = 0; tile < tiles; tile++) {
        const uint8_t *from = src + (size_t)tile * src_tile_stride;
        uint8_t *to = dst + (size_t)tile * dst_tile_stride;
        pf_vec scales = pf_vload_first(dev, from + 512, 64);
        scales = pf_vshuff(scales, scales, -2).lo; /* halfwords 2n and 2n + 1 both hold the scale of row n */
        for (uint32_t i = 0; i < 4; i++) {
            pf_vec packed = pf_vload(dev, from + i * PF_VECTOR_BYTES);
            pf_vec even = pf_vsub_b(pf_vand(packed, nibble), eight);
            pf_vec odd = pf_vsub_b(pf_vand(pf_vlsr_w(packed, 4), nibble), eight);
            pf_vec_pair quants = pf_vshuff(odd, even, -1); /* bytes 2n and 2n + 1 of a pair of k */
            pf_vec_pair low = pf_vhf_from_b(quants.lo), high = pf_vhf_from_b(quants.hi);
            pf_vstore(dev, to + i * 512u, pf_vmul_hf(low.lo, scales));
            pf_vstore(dev, to + i * 512u + PF_VECTOR_BYTES, pf_vmul_hf(low.hi, scales));
            pf_vstore(dev, to + i * 512u + 2u * PF_VECTOR_BYTES, pf_vmul_hf(high.lo, scales));
            pf_vstore(dev, to + i * 512u + 3u * PF_VECTOR_BYTES, pf_vmul_hf(high.hi, scales));
        }
    }
}

/* Stores or adds the f32 vector of one token and tile. */
static inline void pf_put_row(pf_device *dev, float *dst, uint32_t dst_stride, uint32_t row, uint32_t tile, uint32_t cols,
                              pf_vec value, float scale, int accumulate, struct pf_columns columns)
{
    uint8_t *to = (uint8_t *)dst + (size_t)row * dst_stride + (size_t)tile * PF_VECTOR_BYTES;
    uint32_t bytes = pf_row_bytes(cols, tile);
    value = pf_vscale_sf(value, scale);
    if (columns.scale)
        value = pf_vmul_sf(value, pf_vload_ddr(dev, columns.scale + tile * PF_TILE, bytes));
    if (accumulate)
        value = pf_vadd_sf(pf_vload_ddr(dev, to, bytes), value);
    else if (columns.bias)
        value = pf_vadd_sf(value, pf_vload_ddr(dev, columns.bias + tile * PF_TILE, bytes));
    pf_vstore_ddr(dev, to, value, bytes);
}

static inline void pf_raise_flag(pf_device *dev, uint8_t *row_flags, uint32_t row, uint32_t rows, uint32_t worst_half)
{
    if (row >= rows || worst_half < PF_RETRY_HALF)
        return;
    pf_check_ddr(dev, row_flags + row, 1, 1);
    row_flags[row] = 1;
}

static inline void pf_unpack_rows_body(pf_device *dev, const uint8_t *src, uint32_t src_tile_stride, float *dst,
                                       uint32_t dst_stride, uint32_t rows, uint32_t cols, const int32_t *row_exp,
                                       uint8_t *row_flags, int accumulate, struct pf_columns columns)
{
    pf_vec magnitude = pf_vsplat_word(0x7FFF7FFFu);
    for (uint32_t row = 0; row < rows; row += 2) {
        float even_scale = pf_row_unscale(row_exp, row, rows), odd_scale = pf_row_unscale(row_exp, row + 1, rows);
        pf_vec worst = pf_vzero();
        for (uint32_t tile = 0; tile < pf_tiles_for(cols); tile++) {
            pf_vec v = pf_vload_output(dev, src + (size_t)tile * src_tile_stride + row * 64u);
            worst = pf_vmax_uh(worst, pf_vkeep_first(pf_vand(v, magnitude), pf_row_bytes(cols, tile)));
            pf_vec_pair wide = pf_vwiden(v);
            pf_put_row(dev, dst, dst_stride, row, tile, cols, wide.lo, even_scale, accumulate, columns);
            if (row + 1 < rows)
                pf_put_row(dev, dst, dst_stride, row + 1, tile, cols, wide.hi, odd_scale, accumulate, columns);
        }
        /* Halving rotations by whole words keep even halfwords (this row) apart from odd ones (the next). */
        for (uint32_t bytes = 64; bytes >= 4; bytes >>= 1)
            worst = pf_vmax_uh(worst, pf_vror(worst, bytes));
        uint32_t halves = pf_vword(worst, 0);
        pf_raise_flag(dev, row_flags, row, rows, halves & 0xFFFFu);
        pf_raise_flag(dev, row_flags, row + 1, rows, halves >> 16);
    }
}

static inline void pf_unpack_cols_body(pf_device *dev, const uint8_t *src, uint32_t src_tile_stride, float *dst,
                                       uint32_t dst_stride, uint32_t rows, uint32_t cols, const int32_t *row_exp,
                                       uint8_t *row_flags, int accumulate, struct pf_columns columns)
{
    pf_vec worst = pf_vzero();
    for (uint32_t tile = 0; tile < pf_tiles_for(cols); tile++) {
        uint32_t valid = pf_smaller(cols - tile * PF_TILE, PF_TILE);
        pf_vec v[16];
        for (uint32_t pair = 0; pair < 16; pair++) {
            v[pair] = pf_vload_output(dev, src + (size_t)tile * src_tile_stride + pair * PF_VECTOR_BYTES);
            /* A word holds columns 2 pair and 2 pair + 1 of one token. */
            uint32_t mask = 2u * pair + 1u < valid ? 0x7FFF7FFFu : 2u * pair < valid ? 0x00007FFFu : 0u;
            worst = pf_vmax_uh(worst, pf_vand(v[pair], pf_vsplat_word(mask)));
        }
        pf_vtranspose_words(v);
        for (uint32_t j = 0; j < 16; j++) {
            pf_vec_pair wide = pf_vwiden(pf_vshuff_h(v[j]));
            if (j < rows)
                pf_put_row(dev, dst, dst_stride, j, tile, cols, wide.lo, pf_row_unscale(row_exp, j, rows), accumulate,
                           columns);
            if (j + 16 < rows)
                pf_put_row(dev, dst, dst_stride, j + 16, tile, cols, wide.hi, pf_row_unscale(row_exp, j + 16, rows),
                           accumulate, columns);
        }
    }
    for (uint32_t row = 0; row < rows; row++) {
        uint32_t halves = pf_vword(worst, row);
        pf_raise_flag(dev, row_flags, row, rows, halves & 0xFFFFu);
        pf_raise_flag(dev, row_flags, row, rows, halves >> 16);
    }
}

#endif
