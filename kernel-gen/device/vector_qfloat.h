/* qfloat for V79 and V81. From V79 on a qfloat operation followed by its conversion rounds like IEEE nearest-even; the IEEE
 * encodings themselves are gone.
 */
#ifndef PF_VECTOR_QFLOAT_H
#define PF_VECTOR_QFLOAT_H

static inline pf_qf32 pf_qmul_sf(pf_vec a, pf_vec b) { return (pf_qf32){Q6_Vqf32_vmpy_VsfVsf(a, b)}; }
static inline pf_qf32 pf_qadd_sf(pf_vec a, pf_vec b) { return (pf_qf32){Q6_Vqf32_vadd_VsfVsf(a, b)}; }

static inline pf_qf32_pair pf_qmul_hf(pf_vec a, pf_vec b)
{
    HVX_VectorPair wide = Q6_Wqf32_vmpy_VhfVhf(a, b);
    return (pf_qf32_pair){{Q6_V_lo_W(wide)}, {Q6_V_hi_W(wide)}};
}

static inline pf_vec pf_sf_from_q(pf_qf32 q) { return Q6_Vsf_equals_Vqf32(q.bits); }

static inline pf_vec pf_hf_from_q(pf_qf32_pair q)
{
    return Q6_Vhf_equals_Wqf32(Q6_W_vcombine_VV(q.hi.bits, q.lo.bits));
}

static inline pf_vec_pair pf_vhf_from_b(pf_vec v)
{
    HVX_VectorPair words = Q6_Wh_vunpack_Vb(v);
    return (pf_vec_pair){Q6_Vhf_equals_Vh(Q6_V_lo_W(words)), Q6_Vhf_equals_Vh(Q6_V_hi_W(words))};
}

#endif
