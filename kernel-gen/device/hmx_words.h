/* Register words of HMX instructions, as emitted kernels spell them; every backend takes the same. */
#ifndef PF_HMX_WORDS_H
#define PF_HMX_WORDS_H

/* One operand load, mxmem(Rs, Rt). Rs: address of the first tile; its low 11 bits are start offsets in an activation, its
 * low 7 flags in a weight, and 0 in both for whole FP16 tiles. Rt: the last byte of the run, 2048 n - 1 for n tiles. An
 * activation's low 11 bits of Rt mask rows and channels, all ones for none; bytes of a weight behind Rt are ignored. */
struct pf_load {
    const uint8_t *rs;
    uint32_t rt;
};

/* One packet: activation.hf = mxmem(Rs, Rt):deep and weight.hf = mxmem(Rs, Rt). HMX multiplies only what shares a packet; a
 * load left out is 0, which is no address of VTCM. */
struct pf_packet {
    struct pf_load activation, weight;
};

/* Control word of the convert, Rs of cvt.hf = acc(Rs). */
enum {
    PF_CONVERT_RETAIN = 1,   /* keep the accumulator; without it the convert clears it */
    PF_CONVERT_NO_RELU = 2   /* without it negative results become 0 */
};

#define PF_LOAD_LOW_BITS (PF_TILE_BYTES - 1u)

#endif
