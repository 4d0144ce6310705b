/* Integer and memory vector operations in plain C. In the checked model every VTCM access is checked here. */
#ifndef PF_VECTOR_HOST_H
#define PF_VECTOR_HOST_H

typedef struct {
    uint8_t bytes[PF_VECTOR_BYTES];
#if defined(PF_MODEL_CHECKED)
    uint8_t qfloat; /* the lanes are qfloat, which no store, load or integer operation understands */
#endif
} pf_vec;

typedef struct {
    pf_vec lo, hi;
} pf_vec_pair;

static inline pf_vec pf_vzero(void)
{
    pf_vec v;
    memset(&v, 0, sizeof v);
    return v;
}

static inline pf_vec pf_vsplat_word(uint32_t word)
{
    pf_vec v = pf_vzero();
    for (uint32_t i = 0; i < 32; i++)
        memcpy(v.bytes + 4u * i, &word, 4);
    return v;
}

static inline pf_vec pf_vsplat_half(uint16_t half)
{
    return pf_vsplat_word((uint32_t)half << 16 | half);
}

static inline void pf_check_plain(pf_device *dev, const void *p, pf_vec v)
{
#if defined(PF_MODEL_CHECKED)
    pf_check(dev, !v.qfloat, "a qfloat vector is stored without conversion", p, PF_VECTOR_BYTES);
#else
    (void)dev, (void)p, (void)v;
#endif
}

/* The first `bytes` bytes of an aligned VTCM vector; what the rest holds is not defined. */
static inline pf_vec pf_vload_first(pf_device *dev, const uint8_t *p, uint32_t bytes)
{
    pf_check_aligned(dev, p, PF_VECTOR_BYTES, bytes, "a vector access must be aligned to 128 bytes");
    pf_check_read(dev, p, bytes, 0);
    pf_vec v = pf_vzero();
    memcpy(v.bytes, p, bytes);
    return v;
}

/* The first `bytes` bytes from any VTCM address; what the rest holds is not defined. */
static inline pf_vec pf_vload_unaligned(pf_device *dev, const uint8_t *p, uint32_t bytes)
{
    pf_check_read(dev, p, bytes, 0);
    pf_vec v = pf_vzero();
    memcpy(v.bytes, p, bytes);
    return v;
}

static inline pf_vec pf_vload(pf_device *dev, const uint8_t *p)
{
    return pf_vload_first(dev, p, PF_VECTOR_BYTES);
}

/* A vector of an HMX output tile, for the unpack that carries the retry check. */
static inline pf_vec pf_vload_output(pf_device *dev, const uint8_t *p)
{
    pf_check_aligned(dev, p, PF_VECTOR_BYTES, PF_VECTOR_BYTES, "a vector access must be aligned to 128 bytes");
    pf_check_read(dev, p, PF_VECTOR_BYTES, 1);
    pf_vec v = pf_vzero();
    memcpy(v.bytes, p, sizeof v.bytes);
    return v;
}

static inline void pf_vstore(pf_device *dev, uint8_t *p, pf_vec v)
{
    pf_check_aligned(dev, p, PF_VECTOR_BYTES, PF_VECTOR_BYTES, "a vector access must be aligned to 128 bytes");
    pf_check_write(dev, p, PF_VECTOR_BYTES);
    pf_check_plain(dev, p, v);
    memcpy(p, v.bytes, sizeof v.bytes);
    pf_own_stored(dev, p);
}

/* The first `bytes` bytes of an aligned vector in DDR, zero beyond. */
static inline pf_vec pf_vload_ddr(pf_device *dev, const void *p, uint32_t bytes)
{
    pf_check_aligned(dev, p, PF_VECTOR_BYTES, bytes, "a vector access must be aligned to 128 bytes");
    pf_check_ddr(dev, p, bytes, 0);
    pf_vec v = pf_vzero();
    memcpy(v.bytes, p, bytes);
    return v;
}

static inline void pf_vstore_ddr(pf_device *dev, void *p, pf_vec v, uint32_t bytes)
{
    pf_check_aligned(dev, p, PF_VECTOR_BYTES, bytes, "a vector access must be aligned to 128 bytes");
    pf_check_ddr(dev, p, bytes, 1);
    pf_check_plain(dev, p, v);
    memcpy(p, v.bytes, bytes);
}

/* Zero from byte `bytes` on; 1 <= bytes <= 128. */
static inline pf_vec pf_vkeep_first(pf_vec v, uint32_t bytes)
{
    memset(v.bytes + bytes, 0, PF_VECTOR_BYTES - bytes);
    return v;
}

/* Every halfword of a half of the vector becomes that half's first one. */
static inline pf_vec pf_vsplat_first_h(pf_vec v)
{
    for (uint32_t i = 2; i < PF_VECTOR_BYTES; i++)
        v.bytes[i] = v.bytes[(i & 64u) | (i & 1u)];
    return v;
}

static inline pf_vec pf_vand(pf_vec a, pf_vec b)
{
    for (uint32_t i = 0; i < PF_VECTOR_BYTES; i++)
        a.bytes[i] &= b.bytes[i];
    return a;
}

