/* HMX of the models: one 32 x 32 f32 accumulator.
 *
 * Products of FP16 numbers are exact in f32, so multiply-then-add and fused multiply-add round alike; each accumulator
 * element adds its products one by one along the contraction, tile after tile. That order is the model's definition and
 * leaves every SIMD width free to work on several elements at once. The convert rounds once, to nearest even. HMX has two
 * accumulators and a convert changes over to the other, which is clear; so one that the convert clears is the same.
 */
#ifndef PF_HMX_MODEL_H
#define PF_HMX_MODEL_H

#include "hmx_words.h"

#if defined(PF_MODEL_CHECKED)
#include "hmx_checked.h"
#elif defined(__AVX512F__) && defined(__F16C__)
#include "fast_hmx_avx512.h"
#elif defined(__AVX2__) && defined(__FMA__) && defined(__F16C__)
#include "fast_hmx_avx2.h"
#elif defined(__aarch64__)
#include "fast_hmx_neon.h"
#else
#include "fast_hmx_portable.h"
#endif

#if defined(PF_MODEL_FAST)
#include "fast_hmx.h"
#endif

/* FP16 pattern the convert writes for an accumulator value, in the device's overflow behaviour. */
static inline uint16_t pf_hmx_half(uint32_t overflow, float value)
{
    uint32_t bits = pf_bits(value);
    uint32_t magnitude = bits & 0x7FFFFFFFu;
    uint16_t sign = (uint16_t)((bits >> 16) & 0x8000u);
    if (magnitude < 0x477FF000u)
        return pf_half_from_float(value);
    /* A NaN's sign depends on the processor that made it, so all are written alike. */
    if (magnitude > 0x7F800000u)
        sign = 0x8000u;
    if (overflow == PF_OVERFLOW_LARGEST)
        return sign | 0x7BFFu;
    if (overflow == PF_OVERFLOW_INFINITY)
        return magnitude > 0x7F800000u ? 0xFFFFu : sign | 0x7C00u;
    uint32_t rounded = (magnitude >> 13) - (112u << 10) + (((magnitude & 0x1FFFu) + ((magnitude >> 13) & 1u)) > 0x1000u);
    return sign | (uint16_t)pf_smaller(rounded, 0x7FFFu);
}

static inline void pf_hmx_clear(pf_device *dev)
{
    pf_hmx_check_clear(dev);
    memset(dev->accumulator, 0, sizeof dev->accumulator);
}

/* Takes the HMX lock and clears the accumulators. */
static inline void pf_hmx_begin(pf_device *dev)
{
    pf_hmx_check_begin(dev);
    pf_hmx_clear(dev);
}

static inline void pf_hmx_end(pf_device *dev)
{
    pf_hmx_check_end(dev);
}

/* bias = mxmem2(Rs): the low words of 32 column records, then their high words. */
static inline void pf_hmx_bias(pf_device *dev, const uint8_t *record)
{
    pf_hmx_check_bias(dev, record);
}

/* accumulator += sum over the activation's tiles of activation tile x weight tile; both runs are contiguous. */
static inline void pf_hmx_issue(pf_device *dev, struct pf_packet packet)
{
    pf_hmx_check_packet(dev, packet);
    uint32_t tiles = packet.activation.rt / PF_TILE_BYTES + 1u;
    pf_hmx_accumulate(dev, packet.activation.rs, packet.weight.rs, tiles);
    dev->counts.packets++;
    dev->counts.tiles += tiles;
}

/* cvt.hf = acc(Rs): rounds the accumulator to an FP16 tile, which the next store writes, and clears it. */
static inline void pf_hmx_convert(pf_device *dev, uint32_t control)
{
    pf_hmx_check_convert(dev, control);
    pf_hmx_convert_tile(dev);
    if (!(control & PF_CONVERT_RETAIN))
        memset(dev->accumulator, 0, sizeof dev->accumulator);
}

/* mxmem(Rs, Rt) = cvt: writes the converted tile. */
static inline void pf_hmx_store(pf_device *dev, uint8_t *dst)
{
    pf_hmx_check_store(dev, dst);
    pf_mirror_forget(dev, dst, PF_TILE_BYTES);
    memcpy(dst, dev->convert, PF_TILE_BYTES);
    pf_hmx_mark_overflow(dev, dst);
    dev->counts.stores++;
}

#endif
