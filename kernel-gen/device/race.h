/* Races of the checked model. In a parallel region every access of a worker is kept; a byte that one worker writes may not
 * be written or read by another before the region ends, whatever order the model happens to run them in.
 */
#ifndef PF_RACE_H
#define PF_RACE_H

#if defined(PF_MODEL_CHECKED)

/* What one worker did to one vector of memory. */
struct pf_line {
    uint64_t line;                /* address / 128 */
    uint32_t region, worker;      /* an entry of an earlier region is free */
    uint64_t read[2], written[2]; /* a bit for each byte */
};

/* The entry of (line, worker), or the free one where it belongs. */
static inline struct pf_line *pf_find_line(pf_device *dev, uint64_t line, uint32_t worker)
{
    size_t at = (size_t)((line * 0x9E3779B97F4A7C15ull + worker * 0xC2B2AE3D27D4EB4Full) >> 32);
    for (;; at++) {
        struct pf_line *entry = &dev->lines[at & (dev->line_room - 1u)];
        if (entry->region != dev->region || (entry->line == line && entry->worker == worker))
            return entry;
    }
}

/* Kept at most half full, so that a search ends soon. */
static inline void pf_grow_lines(pf_device *dev)
{
    struct pf_line *old = dev->lines;
    size_t old_room = dev->line_room;
    dev->line_room = old_room ? old_room * 2 : 4096;
    dev->lines = calloc(dev->line_room, sizeof *dev->lines);
    if (!dev->lines) {
        dev->lines = old;
        dev->line_room = old_room;
        pf_trap(dev, "the model has no memory for another accessed vector", NULL, old_room);
    }
    for (size_t i = 0; i < old_room; i++)
        if (old[i].region == dev->region)
            *pf_find_line(dev, old[i].line, old[i].worker) = old[i];
    free(old);
}

static inline void pf_race(pf_device *dev, const uint8_t *p, size_t bytes, int writes, uint32_t other, int written)
{
    char rule[96];
    snprintf(rule, sizeof rule, "race between two workers: worker %u %s what worker %u %s", dev->worker,
             writes ? "writes" : "reads", other, written ? "writes" : "reads");
    pf_trap(dev, rule, p, bytes);
}

static inline void pf_touch_line(pf_device *dev, const uint8_t *p, size_t bytes, int writes)
{
    uint64_t line = (uint64_t)(uintptr_t)p / PF_VECTOR_BYTES;
    uint32_t first = (uint32_t)((uintptr_t)p % PF_VECTOR_BYTES), last = first + (uint32_t)bytes - 1u;
    uint64_t mask[2];
    for (uint32_t half = 0; half < 2; half++) {
        uint32_t from = first > half * 64u ? first - half * 64u : 0u, to = last - half * 64u;
        int inside = first < half * 64u + 64u && last >= half * 64u;
        mask[half] = inside ? ~0ull << from & ~0ull >> (63u - pf_smaller(to, 63u)) : 0u;
    }
    for (uint32_t other = 0; other < dev->workers; other++) {
        const struct pf_line *entry = pf_find_line(dev, line, other);
        if (other == dev->worker || entry->region != dev->region)
            continue;
        int written = (entry->written[0] & mask[0]) != 0 || (entry->written[1] & mask[1]) != 0;
        int read = (entry->read[0] & mask[0]) != 0 || (entry->read[1] & mask[1]) != 0;
        if (written || (writes && read))
            pf_race(dev, p, bytes, writes, other, written);
    }
    struct pf_line *own = pf_find_line(dev, line, dev->worker);
    if (own->region != dev->region) {
        *own = (struct pf_line){.line = line, .region = dev->region, .worker = dev->worker};
        dev->line_count++;
    }
    for (uint32_t half = 0; half < 2; half++)
        *(writes ? &own->written[half] : &own->read[half]) |= mask[half];
}

/* Every access of a kernel to VTCM or DDR passes here. */
static inline void pf_touch(pf_device *dev, const void *p, size_t bytes, int writes)
{
    if (!dev->in_region)
        return;
    const uint8_t *at = p, *end = at + bytes;
    while (at < end) {
        size_t room = PF_VECTOR_BYTES - (uintptr_t)at % PF_VECTOR_BYTES, left = (size_t)(end - at);
        size_t now = left < room ? left : room;
        if (2 * dev->line_count >= dev->line_room)
            pf_grow_lines(dev);
        pf_touch_line(dev, at, now, writes);
        at += now;
    }
}

static inline void pf_region_begin(pf_device *dev)
{
    pf_check(dev, !dev->in_region, "a worker starts workers of its own", NULL, 0);
    pf_check(dev, !dev->scattered_count, "workers start before scattered words are released", NULL,
             dev->scattered_count);
    dev->region++;
    dev->line_count = 0;
    dev->in_region = 1;
}

/* A worker's scattered words are released by nobody else. */
static inline void pf_region_worker(pf_device *dev, uint32_t worker)
{
    pf_check(dev, !worker || !dev->scattered_count, "a worker ends with scattered words not released", NULL,
             dev->scattered_count);
    dev->worker = worker;
}

static inline void pf_region_end(pf_device *dev)
{
    pf_region_worker(dev, dev->workers);
    dev->worker = 0;
    dev->in_region = 0;
}

#else

static inline void pf_touch(pf_device *dev, const void *p, size_t bytes, int writes)
{
    (void)dev, (void)p, (void)bytes, (void)writes;
}
static inline void pf_region_begin(pf_device *dev) { (void)dev; }
static inline void pf_region_worker(pf_device *dev, uint32_t worker) { (void)dev, (void)worker; }
static inline void pf_region_end(pf_device *dev) { (void)dev; }

#endif

#endif
