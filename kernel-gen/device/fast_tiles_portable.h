/* FP16 tiles to and from f32 in plain C; NEON uses the same, through its FP16 conversion instructions. */
#ifndef PF_FAST_TILES_PORTABLE_H
#define PF_FAST_TILES_PORTABLE_H

static inline void pf_mirror_activation(float *restrict image, const uint8_t *tile)
{
    const uint16_t *half = (const uint16_t *)tile;
    for (uint32_t i = 0; i < 1024; i++)
        image[i] = pf_float_from_half(half[i]);
}

static inline void pf_mirror_weight(float *restrict image, const uint8_t *tile)
{
    const uint16_t *half = (const uint16_t *)tile;
    for (uint32_t panel = 0; panel < 2; panel++)
        for (uint32_t k = 0; k < PF_TILE; k++)
            for (uint32_t n = 0; n < 16; n++)
                image[panel * 512u + k * 16u + n] = pf_float_from_half(half[pf_tile_index(k, panel * 16u + n)]);
}

/* Returns 0, with the tile only partly meaningful, when an element does not fit FP16. */
static inline int pf_convert_tile(const float *accumulator, uint8_t *dst)
{
    uint16_t *half = (uint16_t *)dst;
    uint32_t largest = 0;
    for (uint32_t row = 0; row < PF_TILE; row += 2)
        for (uint32_t column = 0; column < PF_TILE; column++) {
            float even = accumulator[row * PF_TILE + column], odd = accumulator[(row + 1) * PF_TILE + column];
            uint32_t even_magnitude = pf_bits(even) & 0x7FFFFFFFu, odd_magnitude = pf_bits(odd) & 0x7FFFFFFFu;
            largest = largest > even_magnitude ? largest : even_magnitude;
            largest = largest > odd_magnitude ? largest : odd_magnitude;
            half[row * 32u + column * 2u] = pf_half_from_float(even);
            half[row * 32u + column * 2u + 1] = pf_half_from_float(odd);
        }
    return largest < 0x477FF000u;
}

#endif
