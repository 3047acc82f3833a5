/* The graph stage over the oracle: recording, aliasing, promotion, indexing, errors, bounds on pending work. */
#include <pthread.h>

#include "base/fault.h"
#include "base/mem.h"
#include "graph/eager/compute.h"
#include "graph/text/print.h"
#include "graph/slab.h"
#include "oracle.h"
#include "test.h"
#include "tutti/array.h"

static int evaluations;
static tt_code evaluate(tt_node *const *node, int n, tt_error *err) {
  evaluations++;
  return oracle_evaluate(node, n, err);
}
__attribute__((constructor)) static void at_load(void) { tt__session_set_evaluator(evaluate); }

/* A library of one function: the test must not pull in the real one. */
static tt_code run_twice(const tt_lib_attr *attr, const tt_operand *src, const tt_block *out, tt_error *err) {
  (void)attr;
  (void)src;
  (void)out;
  (void)err;
  return TT_OK;
}
const tt_lib_row *tt__lib_row(const char *name) {
  static const tt_lib_row row = {.name = "twice", .nsrc = 1, .nout = 2, .run = run_twice};
  return strcmp(name, "twice") == 0 ? &row : NULL;
}

/* ---- short hands */

static tt_error err;
#define OK(call) CHECK_INT((call), TT_OK)
#define FAILS(call, code_, text)  \
  do {                            \
    CHECK_INT((call), code_);     \
    CHECK_STR(err.message, text); \
  } while (0)

static tt_array *range(tt_dtype t, int rank, const int64_t *len) {
  tt_array *flat = NULL, *out = NULL;
  int64_t n = 1;
  for (int k = 0; k < rank; k++) n *= len[k];
  OK(tt_arange(t, tt_v_int(0), tt_v_int(1), n, &flat, &err));
  OK(tt_reshape(flat, rank, len, &out, &err));
  tt_release(&flat);
  return out;
}
static tt_array *range1(tt_dtype t, int64_t n) { return range(t, 1, &n); }

static tt_array *apply(tt_op op, tt_value a, tt_value b) {
  tt_value v[2] = {a, b};
  tt_array *out = NULL;
  OK(tt_apply(op, v, tt__ops[op].arity, NULL, &out, &err));
  return out;
}

static tt_value slice(int64_t start, int64_t stop, int64_t step) {
  tt_value v = {.tag = TT_V_SLICE};
  v.as.slice.start = start;
  v.as.slice.stop = stop;
  v.as.slice.step = step;
  v.as.slice.has_start = start != INT64_MIN;
  v.as.slice.has_stop = stop != INT64_MIN;
  v.as.slice.has_step = true;
  return v;
}
static tt_value all(void) { return slice(INT64_MIN, INT64_MIN, 1); }
static tt_value pair(const tt_value *v, int n) {
  tt_value t = {.tag = TT_V_TUPLE};
  t.as.tuple.item = v;
  t.as.tuple.n = n;
  return t;
}
static tt_array *get(tt_array *a, tt_value index) {
  tt_array *out = NULL;
  OK(tt_get(a, index, &out, &err));
  return out;
}

/* The sum of element k times k + 1: tells order and values apart. */
static double checksum(tt_array *a) {
  double sum = 0;
  tt_array *wide = NULL;
  OK(tt_cast(a, TT_F64, true, &wide, &err));
  double *x = malloc((size_t)tt_array_size(a) * 8 + 8);
  OK(tt_read(wide, x, (size_t)tt_array_size(a) * 8, &err));
  for (int64_t k = 0; k < tt_array_size(a); k++) sum += x[k] * (double)(k + 1);
  free(x);
  tt_release(&wide);
  return sum;
}
static double item(tt_array *a) {
  tt_value v;
  OK(tt_item(a, &v, &err));
  return oracle_real(v);
}
static void drop(tt_array *a) { tt_release(&a); }
static double element(tt_array *a, tt_value index) {
  tt_array *x = get(a, index);
  double value = item(x);
  drop(x);
  return value;
}

/* ---- laziness, views, aliasing */

TEST(nothing_runs_until_somebody_looks) {
  tt_array *a = range1(TT_F64, 6);
  evaluations = 0;
  tt_array *b = apply(TT_ADD, tt_v_array(a), tt_v_float(2.5));
  tt_array *v = get(b, slice(1, 5, 2));
  CHECK_INT(evaluations, 0);
  CHECK(!tt_array_is_evaluated(b));
  CHECK(checksum(v) == 3.5 + 2 * 5.5);
  CHECK(tt_array_shares(v, b));
  drop(v);
  drop(b);
  drop(a);
  tt__slab_trim();
}

TEST(pending_bytes_are_accounted) {
  tt_array *a = range1(TT_F64, 100), *b = apply(TT_SQRT, tt_v_array(a), tt_v_int(0)), *v = get(b, slice(0, 50, 1));
  tt__session_lock();
  int64_t before = tt__session_pending_bytes;
  CHECK(before >= 800);
  OK(tt__set(b, &(tt_value){.tag = TT_V_ELLIPSIS}, &(tt_value){.tag = TT_V_INT}, &err)); /* a constant is no work */
  CHECK_INT(tt__session_pending_bytes, before - 800);
  tt__session_unlock();
  drop(v);
  drop(b);
  drop(a);
  CHECK_INT(tt__session_pending_bytes, 0);
  tt__slab_trim();
}

