/* What the body of an author's step may touch: the tile it is given and the tile it makes, by the vector operations. The
 * lowering says which tiles before every call; only the checked model listens.
 *
 * Stores by plain C pass no check. They are found afterwards: a twin of the windows takes every vector store as well, and
 * when the step ends both must hold the same bytes.
 */
#ifndef PF_OWN_STEP_H
#define PF_OWN_STEP_H

#if defined(PF_MODEL_CHECKED)

/* The windows of the plan; what lies behind them belongs to nobody. */
static inline size_t pf_own_extent(const pf_device *dev)
{
    return dev->plan ? pf_smaller(dev->plan->vtcm_bytes, dev->vtcm_bytes) : dev->vtcm_bytes;
}

static inline void pf_own_begin(pf_device *dev)
{
    memcpy(dev->twin, dev->vtcm, pf_own_extent(dev));
}

/* The next call makes the tile at `to` from `rows` rows of `row_bytes` bytes, `row_stride` apart, at `from`. */
static inline void pf_own_tile(pf_device *dev, const uint8_t *to, const uint8_t *from, uint32_t rows, uint32_t row_bytes,
                               uint32_t row_stride)
{
    dev->own = (struct pf_own_tile){to, from, rows, row_bytes, row_stride};
}

static inline void pf_own_end(pf_device *dev)
{
    size_t extent = pf_own_extent(dev), at = 0;
    dev->own.to = NULL;
    if (!memcmp(dev->twin, dev->vtcm, extent))
        return;
    while (dev->twin[at] == dev->vtcm[at])
        at++;
    pf_trap(dev, "the body of the step wrote to VTCM by plain C: use pf_vstore", dev->vtcm + at, 1);
}

static inline int pf_own_reads(const struct pf_own_tile *own, const uint8_t *p, size_t bytes)
{
    uintptr_t to = (uintptr_t)own->to, from = (uintptr_t)own->from, at = (uintptr_t)p;
    if (at >= to && at - to <= PF_TILE_BYTES && bytes <= PF_TILE_BYTES - (at - to))
        return 1;
    if (at < from || (at - from) / own->row_stride >= own->rows)
        return 0;
    size_t into = (at - from) % own->row_stride;
    return into <= own->row_bytes && bytes <= own->row_bytes - into;
}

static inline void pf_own_check_read(pf_device *dev, const uint8_t *p, size_t bytes)
{
    pf_check(dev, !dev->own.to || pf_own_reads(&dev->own, p, bytes),
             "the body of the step reads outside the tile it is given", p, bytes);
}

static inline void pf_own_check_write(pf_device *dev, const uint8_t *p, size_t bytes)
{
    uintptr_t into = (uintptr_t)p - (uintptr_t)dev->own.to;
    pf_check(dev, !dev->own.to || (into <= PF_TILE_BYTES && bytes <= PF_TILE_BYTES - into),
             "the body of the step writes outside the tile it makes", p, bytes);
}

static inline void pf_own_check_ddr(pf_device *dev, const void *p, size_t bytes)
{
    pf_check(dev, !dev->own.to, "the body of the step touches DDR", p, bytes);
}

/* A vector store: the twin follows. */
static inline void pf_own_stored(pf_device *dev, const uint8_t *p)
{
    if (dev->own.to)
        memcpy(dev->twin + (p - dev->vtcm), p, PF_VECTOR_BYTES);
}

#else

static inline void pf_own_begin(pf_device *dev) { (void)dev; }
static inline void pf_own_tile(pf_device *dev, const uint8_t *to, const uint8_t *from, uint32_t rows, uint32_t row_bytes,
                               uint32_t row_stride)
{
    (void)dev, (void)to, (void)from, (void)rows, (void)row_bytes, (void)row_stride;
}
static inline void pf_own_end(pf_device *dev) { (void)dev; }
static inline void pf_own_stored(pf_device *dev, const uint8_t *p) { (void)dev, (void)p; }

#endif

#endif
