/* FP16 <-> f32, round to nearest even, denormals kept in both directions.
 *
 * Every backend must produce the same bits, so the integer conversion below follows VCVTPS2PH / FCVT exactly, NaN
 * payloads included; processors that have the instruction use it.
 */
#ifndef PF_HALF_H
#define PF_HALF_H

#include <stdint.h>

#if defined(__F16C__) && !defined(PF_SOFTWARE_HALF)
#include <immintrin.h>
#endif

static inline uint32_t pf_bits(float value)
{
    uint32_t bits;
    __builtin_memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline float pf_float(uint32_t bits)
{
    float value;
    __builtin_memcpy(&value, &bits, sizeof value);
    return value;
}

/* 2^e as f32, for e in [-126, 127]. */
static inline float pf_power_of_two(int32_t e)
{
    return pf_float((uint32_t)(e + 127) << 23);
}

static inline uint16_t pf_half_from_float_software(float value)
{
    uint32_t bits = pf_bits(value);
    uint32_t sign = (bits >> 16) & 0x8000u;
    uint32_t magnitude = bits & 0x7FFFFFFFu;
    /* Rounding by adding half an ulp, less one when the kept mantissa is even; 112 = 127 - 15 rebiases the exponent. */
    uint32_t normal = ((magnitude + 0xFFFu + ((magnitude >> 13) & 1u)) >> 13) - (112u << 10);
    /* Below 2^-14 the FP16 ulp is 2^-24, which is the f32 ulp of 0.5: one f32 addition rounds to it. */
    uint32_t denormal = pf_bits(pf_float(magnitude < 0x38800000u ? magnitude : 0u) + 0.5f) - pf_bits(0.5f);
    uint32_t nan = 0x7E00u | ((magnitude >> 13) & 0x1FFu);
    uint32_t half = magnitude < 0x38800000u ? denormal : normal;
    half = magnitude >= 0x477FF000u ? 0x7C00u : half; /* 65520 and above round to infinity */
    half = magnitude > 0x7F800000u ? nan : half;
    return (uint16_t)(sign | half);
}

static inline float pf_float_from_half_software(uint16_t half)
{
    uint32_t sign = (uint32_t)(half & 0x8000u) << 16;
    uint32_t magnitude = half & 0x7FFFu;
    uint32_t normal = (magnitude << 13) + (112u << 23);
    uint32_t denormal = pf_bits((float)(int32_t)magnitude * 0x1p-24f);
    uint32_t special = ((magnitude << 13) + (224u << 23)) | (magnitude > 0x7C00u ? 0x400000u : 0u);
    uint32_t bits = magnitude < 0x400u ? denormal : normal;
    bits = magnitude >= 0x7C00u ? special : bits;
    return pf_float(sign | bits);
}

#if defined(__F16C__) && !defined(PF_SOFTWARE_HALF)
static inline uint16_t pf_half_from_float(float value) { return _cvtss_sh(value, _MM_FROUND_TO_NEAREST_INT); }
static inline float pf_float_from_half(uint16_t half) { return _cvtsh_ss(half); }
#elif defined(__aarch64__) && !defined(PF_SOFTWARE_HALF)
static inline uint16_t pf_half_from_float(float value)
{
    __fp16 half = (__fp16)value;
    uint16_t bits;
    __builtin_memcpy(&bits, &half, sizeof bits);
    return bits;
}
static inline float pf_float_from_half(uint16_t bits)
{
    __fp16 half;
    __builtin_memcpy(&half, &bits, sizeof half);
    return (float)half;
}
#else
static inline uint16_t pf_half_from_float(float value) { return pf_half_from_float_software(value); }
static inline float pf_float_from_half(uint16_t half) { return pf_float_from_half_software(half); }
#endif

#endif
