/* qfloat on the lanes, one by one: the models, and qemu, which has no float HVX.
 *
 * A lane is the f32 number the operation rounds to, which is what V79's conversion gives back; no software reads the bits of
 * a qfloat, and the checked model refuses to store them.
 */
#ifndef PF_VECTOR_SOFTFLOAT_H
#define PF_VECTOR_SOFTFLOAT_H

static inline pf_vec pf_vmark_qfloat(pf_vec v, uint8_t qfloat)
{
#if defined(PF_MODEL_CHECKED)
    v.qfloat = qfloat;
#else
    (void)qfloat;
#endif
    return v;
}

static inline pf_qf32 pf_qmul_sf(pf_vec a, pf_vec b)
{
    float x[32], y[32];
    __builtin_memcpy(x, &a, sizeof x);
    __builtin_memcpy(y, &b, sizeof y);
    for (uint32_t i = 0; i < 32; i++)
        x[i] *= y[i];
    __builtin_memcpy(&a, x, sizeof x);
    return (pf_qf32){pf_vmark_qfloat(a, 1)};
}

static inline pf_qf32 pf_qadd_sf(pf_vec a, pf_vec b)
{
    float x[32], y[32];
    __builtin_memcpy(x, &a, sizeof x);
    __builtin_memcpy(y, &b, sizeof y);
    for (uint32_t i = 0; i < 32; i++)
        x[i] += y[i];
    __builtin_memcpy(&a, x, sizeof x);
    return (pf_qf32){pf_vmark_qfloat(a, 1)};
}

/* The product of two FP16 numbers is exact in f32. */
static inline pf_qf32_pair pf_qmul_hf(pf_vec a, pf_vec b)
{
    uint16_t x[64], y[64];
    float even[32], odd[32];
    __builtin_memcpy(x, &a, sizeof x);
    __builtin_memcpy(y, &b, sizeof y);
    for (uint32_t i = 0; i < 32; i++) {
        even[i] = pf_float_from_half(x[2u * i]) * pf_float_from_half(y[2u * i]);
        odd[i] = pf_float_from_half(x[2u * i + 1u]) * pf_float_from_half(y[2u * i + 1u]);
    }
    __builtin_memcpy(&a, even, sizeof even);
    __builtin_memcpy(&b, odd, sizeof odd);
    return (pf_qf32_pair){{pf_vmark_qfloat(a, 1)}, {pf_vmark_qfloat(b, 1)}};
}

static inline pf_vec pf_sf_from_q(pf_qf32 q) { return pf_vmark_qfloat(q.bits, 0); }

static inline pf_vec pf_hf_from_q(pf_qf32_pair q)
{
    float even[32], odd[32];
    uint16_t half[64];
    __builtin_memcpy(even, &q.lo, sizeof even);
    __builtin_memcpy(odd, &q.hi, sizeof odd);
    for (uint32_t i = 0; i < 32; i++) {
        half[2u * i] = pf_half_from_float(even[i]);
        half[2u * i + 1u] = pf_half_from_float(odd[i]);
    }
    __builtin_memcpy(&q.lo, half, sizeof half);
    return pf_vmark_qfloat(q.lo.bits, 0);
}

/* int8 to hf in order: lo = bytes 0..63, hi = bytes 64..127. Exact. */
static inline pf_vec_pair pf_vhf_from_b(pf_vec v)
{
    int8_t quant[128];
    uint16_t half[128];
    __builtin_memcpy(quant, &v, sizeof quant);
    for (uint32_t i = 0; i < 128; i++)
        half[i] = pf_half_from_float((float)quant[i]);
    pf_vec_pair pair = {v, v};
    __builtin_memcpy(&pair.lo, half, 128);
    __builtin_memcpy(&pair.hi, half + 64, 128);
    return pair;
}

#endif
