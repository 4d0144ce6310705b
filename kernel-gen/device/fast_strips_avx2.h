/* Strip bodies of the fast model for AVX2 + F16C. Column tails use masked lanes, so nothing beyond a row's end is read
 * or written.
 */
#ifndef PF_FAST_STRIPS_AVX2_H
#define PF_FAST_STRIPS_AVX2_H

#include "avx2.h"

/* Columns [column, column + 8) of a row, scaled; zero beyond `cols` and for rows past the end (from == NULL). */
static inline __m256 pf_load_scaled(const uint8_t *from, uint32_t column, uint32_t cols, __m256 scale,
                                    enum pf_element element)
{
    if (!from || column >= cols)
        return _mm256_setzero_ps();
    if (element == PF_F32) {
        const float *f32 = (const float *)from + column;
        __m256 value = column + 8 <= cols ? _mm256_loadu_ps(f32) : _mm256_maskload_ps(f32, pf_first_lanes(cols - column));
        return _mm256_mul_ps(value, scale);
    }
    uint16_t tail[8] = {0};
    const void *halves = from + 2u * (size_t)column;
    if (column + 8 > cols)
        halves = memcpy(tail, halves, 2u * (cols - column));
    __m128i half = _mm_loadu_si128((const __m128i *)halves);
    __m256 value = element == PF_BF16 ? _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(half), 16))
                                      : _mm256_cvtph_ps(half);
    return _mm256_mul_ps(value, scale);
}

static inline const uint8_t *pf_row(const uint8_t *src, uint32_t src_stride, uint32_t row, uint32_t rows)
{
    return row < rows ? src + (size_t)row * src_stride : NULL;
}

static inline void pf_pack_rows_body(pf_device *dev, uint8_t *dst, uint32_t dst_tile_stride, const uint8_t *src,
                                     uint32_t src_stride, uint32_t rows, uint32_t cols, const int32_t *row_exp,
                                     enum pf_element element)
{
    (void)dev;
    for (uint32_t row = 0; row < PF_TILE; row += 2) {
        const uint8_t *even = pf_row(src, src_stride, row, rows), *odd = pf_row(src, src_stride, row + 1, rows);
        __m256 even_scale = _mm256_set1_ps(pf_row_scale(row_exp, row, rows));
        __m256 odd_scale = _mm256_set1_ps(pf_row_scale(row_exp, row + 1, rows));
        uint8_t *to = dst + row * 64u;
        for (uint32_t tile = 0; tile < pf_tiles_for(cols); tile++, to += dst_tile_stride)
            for (uint32_t c = 0; c < PF_TILE; c += 8)
                pf_store_pairs(to + c * 4u, pf_load_scaled(even, tile * PF_TILE + c, cols, even_scale, element),
                               pf_load_scaled(odd, tile * PF_TILE + c, cols, odd_scale, element));
    }
}

static inline void pf_pack_cols_body(pf_device *dev, uint8_t *dst, uint32_t dst_tile_stride, const uint8_t *src,
                                     uint32_t src_stride, uint32_t rows, uint32_t cols, const int32_t *row_exp,
                                     enum pf_element element)
{
    (void)dev;
    for (uint32_t row = 0; row < PF_TILE; row += 8)
        for (uint32_t column = 0; column < pf_tiles_for(cols) * PF_TILE; column += 16) {
            __m256i v[8];
            for (uint32_t i = 0; i < 8; i++) {
                const uint8_t *from = pf_row(src, src_stride, row + i, rows);
                __m256 scale = _mm256_set1_ps(pf_row_scale(row_exp, row + i, rows));
                v[i] = _mm256_set_m128i(pf_narrow(pf_load_scaled(from, column + 8, cols, scale, element)),
                                        pf_narrow(pf_load_scaled(from, column, cols, scale, element)));
            }
            pf_transpose8(v);
            uint8_t *to = dst + (size_t)(column / PF_TILE) * dst_tile_stride + (column % PF_TILE) * 64u + row * 4u;
            for (uint32_t i = 0; i < 8; i++)
                pf_store256(to + i * 128u, v[i]);
        }
}

static inline void pf_interleave_pairs_body(pf_device *dev, uint8_t *dst, uint32_t dst_tile_stride, const uint8_t *src,
                                            uint32_t src_stride, uint32_t tiles)
{
    (void)dev;
    for (uint32_t row = 0; row < PF_TILE; row += 2) {
        const uint8_t *even = src + (size_t)row * src_stride, *odd = even + src_stride;
        uint8_t *to = dst + row * 64u;
        for (uint32_t tile = 0; tile < tiles; tile++, to += dst_tile_stride)
            for (uint32_t byte = 0; byte < 64; byte += 32) {
                __m256i a = pf_load256(even + tile * 64u + byte), b = pf_load256(odd + tile * 64u + byte);
                __m256i low = _mm256_unpacklo_epi16(a, b), high = _mm256_unpackhi_epi16(a, b);
                pf_store256(to + byte * 2u, _mm256_permute2x128_si256(low, high, 0x20));
                pf_store256(to + byte * 2u + 32, _mm256_permute2x128_si256(low, high, 0x31));
            }
    }
}

