/* Runs every primitive on random and special data in every variant and compares the bytes; checks the layouts of the
 * checked model against the formulas in words; breaks every rule once. Exits 1 and says what differed.
 *
 * VARIANTS is a list V(checked) V(portable) ...; the first is the checked model, which the others must equal.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi.h"
#include "cases.h"
#include "half.h"
#include "model.h"

#define V(name) extern const struct pf_model_table pf_model_##name;
VARIANTS
#undef V
#define V(name) &pf_model_##name,
static const struct pf_model_table *const variants[] = {VARIANTS};
#undef V

enum { COUNT = sizeof variants / sizeof variants[0], ARENA = 1 << 18, TILE = 2048, RUNS = 1500, FACTORS = 320 };

static uint64_t state = 88172645463325252ull;
static uint32_t draw(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 16);
}

static float gauss(void)
{
    float sum = 0;
    for (int i = 0; i < 6; i++)
        sum += (float)draw() / 4294967296.0f;
    return (sum - 3.0f) * 1.41f;
}

/* Zeros, denormals of both formats, rounding ties, and both sides of the FP16 limit. */
static float special(void)
{
    static const float values[] = {0,          -0.0f,      1e-45f,    -1e-40f,   1.17549435e-38f, 6e-8f,   -5.96e-8f,
                                   2.98e-8f,   2.9802322e-8f, 6.1e-5f, 6.09e-5f, 65504,           65519.9f, 65520,
                                   -65520,     1e30f,      -3e38f,    1,         2049,            4097,    -2051};
    return values[draw() % (sizeof values / sizeof values[0])];
}

static void fail(const char *what, const char *variant)
{
    printf("%s: %s\n", variant, what);
    exit(1);
}

static void *arena(void)
{
    void *p = aligned_alloc(4096, ARENA);
    if (!p)
        fail("no memory", "compare");
    memset(p, 0, ARENA);
    return p;
}

static struct pf_plan plan;
static struct pf_request request;
static uint8_t *in, *vectors, *out[COUNT], *flags[COUNT];
static int32_t *exponents;

static void prepare(uint32_t kernel, uint32_t rows, uint32_t which, uint32_t cols, uint32_t tile_stride, uint32_t tiles)
{
    plan = (struct pf_plan){.abi_version = PF_ABI_VERSION, .bytes = sizeof plan, .arch = 79, .kernel = kernel};
    request = (struct pf_request){.abi_version = PF_ABI_VERSION, .bytes = sizeof request, .kernel = kernel};
    request.axes[0] = request.row_end = rows;
    request.axes[1] = which, request.axes[2] = cols, request.axes[3] = tile_stride;
    memcpy(plan.axes, request.axes, sizeof plan.axes);
    plan.windows[0] = (struct pf_window){0, 128 * TILE, 1, 0};
    plan.windows[1] = (struct pf_window){128 * TILE, tiles * TILE, 1, 0};
    plan.window_count = 2;
    plan.vtcm_bytes = (128 + tiles) * TILE;
}

static void set_operand(uint32_t index, void *address, uint64_t bytes, uint32_t stride)
{
    request.operands[index] = (struct pf_operand){(uintptr_t)address, bytes, 32, 32, stride, 0};
}

static void fill(enum primitive which, uint32_t kind)
{
    float *f = (float *)in;
    uint16_t *h = (uint16_t *)in;
    for (uint32_t i = 0; i < ARENA / 4; i++)
        f[i] = kind == 0 ? special() : kind == 1 ? gauss() : gauss() * ldexpf(1, (int)(draw() % 250) - 125);
    for (uint32_t i = 0; i < 32; i++)
        exponents[i] = kind == 1 ? (int32_t)(draw() % 31) - 15 : (int32_t)(draw() % 253) - 126;
    if (which == CONVERT) /* both sides of 65 504, 131 008 and beyond */
        for (uint32_t i = 0; i < 512; i++)
            f[2 * i] = (draw() % 2 ? 1.0f : -1.0f) * (kind == 0 ? INFINITY : 65400.0f + (float)(draw() % 70000));
    if (which == PACK_ROWS || which == PACK_COLS || which == CONVERT)
        return;
    for (uint32_t i = 0; i < ARENA / 2; i++) {
        h[i] = (uint16_t)draw();
        if (kind == 1) /* the neighbours of 60 000 among ordinary values */
            h[i] = draw() % 50 ? h[i] & 0xF7FF : draw() % 2 ? 0x7B53 : 0x7B52;
        else if (kind == 2) /* small enough that no product overflows */
            h[i] &= 0xB3FF;
    }
}

/* FP16 element (row, column) of tile t, in the words of the layout rule. */
static uint16_t element(const uint8_t *tiles, uint32_t t, uint32_t row, uint32_t column)
{
    uint16_t half;
    memcpy(&half, tiles + t * TILE + (row >> 1) * 128 + column * 4 + (row & 1) * 2, sizeof half);
    return half;
}

