/* HMX multiply for AVX2 + FMA + F16C. */
#ifndef PF_FAST_HMX_AVX2_H
#define PF_FAST_HMX_AVX2_H

#include "fast_tiles_avx2.h"

/* Tiles of one pass: a weight panel of 4 x 2 KB and its activations stay in the first-level cache. */
#define PF_PASS_TILES 4u

/* `rows` rows from `row` on, times one 16-column panel; row and rows are compile-time numbers, so that the sums live in
 * registers. */
__attribute__((always_inline)) static inline void pf_block(float *accumulator, const float *a, const float *b,
                                                           uint32_t tiles, const uint32_t row, const uint32_t rows)
{
    __m256 sum[6][2];
#pragma GCC unroll 6
    for (uint32_t i = 0; i < rows; i++) {
        sum[i][0] = _mm256_load_ps(accumulator + (row + i) * PF_TILE);
        sum[i][1] = _mm256_load_ps(accumulator + (row + i) * PF_TILE + 8);
    }
    for (uint32_t tile = 0; tile < tiles; tile++) {
        const float *left = a + tile * 1024u, *right = b + tile * 1024u;
#pragma GCC unroll 4
        for (uint32_t k = 0; k < PF_TILE; k++) {
            __m256 low = _mm256_load_ps(right + k * 16u), high = _mm256_load_ps(right + k * 16u + 8);
#pragma GCC unroll 6
            for (uint32_t i = 0; i < rows; i++) {
                __m256 activation = _mm256_broadcast_ss(left + ((row + i) >> 1) * 64u + k * 2u + ((row + i) & 1u));
                sum[i][0] = _mm256_fmadd_ps(activation, low, sum[i][0]);
                sum[i][1] = _mm256_fmadd_ps(activation, high, sum[i][1]);
            }
        }
    }
#pragma GCC unroll 6
    for (uint32_t i = 0; i < rows; i++) {
        _mm256_store_ps(accumulator + (row + i) * PF_TILE, sum[i][0]);
        _mm256_store_ps(accumulator + (row + i) * PF_TILE + 8, sum[i][1]);
    }
}

static inline void pf_accumulate_tiles(float *accumulator, const float *a, const float *b, uint32_t tiles)
{
    for (uint32_t first = 0; first < tiles; first += PF_PASS_TILES) {
        uint32_t count = pf_smaller(tiles - first, PF_PASS_TILES);
        for (uint32_t panel = 0; panel < 2; panel++) {
            float *to = accumulator + panel * 16u;
            const float *left = a + first * 1024u, *right = b + first * 1024u + panel * 512u;
            pf_block(to, left, right, count, 0, 6);
            pf_block(to, left, right, count, 6, 6);
            pf_block(to, left, right, count, 12, 5);
            pf_block(to, left, right, count, 17, 5);
            pf_block(to, left, right, count, 22, 5);
            pf_block(to, left, right, count, 27, 5);
        }
    }
}

#endif
