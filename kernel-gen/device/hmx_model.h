/* HMX of the models: one 32 x 32 f32 accumulator.
 *
 * Products of FP16 numbers are exact in f32, so multiply-then-add and fused multiply-add round alike; each accumulator
 * element adds its products one by one along the contraction, tile after tile. That order is the model's definition and
 * leaves every SIMD width free to work on several elements at once. The convert rounds once, to nearest even.
 */
#ifndef PF_HMX_MODEL_H
#define PF_HMX_MODEL_H

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

/* Takes the HMX lock, clears the accumulators and loads the identity bias record from the reserved end of VTCM. */
static inline void pf_hmx_begin(pf_device *dev)
{
    pf_hmx_check_begin(dev);
    pf_hmx_clear(dev);
}

static inline void pf_hmx_end(pf_device *dev)
{
    pf_hmx_check_end(dev);
}

/* accumulator += sum over `tiles` tiles of activation tile x weight tile; both operands are contiguous tiles. */
static inline void pf_hmx_multiply(pf_device *dev, const uint8_t *act, const uint8_t *wgt, uint32_t tiles)
{
    pf_hmx_check_multiply(dev, act, wgt, tiles);
    pf_hmx_accumulate(dev, act, wgt, tiles);
    dev->counts.packets++;
    dev->counts.tiles += tiles;
}

/* Writes the accumulator as an FP16 tile and clears it. */
static inline void pf_hmx_store(pf_device *dev, uint8_t *dst)
{
    pf_hmx_check_store(dev, dst);
    pf_mirror_forget(dev, dst, PF_TILE_BYTES);
    pf_hmx_convert(dev, dst);
    memset(dev->accumulator, 0, sizeof dev->accumulator);
    dev->counts.stores++;
}

#endif