TEST(sizes_are_checked) {
  int64_t big = INT64_C(1) << 40;
  tt_array *one = range1(TT_F64, 1), *row = NULL, *column = NULL, *out = NULL;
  OK(tt_broadcast_to(one, 1, &big, &row, &err));
  OK(tt_broadcast_to(one, 2, (int64_t[]){big, 1}, &column, &err));
  tt_value v[2] = {tt_v_array(row), tt_v_array(column)};
  FAILS(tt_apply(TT_ADD, v, 2, NULL, &out, &err), TT_EVALUE,
        "array is too big; `arr.size * arr.dtype.itemsize` is larger than the maximum possible size.");
  tt_value none[64];
  for (int k = 0; k < 64; k++) none[k] = (tt_value){.tag = TT_V_NONE};
  CHECK_INT(tt_get(one, pair(none, 64), &out, &err), TT_EINDEX); /* 65 axes */
  tt_array *deep = get(one, pair(none, 63)), *sum = apply(TT_ADD, tt_v_array(deep), tt_v_array(deep));
  CHECK_INT(tt_array_rank(sum), 64);
  CHECK(checksum(sum) == 0);
  drop(sum);
  drop(deep);
  drop(column);
  drop(row);
  drop(one);
  tt__slab_trim();
}

TEST(writes_through_views_are_seen_by_all) {
  tt_array *a = range(TT_I64, 2, (int64_t[]){2, 3}), *t = NULL, *row = get(a, tt_v_int(1));
  OK(tt_transpose(a, NULL, &t, &err));
  tt_array *before = apply(TT_MUL, tt_v_array(a), tt_v_int(1)); /* the same node: the old value */
  OK(tt_set(row, slice(0, 2, 1), tt_v_int(-1), &err));
  CHECK(checksum(t) == 0 * 1 + -1 * 2 + 1 * 3 + -1 * 4 + 2 * 5 + 5 * 6);
  CHECK(checksum(before) == 0 + 2 + 6 + 12 + 20 + 30);
  drop(before);
  drop(row);
  drop(t);
  drop(a);
  tt__slab_trim();
}

TEST(overlapping_assignment_reads_first) {
  tt_array *a = range1(TT_I64, 5), *from = get(a, slice(0, 4, 1));
  OK(tt_set(a, slice(1, 5, 1), tt_v_array(from), &err)); /* 0 0 1 2 3 */
  CHECK(checksum(a) == 0 + 0 + 3 + 8 + 15);
  drop(from);
  from = get(a, slice(INT64_MIN, INT64_MIN, -1));
  OK(tt_set(a, all(), tt_v_array(from), &err)); /* 3 2 1 0 0 */
  CHECK(checksum(a) == 3 + 4 + 3);
  drop(from);
  drop(a);
  tt__slab_trim();
}

TEST(slices_of_slices_stay_one_node) {
  tt_array *a = range(TT_F64, 3, (int64_t[]){6, 7, 8});
  OK(tt_eval(&a, 1, &err));
  tt_value first[3] = {slice(1, 6, 2), slice(6, 0, -1), slice(0, 8, 3)};
  tt_value second[3] = {slice(2, 0, -1), slice(0, 6, 2), tt_v_int(1)};
  tt_array *copy = NULL, *b = get(a, pair(first, 3));
  OK(tt_copy(b, &copy, &err)); /* its storage's value is a VIEW */
  tt_array *c = get(copy, pair(second, 3)), *d = get(b, pair(second, 3));
  tt__session_lock();
  tt_node *n = tt__array_node(c, &err);
  CHECK(n && n->op == TT_N_VIEW && n->src[0]->op != TT_N_VIEW);
  tt_node *again = tt__array_node(c, &err);
  CHECK(again == n); /* a view is read by one node, however often */
  tt__node_release(again);
  tt__node_release(n);
  tt__session_unlock();
  CHECK(checksum(c) == checksum(d));
  drop(d);
  drop(c);
  drop(b);
  drop(copy);
  drop(a);
  tt__slab_trim();
}

TEST(reshape_is_a_view_when_it_can_be) {
  tt_array *a = range(TT_I32, 2, (int64_t[]){4, 6}), *b = NULL, *t = NULL, *c = NULL;
  OK(tt_reshape(a, 3, (int64_t[]){2, -1, 3}, &b, &err));
  CHECK(tt_array_shares(a, b) && tt_array_len(b)[1] == 4);
  OK(tt_transpose(a, NULL, &t, &err));
  OK(tt_reshape(t, 1, (int64_t[]){24}, &c, &err));
  CHECK(!tt_array_shares(t, c));
  CHECK(checksum(c) == checksum(t));
  drop(c);
  OK(tt_reshape(t, 3, (int64_t[]){1, 6, 4}, &c, &err));
  CHECK(tt_array_shares(t, c));
  drop(c);
  drop(t);
  drop(b);
  FAILS(tt_reshape(a, 2, (int64_t[]){5, -1}, &b, &err), TT_EVALUE,
        "cannot reshape array of size 24 into shape (5,newaxis)");
  FAILS(tt_reshape(a, 1, (int64_t[]){5}, &b, &err), TT_EVALUE, "cannot reshape array of size 24 into shape (5,)");
  FAILS(tt_transpose(a, (int[]){0, 0}, &b, &err), TT_EVALUE, "repeated axis in transpose");
  CHECK(!b);
  drop(a);
  tt__slab_trim();
}