static inline void pf_scatter_words_body(pf_device *dev, uint8_t *dst, uint32_t dst_tile_stride, const uint8_t *src,
                                         uint32_t src_stride, uint32_t tiles)
{
    (void)dev;
    for (uint32_t row = 0; row < PF_TILE; row += 8)
        for (uint32_t piece = 0; piece < tiles * 2u; piece++) {
            __m256i v[8];
            for (uint32_t i = 0; i < 8; i++)
                v[i] = pf_load256(src + (size_t)(row + i) * src_stride + (size_t)piece * 32u);
            pf_transpose8(v);
            uint8_t *to = dst + (size_t)(piece >> 1) * dst_tile_stride + (piece & 1u) * 1024u + row * 4u;
            for (uint32_t i = 0; i < 8; i++)
                pf_store256(to + i * 128u, v[i]);
        }
}

static inline void pf_dequantise_q8_body(pf_device *dev, uint8_t *dst, uint32_t dst_tile_stride, const uint8_t *src,
                                         uint32_t src_tile_stride, uint32_t tiles)
{
    (void)dev;
    const __m256i low_pairs = _mm256_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3);
    const __m256i high_pairs = _mm256_setr_epi32(4, 4, 5, 5, 6, 6, 7, 7);
    for (uint32_t tile = 0; tile < tiles; tile++) {
        const uint8_t *from = src + (size_t)tile * src_tile_stride;
        uint8_t *to = dst + (size_t)tile * dst_tile_stride;
        /* Eight rows n at a time: their scales stay in two registers down all 16 pairs of k. */
        for (uint32_t n = 0; n < PF_TILE; n += 8) {
            __m256 scales = _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(from + 1024 + n * 2u)));
            __m256 low = _mm256_permutevar8x32_ps(scales, low_pairs), high = _mm256_permutevar8x32_ps(scales, high_pairs);
            for (uint32_t pair = 0; pair < 16; pair++) {
                __m128i quants = _mm_loadu_si128((const __m128i *)(from + pair * 64u + n * 2u));
                __m256 a = _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(quants));
                __m256 b = _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_srli_si128(quants, 8)));
                pf_store256(to + pair * 128u + n * 4u,
                            _mm256_set_m128i(pf_narrow(_mm256_mul_ps(b, high)), pf_narrow(_mm256_mul_ps(a, low))));
            }
        }
    }
}

static inline void pf_dequantise_q4_body(pf_device *dev, uint8_t *dst, uint32_t dst_tile_stride, const uint8_t *src,
                                         uint32_t src_tile_stride, uint32_t tiles)
{
    (void)dev;
    const __m256i low_pairs = _mm256_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3);
    const __m256i high_pairs = _mm256_setr_epi32(4, 4, 5, 5, 6, 6, 7, 7);
    const __m128i nibble = _mm_set1_epi8(15), eight = _mm_set1_epi8(8);
    for (uint32_t tile = 0; tile < tiles; tile++) {
        const uint8_t *from = src + (size_t)tile * src_tile_stride;
        uint8_t *to = dst + (size_t)tile * dst_tile_stride;
        for (uint32_t n = 0; n < PF_TILE; n += 8) {
            __m256 scales = _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(from + 512 + n * 2u)));
            __m256 low = _mm256_permutevar8x32_ps(scales, low_pairs), high = _mm256_permutevar8x32_ps(scales, high_pairs);
            for (uint32_t pair = 0; pair < 16; pair++) {
                __m128i packed = _mm_loadl_epi64((const __m128i *)(from + pair * 32u + n));
                __m128i even = _mm_and_si128(packed, nibble), odd = _mm_and_si128(_mm_srli_epi16(packed, 4), nibble);
                __m128i quants = _mm_sub_epi8(_mm_unpacklo_epi8(even, odd), eight);
                __m256 a = _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(quants));
                __m256 b = _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_srli_si128(quants, 8)));
                pf_store256(to + pair * 128u + n * 4u,
                            _mm256_set_m128i(pf_narrow(_mm256_mul_ps(b, high)), pf_narrow(_mm256_mul_ps(a, low))));
            }
        }
    }
}

