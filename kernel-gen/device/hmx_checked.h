/* HMX of the checked model: the rules of the packet, the lock, the bias and the accumulator, and a plain multiply. */
#ifndef PF_HMX_CHECKED_H
#define PF_HMX_CHECKED_H

static inline uint16_t pf_hmx_half(uint32_t overflow, float value);

static inline void pf_hmx_check_clear(pf_device *dev)
{
    pf_check(dev, dev->hmx_held, "HMX is used outside pf_hmx_begin and pf_hmx_end", NULL, 0);
    dev->multiplied = 0;
}

/* bias=mxmem2: low words of the 32 column records, then high words. The models multiply by the identity only. */
static inline void pf_hmx_load_bias(pf_device *dev, const uint8_t *record)
{
    pf_check_aligned(dev, record, PF_BIAS_BYTES, PF_BIAS_BYTES, "the HMX bias record must be aligned to 256 bytes");
    for (uint32_t i = 0; i < 2u * PF_TILE; i++) {
        uint32_t word;
        memcpy(&word, record + 4u * i, sizeof word);
        pf_check(dev, word == (i < PF_TILE ? 0x3C00u : 0u), "the HMX bias record is not the identity", record,
                 PF_BIAS_BYTES);
    }
    dev->bias_loaded = 1;
}

static inline void pf_hmx_check_begin(pf_device *dev)
{
    pf_check(dev, !dev->hmx_held, "pf_hmx_begin while HMX is already held", NULL, 0);
    dev->hmx_held = 1;
    uint8_t *record = dev->vtcm + dev->vtcm_bytes - PF_BIAS_BYTES;
    for (uint32_t i = 0; i < 2u * PF_TILE; i++) {
        uint32_t word = i < PF_TILE ? 0x3C00u : 0u;
        memcpy(record + 4u * i, &word, sizeof word);
    }
    pf_hmx_load_bias(dev, record);
}

static inline void pf_hmx_check_end(pf_device *dev)
{
    pf_check(dev, dev->hmx_held, "pf_hmx_end without pf_hmx_begin", NULL, 0);
    pf_check(dev, !dev->multiplied, "pf_hmx_end discards an accumulator that was not stored", NULL, 0);
    dev->hmx_held = dev->bias_loaded = 0;
}

static inline void pf_hmx_check_multiply(pf_device *dev, const uint8_t *act, const uint8_t *wgt, uint32_t tiles)
{
    pf_check(dev, dev->hmx_held, "HMX is used outside pf_hmx_begin and pf_hmx_end", NULL, 0);
    pf_check(dev, tiles >= 1 && tiles <= PF_PACKET_TILES, "an HMX packet takes 1 to 32 tiles", NULL, tiles);
    pf_check_tile(dev, act);
    pf_check_tile(dev, wgt);
    pf_check_read(dev, act, (size_t)tiles * PF_TILE_BYTES, 0);
    pf_check_read(dev, wgt, (size_t)tiles * PF_TILE_BYTES, 0);
    dev->multiplied = 1;
}

static inline void pf_hmx_check_store(pf_device *dev, uint8_t *dst)
{
    pf_check(dev, dev->hmx_held, "HMX is used outside pf_hmx_begin and pf_hmx_end", NULL, 0);
    pf_check(dev, dev->bias_loaded, "HMX store before a bias record was loaded", dst, PF_TILE_BYTES);
    pf_check(dev, dev->multiplied, "HMX store without a multiply since the last store", dst, PF_TILE_BYTES);
    pf_check_tile(dev, dst);
    pf_check_write(dev, dst, PF_TILE_BYTES);
    dev->multiplied = 0;
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

static inline void pf_hmx_convert(pf_device *dev, uint8_t *dst)
{
    uint16_t *half = (uint16_t *)dst;
    uint8_t *shadow = dev->shadow + (dst - dev->vtcm);
    for (uint32_t row = 0; row < PF_TILE; row++)
        for (uint32_t column = 0; column < PF_TILE; column++) {
            uint32_t index = pf_tile_index(row, column);
            float value = dev->accumulator[row * PF_TILE + column];
            half[index] = pf_hmx_half(dev->overflow, value);
            if ((pf_bits(value) & 0x7FFFFFFFu) >= 0x477FF000u)
                memset(shadow + 2u * index, PF_OVERFLOWED, 2);
        }
}

#endif
