/* Sizes of the things that live in VTCM, and the one formula all FP16 tiles share. */
#ifndef PF_TILE_H
#define PF_TILE_H

#include <stdint.h>

#define PF_TILE 32u              /* rows and columns of a tile */
#define PF_TILE_BYTES 2048u      /* FP16 tile */
#define PF_TILE_Q8_BYTES 1088u   /* 1024 int8 quants, then 32 FP16 scales */
#define PF_TILE_Q4_BYTES 576u    /* 512 bytes of nibbles, then 32 FP16 scales */
#define PF_BLOCK_Q8_BYTES 34u    /* ggml's Q8_0: FP16 scale, then 32 int8 quants of one row */
#define PF_VECTOR_BYTES 128u     /* HVX vector: one pair of tile rows */
#define PF_PACKET_TILES 32u      /* most tiles one HMX packet takes along the contraction */
#define PF_BIAS_BYTES 256u       /* HMX bias record, aligned to its size */
#define PF_CORNER_BYTES 2048u    /* end of VTCM that plans never touch: the bias record lives there */
#define PF_RETRY_HALF 0x7B53u    /* 60 000 as FP16: from here on a row is sent again with a smaller scale */

/* Halfword index of element (row, column) of a tile; a weight tile's row is the contraction index. */
static inline uint32_t pf_tile_index(uint32_t row, uint32_t column)
{
    return (row >> 1) * 64u + column * 2u + (row & 1u);
}

static inline uint32_t pf_tiles_for(uint32_t columns)
{
    return (columns + PF_TILE - 1u) / PF_TILE;
}

static inline uint32_t pf_smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

#endif