/* Every word shifted right by `bits`, zeros from above. */
static inline pf_vec pf_vlsr_w(pf_vec v, uint32_t bits)
{
    uint32_t words[32];
    memcpy(words, v.bytes, sizeof words);
    for (uint32_t i = 0; i < 32; i++)
        words[i] >>= bits;
    memcpy(v.bytes, words, sizeof words);
    return v;
}

/* Bytes subtracted modulo 256. */
static inline pf_vec pf_vsub_b(pf_vec a, pf_vec b)
{
    for (uint32_t i = 0; i < PF_VECTOR_BYTES; i++)
        a.bytes[i] = (uint8_t)(a.bytes[i] - b.bytes[i]);
    return a;
}

static inline pf_vec pf_vmax_uh(pf_vec a, pf_vec b)
{
    uint16_t x[64], y[64];
    memcpy(x, a.bytes, sizeof x);
    memcpy(y, b.bytes, sizeof y);
    for (uint32_t i = 0; i < 64; i++)
        x[i] = x[i] > y[i] ? x[i] : y[i];
    memcpy(a.bytes, x, sizeof x);
    return a;
}

/* Rotates right: byte i of the result is byte i + bytes. */
static inline pf_vec pf_vror(pf_vec v, uint32_t bytes)
{
    pf_vec out = v;
    for (uint32_t i = 0; i < PF_VECTOR_BYTES; i++)
        out.bytes[i] = v.bytes[(i + bytes) % PF_VECTOR_BYTES];
    return out;
}

/* vshuff(hi, lo, Rt): for every set bit `step` of Rt, ascending, exchanges lo's odd step-blocks with hi's even ones. */
static inline pf_vec_pair pf_vshuff(pf_vec hi, pf_vec lo, int rt)
{
    for (uint32_t step = 1; step < PF_VECTOR_BYTES; step <<= 1) {
        if (!((uint32_t)rt & step))
            continue;
        for (uint32_t i = 0; i < PF_VECTOR_BYTES; i++) {
            if (i & step)
                continue;
            uint8_t byte = lo.bytes[i + step];
            lo.bytes[i + step] = hi.bytes[i];
            hi.bytes[i] = byte;
        }
    }
    return (pf_vec_pair){lo, hi};
}

/* First half and second half of the halfwords become the even and the odd ones. */
static inline pf_vec pf_vshuff_h(pf_vec v)
{
    pf_vec out = v;
    for (uint32_t i = 0; i < 32; i++) {
        memcpy(out.bytes + 4u * i, v.bytes + 2u * i, 2);
        memcpy(out.bytes + 4u * i + 2u, v.bytes + 64u + 2u * i, 2);
    }
    return out;
}

/* Inverse of pf_vshuff_h. */
static inline pf_vec pf_vdeal_h(pf_vec v)
{
    pf_vec out = v;
    for (uint32_t i = 0; i < 32; i++) {
        memcpy(out.bytes + 2u * i, v.bytes + 4u * i, 2);
        memcpy(out.bytes + 64u + 2u * i, v.bytes + 4u * i + 2u, 2);
    }
    return out;
}

static inline uint32_t pf_vword(pf_vec v, uint32_t index)
{
    uint32_t word;
    memcpy(&word, v.bytes + 4u * index, sizeof word);
    return word;
}

/* Scatters the first 16 words of `words` to base, base + 128, base + 256, ... inside the tile `column` lies in. */
static inline void pf_vscatter_column(pf_device *dev, uint8_t *tile, uint32_t column, pf_vec words)
{
    for (uint32_t i = 0; i < 16; i++) {
        uint8_t *dst = tile + 128u * i + 4u * column;
#if defined(PF_MODEL_CHECKED)
        pf_check_write(dev, dst, 4);
        memset(dev->shadow + (dst - dev->vtcm), PF_IN_FLIGHT, 4);
        if (dev->scattered_count == dev->scattered_room) {
            size_t room = dev->scattered_room ? dev->scattered_room * 2 : 4096;
            struct pf_scattered *grown = realloc(dev->scattered, room * sizeof *grown);
            pf_check(dev, grown != NULL, "the model has no memory for another scattered word", NULL, room);
            dev->scattered = grown;
            dev->scattered_room = room;
        }
        dev->scattered[dev->scattered_count++] = (struct pf_scattered){dst, pf_vword(words, i)};
#else
        (void)dev;
        memcpy(dst, words.bytes + 4u * i, 4);
#endif
    }
}

/* Returns once every scattered word has landed. */
static inline void pf_scatter_release(pf_device *dev)
{
#if defined(PF_MODEL_CHECKED)
    for (size_t i = 0; i < dev->scattered_count; i++) {
        uint8_t *dst = dev->scattered[i].dst;
        memcpy(dst, &dev->scattered[i].word, 4);
        memset(dev->shadow + (dst - dev->vtcm), PF_WRITTEN, 4);
    }
    dev->scattered_count = 0;
#else
    (void)dev;
#endif
}

#endif
