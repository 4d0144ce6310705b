/* Vocabulary of the AVX2 bodies: unaligned vectors, halfword pairs, and an 8 x 8 transpose of words. */
#ifndef PF_AVX2_H
#define PF_AVX2_H

#include <immintrin.h>

static inline __m256i pf_load256(const void *p) { return _mm256_loadu_si256((const __m256i *)p); }
static inline void pf_store256(void *p, __m256i v) { _mm256_storeu_si256((__m256i *)p, v); }
static inline __m128i pf_narrow(__m256 v) { return _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT); }

struct pf_even_odd {
    __m256i even, odd;
};

/* 16 words in order into their 16 even and 16 odd halfwords, each in order. */
static inline struct pf_even_odd pf_split_pairs(__m256i low, __m256i high)
{
    const __m256i mask = _mm256_set1_epi32(0xFFFF);
    __m256i even = _mm256_packus_epi32(_mm256_and_si256(low, mask), _mm256_and_si256(high, mask));
    __m256i odd = _mm256_packus_epi32(_mm256_srli_epi32(low, 16), _mm256_srli_epi32(high, 16));
    /* The pack works in 128-bit lanes; 0xD8 puts the quarters 0 2 1 3 back in order. */
    return (struct pf_even_odd){_mm256_permute4x64_epi64(even, 0xD8), _mm256_permute4x64_epi64(odd, 0xD8)};
}

/* Eight columns of two rows to FP16, interleaved: one 32-byte piece of a tile's row pair. */
static inline void pf_store_pairs(uint8_t *to, __m256 even, __m256 odd)
{
    __m128i a = pf_narrow(even), b = pf_narrow(odd);
    _mm_storeu_si128((__m128i *)to, _mm_unpacklo_epi16(a, b));
    _mm_storeu_si128((__m128i *)(to + 16), _mm_unpackhi_epi16(a, b));
}

static inline void pf_transpose8(__m256i v[8])
{
    __m256i pair[8], quad[8];
    for (int i = 0; i < 8; i += 2) {
        pair[i] = _mm256_unpacklo_epi32(v[i], v[i + 1]);
        pair[i + 1] = _mm256_unpackhi_epi32(v[i], v[i + 1]);
    }
    for (int i = 0; i < 8; i += 4) {
        quad[i] = _mm256_unpacklo_epi64(pair[i], pair[i + 2]);
        quad[i + 1] = _mm256_unpackhi_epi64(pair[i], pair[i + 2]);
        quad[i + 2] = _mm256_unpacklo_epi64(pair[i + 1], pair[i + 3]);
        quad[i + 3] = _mm256_unpackhi_epi64(pair[i + 1], pair[i + 3]);
    }
    for (int i = 0; i < 4; i++) {
        v[i] = _mm256_permute2x128_si256(quad[i], quad[i + 4], 0x20);
        v[i + 4] = _mm256_permute2x128_si256(quad[i], quad[i + 4], 0x31);
    }
}

/* Lanes below `count`, for masked f32 loads and stores of a row's tail. */
static inline __m256i pf_first_lanes(uint32_t count)
{
    return _mm256_cmpgt_epi32(_mm256_set1_epi32((int)count), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

#endif
