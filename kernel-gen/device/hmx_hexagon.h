/* HMX on the phone. The activation and weight loads of a multiply must share one packet, so each packet is one assembler
 * string. PF_SDK: Qualcomm's assembler knows the mnemonics. Otherwise packets are encoded words over fixed registers, one
 * tile each, since no encoding of the FP16 :deep form is public.
 */
#ifndef PF_HMX_HEXAGON_H
#define PF_HMX_HEXAGON_H

#include "hmx_words.h"

static inline void pf_hmx_clear(pf_device *dev)
{
    (void)dev;
#if defined(PF_SDK)
    __asm__ volatile("mxclracc.hf" ::: "memory");
#else
    __asm__ volatile(".word 0xA6E0C013" ::: "memory"); /* mxclracc.hf */
#endif
}

/* The thread holds HMX from pf_vtcm_acquire on, which can say no; what the accumulators hold is somebody else's. */
static inline void pf_hmx_begin(pf_device *dev)
{
    pf_hmx_clear(dev);
}

static inline void pf_hmx_end(pf_device *dev)
{
    (void)dev;
}

static inline void pf_hmx_bias(pf_device *dev, const uint8_t *record)
{
    (void)dev;
#if defined(PF_SDK)
    __asm__ volatile("bias = mxmem2(%0)" ::"r"(record) : "memory");
#else
    register const uint8_t *r0 __asm__("r0") = record;
    __asm__ volatile(".word 0x9200C3FE" ::"r"(r0) : "memory"); /* bias = mxmem2(r0) */
#endif
}

#if defined(PF_SDK)

static inline void pf_hmx_issue(pf_device *dev, struct pf_packet packet)
{
    (void)dev;
    __asm__ volatile("{ activation.hf = mxmem(%0,%1):deep\n"
                     "  weight.hf = mxmem(%2,%3) }" ::"r"(packet.activation.rs),
                     "r"(packet.activation.rt), "r"(packet.weight.rs), "r"(packet.weight.rt)
                     : "memory");
}

#else

/* A run is split into its tiles: each gets the low bits of the run's words. */
static inline void pf_hmx_issue(pf_device *dev, struct pf_packet packet)
{
    (void)dev;
    for (uint32_t byte = 0; byte <= packet.activation.rt; byte += PF_TILE_BYTES) {
        register const uint8_t *r0 __asm__("r0") = packet.activation.rs + byte;
        register uint32_t r1 __asm__("r1") = packet.activation.rt & PF_LOAD_LOW_BITS;
        register const uint8_t *r2 __asm__("r2") = packet.weight.rs + byte;
        register uint32_t r3 __asm__("r3") = pf_smaller(packet.weight.rt - byte, PF_LOAD_LOW_BITS);
        /* { activation.hf = mxmem(r0,r1); weight.hf = mxmem(r2,r3) } */
        __asm__ volatile(".word 0x920041E4, 0x9202E3EF" ::"r"(r0), "r"(r1), "r"(r2), "r"(r3) : "memory");
    }
}

#endif

static inline void pf_hmx_convert(pf_device *dev, uint32_t control)
{
    (void)dev;
#if defined(PF_SDK)
    __asm__ volatile("cvt.hf = acc(%0)" ::"r"(control) : "memory");
#else
    register uint32_t r0 __asm__("r0") = control;
    __asm__ volatile(".word 0xA6E0DA10" ::"r"(r0) : "memory"); /* cvt.hf = acc(r0) */
#endif
}

/* Range 0 and start offset 0 write the complete tile. */
static inline void pf_hmx_store(pf_device *dev, uint8_t *dst)
{
    (void)dev;
#if defined(PF_SDK)
    __asm__ volatile("mxmem(%0,%1) = cvt" ::"r"(dst), "r"(0) : "memory");
#else
    register uint8_t *r0 __asm__("r0") = dst;
    register uint32_t r1 __asm__("r1") = 0;
    __asm__ volatile(".word 0xA6E0C118" ::"r"(r0), "r"(r1) : "memory"); /* mxmem(r0,r1) = cvt */
#endif
}

#endif
