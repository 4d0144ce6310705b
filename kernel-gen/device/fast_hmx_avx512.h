/* HMX multiply for AVX-512F; tile conversion is the AVX2 one. */
#ifndef PF_FAST_HMX_AVX512_H
#define PF_FAST_HMX_AVX512_H

#include "fast_tiles_avx2.h"

/* Tiles of one pass: 4 x 4 KB of weights and 8 rows of activations stay in the first-level cache. */
#define PF_PASS_TILES 4u

/* Eight rows times all 32 columns: 16 sums in registers. */
__attribute__((always_inline)) static inline void pf_block(float *accumulator, const float *a, const float *b,
                                                           uint32_t tiles)
{
    __m512 sum[8][2];
#pragma GCC unroll 8
    for (uint32_t i = 0; i < 8; i++) {
        sum[i][0] = _mm512_load_ps(accumulator + i * PF_TILE);
        sum[i][1] = _mm512_load_ps(accumulator + i * PF_TILE + 16);
    }
    for (uint32_t tile = 0; tile < tiles; tile++) {
        const float *left = a + tile * 1024u, *right = b + tile * 1024u;
#pragma GCC unroll 4
        for (uint32_t k = 0; k < PF_TILE; k++) {
            __m512 low = _mm512_load_ps(right + k * 16u), high = _mm512_load_ps(right + 512u + k * 16u);
#pragma GCC unroll 8
            for (uint32_t i = 0; i < 8; i++) {
                __m512 activation = _mm512_set1_ps(left[(i >> 1) * 64u + k * 2u + (i & 1u)]);
                sum[i][0] = _mm512_fmadd_ps(activation, low, sum[i][0]);
                sum[i][1] = _mm512_fmadd_ps(activation, high, sum[i][1]);
            }
        }
    }
#pragma GCC unroll 8
    for (uint32_t i = 0; i < 8; i++) {
        _mm512_store_ps(accumulator + i * PF_TILE, sum[i][0]);
        _mm512_store_ps(accumulator + i * PF_TILE + 16, sum[i][1]);
    }
}

static inline void pf_accumulate_tiles(float *accumulator, const float *a, const float *b, uint32_t tiles)
{
    for (uint32_t first = 0; first < tiles; first += PF_PASS_TILES)
        for (uint32_t row = 0; row < PF_TILE; row += 8)
            pf_block(accumulator + row * PF_TILE, a + first * 1024u + row * 32u, b + first * 1024u,
                     pf_smaller(tiles - first, PF_PASS_TILES));
}

#endif
