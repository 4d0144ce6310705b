/* HMX on the phone. The activation and weight loads of a multiply must share one packet, so each operation is one
 * assembler string. PF_SDK: Qualcomm's assembler knows the mnemonics. Otherwise the packets are encoded words over fixed
 * registers, one tile each, since no encoding of the FP16 :deep form is public.
 */
#ifndef PF_HMX_HEXAGON_H
#define PF_HMX_HEXAGON_H

#define PF_HMX_ONE_TILE 2047u /* range operand for n whole tiles: 2048 n - 1 */

static inline void pf_hmx_clear(pf_device *dev)
{
    (void)dev;
#if defined(PF_SDK)
    __asm__ volatile("mxclracc.hf" ::: "memory");
#else
    __asm__ volatile(".word 0xA6E0C013" ::: "memory"); /* mxclracc.hf */
#endif
}

/* Identity: scale 1.0 in the low half of each column's low word, everything else zero. A halfword splat would also set
 * the output bias to 1.0. */
static inline void pf_hmx_load_bias(uint8_t *record)
{
    *(HVX_Vector *)record = Q6_V_vsplat_R(0x3C00);
    *(HVX_Vector *)(record + PF_VECTOR_BYTES) = Q6_V_vzero();
#if defined(PF_SDK)
    __asm__ volatile("bias = mxmem2(%0)" ::"r"(record) : "memory");
#else
    register uint8_t *r0 __asm__("r0") = record;
    __asm__ volatile(".word 0x9200C3FE" ::"r"(r0) : "memory"); /* bias = mxmem2(r0) */
#endif
}

/* Without the SDK nothing here can take the HMX resource: whoever opened the device must have enabled it. */
static inline void pf_hmx_begin(pf_device *dev)
{
#if defined(PF_SDK)
    HAP_compute_res_hmx_lock(dev->resource);
#endif
    pf_hmx_clear(dev);
    pf_hmx_load_bias(dev->vtcm + dev->vtcm_bytes - PF_BIAS_BYTES);
}

static inline void pf_hmx_end(pf_device *dev)
{
#if defined(PF_SDK)
    HAP_compute_res_hmx_unlock(dev->resource);
#else
    (void)dev;
#endif
}

static inline void pf_hmx_multiply(pf_device *dev, const uint8_t *act, const uint8_t *wgt, uint32_t tiles)
{
    (void)dev;
#if defined(PF_SDK)
    uint32_t range = tiles * PF_TILE_BYTES - 1u;
    __asm__ volatile("{ activation.hf = mxmem(%0,%1):deep\n"
                     "  weight.hf = mxmem(%2,%1) }" ::"r"(act),
                     "r"(range), "r"(wgt)
                     : "memory");
#else
    for (uint32_t tile = 0; tile < tiles; tile++) {
        register const uint8_t *r0 __asm__("r0") = act + tile * PF_TILE_BYTES;
        register uint32_t r1 __asm__("r1") = PF_HMX_ONE_TILE;
        register const uint8_t *r2 __asm__("r2") = wgt + tile * PF_TILE_BYTES;
        register uint32_t r3 __asm__("r3") = PF_HMX_ONE_TILE;
        /* { activation.hf = mxmem(r0,r1); weight.hf = mxmem(r2,r3) } */
        __asm__ volatile(".word 0x920041E4, 0x9202E3EF" ::"r"(r0), "r"(r1), "r"(r2), "r"(r3) : "memory");
    }
#endif
}

/* Converts, stores, clears the accumulator and moves on to the other set. */
static inline void pf_hmx_store(pf_device *dev, uint8_t *dst)
{
    (void)dev;
#if defined(PF_SDK)
    __asm__ volatile("mxmem(%0,%1):after.hf = acc" ::"r"(dst), "r"(0) : "memory");
#else
    register uint8_t *r0 __asm__("r0") = dst;
    register uint32_t r1 __asm__("r1") = 0;
    __asm__ volatile(".word 0xA6E0E104" ::"r"(r0), "r"(r1) : "memory"); /* mxmem(r0,r1):after.hf = acc */
#endif
}

#endif
