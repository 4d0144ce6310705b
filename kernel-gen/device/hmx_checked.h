/* HMX of the checked model: the rules of the lock, the bias, the packet, the convert and the store, and a plain multiply. */
#ifndef PF_HMX_CHECKED_H
#define PF_HMX_CHECKED_H

static inline uint16_t pf_hmx_half(uint32_t overflow, float value);

static inline void pf_hmx_check_held(pf_device *dev)
{
    pf_check(dev, !dev->in_region, "HMX is used by a worker: it belongs to the thread that locked it", NULL, 0);
    pf_check(dev, dev->hmx_held, "HMX is used outside pf_hmx_begin and pf_hmx_end", NULL, 0);
}

static inline void pf_hmx_check_clear(pf_device *dev)
{
    pf_hmx_check_held(dev);
    dev->multiplied = 0;
}

static inline void pf_hmx_check_begin(pf_device *dev)
{
    pf_check(dev, !dev->hmx_held, "pf_hmx_begin while HMX is already held", NULL, 0);
    dev->hmx_held = 1;
}

static inline void pf_hmx_check_end(pf_device *dev)
{
    pf_check(dev, dev->hmx_held, "pf_hmx_end without pf_hmx_begin", NULL, 0);
    pf_check(dev, !dev->multiplied, "pf_hmx_end discards an accumulator that was not stored", NULL, 0);
    pf_check(dev, !dev->converted, "pf_hmx_end discards a converted tile that was not stored", NULL, 0);
    dev->hmx_held = dev->bias_loaded = 0;
}

/* The models multiply by the identity only: scale 1.0 in the low half of 32 low words, every other field 0. */
static inline void pf_hmx_check_bias(pf_device *dev, const uint8_t *record)
{
    pf_hmx_check_held(dev);
    pf_check_aligned(dev, record, PF_BIAS_BYTES, PF_BIAS_BYTES, "the HMX bias record must be aligned to 256 bytes");
    pf_check_read(dev, record, PF_BIAS_BYTES, 0);
    for (uint32_t i = 0; i < 2u * PF_TILE; i++) {
        uint32_t word;
        memcpy(&word, record + 4u * i, sizeof word);
        if (i < PF_TILE && word == 0x3C003C00u)
            pf_trap(dev, "the HMX bias is a splat of halfwords: 1.0 would also be added to every output", record,
                    PF_BIAS_BYTES);
        pf_check(dev, word == (i < PF_TILE ? 0x3C00u : 0u), "the HMX bias record is not the identity", record,
                 PF_BIAS_BYTES);
    }
    dev->bias_loaded = 1;
}

static inline void pf_hmx_check_activation(pf_device *dev, struct pf_load load)
{
    pf_check(dev, !((uintptr_t)load.rs & PF_LOAD_LOW_BITS),
             "low bits of an activation's Rs are row and channel offsets: a tile must be aligned to 2048 bytes", load.rs,
             PF_TILE_BYTES);
    pf_check(dev, (load.rt & PF_LOAD_LOW_BITS) == PF_LOAD_LOW_BITS,
             "low bits of an activation's Rt mask rows and channels: Rt is 2048 n - 1 for n whole tiles", NULL, load.rt);
    pf_check(dev, load.rt / PF_TILE_BYTES < PF_PACKET_TILES, "an HMX packet takes 1 to 32 tiles", NULL,
             load.rt / PF_TILE_BYTES + 1u);
    pf_check_read(dev, load.rs, load.rt + 1u, 0);
}

/* `run`: bytes of the activation it is multiplied with. */
static inline void pf_hmx_check_weight(pf_device *dev, struct pf_load load, uint32_t run)
{
    uintptr_t flags = (uintptr_t)load.rs & (PF_VECTOR_BYTES - 1u);
    pf_check(dev, !(flags & 0x10u), "bit 4 of a weight's Rs decompresses weights", load.rs, run);
    pf_check(dev, !(flags & 0x20u), "bit 5 of a weight's Rs negates the weights", load.rs, run);
    pf_check(dev, !(flags & 0x40u), "bit 6 of a weight's Rs reads BF16", load.rs, run);
    pf_check_tile(dev, load.rs);
    /* HMX takes whole vectors, a pair of contraction rows each. */
    pf_check(dev, load.rt / PF_VECTOR_BYTES + 1u >= run / PF_VECTOR_BYTES,
             "the weight range is shorter than the activation's: the rest of the contraction would be dropped", load.rs,
             load.rt + 1u);
    pf_check_read(dev, load.rs, run, 0);
}

