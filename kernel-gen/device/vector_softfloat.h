/* Float vector operations on the lanes, one by one: the models, and qemu, which has no float HVX. */
#ifndef PF_VECTOR_SOFTFLOAT_H
#define PF_VECTOR_SOFTFLOAT_H

/* hf[2i] = RNE16(even.sf[i] * even_scale), hf[2i + 1] = RNE16(odd.sf[i] * odd_scale) */
static inline pf_vec pf_vscale_narrow(pf_vec even, float even_scale, pf_vec odd, float odd_scale)
{
    float x[32], y[32];
    uint16_t half[64];
    __builtin_memcpy(x, &even, sizeof x);
    __builtin_memcpy(y, &odd, sizeof y);
    for (uint32_t i = 0; i < 32; i++) {
        half[2u * i] = pf_half_from_float(x[i] * even_scale);
        half[2u * i + 1u] = pf_half_from_float(y[i] * odd_scale);
    }
    __builtin_memcpy(&even, half, sizeof half);
    return even;
}

/* lo.sf[i] = hf[2i], hi.sf[i] = hf[2i + 1] */
static inline pf_vec_pair pf_vwiden(pf_vec v)
{
    uint16_t half[64];
    float even[32], odd[32];
    __builtin_memcpy(half, &v, sizeof half);
    for (uint32_t i = 0; i < 32; i++) {
        even[i] = pf_float_from_half(half[2u * i]);
        odd[i] = pf_float_from_half(half[2u * i + 1u]);
    }
    pf_vec_pair pair;
    __builtin_memcpy(&pair.lo, even, sizeof even);
    __builtin_memcpy(&pair.hi, odd, sizeof odd);
    return pair;
}

static inline pf_vec pf_vscale_sf(pf_vec v, float scale)
{
    float x[32];
    __builtin_memcpy(x, &v, sizeof x);
    for (uint32_t i = 0; i < 32; i++)
        x[i] *= scale;
    __builtin_memcpy(&v, x, sizeof x);
    return v;
}

static inline pf_vec pf_vadd_sf(pf_vec a, pf_vec b)
{
    float x[32], y[32];
    __builtin_memcpy(x, &a, sizeof x);
    __builtin_memcpy(y, &b, sizeof y);
    for (uint32_t i = 0; i < 32; i++)
        x[i] += y[i];
    __builtin_memcpy(&a, x, sizeof x);
    return a;
}

static inline pf_vec pf_vmul_sf(pf_vec a, pf_vec b)
{
    float x[32], y[32];
    __builtin_memcpy(x, &a, sizeof x);
    __builtin_memcpy(y, &b, sizeof y);
    for (uint32_t i = 0; i < 32; i++)
        x[i] *= y[i];
    __builtin_memcpy(&a, x, sizeof x);
    return a;
}

/* RNE16(a.hf[i] * b.hf[i]); the product of two FP16 numbers is exact in f32. */
static inline pf_vec pf_vmul_hf(pf_vec a, pf_vec b)
{
    uint16_t x[64], y[64];
    __builtin_memcpy(x, &a, sizeof x);
    __builtin_memcpy(y, &b, sizeof y);
    for (uint32_t i = 0; i < 64; i++)
        x[i] = pf_half_from_float(pf_float_from_half(x[i]) * pf_float_from_half(y[i]));
    __builtin_memcpy(&a, x, sizeof x);
    return a;
}

/* int8 to hf in order: lo = bytes 0..63, hi = bytes 64..127. Exact. */
static inline pf_vec_pair pf_vhf_from_b(pf_vec v)
{
    int8_t quant[128];
    uint16_t half[128];
    __builtin_memcpy(quant, &v, sizeof quant);
    for (uint32_t i = 0; i < 128; i++)
        half[i] = pf_half_from_float((float)quant[i]);
    pf_vec_pair pair;
    __builtin_memcpy(&pair.lo, half, 128);
    __builtin_memcpy(&pair.hi, half + 64, 128);
    return pair;
}

#endif
