/* The fast model's f32 image of the FP16 tiles HMX has read.
 *
 * A tile is multiplied many times (once per opposite strip) but written once, so its conversion to f32 is kept until
 * any primitive writes over it. The image is invisible: forgetting it at any time changes no bit.
 */
#ifndef PF_MIRROR_H
#define PF_MIRROR_H

enum pf_mirror_role {
    PF_MIRROR_NONE = 0,
    PF_MIRROR_ACTIVATION = 1, /* same order as the tile: [row / 2][k][row % 2] */
    PF_MIRROR_WEIGHT = 2      /* two panels of 16 columns: [n / 16][k][n % 16] */
};

/* Called by every primitive that writes VTCM. */
static inline void pf_mirror_forget(pf_device *dev, const uint8_t *p, size_t bytes)
{
#if defined(PF_MODEL_FAST)
    if (!bytes)
        return;
    size_t first = (size_t)(p - dev->vtcm) / PF_TILE_BYTES;
    size_t last = ((size_t)(p - dev->vtcm) + bytes - 1) / PF_TILE_BYTES;
    memset(dev->mirror_role + first, PF_MIRROR_NONE, last - first + 1);
#else
    (void)dev, (void)p, (void)bytes;
#endif
}

static inline void pf_mirror_forget_tiles(pf_device *dev, const uint8_t *dst, uint32_t tile_stride, uint32_t tiles)
{
    for (uint32_t tile = 0; tile < tiles; tile++)
        pf_mirror_forget(dev, dst + (size_t)tile * tile_stride, PF_TILE_BYTES);
}

#endif
