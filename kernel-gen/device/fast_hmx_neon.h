/* HMX multiply for 64-bit Arm. */
#ifndef PF_FAST_HMX_NEON_H
#define PF_FAST_HMX_NEON_H

#include <arm_neon.h>

#include "fast_tiles_portable.h"

/* Tiles of one pass: a weight panel of 4 x 2 KB and its activations stay in the first-level cache. */
#define PF_PASS_TILES 4u

/* Four rows times one 16-column panel: 16 sums in registers. */
__attribute__((always_inline)) static inline void pf_block(float *accumulator, const float *a, const float *b,
                                                           uint32_t tiles)
{
    float32x4_t sum[4][4];
#pragma GCC unroll 4
    for (uint32_t i = 0; i < 4; i++)
#pragma GCC unroll 4
        for (uint32_t j = 0; j < 4; j++)
            sum[i][j] = vld1q_f32(accumulator + i * PF_TILE + j * 4u);
    for (uint32_t tile = 0; tile < tiles; tile++) {
        const float *left = a + tile * 1024u, *right = b + tile * 1024u;
#pragma GCC unroll 2
        for (uint32_t k = 0; k < PF_TILE; k++) {
            float32x4_t weight[4];
#pragma GCC unroll 4
            for (uint32_t j = 0; j < 4; j++)
                weight[j] = vld1q_f32(right + k * 16u + j * 4u);
#pragma GCC unroll 4
            for (uint32_t i = 0; i < 4; i++) {
                float32x4_t activation = vld1q_dup_f32(left + (i >> 1) * 64u + k * 2u + (i & 1u));
#pragma GCC unroll 4
                for (uint32_t j = 0; j < 4; j++)
                    sum[i][j] = vfmaq_f32(sum[i][j], activation, weight[j]);
            }
        }
    }
#pragma GCC unroll 4
    for (uint32_t i = 0; i < 4; i++)
#pragma GCC unroll 4
        for (uint32_t j = 0; j < 4; j++)
            vst1q_f32(accumulator + i * PF_TILE + j * 4u, sum[i][j]);
}

static inline void pf_accumulate_tiles(float *accumulator, const float *a, const float *b, uint32_t tiles)
{
    for (uint32_t first = 0; first < tiles; first += PF_PASS_TILES)
        for (uint32_t panel = 0; panel < 2; panel++)
            for (uint32_t row = 0; row < PF_TILE; row += 4)
                pf_block(accumulator + row * PF_TILE + panel * 16u, a + first * 1024u + row * 32u,
                         b + first * 1024u + panel * 512u, pf_smaller(tiles - first, PF_PASS_TILES));
}

#endif