/* ---- whose memory */

static int dropped;
static void on_drop(void *ctx) { dropped += *(int *)ctx; }

TEST(adopted_memory_is_given_back_once) {
  int one = 1;
  double memory[6] = {0, 1, 2, 3, 4, 5};
  tt_array *a = NULL, *copy = NULL;
  dropped = 0;
  OK(tt_adopt(TT_F64, 2, (int64_t[]){2, 3}, memory + 5, (int64_t[]){-24, -8}, false, on_drop, &one, &a, &err));
  CHECK(checksum(a) == 5 + 8 + 9 + 8 + 5);
  OK(tt_copy(a, &copy, &err));
  memory[5] = 100; /* the array sees it, the copy does not */
  CHECK(checksum(copy) == 35 && checksum(a) == 130);
  drop(a);
  CHECK_INT(dropped, 1);
  CHECK(checksum(copy) == 35);
  drop(copy);
  FAILS(tt_adopt(TT_F64, 1, (int64_t[]){2}, memory, (int64_t[]){12}, false, on_drop, &one, &a, &err), TT_EVALUE,
        "strides must be multiples of the element size: 12 bytes for float64");
  OK(tt_adopt(TT_F64, 1, (int64_t[]){2}, memory, NULL, true, on_drop, &one, &a, &err));
  FAILS(tt_set(a, tt_v_int(0), tt_v_int(1), &err), TT_EVALUE, "assignment destination is read-only");
  drop(a);
  CHECK_INT(dropped, 2);
  tt__slab_trim();
}

TEST(a_peek_never_changes) {
  tt_array *a = range(TT_I64, 2, (int64_t[]){3, 4});
  tt_array *v = get(a, slice(2, INT64_MIN, -1));
  const int64_t *x;
  void *hold;
  OK(tt_peek(v, (const void **)&x, &hold, &err));
  CHECK_INT(x[0], 8);
  CHECK_INT(x[tt_array_step(v)[0]], 4);
  OK(tt_set(a, all(), tt_v_int(7), &err));
  CHECK(checksum(a) == 7 * 78);
  CHECK_INT(x[0], 8);
  tt_unpeek(hold);
  drop(v);
  drop(a);
  tt__slab_trim();
}

/* ---- types */

/* Result types of NumPy 2 by operand: "?bhilBHILefdFD" are the arrays' type characters; the last three columns are a
   Python int, float and complex; '.' is a TypeError. */
static const char type_chars[] = "?bhilBHILefdFD";
static const tt_dtype type_of_char[] = {TT_BOOL, TT_I8,  TT_I16, TT_I32, TT_I64, TT_U8,  TT_U16,
                                        TT_U32,  TT_U64, TT_F16, TT_F32, TT_F64, TT_C64, TT_C128};
static const struct {
  tt_op op;
  const char *row[14];
} promotions[] = {
    {TT_SUB,
     {".bhilBHILefdFDldD", "bbhilhildefdFDbdD", "hhhilhildffdFDhdD", "iiiiliilddddDDidD", "llllllllddddDDldD",
      "BhhilBHILefdFDBdD", "HiiilHHILffdFDHdD", "IllllIIILdddDDIdD", "LddddLLLLdddDDLdD", "eefddefddefdFDeeF",
      "fffddffddffdFDffF", "ddddddddddddDDddD", "FFFDDFFDDFFDFDFFF", "DDDDDDDDDDDDDDDDD"}},
    {TT_DIV,
     {"dddddddddefdFDddD", "dddddddddefdFDddD", "dddddddddffdFDddD", "ddddddddddddDDddD", "ddddddddddddDDddD",
      "dddddddddefdFDddD", "dddddddddffdFDddD", "ddddddddddddDDddD", "ddddddddddddDDddD", "eefddefddefdFDeeF",
      "fffddffddffdFDffF", "ddddddddddddDDddD", "FFFDDFFDDFFDFDFFF", "DDDDDDDDDDDDDDDDD"}},
    {TT_MOD,
     {"bbhilBHILefd..ld.", "bbhilhildefd..bd.", "hhhilhildffd..hd.", "iiiiliildddd..id.", "lllllllldddd..ld.",
      "BhhilBHILefd..Bd.", "HiiilHHILffd..Hd.", "IllllIIILddd..Id.", "LddddLLLLddd..Ld.", "eefddefddefd..ee.",
      "fffddffddffd..ff.", "dddddddddddd..dd.", ".................", "................."}},
    {TT_ATAN2,
     {"eefddefddefd..dd.", "eefddefddefd..ed.", "fffddffddffd..fd.", "dddddddddddd..dd.", "dddddddddddd..dd.",
      "eefddefddefd..ed.", "fffddffddffd..fd.", "dddddddddddd..dd.", "dddddddddddd..dd.", "eefddefddefd..ee.",
      "fffddffddffd..ff.", "dddddddddddd..dd.", ".................", "................."}},
    {TT_AND,
     {"?bhilBHIL.....l..", "bbhilhil......b..", "hhhilhil......h..", "iiiiliil......i..", "llllllll......l..",
      "BhhilBHIL.....B..", "HiiilHHIL.....H..", "IllllIIIL.....I..", "L....LLLL.....L..", ".................",
      ".................", ".................", ".................", "................."}},
    {TT_SHL,
     {"bbhilBHIL.....l..", "bbhilhil......b..", "hhhilhil......h..", "iiiiliil......i..", "llllllll......l..",
      "BhhilBHIL.....B..", "HiiilHHIL.....H..", "IllllIIIL.....I..", "L....LLLL.....L..", ".................",
      ".................", ".................", ".................", "................."}},
};