/* Stores or adds columns [column, column + 8) of a row. */
static inline void pf_put_scaled(float *to, uint32_t column, uint32_t cols, __m128i half, __m256 scale, int accumulate,
                                 struct pf_columns columns)
{
    if (column >= cols)
        return;
    __m256 value = _mm256_mul_ps(_mm256_cvtph_ps(half), scale);
    if (column + 8 <= cols) {
        if (columns.scale)
            value = _mm256_mul_ps(value, _mm256_loadu_ps(columns.scale + column));
        if (accumulate)
            value = _mm256_add_ps(_mm256_loadu_ps(to + column), value);
        else if (columns.bias)
            value = _mm256_add_ps(value, _mm256_loadu_ps(columns.bias + column));
        _mm256_storeu_ps(to + column, value);
        return;
    }
    __m256i lanes = pf_first_lanes(cols - column);
    if (columns.scale)
        value = _mm256_mul_ps(value, _mm256_maskload_ps(columns.scale + column, lanes));
    if (accumulate)
        value = _mm256_add_ps(_mm256_maskload_ps(to + column, lanes), value);
    else if (columns.bias)
        value = _mm256_add_ps(value, _mm256_maskload_ps(columns.bias + column, lanes));
    _mm256_maskstore_ps(to + column, lanes, value);
}

static inline void pf_put_scaled16(float *to, uint32_t column, uint32_t cols, __m256i half, __m256 scale, int accumulate,
                                   struct pf_columns columns)
{
    pf_put_scaled(to, column, cols, _mm256_castsi256_si128(half), scale, accumulate, columns);
    pf_put_scaled(to, column + 8, cols, _mm256_extracti128_si256(half, 1), scale, accumulate, columns);
}

/* All ones where a halfword's magnitude calls for a retry. */
static inline __m256i pf_too_large(__m256i half)
{
    __m256i magnitude = _mm256_and_si256(half, _mm256_set1_epi16(0x7FFF));
    return _mm256_cmpgt_epi16(magnitude, _mm256_set1_epi16((short)(PF_RETRY_HALF - 1u)));
}

/* Drops halfwords that belong to padding columns from a mask over columns [column, column + 16). */
static inline int pf_any_valid(__m256i mask, uint32_t column, uint32_t cols)
{
    uint32_t bits = (uint32_t)_mm256_movemask_epi8(mask);
    uint32_t valid = column < cols ? pf_smaller(cols - column, 16) : 0;
    return (bits & (uint32_t)((1ull << (2u * valid)) - 1u)) != 0;
}

static inline void pf_unpack_rows_body(pf_device *dev, const uint8_t *src, uint32_t src_tile_stride, float *dst,
                                       uint32_t dst_stride, uint32_t rows, uint32_t cols, const int32_t *row_exp,
                                       uint8_t *row_flags, int accumulate, struct pf_columns columns)
{
    (void)dev;
    for (uint32_t row = 0; row < rows; row += 2) {
        float *even = dst + (size_t)row * (dst_stride / 4u), *odd = even + dst_stride / 4u;
        __m256 even_scale = _mm256_set1_ps(pf_row_unscale(row_exp, row, rows));
        __m256 odd_scale = _mm256_set1_ps(pf_row_unscale(row_exp, row + 1, rows));
        int even_large = 0, odd_large = 0;
        const uint8_t *from = src + row * 64u;
        for (uint32_t tile = 0; tile < pf_tiles_for(cols); tile++, from += src_tile_stride)
            for (uint32_t c = 0; c < PF_TILE; c += 16) {
                struct pf_even_odd half = pf_split_pairs(pf_load256(from + c * 4u), pf_load256(from + c * 4u + 32));
                uint32_t column = tile * PF_TILE + c;
                even_large |= pf_any_valid(pf_too_large(half.even), column, cols);
                odd_large |= pf_any_valid(pf_too_large(half.odd), column, cols);
                pf_put_scaled16(even, column, cols, half.even, even_scale, accumulate, columns);
                if (row + 1 < rows)
                    pf_put_scaled16(odd, column, cols, half.odd, odd_scale, accumulate, columns);
            }
        if (even_large)
            row_flags[row] = 1;
        if (odd_large && row + 1 < rows)
            row_flags[row + 1] = 1;
    }
}

static inline void pf_unpack_cols_body(pf_device *dev, const uint8_t *src, uint32_t src_tile_stride, float *dst,
                                       uint32_t dst_stride, uint32_t rows, uint32_t cols, const int32_t *row_exp,
                                       uint8_t *row_flags, int accumulate, struct pf_columns columns)
{
    (void)dev;
    for (uint32_t row = 0; row < rows; row += 8)
        for (uint32_t column = 0; column < cols; column += 16) {
            const uint8_t *from = src + (size_t)(column / PF_TILE) * src_tile_stride + (column % PF_TILE) * 64u + row * 4u;
            __m256i v[8];
            for (uint32_t i = 0; i < 8; i++)
                v[i] = pf_load256(from + i * 128u);
            pf_transpose8(v);
            for (uint32_t i = 0; i < 8 && row + i < rows; i++) {
                if (pf_any_valid(pf_too_large(v[i]), column, cols))
                    row_flags[row + i] = 1;
                pf_put_scaled16(dst + (size_t)(row + i) * (dst_stride / 4u), column, cols, v[i],
                                _mm256_set1_ps(pf_row_unscale(row_exp, row + i, rows)), accumulate, columns);
            }
        }
}

#endif
