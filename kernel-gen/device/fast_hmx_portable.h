/* HMX multiply in plain C, for processors without a variant of their own. */
#ifndef PF_FAST_HMX_PORTABLE_H
#define PF_FAST_HMX_PORTABLE_H

#include "fast_tiles_portable.h"

static inline void pf_accumulate_tiles(float *restrict accumulator, const float *a, const float *b, uint32_t tiles)
{
    for (uint32_t panel = 0; panel < 2; panel++)
        for (uint32_t row = 0; row < PF_TILE; row++) {
            float sum[16];
            float *element = accumulator + row * PF_TILE + panel * 16u;
            memcpy(sum, element, sizeof sum);
            for (uint32_t tile = 0; tile < tiles; tile++) {
                const float *left = a + tile * 1024u + (row >> 1) * 64u + (row & 1u);
                const float *right = b + tile * 1024u + panel * 512u;
                for (uint32_t k = 0; k < PF_TILE; k++)
                    for (uint32_t n = 0; n < 16; n++)
                        sum[n] += left[k * 2u] * right[k * 16u + n];
            }
            memcpy(element, sum, sizeof sum);
        }
}

#endif
