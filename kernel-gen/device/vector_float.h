/* Float vector operations whose results are plain sf or hf: qfloat arithmetic, converted back at once. */
#ifndef PF_VECTOR_FLOAT_H
#define PF_VECTOR_FLOAT_H

#define PF_HF_ONE 0x3C00u

static inline pf_vec pf_vsplat_sf(float value) { return pf_vsplat_word(pf_bits(value)); }

/* hf[2i] = RNE16(even.sf[i] * even_scale), hf[2i + 1] = RNE16(odd.sf[i] * odd_scale) */
static inline pf_vec pf_vscale_narrow(pf_vec even, float even_scale, pf_vec odd, float odd_scale)
{
    return pf_hf_from_q((pf_qf32_pair){pf_qmul_sf(even, pf_vsplat_sf(even_scale)),
                                       pf_qmul_sf(odd, pf_vsplat_sf(odd_scale))});
}

/* lo.sf[i] = hf[2i], hi.sf[i] = hf[2i + 1] */
static inline pf_vec_pair pf_vwiden(pf_vec v)
{
    pf_qf32_pair wide = pf_qmul_hf(v, pf_vsplat_half(PF_HF_ONE));
    return (pf_vec_pair){pf_sf_from_q(wide.lo), pf_sf_from_q(wide.hi)};
}

static inline pf_vec pf_vmul_sf(pf_vec a, pf_vec b) { return pf_sf_from_q(pf_qmul_sf(a, b)); }
static inline pf_vec pf_vadd_sf(pf_vec a, pf_vec b) { return pf_sf_from_q(pf_qadd_sf(a, b)); }
static inline pf_vec pf_vscale_sf(pf_vec v, float scale) { return pf_vmul_sf(v, pf_vsplat_sf(scale)); }

/* RNE16(a.hf[i] * b.hf[i]), by way of the 32-bit product, which is exact; a 16-bit qfloat product would not be. */
static inline pf_vec pf_vmul_hf(pf_vec a, pf_vec b) { return pf_hf_from_q(pf_qmul_hf(a, b)); }

#endif
