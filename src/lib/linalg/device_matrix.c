/* Launches of the kernels of matrix.text.h. */
#include "lib/linalg/device_matrix.h"

#include "base/mem.h"
#include "lib/device_call.h"

extern const char tt__text_matrix[];

enum { THREADS = 256, MOST_BLOCKS = 65536 };

/* As matrix.text.h has them. */
typedef struct move_args {
  const void *from;
  void *to;
  int64_t rows, cols, batch, from_row, from_col, from_step, to_row, to_col, to_step;
  int32_t part, conjugated;
} move_args;

typedef struct unpack_args {
  const void *packed, *w;
  void *to;
  int64_t n, batch;
} unpack_args;

typedef struct address_args {
  void *base;
  void **to;
  int64_t step, batch;
} address_args;

typedef struct finite_args {
  const void *from;
  uint32_t *found;
  int64_t rows, cols, size;
  int32_t part, pad;
} finite_args;

typedef struct spoil_args {
  void *to;
  const int32_t *info;
  int64_t size, batch;
} spoil_args;

typedef struct determinant_args {
  const void *lu;
  const int64_t *pivot64;
  const int32_t *pivot32;
  void *sign, *logabs;
  int64_t n, batch;
  int32_t whole, pad;
} determinant_args;

typedef struct small_args {
  const void *a, *b;
  void *x, *sign, *logabs;
  int32_t *info;
  int64_t batch;
  int32_t n, k, whole, pad;
} small_args;

typedef struct divide_args {
  void *c;
  const void *s;
  int64_t *rank;
  int64_t small, k;
  double cut;
} divide_args;

typedef struct residual_args {
  const void *ax, *b;
  void *to;
  int64_t m, k;
} residual_args;

static tt_code launch_wide(const tt_lib_device *on, tt_dtype t, const char *name, int64_t blocks, int threads,
                           const void *args, size_t size, tt_error *err) {
  tt_device_text text = {.on = on, .text = tt__text_matrix, .scalar = TT_SCALAR_MATH};
  tt__device_define_type(&text, t);
  tt__device_define(&text, "R", "%s", tt__device_type(tt__real_of(t)));
  tt__device_define(&text, "COMPLEX", "%d", tt__is_complex(t));
  tt_code code = tt__device_launch(&text, name, blocks, threads, args, size, err);
  tt__device_done(&text);
  return code;
}

/* Kernels whose blocks go on with what is left. */
static tt_code launch(const tt_lib_device *on, tt_dtype t, const char *name, int64_t blocks, const void *args,
                      size_t size, tt_error *err) {
  return launch_wide(on, t, name, blocks < MOST_BLOCKS ? blocks : MOST_BLOCKS, THREADS, args, size, err);
}

tt_code tt__device_move(const tt_lib_device *on, tt_dtype t, int64_t batch, int64_t rows, int64_t cols,
                        tt_matrices from, tt_matrices to, tt_triangle part, bool conjugated, tt_error *err) {
  move_args args = {.from = from.data,
                    .to = to.data,
                    .rows = rows,
                    .cols = cols,
                    .batch = batch,
                    .from_row = from.row,
                    .from_col = from.col,
                    .from_step = from.step,
                    .to_row = to.row,
                    .to_col = to.col,
                    .to_step = to.step,
                    .part = (int32_t)part,
                    .conjugated = conjugated};
  return launch(on, t, "move", tt_ceil_div(rows, 32) * tt_ceil_div(cols, 32) * batch, &args, sizeof args, err);
}

tt_code tt__device_unpack(const tt_lib_device *on, tt_dtype t, int64_t batch, int64_t n, const void *packed,
                          const void *w, void *to, tt_error *err) {
  unpack_args args = {packed, w, to, n, batch};
  return launch(on, t, "unpack", tt_ceil_div(batch * n * n, THREADS), &args, sizeof args, err);
}

tt_code tt__device_addresses(const tt_lib_device *on, tt_dtype t, void *base, int64_t step, int64_t batch, void **to,
                             tt_error *err) {
  address_args args = {base, to, step, batch};
  if (batch > (int64_t)MOST_BLOCKS * THREADS) return tt__fail(err, TT_ENOTIMPL, "too many matrices for one call");
  return launch(on, t, "addresses", tt_ceil_div(batch, THREADS), &args, sizeof args, err);
}

