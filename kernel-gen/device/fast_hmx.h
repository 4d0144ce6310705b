/* HMX of the fast model: packets run over the f32 mirror of their tiles. The SIMD variant supplies
 *   pf_mirror_activation / pf_mirror_weight   one tile to f32, in the orders mirror.h names
 *   pf_accumulate_tiles                       the multiply itself
 *   pf_convert_tile                           accumulator to FP16, reporting whether every element fitted
 */
#ifndef PF_FAST_HMX_H
#define PF_FAST_HMX_H

static inline uint16_t pf_hmx_half(uint32_t overflow, float value);

static inline void pf_hmx_check_clear(pf_device *dev) { (void)dev; }
static inline void pf_hmx_check_begin(pf_device *dev) { (void)dev; }
static inline void pf_hmx_check_end(pf_device *dev) { (void)dev; }
static inline void pf_hmx_check_bias(pf_device *dev, const uint8_t *record) { (void)dev, (void)record; }
static inline void pf_hmx_check_packet(pf_device *dev, struct pf_packet packet) { (void)dev, (void)packet; }
static inline void pf_hmx_check_convert(pf_device *dev, uint32_t control) { (void)dev, (void)control; }
static inline void pf_hmx_check_store(pf_device *dev, uint8_t *dst) { (void)dev, (void)dst; }
static inline void pf_hmx_mark_overflow(pf_device *dev, const uint8_t *dst) { (void)dev, (void)dst; }

/* The f32 image of `tiles` consecutive tiles in the given role, converting those that changed. */
static inline const float *pf_mirror_tiles(pf_device *dev, const uint8_t *src, uint32_t tiles, enum pf_mirror_role role)
{
    size_t first = (size_t)(src - dev->vtcm) / PF_TILE_BYTES;
    float *image = dev->mirror + first * PF_TILE * PF_TILE;
    for (uint32_t tile = 0; tile < tiles; tile++) {
        if (dev->mirror_role[first + tile] == role)
            continue;
        const uint8_t *from = src + (size_t)tile * PF_TILE_BYTES;
        if (role == PF_MIRROR_ACTIVATION)
            pf_mirror_activation(image + tile * 1024u, from);
        else
            pf_mirror_weight(image + tile * 1024u, from);
        dev->mirror_role[first + tile] = (uint8_t)role;
    }
    return image;
}

static inline void pf_hmx_accumulate(pf_device *dev, const uint8_t *act, const uint8_t *wgt, uint32_t tiles)
{
    size_t bytes = (size_t)tiles * PF_TILE_BYTES;
    if (act < wgt + bytes && wgt < act + bytes) {
        /* One image cannot hold both roles: overlapping operands go tile by tile through a private copy. */
        float activation[1024] __attribute__((aligned(64)));
        for (uint32_t tile = 0; tile < tiles; tile++) {
            pf_mirror_activation(activation, act + (size_t)tile * PF_TILE_BYTES);
            pf_accumulate_tiles(dev->accumulator, activation,
                                pf_mirror_tiles(dev, wgt + (size_t)tile * PF_TILE_BYTES, 1, PF_MIRROR_WEIGHT), 1);
        }
        return;
    }
    const float *a = pf_mirror_tiles(dev, act, tiles, PF_MIRROR_ACTIVATION);
    const float *b = pf_mirror_tiles(dev, wgt, tiles, PF_MIRROR_WEIGHT);
    pf_accumulate_tiles(dev->accumulator, a, b, tiles);
}

static inline void pf_hmx_convert_tile(pf_device *dev)
{
    if (pf_convert_tile(dev->accumulator, (uint8_t *)dev->convert))
        return;
    for (uint32_t row = 0; row < PF_TILE; row++)
        for (uint32_t column = 0; column < PF_TILE; column++)
            dev->convert[pf_tile_index(row, column)] =
                pf_hmx_half(dev->overflow, dev->accumulator[row * PF_TILE + column]);
}

#endif
