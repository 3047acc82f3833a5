/*
** C for the CPU. The text includes nothing: headers cost as much as the kernel does.
**
** The structs are those of ir/kernel.h; test_render.c checks that a kernel reads what the host wrote.
*/
#include "render/dialect.h"

static const char after[] =
    "#ifdef __clang__\n"
    "#define TT_INDEPENDENT _Pragma(\"clang loop vectorize(assume_safety)\")\n"
    "#define TT_UNROLLED\n"
    "#else\n"
    "#define TT_INDEPENDENT _Pragma(\"GCC ivdep\")\n"
    "#define TT_UNROLLED _Pragma(\"GCC unroll 16\")\n"
    "#endif\n"
    "#ifdef __AVX512BW__\n" /* to load some lanes costs what all cost */
    "#define TT_MASKS 1\n"
    "#define TT_TAIL(m) 64\n"
    "#define TT_IN(w, m) ((tt_i32)(w) < (m))\n"
    "#define TT_HOLDS(n, h) 1\n"
    /* what m lanes from p on will be followed by: loads of some lanes do not tell a processor what to fetch next */
    "#define TT_AHEAD(p, m) \\\n"
    "  for (tt_i64 b = 0; b < (m) * (tt_i64)sizeof *(p); b += 64) __builtin_prefetch((const char *)(p) + 512 + b)\n"
    "#else\n"
    "#define TT_MASKS 0\n"
    "#define TT_TAIL(m) m\n"
    "#define TT_IN(w, m) 1\n"
    "#define TT_HOLDS(n, h) ((n) > (h))\n"
    "#define TT_AHEAD(p, m)\n"
    "#endif\n"
    "#define TT_GIVEN(x) do { if (!(x)) __builtin_unreachable(); } while (0)\n"
    /* A product on its own: of their sums and differences, stored side by side, gcc 12 makes fused operations. */
    "#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12\n"
    "#define TT_PRODUCT(x) __builtin_assoc_barrier(x)\n"
    "#else\n"
    "#define TT_PRODUCT(x) (x)\n"
    "#endif\n"
    "typedef union {\n"
    "  tt_b8 b8; tt_i8 i8; tt_i16 i16; tt_i32 i32; tt_i64 i64; tt_u8 u8; tt_u16 u16; tt_u32 u32; tt_u64 u64;\n"
    "  tt_f32 f32; tt_f64 f64; tt_u64 bits[2];\n"
    "} tt_scalar;\n"
    "typedef struct { tt_i32 access; tt_i64 index, len; } tt_kfault;\n"
    "typedef struct {\n"
    "  void *const *buf; const tt_i64 *buf_len; const tt_i64 *len; const tt_i64 *off; const tt_i64 *step;\n"
    "  const tt_scalar *scalar; void *const *scratch; void *const *partial; tt_i64 npartial; tt_kfault *fault;\n"
    "} tt_kargs;\n"
    "typedef struct {\n"
    "  tt_i64 lo, hi; tt_i64 lane_lo, lane_hi; tt_i64 chunk_lo, chunk_hi; tt_i32 part;\n"
    "} tt_krange;\n"
    /* The first fault of all workers wins the exchange; the rest of the launch goes on and touches nothing bad. */
    "static __attribute__((cold, noinline, unused)) int tt_fault(tt_kfault *f, tt_i32 access, tt_i64 index, tt_i64 "
    "len) {\n"
    "  tt_i32 none = 0;\n"
    "  if (__atomic_compare_exchange_n(&f->access, &none, access + 1, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {\n"
    "    f->index = index; f->len = len;\n"
    "  }\n"
    "  return 0;\n"
    "}\n"
    "#define TT_INBOUNDS(a, b, i) \\\n"
    "  ((tt_u64)(i) < (tt_u64)args->buf_len[b] || tt_fault(args->fault, a, i, args->buf_len[b]))\n";

const tt_dialect tt__dialect_c = {
    .name = "c",
    .before =
        "#ifdef __AVX512DQ__\n"
        "#define TT_VECTOR_QUOTIENT\n"
        "#endif\n",
    .after = after,
    .kernel = "void ",
    .params = "(const tt_kargs *args, const tt_krange *range)",
    .inlined = "static inline __attribute__((always_inline)) void ",
    .enter =
        "const tt_i64 lo = range->lo, hi = range->hi, lane_lo = range->lane_lo, lane_hi = range->lane_hi;\n"
        "  const tt_i64 chunk_lo = range->chunk_lo, chunk_hi = range->chunk_hi, npartial = args->npartial;\n"
        "  const int part = range->part;",
    .global = "",
    .buffer = "args->buf[%d]",
    .scratch = "args->scratch[%d]",
    .partial = "args->partial[%d]",
    .scalar = "args->scalar[%d].%s",
    .len = "args->len",
    .off = "args->off",
    .step = "args->step",
    .independent = "TT_INDEPENDENT",
    .unrolled = "TT_UNROLLED",
    .masked = "TT_UNROLLED",
    .inbounds = "TT_INBOUNDS(%d, %d, %s)",
    .neighbours = true,
    .halves = true,
    .lacks = 1u << TT_C64 | 1u << TT_C128,
};