tt_code tt__device_finite(const tt_lib_device *on, tt_dtype t, int64_t batch, int64_t rows, int64_t cols, const void *a,
                          tt_triangle part, bool *finite, tt_error *err) {
  void *found;
  uint32_t bad = 0;
  TT_TRY(on->temp(on, sizeof bad, &found, err));
  TT_TRY(tt__device_fill(on, found, 0, sizeof bad, err));
  finite_args args = {
      .from = a, .found = found, .rows = rows, .cols = cols, .size = batch * rows * cols, .part = (int32_t)part};
  TT_TRY(launch(on, t, "finite", tt_ceil_div(args.size, THREADS), &args, sizeof args, err));
  TT_TRY(on->read(on, &bad, found, sizeof bad, err));
  *finite = bad == 0;
  return TT_OK;
}

tt_code tt__device_spoil(const tt_lib_device *on, tt_dtype t, int64_t batch, int64_t size, void *a, const int32_t *info,
                         tt_error *err) {
  spoil_args args = {a, info, size, batch};
  return launch(on, t, "spoil", batch, &args, sizeof args, err);
}

tt_code tt__device_determinant(const tt_lib_device *on, tt_dtype t, int64_t batch, int64_t n, const void *lu,
                               const void *pivot, bool wide, void *sign, void *logabs, tt_error *err) {
  determinant_args args = {.lu = lu,
                           .pivot64 = wide ? pivot : NULL,
                           .pivot32 = wide ? NULL : pivot,
                           .sign = sign,
                           .logabs = logabs,
                           .n = n,
                           .batch = batch,
                           .whole = !logabs};
  return launch(on, t, "determinant", batch, &args, sizeof args, err);
}

tt_code tt__device_small(const tt_lib_device *on, tt_dtype t, int64_t batch, int64_t n, int64_t k, const void *a,
                         const void *b, void *x, void *sign, void *logabs, int32_t *info, tt_error *err) {
  small_args args = {.a = a,
                     .b = b,
                     .x = x,
                     .sign = sign,
                     .logabs = logabs,
                     .info = info,
                     .batch = batch,
                     .n = (int32_t)n,
                     .k = (int32_t)k,
                     .whole = !logabs};
  size_t size = tt__dtype_size(t);
  int warps = size == 4 ? 4 : size == 8 ? 2 : 1;
  return launch_wide(on, t, "small", tt_ceil_div(batch, warps), 32 * warps, &args, sizeof args, err);
}

tt_code tt__device_check(const tt_lib_device *on, const int32_t *info, int64_t batch, const char *words,
                         tt_error *err) {
  size_t size = (size_t)batch * sizeof(int32_t);
  int32_t few[64], *got = batch > 64 ? tt__mem_alloc(size) : few;
  if (!got) return tt__fail_memory(err, size);
  tt_code code = on->read(on, got, info, size, err);
  for (int64_t i = 0; i < batch && code == TT_OK; i++) {
    if (got[i] > 0) code = tt__fail(err, TT_ELINALG, "%s", words);
    if (got[i] < 0) code = tt__fail(err, TT_EINTERNAL, "a library refuses argument %d", -got[i]);
  }
  if (got != few) tt__mem_free(got, size);
  return code;
}

tt_code tt__device_divide(const tt_lib_device *on, tt_dtype t, int64_t small, int64_t k, void *c, const void *s,
                          double cut, int64_t *rank, tt_error *err) {
  divide_args args = {c, s, rank, small, k, cut};
  return launch(on, t, "divide", tt_ceil_div(small * k, THREADS), &args, sizeof args, err);
}

tt_code tt__device_residual(const tt_lib_device *on, tt_dtype t, int64_t m, int64_t k, const void *ax, const void *b,
                            void *to, tt_error *err) {
  residual_args args = {ax, b, to, m, k};
  return launch(on, t, "residual", k, &args, sizeof args, err);
}
