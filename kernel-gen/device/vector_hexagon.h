/* Integer and memory vector operations as HVX intrinsics; the same contracts as vector_host.h. */
#ifndef PF_VECTOR_HEXAGON_H
#define PF_VECTOR_HEXAGON_H

typedef HVX_Vector pf_vec;

typedef struct {
    pf_vec lo, hi;
} pf_vec_pair;

static inline pf_vec_pair pf_vpair(HVX_VectorPair pair)
{
    return (pf_vec_pair){Q6_V_lo_W(pair), Q6_V_hi_W(pair)};
}

static inline pf_vec pf_vzero(void) { return Q6_V_vzero(); }
static inline pf_vec pf_vsplat_word(uint32_t word) { return Q6_V_vsplat_R((int32_t)word); }

static inline pf_vec pf_vsplat_half(uint16_t half) { return Q6_Vh_vsplat_R(half); }

static inline pf_vec pf_vload(pf_device *dev, const uint8_t *p)
{
    (void)dev;
    return *(const HVX_Vector *)p;
}

static inline pf_vec pf_vload_first(pf_device *dev, const uint8_t *p, uint32_t bytes)
{
    (void)bytes;
    return pf_vload(dev, p);
}

/* Two aligned loads and a shift. The second may lie past the window, but not past VTCM: its end is reserved. */
static inline pf_vec pf_vload_unaligned(pf_device *dev, const uint8_t *p, uint32_t bytes)
{
    (void)bytes;
    const uint8_t *first = (const uint8_t *)((uintptr_t)p & ~(uintptr_t)(PF_VECTOR_BYTES - 1u));
    return Q6_V_valign_VVR(pf_vload(dev, first + PF_VECTOR_BYTES), pf_vload(dev, first), (int32_t)(uintptr_t)p);
}

static inline pf_vec pf_vload_output(pf_device *dev, const uint8_t *p) { return pf_vload(dev, p); }

static inline void pf_vstore(pf_device *dev, uint8_t *p, pf_vec v)
{
    (void)dev;
    *(HVX_Vector *)p = v;
}

/* vsetq2, unlike vsetq, takes 128 to mean the whole vector. */
static inline pf_vec pf_vkeep_first(pf_vec v, uint32_t bytes)
{
    return Q6_V_vmux_QVV(Q6_Q_vsetq2_R((int32_t)bytes), v, Q6_V_vzero());
}

static inline pf_vec pf_vload_ddr(pf_device *dev, const void *p, uint32_t bytes)
{
    return pf_vkeep_first(pf_vload(dev, p), bytes);
}

static inline void pf_vstore_ddr(pf_device *dev, void *p, pf_vec v, uint32_t bytes)
{
    (void)dev;
    Q6_vmem_QRIV(Q6_Q_vsetq2_R((int32_t)bytes), (HVX_Vector *)p, v);
}

/* vdelta takes byte i from byte i ^ control[i]: all address bits cleared but the half and the byte of the halfword. */
static const uint8_t pf_first_h_control[128] __attribute__((aligned(128))) = {
#define PF_FOUR(i) (i) & 0x3Eu, ((i) + 1u) & 0x3Eu, ((i) + 2u) & 0x3Eu, ((i) + 3u) & 0x3Eu
#define PF_SIXTEEN(i) PF_FOUR(i), PF_FOUR((i) + 4u), PF_FOUR((i) + 8u), PF_FOUR((i) + 12u)
    PF_SIXTEEN(0u), PF_SIXTEEN(16u), PF_SIXTEEN(32u), PF_SIXTEEN(48u),
    PF_SIXTEEN(0u), PF_SIXTEEN(16u), PF_SIXTEEN(32u), PF_SIXTEEN(48u),
#undef PF_SIXTEEN
#undef PF_FOUR
};

static inline pf_vec pf_vsplat_first_h(pf_vec v)
{
    return Q6_V_vdelta_VV(v, *(const HVX_Vector *)pf_first_h_control);
}

static inline pf_vec pf_vand(pf_vec a, pf_vec b) { return Q6_V_vand_VV(a, b); }
static inline pf_vec pf_vlsr_w(pf_vec v, uint32_t bits) { return Q6_Vuw_vlsr_VuwR(v, (int32_t)bits); }
static inline pf_vec pf_vsub_b(pf_vec a, pf_vec b) { return Q6_Vb_vsub_VbVb(a, b); }
static inline pf_vec pf_vmax_uh(pf_vec a, pf_vec b) { return Q6_Vuh_vmax_VuhVuh(a, b); }
static inline pf_vec pf_vror(pf_vec v, uint32_t bytes) { return Q6_V_vror_VR(v, (int32_t)bytes); }
static inline pf_vec_pair pf_vshuff(pf_vec hi, pf_vec lo, int rt) { return pf_vpair(Q6_W_vshuff_VVR(hi, lo, rt)); }
static inline pf_vec pf_vshuff_h(pf_vec v) { return Q6_Vh_vshuff_Vh(v); }
static inline pf_vec pf_vdeal_h(pf_vec v) { return Q6_Vh_vdeal_Vh(v); }
static inline uint32_t pf_vword(pf_vec v, uint32_t index) { return (uint32_t)Q6_R_vextract_VR(v, (int32_t)(4u * index)); }

/* Row offsets of the 16 words a tile column has; the upper lanes are masked off. */
static const uint32_t pf_column_offsets[32] __attribute__((aligned(128))) = {
    0, 128, 256, 384, 512, 640, 768, 896, 1024, 1152, 1280, 1408, 1536, 1664, 1792, 1920};

static inline void pf_vscatter_column(pf_device *dev, uint8_t *tile, uint32_t column, pf_vec words)
{
    (void)dev;
    HVX_Vector offsets = Q6_Vw_vadd_VwVw(*(const HVX_Vector *)pf_column_offsets, Q6_V_vsplat_R((int32_t)(4u * column)));
    Q6_vscatter_QRMVwV(Q6_Q_vsetq2_R(64), (uint32_t)(uintptr_t)tile, PF_TILE_BYTES - 1u, offsets, words);
}

/* A release store followed by a load of the same address waits for every scatter before it. */
static inline void pf_scatter_release(pf_device *dev)
{
    uint8_t *corner = dev->vtcm + dev->vtcm_bytes - PF_CORNER_BYTES;
    __asm__ volatile("vmem(%0+#0):scatter_release" ::"r"(corner) : "memory");
    (void)*(volatile HVX_Vector *)corner;
}

#endif
