/*
** The functions of proc/proc_text.h that baseline code calls, by name. That text is made for rendered programs: it
** brings its own view of our types and codes, so this file includes nothing else.
*/
#include "scalar/prelude.h"
#include "scalar/prelude_f64.h"
#include "scalar/prelude_f32.h"
#include "render/proc/proc_text.h"
#include "scalar/program_math.h"

typedef void (*any_function)(void);
__attribute__((visibility("hidden"))) any_function tt__baseline_helper(const char *name, const char **types);

/* A slice of an axis. In: its length; which of start, stop and step are given, in bits; those. Out: as tt_slice. */
static void slice(tt_i64 *w) {
  tt_slice s = tt_slice_of(w[0], w[1] & 1, w[2], w[1] >> 1 & 1, w[3], w[1] >> 2 & 1, w[4]);
  w[0] = s.start;
  w[1] = s.n;
  w[2] = s.step;
}

/* Functions that are made where they are used have no address; these have. */
#define SAME_1(name, types, R, A) \
  static R f_##name(A a) { return name(a); }
#define SAME_2(name, types, R, A, B) \
  static R f_##name(A a, B b) { return name(a, b); }
#define SAME_3(name, types, R, A, B, C) \
  static R f_##name(A a, B b, C c) { return name(a, b, c); }
#define WHOLE(M, S)                         \
  M(tt_whole_##S##_i8, "", tt_i8, tt_##S)   \
  M(tt_whole_##S##_i16, "", tt_i16, tt_##S) \
  M(tt_whole_##S##_u8, "", tt_u8, tt_##S)   \
  M(tt_whole_##S##_u16, "", tt_u16, tt_##S) \
  M(tt_whole_##S##_u32, "", tt_u32, tt_##S) \
  M(tt_whole_##S##_u64, "", tt_u64, tt_##S)
#define ROWS(M1, M2, M3)                                           \
  WHOLE(M1, f32)                                                   \
  WHOLE(M1, f64)                                                   \
  M1(tt_cast_u64_f32, "", tt_f32, tt_u64)                          \
  M1(tt_cast_u64_f64, "", tt_f64, tt_u64)                          \
  M1(tt_random_f64, "dp", tt_f64, tt_pcall *)                      \
  M1(tt_random_np_f64, "dp", tt_f64, tt_pcall *)                   \
  M1(tt_random_normal, "dp", tt_f64, tt_pcall *)                   \
  M1(tt_random_np_normal, "dp", tt_f64, tt_pcall *)                \
  M2(tt_random_seed, "lpl", tt_i64, tt_pcall *, tt_i64)            \
  M3(tt_random_int, "lpll", tt_i64, tt_pcall *, tt_i64, tt_i64)    \
  M2(tt_random_np_seed, "lpl", tt_i64, tt_pcall *, tt_i64)         \
  M3(tt_random_np_int, "lpll", tt_i64, tt_pcall *, tt_i64, tt_i64) \
  M2(tt_ldexp_f64, "ddl", tt_f64, tt_f64, tt_i64)                  \
  M2(tt_round_f64, "ddl", tt_f64, tt_f64, tt_i64)                  \
  M2(tt_remainder_f64, "ddd", tt_f64, tt_f64, tt_f64)              \
  M1(tt_modf_part_f64, "dd", tt_f64, tt_f64)                       \
  M1(tt_frexp_part_f64, "dd", tt_f64, tt_f64)                      \
  M1(tt_frexp_exponent_f64, "ld", tt_i64, tt_f64)                  \
  M3(tt_range_i64, "llll", tt_i64, tt_i64, tt_i64, tt_i64)         \
  M2(tt_extent, "lll", tt_i64, tt_i64, tt_i64)                     \
  M3(tt_range_f64, "lddd", tt_i64, tt_f64, tt_f64, tt_f64)
ROWS(SAME_1, SAME_2, SAME_3)

#define ENTRY(f, types, ...) {#f, types, (any_function)f_##f},
static const struct {
  const char *name, *types;
  any_function fn;
} table[] = {ROWS(ENTRY, ENTRY, ENTRY){"slice", "", (any_function)slice}};

any_function tt__baseline_helper(const char *name, const char **types) {
  for (unsigned k = 0; k < sizeof table / sizeof *table; k++) {
    if (__builtin_strcmp(table[k].name, name) != 0) continue;
    *types = table[k].types;
    return table[k].fn;
  }
  return 0;
}