static inline void pf_hmx_check_packet(pf_device *dev, struct pf_packet packet)
{
    pf_hmx_check_held(dev);
    pf_check(dev, packet.activation.rs || packet.weight.rs, "an HMX packet without a load", NULL, 0);
    pf_check(dev, packet.weight.rs != NULL, "an activation load without its weight load in the same packet",
             packet.activation.rs, packet.activation.rt + 1u);
    pf_check(dev, packet.activation.rs != NULL, "a weight load without its activation load in the same packet",
             packet.weight.rs, packet.weight.rt + 1u);
    pf_hmx_check_activation(dev, packet.activation);
    pf_hmx_check_weight(dev, packet.weight, packet.activation.rt + 1u);
    dev->multiplied = 1;
}

static inline void pf_hmx_check_convert(pf_device *dev, uint32_t control)
{
    pf_hmx_check_held(dev);
    pf_check(dev, dev->bias_loaded, "HMX convert before a bias record was loaded", NULL, 0);
    pf_check(dev, dev->multiplied, "HMX convert without a multiply since the last one", NULL, 0);
    pf_check(dev, !dev->converted, "HMX convert over a converted tile that was not stored", NULL, 0);
    pf_check(dev, control & PF_CONVERT_NO_RELU, "the convert control word applies ReLU: bit 1 is clear", NULL, control);
    pf_check(dev, !(control & ~(uint32_t)(PF_CONVERT_RETAIN | PF_CONVERT_NO_RELU)),
             "the convert control word asks for feedback, maxnorm, BF16 or another bias set", NULL, control);
    dev->converted = 1;
    dev->multiplied = (control & PF_CONVERT_RETAIN) != 0;
}

static inline void pf_hmx_check_store(pf_device *dev, uint8_t *dst)
{
    pf_hmx_check_held(dev);
    pf_check(dev, dev->converted, "HMX store without a convert since the last store", dst, PF_TILE_BYTES);
    pf_check_tile(dev, dst);
    pf_check_write(dev, dst, PF_TILE_BYTES);
    dev->converted = 0;
}

static inline void pf_hmx_accumulate(pf_device *dev, const uint8_t *act, const uint8_t *wgt, uint32_t tiles)
{
    for (uint32_t tile = 0; tile < tiles; tile++) {
        const uint16_t *a = (const uint16_t *)(act + (size_t)tile * PF_TILE_BYTES);
        const uint16_t *b = (const uint16_t *)(wgt + (size_t)tile * PF_TILE_BYTES);
        for (uint32_t k = 0; k < PF_TILE; k++) {
            float weight[PF_TILE];
            for (uint32_t n = 0; n < PF_TILE; n++)
                weight[n] = pf_float_from_half(b[pf_tile_index(k, n)]);
            for (uint32_t row = 0; row < PF_TILE; row++) {
                float activation = pf_float_from_half(a[pf_tile_index(row, k)]);
                for (uint32_t n = 0; n < PF_TILE; n++)
                    dev->accumulator[row * PF_TILE + n] += activation * weight[n];
            }
        }
    }
}

static inline void pf_hmx_convert_tile(pf_device *dev)
{
    for (uint32_t row = 0; row < PF_TILE; row++)
        for (uint32_t column = 0; column < PF_TILE; column++) {
            uint32_t index = pf_tile_index(row, column);
            float value = dev->accumulator[row * PF_TILE + column];
            dev->convert[index] = pf_hmx_half(dev->overflow, value);
            dev->convert_shadow[index] =
                (pf_bits(value) & 0x7FFFFFFFu) >= 0x477FF000u ? PF_OVERFLOWED : PF_WRITTEN;
        }
}

static inline void pf_hmx_mark_overflow(pf_device *dev, const uint8_t *dst)
{
    uint8_t *shadow = dev->shadow + (dst - dev->vtcm);
    for (uint32_t i = 0; i < PF_TILE * PF_TILE; i++)
        memset(shadow + 2u * i, dev->convert_shadow[i], 2);
}

#endif
