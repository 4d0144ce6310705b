/* 128-byte vector operations: the vocabulary in which the strip bodies are written once.
 *
 *   integer and memory part   vector_hexagon.h (HVX intrinsics)   vector_host.h (plain C)
 *   qfloat part               vector_qfloat.h (V79, V81)          vector_softfloat.h (plain C on the lanes)
 *   float part                vector_float.h, of the qfloat part
 *
 * The first two are chosen apart because qemu-hexagon runs the integer operations but none of the float ones:
 * PF_SOFTWARE_FLOAT pairs vector_hexagon.h with vector_softfloat.h. A pf_vec is words, halves, bytes, sf or hf, never
 * qfloat: qfloat registers carry bits that a store or a spill would lose, so qfloat has types of its own, which no store
 * takes. Whoever takes the bits out all the same is stopped by the checked model when they are stored.
 */
#ifndef PF_VECTOR_H
#define PF_VECTOR_H

#if defined(PF_HEXAGON)
#include "vector_hexagon.h"
#else
#include "vector_host.h"
#endif

typedef struct {
    pf_vec bits;
} pf_qf32;

/* lo: even halfwords or words of the even row, hi: the odd ones. */
typedef struct {
    pf_qf32 lo, hi;
} pf_qf32_pair;

#if defined(PF_HEXAGON) && !defined(PF_SOFTWARE_FLOAT)
#include "vector_qfloat.h"
#else
#include "vector_softfloat.h"
#endif

#include "vector_float.h"

/* 64 bytes of VTCM, aligned to 64, as the first half of a vector; the second half means nothing. */
static inline pf_vec pf_vload_half(pf_device *dev, const uint8_t *p)
{
    uint32_t before = (uint32_t)((uintptr_t)p % PF_VECTOR_BYTES);
    pf_check(dev, before % 64u == 0, "half a vector must be aligned to 64 bytes", p, 64);
#if defined(PF_HEXAGON)
    pf_vec v = pf_vload_first(dev, p - before, before + 64u);
    return before ? pf_vror(v, before) : v;
#else
    /* Only these bytes are read in name: the other half may belong to another patch, or to another worker. */
    return pf_vload_unaligned(dev, p, 64);
#endif
}

/* Swaps the 4-bit vector index with the low 4 bits of the word index: words (vector v, half h, word w) <-> (w, h, v).
 * Four stages of single-bit shuffles, each a transpose of one vector-index bit with one byte-address bit. */
static inline void pf_vtranspose_words(pf_vec v[16])
{
    for (int bit = 0; bit < 4; bit++)
        for (int i = 0; i < 16; i++) {
            if (i >> bit & 1)
                continue;
            pf_vec_pair pair = pf_vshuff(v[i + (1 << bit)], v[i], 4 << bit);
            v[i] = pair.lo;
            v[i + (1 << bit)] = pair.hi;
        }
}

#endif
