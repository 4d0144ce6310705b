/* Strip calls: what emitted kernels ask of HVX. A strip is 32 rows; a call walks `tiles` tiles of 32 columns, tile i at
 * dst + i * dst_tile_stride, so that either order of the tile grid can be produced.
 *
 * Token rows live in DDR: row base and stride multiples of 128. 16-bit rows may be taken from any multiple of 32 columns
 * on. Row-major FP16 and Q8 tiles live in VTCM: strip
 * base, row stride and Q8 tile stride multiples of 128. FP16 tiles are aligned to 2048.
 */
#ifndef PF_STRIPS_H
#define PF_STRIPS_H

/* What the rows a pack reads are made of. */
enum pf_element { PF_F32, PF_F16, PF_BF16 };

static inline uint32_t pf_element_bytes(enum pf_element element)
{
    return element == PF_F32 ? 4u : 2u;
}

/* 2^e of a row; rows beyond the end are zero and any scale will do. No exponents means 2^0. */
static inline float pf_row_scale(const int32_t *row_exp, uint32_t row, uint32_t rows)
{
    return row_exp && row < rows ? pf_power_of_two(row_exp[row]) : 1.0f;
}

static inline float pf_row_unscale(const int32_t *row_exp, uint32_t row, uint32_t rows)
{
    return row_exp && row < rows ? pf_power_of_two(-row_exp[row]) : 1.0f;
}

/* What an unpack does to column c: value * scale[c] + bias[c]. NULL stands for 1 and for 0. A sum starts from the bias, so
 * an unpack that adds takes none. Both are f32 in DDR, the first column at a multiple of 128 bytes. */
struct pf_columns {
    const float *scale, *bias;
};

static const struct pf_columns pf_plain_columns = {NULL, NULL};

#include "vector.h" /* in the fast model too: bodies of an author's steps are written in it */

#if !defined(PF_MODEL_FAST)
#include "strips_vector.h"
#elif defined(__AVX2__) && defined(__F16C__)
#include "fast_strips_avx2.h"
#else
#include "fast_strips_portable.h"
#endif

static inline void pf_count_strip(pf_device *dev, uint32_t tiles)
{
#if defined(PF_HEXAGON)
    (void)dev, (void)tiles;
#else
    dev->counts.strips++;
    dev->counts.strip_tiles += tiles;
#endif
}

/* Every strip call that makes tiles passes here first. */
static inline void pf_begin_tiles(pf_device *dev, uint8_t *dst, uint32_t dst_tile_stride, uint32_t tiles)
{
    for (uint32_t tile = 0; tile < tiles; tile++)
        pf_check_tile(dev, dst + (size_t)tile * dst_tile_stride);
    pf_mirror_forget_tiles(dev, dst, dst_tile_stride, tiles);
    pf_count_strip(dev, tiles);
}

static inline void pf_check_rows(pf_device *dev, uint32_t rows, uint32_t cols, const int32_t *row_exp)
{
    pf_check(dev, rows >= 1 && rows <= PF_TILE, "a strip has 1 to 32 rows", NULL, rows);
    pf_check(dev, cols >= 1, "a strip has at least one column", NULL, cols);
#if defined(PF_MODEL_CHECKED)
    for (uint32_t row = 0; row_exp && row < rows; row++) {
        pf_check_ddr(dev, row_exp + row, sizeof row_exp[row], 0);
        pf_check(dev, row_exp[row] >= -PF_MOST_EXPONENT && row_exp[row] <= PF_MOST_EXPONENT,
                 "a row exponent must lie in [-126, 126]", NULL, (size_t)row);
    }
#else
    (void)row_exp;
#endif
}