static char result_char(tt_op op, tt_array *a, tt_value b) {
  tt_value v[2] = {tt_v_array(a), b};
  tt_array *out = NULL;
  tt_code code = tt_apply(op, v, 2, NULL, &out, &err);
  char c = '.';
  for (int k = 0; code == TT_OK && k < 14; k++)
    if (type_of_char[k] == tt_array_dtype(out)) c = type_chars[k];
  if (code != TT_OK && code != TT_ETYPE) c = '!';
  tt_release(&out);
  return c;
}

TEST(types_promote_as_numpy_has_it) {
  tt_array *one[14];
  for (int k = 0; k < 14; k++) OK(tt_full(type_of_char[k], 1, (int64_t[]){2}, tt_v_int(1), &one[k], &err));
  tt_value weak[3] = {tt_v_int(1), tt_v_float(1), {.tag = TT_V_COMPLEX}};
  for (size_t p = 0; p < sizeof promotions / sizeof *promotions; p++)
    for (int i = 0; i < 14; i++) {
      char row[18] = {0};
      for (int j = 0; j < 14; j++) row[j] = result_char(promotions[p].op, one[i], tt_v_array(one[j]));
      for (int j = 0; j < 3; j++) row[14 + j] = result_char(promotions[p].op, one[i], weak[j]);
      CHECK_STR(row, promotions[p].row[i]);
    }
  for (int k = 0; k < 14; k++) drop(one[k]);
  tt__slab_trim();
}

TEST(python_integers_must_fit) {
  tt_array *a = range1(TT_U8, 3), *out = NULL;
  tt_value v[2] = {tt_v_array(a), tt_v_int(300)};
  FAILS(tt_apply(TT_ADD, v, 2, NULL, &out, &err), TT_EOVERFLOW, "Python integer 300 out of bounds for uint8");
  v[1] = tt_v_int(-1);
  FAILS(tt_apply(TT_MUL, v, 2, NULL, &out, &err), TT_EOVERFLOW, "Python integer -1 out of bounds for uint8");
  CHECK(!out);
  struct {
    tt_op op;
    int64_t value;
    bool want;
  } row[] = {{TT_EQ, 300, false}, {TT_NE, 300, true}, {TT_LT, 300, true},  {TT_GE, 300, false}, {TT_GT, -1, true},
             {TT_LE, -1, false},  {TT_EQ, -1, false}, {TT_GT, 300, false}, {TT_LE, 300, true},  {TT_GE, -5, true}};
  for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
    tt_array *c = apply(row[k].op, tt_v_array(a), tt_v_int(row[k].value));
    CHECK(checksum(c) == (row[k].want ? 6 : 0));
    drop(c);
  }
  OK(tt_set(a, tt_v_int(0), tt_v_float(7.9), &err));
  CHECK(element(a, tt_v_int(0)) == 7);
  drop(a);
  tt__slab_trim();
}

TEST(signed_and_unsigned_compare_exactly) {
  int64_t i[4] = {-1, 0, INT64_MAX, 5};
  uint64_t u[4] = {UINT64_MAX, 0, (uint64_t)INT64_MAX + 1, 5};
  tt_array *a = NULL, *b = NULL;
  OK(tt_from_data(TT_I64, 1, (int64_t[]){4}, i, NULL, &a, &err));
  OK(tt_from_data(TT_U64, 1, (int64_t[]){4}, u, NULL, &b, &err));
  struct {
    tt_op op;
    int want, mirrored; /* bit k: element k */
  } row[] = {{TT_EQ, 10, 10}, {TT_NE, 5, 5}, {TT_LT, 5, 0}, {TT_LE, 15, 10}, {TT_GT, 0, 5}, {TT_GE, 10, 15}};
  for (size_t k = 0; k < sizeof row / sizeof *row; k++)
    for (int flip = 0; flip < 2; flip++) {
      tt_array *c = apply(row[k].op, tt_v_array(flip ? b : a), tt_v_array(flip ? a : b));
      uint8_t bits[4];
      OK(tt_read(c, bits, 4, &err));
      CHECK_INT(bits[0] + 2 * bits[1] + 4 * bits[2] + 8 * bits[3], flip ? row[k].mirrored : row[k].want);
      drop(c);
    }
  drop(a);
  drop(b);
  tt__slab_trim();
}

