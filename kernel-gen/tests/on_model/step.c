/* Runs the body of one step on every tile of the file `input`; the FP16 tiles go to stdout, a trap to stderr. */
#include "body.c"

static const struct pf_kernel pf_kernels[] = {{0, "none", NULL}};

#include "model_table.h"

#include <stdio.h>

#if defined(ROW_STRIDE)
enum { FROM_BYTES = 32 * ROW_STRIDE };
#else
enum { FROM_BYTES = (INPUT_BYTES + PF_VECTOR_BYTES - 1) / PF_VECTOR_BYTES * PF_VECTOR_BYTES };
#endif
enum { FROM_ROOM = (FROM_BYTES + PF_TILE_BYTES - 1) / PF_TILE_BYTES * PF_TILE_BYTES };

#define TEXT_(a) #a
#define TEXT(a) TEXT_(a)

int main(void)
{
    pf_device *dev = PF_CAT(pf_model_, PF_VARIANT).open(1u << 20, PF_OVERFLOW_EXPONENT31, 4);
    FILE *input = fopen("input", "rb");
    if (!dev || !input)
        return 2;
    PF_STEP(dev, "none", "step.c", TEXT(STEP));
#if defined(PF_MODEL_CHECKED)
    if (setjmp(dev->escape)) {
        fprintf(stderr, "%s\n", dev->fault);
        return 1;
    }
#endif
    static uint8_t tile[INPUT_BYTES];
    uint8_t *from = dev->vtcm, *to = dev->vtcm + FROM_ROOM;
    while (fread(tile, 1, INPUT_BYTES, input) == INPUT_BYTES) {
#if defined(PF_MODEL_CHECKED)
        memset(dev->shadow, PF_NEVER_WRITTEN, FROM_ROOM + PF_TILE_BYTES);
#endif
        pf_begin_tiles(dev, to, PF_TILE_BYTES, 1);
#if defined(ROW_STRIDE)
        /* Every other patch is the second tile of its rows. */
        static uint8_t rows[32][128];
        static uint32_t second;
        for (uint32_t row = 0; row < 32; row++)
            memcpy(rows[row] + 64 * second, tile + 64 * row, 64);
        pf_dma_wait(dev, pf_dma_rows(dev, from, ROW_STRIDE, rows[0], 128, 128, 32));
        pf_own_begin(dev);
        pf_own_tile(dev, to, from + 64 * second, 32, 64, ROW_STRIDE);
        STEP(dev, to, from + 64 * second, ROW_STRIDE);
        second ^= 1;
#else
        pf_dma_wait(dev, pf_dma_rows(dev, from, INPUT_BYTES, tile, INPUT_BYTES, INPUT_BYTES, 1));
        pf_own_begin(dev);
        pf_own_tile(dev, to, from, 1, FROM_BYTES, FROM_BYTES);
        STEP(dev, to, from);
#endif
        pf_own_end(dev);
        pf_check_read(dev, to, PF_TILE_BYTES, 0);
        if (fwrite(to, 1, PF_TILE_BYTES, stdout) != PF_TILE_BYTES)
            return 2;
    }
    fclose(input);
    PF_CAT(pf_model_, PF_VARIANT).close(dev);
    return 0;
}
