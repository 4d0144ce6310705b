/* Float vector operations for V79 and V81: qfloat arithmetic, converted back to sf or hf at once. From V79 on a qfloat
 * operation followed by its conversion rounds like IEEE nearest-even; the IEEE encodings themselves are gone.
 */
#ifndef PF_VECTOR_QFLOAT_H
#define PF_VECTOR_QFLOAT_H

#define PF_HF_ONES 0x3C003C00u

static inline pf_vec pf_vsplat_sf(float value) { return pf_vsplat_word(pf_bits(value)); }

static inline pf_vec pf_vscale_narrow(pf_vec even, float even_scale, pf_vec odd, float odd_scale)
{
    HVX_Vector lo = Q6_Vqf32_vmpy_VsfVsf(even, pf_vsplat_sf(even_scale));
    HVX_Vector hi = Q6_Vqf32_vmpy_VsfVsf(odd, pf_vsplat_sf(odd_scale));
    return Q6_Vhf_equals_Wqf32(Q6_W_vcombine_VV(hi, lo));
}

static inline pf_vec_pair pf_vwiden(pf_vec v)
{
    HVX_VectorPair wide = Q6_Wqf32_vmpy_VhfVhf(v, pf_vsplat_word(PF_HF_ONES));
    return (pf_vec_pair){Q6_Vsf_equals_Vqf32(Q6_V_lo_W(wide)), Q6_Vsf_equals_Vqf32(Q6_V_hi_W(wide))};
}

static inline pf_vec pf_vscale_sf(pf_vec v, float scale)
{
    return Q6_Vsf_equals_Vqf32(Q6_Vqf32_vmpy_VsfVsf(v, pf_vsplat_sf(scale)));
}

static inline pf_vec pf_vadd_sf(pf_vec a, pf_vec b)
{
    return Q6_Vsf_equals_Vqf32(Q6_Vqf32_vadd_VsfVsf(a, b));
}

static inline pf_vec pf_vmul_sf(pf_vec a, pf_vec b)
{
    return Q6_Vsf_equals_Vqf32(Q6_Vqf32_vmpy_VsfVsf(a, b));
}

/* By way of the 32-bit product, which is exact; a 16-bit qfloat product would not be. */
static inline pf_vec pf_vmul_hf(pf_vec a, pf_vec b)
{
    return Q6_Vhf_equals_Wqf32(Q6_Wqf32_vmpy_VhfVhf(a, b));
}

static inline pf_vec_pair pf_vhf_from_b(pf_vec v)
{
    HVX_VectorPair words = Q6_Wh_vunpack_Vb(v);
    return (pf_vec_pair){Q6_Vhf_equals_Vh(Q6_V_lo_W(words)), Q6_Vhf_equals_Vh(Q6_V_hi_W(words))};
}

#endif