#define PF_PACK(suffix, type, element)                                                                                  \
    static inline void pf_pack_rows##suffix(pf_device *dev, uint8_t *dst, uint32_t dst_tile_stride, const type *src,    \
                                            uint32_t src_stride_bytes, uint32_t rows, uint32_t cols,                    \
                                            const int32_t *row_exp)                                                     \
    {                                                                                                                   \
        pf_check_rows(dev, rows, cols, row_exp);                                                                        \
        pf_begin_tiles(dev, dst, dst_tile_stride, pf_tiles_for(cols));                                                  \
        pf_pack_rows_body(dev, dst, dst_tile_stride, (const uint8_t *)src, src_stride_bytes, rows, cols, row_exp,       \
                          element);                                                                                     \
    }                                                                                                                   \
    static inline void pf_pack_cols##suffix(pf_device *dev, uint8_t *dst, uint32_t dst_tile_stride, const type *src,    \
                                            uint32_t src_stride_bytes, uint32_t rows, uint32_t cols,                    \
                                            const int32_t *row_exp)                                                     \
    {                                                                                                                   \
        pf_check_rows(dev, rows, cols, row_exp);                                                                        \
        pf_begin_tiles(dev, dst, dst_tile_stride, pf_tiles_for(cols));                                                  \
        pf_pack_cols_body(dev, dst, dst_tile_stride, (const uint8_t *)src, src_stride_bytes, rows, cols, row_exp,       \
                          element);                                                                                     \
    }

/* pf_pack_rows: rows x 2^e, rounded to FP16, into activation tiles A[row][column]; padding rows and columns are zero.
 * pf_pack_cols: the same rows into weight tiles B[column][row], the row (token) becomes the tile's column.
 * The product with 2^e is one of f32, which holds FP16 and BF16 exactly. */
PF_PACK(, float, PF_F32)
PF_PACK(_f16, uint16_t, PF_F16)
PF_PACK(_bf16, uint16_t, PF_BF16)
#undef PF_PACK

/* 32 FP16 rows n of 32 * tiles columns k into weight tiles B[n][k]: neighbouring rows interleave. */
static inline void pf_interleave_pairs(pf_device *dev, uint8_t *dst, uint32_t dst_tile_stride, const uint8_t *src,
                                       uint32_t src_stride, uint32_t tiles)
{
    pf_begin_tiles(dev, dst, dst_tile_stride, tiles);
    pf_interleave_pairs_body(dev, dst, dst_tile_stride, src, src_stride, tiles);
}

/* 32 FP16 rows n of 32 * tiles columns k into weight tiles B[k][n]: pairs of k scatter as words. Not readable before
 * pf_scatter_release. */
static inline void pf_scatter_words(pf_device *dev, uint8_t *dst, uint32_t dst_tile_stride, const uint8_t *src,
                                    uint32_t src_stride, uint32_t tiles)
{
    pf_begin_tiles(dev, dst, dst_tile_stride, tiles);
    pf_scatter_words_body(dev, dst, dst_tile_stride, src, src_stride, tiles);
}

/* Q8 tiles of W[n][k] (1024 int8, pair of k after pair of k, then the FP16 scale of each row n) into FP16 tiles, each
 * value RNE16(q * d). Read as weight a tile is B[k][n]; the same bytes read as activation are A[k][n]. */
static inline void pf_dequantise_q8(pf_device *dev, uint8_t *dst, uint32_t dst_tile_stride, const uint8_t *src,
                                    uint32_t src_tile_stride, uint32_t tiles)
{
    pf_begin_tiles(dev, dst, dst_tile_stride, tiles);
    pf_dequantise_q8_body(dev, dst, dst_tile_stride, src, src_tile_stride, tiles);
}

/* Q4 tiles of W[n][k] (byte (k >> 1) * 32 + n: row n of column k in the low nibble, of k + 1 in the high one; then the
 * FP16 scale of each row) into FP16 tiles, each value RNE16((q - 8) * d). */