TEST(refusals_speak_numpy) {
  tt_array *b = NULL, *out = NULL, *i = range1(TT_I64, 3), *f = range1(TT_F64, 3);
  OK(tt_cast(i, TT_BOOL, true, &b, &err));
  tt_value bb[2] = {tt_v_array(b), tt_v_array(b)}, ff[2] = {tt_v_array(f), tt_v_array(f)};
  tt_value in[2] = {tt_v_array(i), tt_v_int(-1)}, fi[2] = {tt_v_array(i), tt_v_array(f)};
  FAILS(tt_apply(TT_SUB, bb, 2, NULL, &out, &err), TT_ETYPE,
        "numpy boolean subtract, the `-` operator, is not supported, use the bitwise_xor, the `^` operator, or the "
        "logical_xor function instead.");
  FAILS(tt_apply(TT_AND, ff, 2, NULL, &out, &err), TT_ETYPE,
        "ufunc 'bitwise_and' not supported for the input types, and the inputs could not be safely coerced to any "
        "supported types according to the casting rule ''safe''");
  FAILS(tt_apply(TT_POW, in, 2, NULL, &out, &err), TT_EVALUE, "Integers to negative integer powers are not allowed.");
  tt_array *down = range1(TT_I64, 3), *negative = apply(TT_NEG, tt_v_array(down), tt_v_int(0));
  in[1] = tt_v_array(negative);
  FAILS(tt_apply(TT_POW, in, 2, NULL, &out, &err), TT_EVALUE, "Integers to negative integer powers are not allowed.");
  tt_apply_options o = {.out = i, .dtype = TT_DTYPE_NONE};
  FAILS(tt_apply(TT_ADD, fi, 2, &o, &out, &err), TT_ETYPE,
        "Cannot cast ufunc 'add' output from dtype('float64') to dtype('int64') with casting rule 'same_kind'");
  o = (tt_apply_options){.where = i, .dtype = TT_DTYPE_NONE};
  FAILS(tt_apply(TT_ADD, fi, 2, &o, &out, &err), TT_ETYPE,
        "Cannot cast array data from dtype('int64') to dtype('bool') according to the rule 'safe'");
  tt_array *wide = range(TT_F64, 2, (int64_t[]){2, 4});
  fi[0] = tt_v_array(wide);
  FAILS(tt_apply(TT_ADD, fi, 2, NULL, &out, &err), TT_EVALUE,
        "operands could not be broadcast together with shapes (2,4) (3,) ");
  FAILS(tt_apply(TT_ADD, fi, 1, NULL, &out, &err), TT_ETYPE, "add() takes 2 arguments but 1 were given");
  FAILS(tt_empty(TT_F64, 1, (int64_t[]){-1}, &out, &err), TT_EVALUE, "negative dimensions are not allowed");
  FAILS(tt_empty(TT_F64, 2, (int64_t[]){INT64_C(1) << 40, INT64_C(1) << 40}, &out, &err), TT_EVALUE,
        "array is too big; `arr.size * arr.dtype.itemsize` is larger than the maximum possible size.");
  CHECK(!out);
  tt_array *left[] = {b, i, f, down, negative, wide};
  for (int k = 0; k < 6; k++) drop(left[k]);
  tt__slab_trim();
}

TEST(out_and_where) {
  tt_array *a = range1(TT_F64, 4), *mask = apply(TT_GT, tt_v_array(a), tt_v_int(1)), *same = NULL;
  tt_apply_options o = {.out = a, .where = mask, .dtype = TT_DTYPE_NONE};
  tt_value v[2] = {tt_v_array(a), tt_v_int(10)};
  OK(tt_apply(TT_MUL, v, 2, &o, &same, &err)); /* 0 1 20 30 */
  CHECK(same == a);
  CHECK(checksum(a) == 2 + 60 + 120);
  drop(same);
  tt_array *row = get(a, slice(0, 2, 1)), *wide = range(TT_F64, 2, (int64_t[]){2, 4}), *got = NULL;
  o = (tt_apply_options){.out = row, .dtype = TT_DTYPE_NONE};
  v[0] = tt_v_array(wide);
  CHECK_INT(tt_apply(TT_ADD, v, 2, &o, &got, &err), TT_EVALUE);
  o.out = a;
  FAILS(tt_apply(TT_ADD, v, 2, &o, &got, &err), TT_EVALUE,
        "non-broadcastable output operand with shape (4,) doesn't match the broadcast shape (2,4)");
  drop(wide);
  drop(row);
  drop(mask);
  drop(a);
  tt__slab_trim();
}

/* ---- indexing */

