/* FP16 tiles to and from f32 for AVX2 + F16C; AVX-512 uses the same. */
#ifndef PF_FAST_TILES_AVX2_H
#define PF_FAST_TILES_AVX2_H

#include "avx2.h"

static inline void pf_mirror_activation(float *image, const uint8_t *tile)
{
    for (uint32_t i = 0; i < 1024; i += 16) {
        __m256i half = pf_load256(tile + 2u * i);
        _mm256_store_ps(image + i, _mm256_cvtph_ps(_mm256_castsi256_si128(half)));
        _mm256_store_ps(image + i + 8, _mm256_cvtph_ps(_mm256_extracti128_si256(half, 1)));
    }
}

static inline void pf_mirror_weight(float *image, const uint8_t *tile)
{
    for (uint32_t panel = 0; panel < 2; panel++)
        for (uint32_t k = 0; k < PF_TILE; k += 2) {
            const uint8_t *from = tile + k * 64u + panel * 64u;
            struct pf_even_odd rows = pf_split_pairs(pf_load256(from), pf_load256(from + 32));
            float *to = image + panel * 512u + k * 16u;
            _mm256_store_ps(to, _mm256_cvtph_ps(_mm256_castsi256_si128(rows.even)));
            _mm256_store_ps(to + 8, _mm256_cvtph_ps(_mm256_extracti128_si256(rows.even, 1)));
            _mm256_store_ps(to + 16, _mm256_cvtph_ps(_mm256_castsi256_si128(rows.odd)));
            _mm256_store_ps(to + 24, _mm256_cvtph_ps(_mm256_extracti128_si256(rows.odd, 1)));
        }
}

/* Returns 0, with the tile only partly meaningful, when an element does not fit FP16. */
static inline int pf_convert_tile(const float *accumulator, uint8_t *dst)
{
    const __m256 magnitude = _mm256_castsi256_ps(_mm256_set1_epi32(0x7FFFFFFF)), limit = _mm256_set1_ps(65520.0f);
    __m256 misfit = _mm256_setzero_ps();
    for (uint32_t row = 0; row < PF_TILE; row += 2)
        for (uint32_t column = 0; column < PF_TILE; column += 8) {
            __m256 even = _mm256_load_ps(accumulator + row * PF_TILE + column);
            __m256 odd = _mm256_load_ps(accumulator + (row + 1) * PF_TILE + column);
            /* "Not less than" is true of a NaN too. */
            misfit = _mm256_or_ps(misfit, _mm256_cmp_ps(_mm256_and_ps(even, magnitude), limit, _CMP_NLT_UQ));
            misfit = _mm256_or_ps(misfit, _mm256_cmp_ps(_mm256_and_ps(odd, magnitude), limit, _CMP_NLT_UQ));
            pf_store_pairs(dst + row * 64u + column * 4u, even, odd);
        }
    return _mm256_testz_ps(misfit, misfit);
}

#endif