static uint16_t expected(enum primitive which, uint32_t t, uint32_t r, uint32_t c, uint32_t stride, uint32_t rows,
                         uint32_t cols)
{
    uint16_t half;
    if (which <= PACK_COLS_BF16) {
        double value = 0;
        uint32_t column = t * 32 + c;
        if (r < rows && column < cols) {
            const uint8_t *row = in + r * stride;
            if (which == PACK_ROWS_BF16)
                row += 64;
            float element = ((const float *)row)[which <= PACK_COLS ? column : 0];
            if (which > PACK_COLS)
                memcpy(&half, row + 2 * column, sizeof half);
            if (which == PACK_ROWS_F16 || which == PACK_COLS_F16)
                element = pf_float_from_half_software(half);
            if (which >= PACK_ROWS_BF16)
                element = pf_float((uint32_t)half << 16);
            value = ldexp(element, exponents[r]);
        }
        return pf_half_from_float_software((float)value);
    }
    if (which != DEQUANTISE_Q8 && which != DEQUANTISE_Q4) {
        memcpy(&half, in + r * stride + (t * 32 + c) * 2, sizeof half);
        return half;
    }
    if (which == DEQUANTISE_Q4) {
        const uint8_t *tile = in + t * 576;
        memcpy(&half, tile + 512 + r * 2, sizeof half);
        int32_t nibble = tile[(c >> 1) * 32 + r] >> (c & 1) * 4 & 15;
        return pf_half_from_float_software((float)(nibble - 8) * pf_float_from_half_software(half));
    }
    const uint8_t *tile = in + t * 1088;
    memcpy(&half, tile + 1024 + r * 2, sizeof half);
    int8_t quant = (int8_t)tile[(c >> 1) * 64 + 2 * r + (c & 1)];
    return pf_half_from_float_software((float)quant * pf_float_from_half_software(half));
}

static int is_nan(uint16_t half) { return (half & 0x7FFF) > 0x7C00; }

/* r is the source row, c its column: weight-role tiles have them exchanged. */
static void check_layout(enum primitive which, uint32_t stride, uint32_t rows, uint32_t cols)
{
    int exchanged = which == PACK_COLS || which == PACK_COLS_F16 || which == PACK_COLS_BF16 || which == SCATTER_WORDS || which == DEQUANTISE_Q8
                    || which == DEQUANTISE_Q4;
    for (uint32_t t = 0; t < (cols + 31) / 32; t++)
        for (uint32_t r = 0; r < 32; r++)
            for (uint32_t c = 0; c < 32; c++) {
                uint16_t got = exchanged ? element(out[0], t, c, r) : element(out[0], t, r, c);
                uint16_t want = expected(which, t, r, c, stride, rows, cols);
                if (got != want && !(is_nan(got) && is_nan(want)))
                    fail("a tile does not follow the layout rule", variants[0]->name);
            }
}

/* What the convert must write, from the words of the three overflow behaviours. */
static uint16_t converted(float value, uint32_t overflow)
{
    static const uint16_t nan[] = {0xFFFF, 0xFBFF, 0xFFFF}, beyond[] = {0x7FFF, 0x7BFF, 0x7C00};
    uint16_t sign = signbit(value) ? 0x8000 : 0;
    if (isnan(value))
        return nan[overflow];
    if (fabsf(value) < 65520.0f)
        return pf_half_from_float_software(value);
    double steps = nearbyint(fabs((double)value) / 64); /* the ulp of the binade that exponent 31 would be */
    if (overflow == PF_OVERFLOW_EXPONENT31 && steps < 2048)
        return sign | (uint16_t)(0x7C00 + (int)steps - 1024);
    return sign | beyond[overflow];
}

static void check_convert(uint32_t overflow)
{
    for (uint32_t r = 0; r < 32; r++)
        for (uint32_t c = 0; c < 32; c++)
            if (element(out[0], 0, r, c) != converted(((float *)in)[r * 32 + c], overflow))
                fail("an accumulator was not converted as its overflow behaviour says", variants[0]->name);
}

/* NaN payloads of sums are the processor's business, and only flagged rows have them. */
static int same_floats(const float *a, const float *b)
{
    for (uint32_t i = 0; i < ARENA / 4; i++)
        if (memcmp(a + i, b + i, 4) && !(isnan(a[i]) && isnan(b[i])))
            return 0;
    return 1;
}