TEST(integer_arrays_and_masks) {
  tt_array *a = range(TT_I64, 3, (int64_t[]){2, 3, 4}), *i = range1(TT_I64, 2), *out;
  tt_value apart[3] = {tt_v_array(i), all(), tt_v_array(i)}; /* the arrays are apart: their axis comes first */
  out = get(a, pair(apart, 3));
  CHECK(tt_array_rank(out) == 2 && tt_array_len(out)[0] == 2 && tt_array_len(out)[1] == 3);
  CHECK(checksum(out) == 0 + 2 * 4 + 3 * 8 + 4 * 13 + 5 * 17 + 6 * 21);
  drop(out);
  tt_value near[3] = {all(), tt_v_int(-1), tt_v_array(i)};
  out = get(a, pair(near, 3));
  CHECK(checksum(out) == 8 + 2 * 9 + 3 * 20 + 4 * 21);
  drop(out);
  tt_array *mask = apply(TT_GT, tt_v_array(a), tt_v_int(20));
  out = get(a, tt_v_array(mask));
  CHECK(tt_array_size(out) == 3 && checksum(out) == 21 + 44 + 69);
  tt_array *more = apply(TT_MUL, tt_v_array(out), tt_v_int(2));
  OK(tt_set(a, tt_v_array(mask), tt_v_array(more), &err));
  CHECK(element(a, pair((tt_value[]){tt_v_int(1), tt_v_int(2), tt_v_int(3)}, 3)) == 46);
  evaluations = 0;
  OK(tt_set(a, tt_v_array(mask), tt_v_int(0), &err)); /* a select: nobody looks at the mask */
  CHECK_INT(evaluations, 0);
  CHECK(element(a, pair((tt_value[]){tt_v_int(1), tt_v_int(2), tt_v_int(3)}, 3)) == 0);
  tt_array *three = range1(TT_I64, 2);
  FAILS(tt_set(a, tt_v_array(mask), tt_v_array(three), &err), TT_EVALUE,
        "NumPy boolean array indexing assignment cannot assign 2 input values to the 3 output values where the mask is "
        "true");
  drop(three);
  drop(more);
  drop(out);
  drop(mask);
  drop(i);
  drop(a);
  tt__slab_trim();
}

TEST(the_last_write_wins) {
  int64_t at[4] = {1, -1, 1, 0}, value[4] = {10, 20, 30, 40};
  tt_array *a = range1(TT_I64, 3), *i = NULL, *v = NULL;
  OK(tt_from_data(TT_I64, 1, (int64_t[]){4}, at, NULL, &i, &err));
  OK(tt_from_data(TT_I64, 1, (int64_t[]){4}, value, NULL, &v, &err));
  OK(tt_set(a, tt_v_array(i), tt_v_array(v), &err));
  CHECK(checksum(a) == 40 + 2 * 30 + 3 * 20);
  drop(v);
  drop(i);
  drop(a);
  tt__slab_trim();
}

TEST(bad_indices_speak_numpy) {
  tt_array *a = range(TT_I64, 2, (int64_t[]){2, 3}), *out = NULL, *i = range1(TT_I64, 5), *two = range1(TT_I64, 2);
  tt_array *three = range1(TT_I64, 3), *f = range1(TT_F64, 2), *mask = apply(TT_GE, tt_v_array(three), tt_v_int(0));
  tt_value many[3] = {tt_v_int(0), tt_v_int(0), tt_v_int(0)}, none = {.tag = TT_V_NONE}, dots = {.tag = TT_V_ELLIPSIS};
  FAILS(tt_get(a, tt_v_int(2), &out, &err), TT_EINDEX, "index 2 is out of bounds for axis 0 with size 2");
  FAILS(tt_get(a, tt_v_array(i), &out, &err), TT_EINDEX, "index 4 is out of bounds for axis 0 with size 2");
  FAILS(tt_get(a, pair(many, 3), &out, &err), TT_EINDEX,
        "too many indices for array: array is 2-dimensional, but 3 were indexed");
  FAILS(tt_get(a, tt_v_float(1), &out, &err), TT_EINDEX,
        "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or boolean arrays are valid "
        "indices");
  FAILS(tt_get(a, tt_v_array(f), &out, &err), TT_EINDEX, "arrays used as indices must be of integer (or boolean) type");
  FAILS(tt_get(a, pair((tt_value[]){dots, none, dots}, 3), &out, &err), TT_EINDEX,
        "an index can only have a single ellipsis ('...')");
  FAILS(tt_get(a, slice(0, 1, 0), &out, &err), TT_EVALUE, "slice step cannot be zero");
  FAILS(tt_get(a, tt_v_array(mask), &out, &err), TT_EINDEX,
        "boolean index did not match indexed array along axis 0; size of axis is 2 but size of corresponding boolean "
        "axis "
        "is 3");
  FAILS(tt_get(a, pair((tt_value[]){tt_v_array(two), tt_v_array(three)}, 2), &out, &err), TT_EINDEX,
        "shape mismatch: indexing arrays could not be broadcast together with shapes (2,) (3,) ");
  FAILS(tt_set(a, tt_v_int(0), tt_v_array(two), &err), TT_EVALUE,
        "could not broadcast input array from shape (2,) into shape (3,)");
  FAILS(tt_set(a, pair((tt_value[]){tt_v_int(0), tt_v_int(0)}, 2), none, &err), TT_ETYPE,
        "int() argument must be a string, a bytes-like object or a real number, not 'NoneType'");
  CHECK(!out);
  tt_array *wide = NULL;
  OK(tt_broadcast_to(two, 2, (int64_t[]){3, 2}, &wide, &err));
  FAILS(tt_set(wide, tt_v_int(0), tt_v_int(1), &err), TT_EVALUE, "assignment destination is read-only");
  tt_array_set_readonly(wide, false); /* still one cell with many writers */
  FAILS(tt_set(wide, all(), tt_v_int(1), &err), TT_EVALUE, "assignment destination is read-only");
  tt_array *left[] = {a, i, two, three, f, mask, wide};
  for (int k = 0; k < 7; k++) drop(left[k]);
  tt__slab_trim();
}

