/* 128-byte vector operations: the vocabulary in which the strip bodies are written once.
 *
 *   integer and memory part   vector_hexagon.h (HVX intrinsics)   vector_host.h (plain C)
 *   float part                vector_qfloat.h (qfloat, V79/V81)   vector_softfloat.h (plain C on the lanes)
 *
 * The two parts are chosen apart because qemu-hexagon runs the integer operations but none of the float ones:
 * PF_SOFTWARE_FLOAT pairs vector_hexagon.h with vector_softfloat.h. A float result here is always plain sf or hf, never
 * qfloat: qfloat registers carry bits that a spill would lose.
 */
#ifndef PF_VECTOR_H
#define PF_VECTOR_H

#if defined(PF_HEXAGON)
#include "vector_hexagon.h"
#else
#include "vector_host.h"
#endif

#if defined(PF_HEXAGON) && !defined(PF_SOFTWARE_FLOAT)
#include "vector_qfloat.h"
#else
#include "vector_softfloat.h"
#endif

/* 64 bytes of VTCM, aligned to 64, as the first half of a vector; the second half means nothing. */
static inline pf_vec pf_vload_half(pf_device *dev, const uint8_t *p)
{
    uint32_t before = (uint32_t)((uintptr_t)p % PF_VECTOR_BYTES);
    pf_check(dev, before % 64u == 0, "half a vector must be aligned to 64 bytes", p, 64);
    pf_vec v = pf_vload_first(dev, p - before, before + 64u);
    return before ? pf_vror(v, before) : v;
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