static void compare_run(pf_device *const devices[COUNT], uint32_t run, uint32_t overflow)
{
    enum primitive which = run % PRIMITIVES;
    uint32_t kind = run / PRIMITIVES % 3, rows = 1 + draw() % 32, cols = 1 + draw() % 300, stride = TILE * (1 + draw() % 4);
    int unpacks = which >= UNPACK_ROWS && which <= ADD_COLS_AFFINE;
    if (which == MULTIPLY)
        cols = 32 * (1 + draw() % 14), stride = kind == 2 ? 0 : 1;
    prepare(KERNEL_PRIMITIVE, rows, which, cols, stride, 64);
    fill(which, kind);
    uint32_t row_bytes = (cols + 31) / 32 * 128;
    uint32_t in_stride = which <= PACK_COLS_BF16 ? row_bytes + 128 * (draw() % 3) : which <= SCATTER_WORDS ? 4096 : TILE;
    set_operand(0, in, ARENA, in_stride);
    /* One of the two factors may be missing. */
    int factors = which >= UNPACK_ROWS_AFFINE && which <= ADD_COLS_AFFINE ? 1 + (int)(draw() % 3) : 0;
    for (uint32_t i = 0; i < 2u * FACTORS; i++)
        ((float *)vectors)[i] = kind == 0 ? special() : gauss();
    if (factors & 1)
        set_operand(1, vectors, 4 * FACTORS, 4 * FACTORS);
    if (factors & 2)
        set_operand(3, vectors + 4 * FACTORS, 4 * FACTORS, 4 * FACTORS);
    for (int v = 0; v < COUNT; v++) {
        memset(out[v], 0x3C, ARENA);
        memset(flags[v], 0, 32);
        set_operand(2, out[v], ARENA, row_bytes + 128);
        request.row_exponents = (uintptr_t)exponents;
        request.row_flags = (uintptr_t)flags[v];
        if (variants[v]->run(devices[v], KERNEL_PRIMITIVE, &plan, &request))
            fail(variants[v]->fault(devices[v]), variants[v]->name);
        if (memcmp(flags[0], flags[v], 32))
            fail("row flags differ from the checked model", variants[v]->name);
        if (unpacks ? !same_floats((float *)out[0], (float *)out[v]) : memcmp(out[0], out[v], ARENA))
            fail("bytes differ from the checked model", variants[v]->name);
    }
    if (which < UNPACK_ROWS)
        check_layout(which, in_stride, rows, cols);
    if (which == CONVERT)
        check_convert(overflow);
}

#define RULE_TEXT(name, text) {#name, text},
static const struct {
    const char *name, *text;
} rules[] = {RULES(RULE_TEXT)};

static void break_rules(pf_device *dev)
{
    for (uint32_t i = 0; i < ARENA / 4; i++)
        ((float *)in)[i] = 100 + gauss();
    for (uint32_t r = 0; r < RULE_COUNT; r++) {
        prepare(KERNEL_RULE, 32, r, 0, 0, 32);
        set_operand(0, in, 32 * 4096, 4096);
        set_operand(2, out[0], 32 * 4096, 4096);
        memset(flags[0], 0, 32);
        request.row_flags = (uintptr_t)flags[0];
        int status = variants[0]->run(dev, KERNEL_RULE, &plan, &request);
        const char *fault = variants[0]->fault(dev);
        int sound = rules[r].text[0] ? status == PF_TRAPPED && strstr(fault, rules[r].text) && strstr(fault, "unit.c:7:9")
                           && strstr(fault, r & 1 ? " at m=64, stage=1: " : " at m=64, stage=0: ")
                                     : status == PF_OK && !fault[0];
        if (!sound) {
            printf("rule %s: status %d, fault `%s`\n", rules[r].name, status, fault);
            exit(1);
        }
        if (r == RULE_guarded_overflow && memchr(flags[0], 0, 32))
            fail("an overflowed row was not flagged", variants[0]->name);
    }
}

/* The processor's conversion, where the build has one, against the integer one. */
static void check_half(void)
{
    for (uint32_t h = 0; h < 65536; h++)
        if (pf_bits(pf_float_from_half((uint16_t)h)) != pf_bits(pf_float_from_half_software((uint16_t)h)))
            fail("FP16 to f32 conversions differ", "half.h");
    for (uint64_t bits = 0; bits < 1ull << 32; bits += 251)
        if (pf_half_from_float(pf_float((uint32_t)bits)) != pf_half_from_float_software(pf_float((uint32_t)bits)))
            fail("f32 to FP16 conversions differ", "half.h");
}

int main(void)
{
    check_half();
    in = arena();
    exponents = arena();
    vectors = arena();
    for (int v = 0; v < COUNT; v++) {
        out[v] = arena();
        flags[v] = arena();
    }
    for (uint32_t overflow = 0; overflow < 3; overflow++) {
        pf_device *devices[COUNT];
        for (int v = 0; v < COUNT; v++)
            if (!(devices[v] = variants[v]->open(1u << 20, overflow, 4)))
                fail("no device", variants[v]->name);
        for (uint32_t run = 0; run < RUNS / 3; run++)
            compare_run(devices, run, overflow);
        break_rules(devices[0]);
        for (int v = 0; v < COUNT; v++)
            variants[v]->close(devices[v]);
    }
    printf("%d variants agree\n", (int)COUNT);
    return 0;
}