TEST(an_element_is_a_value_of_its_own) {
  tt_array *a = range1(TT_I64, 3);
  for (int evaluated = 0; evaluated < 2; evaluated++) {
    tt_array *x = get(a, tt_v_int(1));
    CHECK(!tt_array_shares(a, x));
    OK(tt_set(a, tt_v_int(1), tt_v_int(50), &err));
    CHECK(item(x) == 1 || evaluated);
    drop(x);
    OK(tt_eval(&a, 1, &err));
  }
  tt_value dots[2] = {tt_v_int(1), {.tag = TT_V_ELLIPSIS}};
  tt_array *cell = get(a, pair(dots, 2));
  CHECK(tt_array_shares(a, cell) && tt_array_rank(cell) == 0);
  drop(cell);
  drop(a);
  tt__slab_trim();
}

/* 1/x for real floats, and only there: integers divide to floats, complex numbers have a way of their own. */
TEST(one_by_something_is_a_reciprocal) {
  static const int types[] = {TT_F32, TT_F64, TT_C64};
  for (int t = 0; t < 3; t++) {
    tt_array *a = range1(types[t], 5);
    tt_array *one = apply(TT_DIV, tt_v_float(1), tt_v_array(a)), *two = apply(TT_DIV, tt_v_float(2), tt_v_array(a));
    CHECK_INT(one->storage->node->op, types[t] == TT_C64 ? TT_DIV : TT_RECIPROCAL);
    CHECK_INT(two->storage->node->op, TT_DIV);
    CHECK(types[t] == TT_C64 || element(one, tt_v_int(4)) == 1 / (types[t] == TT_F32 ? 4.0f : 4.0));
    drop(two);
    drop(one);
    drop(a);
  }
  tt__slab_trim();
}

/* ---- bounds on pending work */

TEST(long_chains_are_flushed) {
  tt_array *a = range1(TT_F64, 3);
  evaluations = 0;
  for (int k = 0; k < 2000; k++) {
    tt_array *next = apply(TT_ADD, tt_v_array(a), tt_v_int(1));
    tt_release(&a);
    a = next;
  }
  CHECK(evaluations >= 2000 / TT_PENDING_NODES - 1 && evaluations <= 2000 / TT_PENDING_NODES + 1);
  CHECK(checksum(a) == 2000 + 2 * 2001 + 3 * 2002);
  drop(a);
  tt__slab_trim();
}

TEST(shared_operands_are_counted_once) {
  tt_array *a = range1(TT_F64, 2);
  OK(tt_eval(&a, 1, &err));
  evaluations = 0;
  for (int k = 0; k < 100; k++) { /* 2^100 paths, 100 nodes */
    tt_array *next = apply(TT_MAXIMUM, tt_v_array(a), tt_v_array(a));
    tt_release(&a);
    a = next;
  }
  CHECK_INT(evaluations, 0);
  CHECK(a->storage->node->pending <= 100); /* so it need not be counted again */
  CHECK(checksum(a) == 2);
  drop(a);
  tt__slab_trim();
}

TEST(a_million_deep_dies_without_recursion) {
  tt__session_lock();
  tt_node *n = tt__node_iota(0, NULL, &err);
  for (int k = 0; k < 1000000; k++) n = tt__node_take1(TT_NEG, TT_I64, n, &err);
  CHECK(n != NULL);
  tt__node_release(n);
  tt__slab_trim();
  tt__session_unlock();
}

TEST(overwritten_stores_do_not_pile_up) {
  tt_array *a = range1(TT_F64, 8);
  OK(tt_eval(&a, 1, &err));
  evaluations = 0;
  for (int k = 0; k < 1000; k++) OK(tt_set(a, slice(1, 7, 1), tt_v_int(k), &err));
  CHECK_INT(evaluations, 0);
  tt_array *part = get(a, slice(1, 7, 1));
  CHECK(checksum(part) == 999 * 21);
  drop(part);
  drop(a);
  tt__slab_trim();
}

/* ---- threads */

static tt_array *shared;
static void *worker(void *ctx) {
  intptr_t me = (intptr_t)ctx;
  intptr_t wrong = 0;
  for (int k = 0; k < 300; k++) {
    tt_error mine;
    tt_array *row = NULL, *sum = NULL;
    wrong += tt_get(shared, tt_v_int(me), &row, &mine) != TT_OK;
    tt_value v[2] = {tt_v_array(row), tt_v_int(1)};
    wrong += tt_apply(TT_ADD, v, 2, NULL, &sum, &mine) != TT_OK;
    wrong += tt_set(shared, tt_v_int(me), tt_v_array(sum), &mine) != TT_OK;
    if (k % 50 == 0) wrong += tt_eval(&shared, 1, &mine) != TT_OK;
    tt_release(&row);
    tt_release(&sum);
  }
  return (void *)wrong;
}