static inline void pf_dequantise_q4(pf_device *dev, uint8_t *dst, uint32_t dst_tile_stride, const uint8_t *src,
                                    uint32_t src_tile_stride, uint32_t tiles)
{
    pf_begin_tiles(dev, dst, dst_tile_stride, tiles);
    pf_dequantise_q4_body(dev, dst, dst_tile_stride, src, src_tile_stride, tiles);
}

static inline void pf_begin_unpack(pf_device *dev, const uint8_t *src, uint32_t src_tile_stride, uint32_t rows,
                                   uint32_t cols, const int32_t *row_exp, const uint8_t *row_flags)
{
    pf_check_rows(dev, rows, cols, row_exp);
    pf_check(dev, row_flags != NULL, "unpack needs row flags: without them an overflow would pass as a number", NULL, 0);
    for (uint32_t tile = 0; tile < pf_tiles_for(cols); tile++)
        pf_check_tile(dev, src + (size_t)tile * src_tile_stride);
    pf_count_strip(dev, pf_tiles_for(cols));
}

/* Output tiles C[row][column] x 2^-e into f32 rows, stored or added. row_flags[r] becomes 1 where an element is not
 * finite or reaches 60 000 before the unscale; numbers in flagged rows mean nothing. */
static inline void pf_unpack_rows(pf_device *dev, const uint8_t *src, uint32_t src_tile_stride, float *dst,
                                  uint32_t dst_stride_bytes, uint32_t rows, uint32_t cols, const int32_t *row_exp,
                                  uint8_t *row_flags, int accumulate)
{
    pf_begin_unpack(dev, src, src_tile_stride, rows, cols, row_exp, row_flags);
    pf_unpack_rows_body(dev, src, src_tile_stride, dst, dst_stride_bytes, rows, cols, row_exp, row_flags, accumulate,
                        pf_plain_columns);
}

/* The same from output tiles C[column][row]: the tile's column is the token. */
static inline void pf_unpack_cols(pf_device *dev, const uint8_t *src, uint32_t src_tile_stride, float *dst,
                                  uint32_t dst_stride_bytes, uint32_t rows, uint32_t cols, const int32_t *row_exp,
                                  uint8_t *row_flags, int accumulate)
{
    pf_begin_unpack(dev, src, src_tile_stride, rows, cols, row_exp, row_flags);
    pf_unpack_cols_body(dev, src, src_tile_stride, dst, dst_stride_bytes, rows, cols, row_exp, row_flags, accumulate,
                        pf_plain_columns);
}

/* pf_unpack_rows with a factor and an addend for each column: (v * 2^-e) * scale[c] + bias[c], each operation rounded to
 * f32. The flags look at v. */
static inline void pf_unpack_rows_affine(pf_device *dev, const uint8_t *src, uint32_t src_tile_stride, float *dst,
                                         uint32_t dst_stride_bytes, uint32_t rows, uint32_t cols, const int32_t *row_exp,
                                         uint8_t *row_flags, int accumulate, const float *scale, const float *bias)
{
    pf_begin_unpack(dev, src, src_tile_stride, rows, cols, row_exp, row_flags);
    pf_unpack_rows_body(dev, src, src_tile_stride, dst, dst_stride_bytes, rows, cols, row_exp, row_flags, accumulate,
                        (struct pf_columns){scale, bias});
}

/* The same from output tiles C[column][row]. */
static inline void pf_unpack_cols_affine(pf_device *dev, const uint8_t *src, uint32_t src_tile_stride, float *dst,
                                         uint32_t dst_stride_bytes, uint32_t rows, uint32_t cols, const int32_t *row_exp,
                                         uint8_t *row_flags, int accumulate, const float *scale, const float *bias)
{
    pf_begin_unpack(dev, src, src_tile_stride, rows, cols, row_exp, row_flags);
    pf_unpack_cols_body(dev, src, src_tile_stride, dst, dst_stride_bytes, rows, cols, row_exp, row_flags, accumulate,
                        (struct pf_columns){scale, bias});
}

#endif
