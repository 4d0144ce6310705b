/* What the compared variants are asked to do. Every case is one kernel run: axes are {rows, case, cols, tile stride}. */
#ifndef CASES_H
#define CASES_H

enum { KERNEL_PRIMITIVE = 1, KERNEL_RULE = 2 };

enum primitive {
    PACK_ROWS,
    PACK_COLS,
    PACK_ROWS_F16,
    PACK_COLS_F16,
    PACK_ROWS_BF16,
    PACK_COLS_BF16,
    INTERLEAVE_PAIRS,
    SCATTER_WORDS,
    DEQUANTISE_Q8,
    DEQUANTISE_Q4,
    UNPACK_ROWS,
    ADD_ROWS,
    UNPACK_COLS,
    ADD_COLS,
    UNPACK_ROWS_AFFINE,
    ADD_ROWS_AFFINE,
    UNPACK_COLS_AFFINE,
    ADD_COLS_AFFINE,
    MULTIPLY,
    CONVERT,
    PRIMITIVES
};

/* Each rule is broken once; the fault text must contain the words given here. "" marks a kernel that breaks none. */
#define RULES(X)                                                                                                        \
    X(clean, "")                                                                                                        \
    X(guarded_overflow, "")                                                                                             \
    X(read_never_written, "never-written")                                                                              \
    X(read_before_dma_wait, "not waited for")                                                                           \
    X(write_before_dma_wait, "write to bytes whose DMA")                                                                \
    X(return_before_dma_wait, "descriptors in flight")                                                                  \
    X(wait_for_no_ticket, "never given out")                                                                            \
    X(dma_wide_stride, "24-bit")                                                                                        \
    X(dma_many_rows, "16-bit")                                                                                          \
    X(dma_past_operand, "outside every operand")                                                                        \
    X(dma_past_stage, "outside every window stage")                                                                     \
    X(read_before_scatter_release, "not waited for")                                                                    \
    X(return_before_scatter_release, "on their way")                                                                    \
    X(unaligned_tile, "2048")                                                                                           \
    X(unaligned_row, "128")                                                                                             \
    X(unaligned_half_row, "multiple of 32 columns")                                                                     \
    X(reserved_corner, "reserved end")                                                                                  \
    X(outside_vtcm, "outside VTCM")                                                                                     \
    X(no_such_window, "no such window")                                                                                 \
    X(no_such_stage, "no such stage")                                                                                   \
    X(too_many_rows, "1 to 32 rows")                                                                                    \
    X(multiply_without_lock, "outside pf_hmx_begin")                                                                    \
    X(return_with_lock, "without releasing")                                                                            \
    X(lock_twice, "already held")                                                                                       \
    X(packet_of_33, "1 to 32 tiles")                                                                                    \
    X(store_without_multiply, "without a multiply")                                                                     \
    X(discarded_accumulator, "not stored")                                                                              \
    X(overflow_multiplied, "without the retry check")                                                                   \
    X(unpack_without_flags, "needs row flags")

#define RULE_NAME(name, text) RULE_##name,
enum rule { RULES(RULE_NAME) RULE_COUNT };

#endif