TEST(threads_write_their_rows) {
  pthread_t thread[4];
  OK(tt_full(TT_I64, 2, (int64_t[]){4, 3}, tt_v_int(0), &shared, &err));
  for (intptr_t k = 0; k < 4; k++) CHECK_INT(pthread_create(&thread[k], NULL, worker, (void *)k), 0);
  for (int k = 0; k < 4; k++) {
    void *wrong = NULL;
    pthread_join(thread[k], &wrong);
    CHECK_INT((intptr_t)wrong, 0);
  }
  CHECK(checksum(shared) == 300 * 78);
  tt_release(&shared);
  tt__slab_trim();
}

/* ---- text */

TEST(graphs_read_back) {
  tt_array *a = range(TT_F32, 2, (int64_t[]){3, 4}), *t = NULL;
  OK(tt_eval(&a, 1, &err));
  OK(tt_transpose(a, NULL, &t, &err));
  tt_array *b = apply(TT_MUL, tt_v_array(t), tt_v_float(2.5));
  OK(tt_set(b, tt_v_int(1), tt_v_float(-1), &err));
  tt__session_lock();
  tt_node *n = tt__array_node(b, &err), *back[4];
  tt_lib_attr attr = {.row = tt__lib_row("twice"), .i = {3, -4}, .f = {0.25, 0}};
  tt_node *lib = tt__node_lib(&attr, &n, 1, &err), *pick = tt__node_pick(lib, 1, TT_I64, 1, (int64_t[]){2}, &err);
  tt_node *sum = tt__node_reduce(TT_RED_SUM, n, 2, &err), *root[2] = {sum, pick};
  tt_str one = {0}, two = {0};
  CHECK(tt__graph_print(root, 2, &one));
  int count = 0;
  CHECK_INT(tt__graph_parse(one.data, back, 4, &count, &err), TT_OK);
  CHECK_INT(count, 2);
  CHECK(count == 2 && tt__graph_print(back, 2, &two));
  CHECK_STR(two.data, one.data);
  CHECK(strstr(one.data, "STORE") && strstr(one.data, "twice i=3,-4") && strstr(one.data, "SUM axes=1"));
  for (int k = 0; k < count; k++) tt__node_release(back[k]);
  /* Any damage is refused or still a graph, and leaks nothing. */
  for (size_t k = 0; k < one.len; k++) {
    char was = one.data[k];
    one.data[k] = "%[]=,-9x\n"[k % 9];
    count = 0;
    if (tt__graph_parse(one.data, back, 4, &count, &err) == TT_OK)
      for (int r = 0; r < count; r++) tt__node_release(back[r]);
    one.data[k] = was;
  }
  tt__str_free(&one);
  tt__str_free(&two);
  tt_node *left[] = {n, lib, pick, sum};
  for (int k = 0; k < 4; k++) tt__node_release(left[k]);
  tt__session_unlock();
  drop(b);
  drop(t);
  drop(a);
  tt__slab_trim();
}

/* ---- out of memory, at every allocation */

static tt_code program(void) {
  tt_array *a = NULL, *b = NULL, *c = NULL, *m = NULL, *g = NULL;
  tt_code code = tt_arange(TT_F64, tt_v_int(0), tt_v_int(1), 12, &a, &err);
  int64_t len[2] = {3, 4};
  if (code == TT_OK) code = tt_reshape(a, 2, len, &b, &err);
  tt_value v[2] = {tt_v_array(b), tt_v_float(5)};
  if (code == TT_OK) code = tt_apply(TT_GT, v, 2, NULL, &m, &err);
  if (code == TT_OK) code = tt_set(b, tt_v_array(m), tt_v_int(0), &err);
  if (code == TT_OK) code = tt_get(b, tt_v_array(m), &g, &err);
  if (code == TT_OK) code = tt_set(b, slice(0, 2, 1), tt_v_int(3), &err);
  if (code == TT_OK) code = tt_apply(TT_POW, v, 2, NULL, &c, &err);
  double x[12];
  if (code == TT_OK) code = tt_read(c, x, sizeof x, &err);
  if (code == TT_OK) CHECK(x[0] == 243 && x[11] == 0);
  tt_array *made[] = {a, b, c, m, g};
  for (int k = 0; k < 5; k++) drop(made[k]);
  return code;
}

/* Work that is done at the call may be recorded after all where memory is out for a moment. */
static void fail_each_allocation(bool may_go_on) {
  OK(program());
  tt__slab_trim();
  int64_t live = tt__mem_stats().live, n = 0;
  for (;; n++) {
    bool fired;
    tt__fault_arm(TT_FAULT_MEMORY, n, false);
    tt_code code = program();
    tt__fault_calls(TT_FAULT_MEMORY, &fired);
    tt__fault_arm(TT_FAULT_MEMORY, -1, false);
    tt__slab_trim();
    CHECK_INT(tt__mem_stats().live, live);
    if (!fired) {
      CHECK_INT(code, TT_OK);
      break;
    }
    CHECK(code == TT_ENOMEM || (may_go_on && code == TT_OK));
  }
  CHECK(n > 50);
}

TEST(out_of_memory_is_an_answer) {
  tt__eager_limit(0);
  fail_each_allocation(false);
  tt__eager_limit(-1);
  fail_each_allocation(true);
}

TEST_MAIN()
