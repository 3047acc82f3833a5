/*
** Products of what is at hand; see product.h.
*/
#include "graph/eager/product.h"

#include <string.h>

#include "graph/eager/block.h"
#include "graph/eager/compute.h"
#include "graph/session.h"
#include "graph/tape.h"

/* Multiplications that are done at the call for each element that the limit of other work allows. */
enum { TIMES = 256, DOT_TIMES = 16, MOST_TERMS = TT_EAGER_MOST };

/* A vector or a matrix that can be read now. */
static bool is_simple(const tt_array *a) {
  const tt_node *n = a->storage->node;
  bool known = n->op == TT_N_BUFFER || n->op == TT_N_VIEW || (n->op == TT_N_CONST && n->size <= MOST_TERMS);
  return (a->rank == 1 || a->rank == 2) && (a->dtype == TT_F32 || a->dtype == TT_F64) && a->size > 0 && known &&
         tt__eager_ready(n) && !tt__is_taped(n);
}

/* Where elements lie: the first, and the steps of the axes. */
typedef struct layout {
  const char *data;
  int64_t step[2];
} layout;

/* All of a storage that is a view of what lies in memory, as that view has it or transposed. */
static bool lies_through(tt_array *a, layout *out) {
  tt_node *n = a->storage->node;
  const int64_t *len = tt__array_len(a), *step = tt__array_step(a), *own = tt__node_step(n);
  bool turned = !tt__array_is_c(a);
  if (a->off || a->rank != n->rank || a->size != n->size) return false;
  if (turned && (a->rank != 2 || step[0] != 1 || step[1] != len[0])) return false;
  for (int k = 0; k < a->rank; k++) {
    int from = turned ? 1 - k : k;
    if (len[k] != n->dim[from]) return false;
    out->step[k] = own[from];
  }
  out->data = (const char *)n->src[0]->attr.buf->data + n->attr.off * (int64_t)tt__dtype_size((tt_dtype)n->dtype);
  return true;
}

/* `constant`: room for the elements of a storage that has none in memory. */
static bool lies(tt_array *a, void *constant, layout *out) {
  tt_node *n = a->storage->node;
  if (n->op == TT_N_VIEW) return lies_through(a, out);
  out->data = (const char *)tt__eager_dense(n, constant) + a->off * (int64_t)tt__dtype_size((tt_dtype)a->dtype);
  memcpy(out->step, tt__array_step(a), a->rank * sizeof *out->step);
  return true;
}

/* As a matrix: vectors are a row in front, a column behind. */
static tt_operand matrix(tt_array *a, const layout *at, bool column, int64_t *len, int64_t *step) {
  const int64_t *from_len = tt__array_len(a);
  int lone = a->rank == 2 ? -1 : column ? 1 : 0;
  for (int k = 0, d = 0; k < 2; k++) {
    len[k] = k == lone ? 1 : from_len[d];
    step[k] = k == lone ? 0 : at->step[d++];
  }
  return (tt_operand){
      .data = at->data, .dtype = (tt_dtype)a->dtype, .rank = 2, .len = len, .step = step, .size = a->size};
}

/* A vector's elements next to each other: where they lie, or in `room`. */
static const void *dense(tt_array *a, const layout *at, void *room) {
  static const int64_t one = 1;
  if (at->step[0] == 1) return at->data;
  tt__block_copy(1, tt__array_len(a), room, &one, at->data, at->step, tt__dtype_size((tt_dtype)a->dtype));
  return room;
}

/* Multiplied, and then folded as a row. */
static bool dot(tt_array *a, const layout *at_a, tt_array *b, const layout *at_b, void *out) {
  static _Alignas(64) double room[3][MOST_TERMS]; /* under the session's lock */
  static const int64_t one = 1;
  const void *arg[2] = {dense(a, at_a, room[0]), dense(b, at_b, room[1])};
  tt_dtype t = (tt_dtype)a->dtype;
  tt_small_fold f = {
      .red = TT_RED_SUM, .dtype = t, .data = room[2], .rank = 1, .len = &a->size, .step = &one, .axes = 1};
  return tt__session_elements(TT_MUL, t, t, arg, 2, room[2], a->size) && tt__session_small_fold(&f, out);
}

static bool product(tt_array *a, tt_array *b, const tt_block *out) {
  static _Alignas(64) double constant[2][MOST_TERMS];
  layout at_a, at_b;
  if (!lies(a, constant[0], &at_a) || !lies(b, constant[1], &at_b)) return false;
  if (a->rank == 1 && b->rank == 1) return dot(a, &at_a, b, &at_b, out->data);
  static const tt_lib_row *row;
  int64_t len[2][2], step[2][2], to_len[2];
  if (!row) row = tt__lib_row("matmul");
  tt_operand src[2] = {matrix(a, &at_a, false, len[0], step[0]), matrix(b, &at_b, true, len[1], step[1])};
  tt_lib_attr attr = {.row = row};
  to_len[0] = len[0][0];
  to_len[1] = len[1][1];
  tt_block matrix_out = {.data = out->data, .dtype = out->dtype, .rank = 2, .len = to_len, .size = out->size};
  return tt__session_library(&attr, src, &matrix_out);
}

/* Few enough multiplications. */
static bool is_little(const tt_array *a, const tt_array *b, int64_t terms) {
  if (a->rank == 1 && b->rank == 1) return terms <= MOST_TERMS && tt__eager_few(terms / DOT_TIMES);
  double work = (double)a->size * (double)b->size / (double)terms;
  return work < (double)INT64_MAX && tt__eager_few(1 + (int64_t)(work / TIMES));
}

tt_array *tt__eager_product(tt_array *a, tt_array *b) {
  if (!tt__session_elements || a->dtype != b->dtype || !is_simple(a) || !is_simple(b)) return NULL;
  int16_t device = a->storage->node->device;
  int64_t terms = a->dim[a->rank - 1], len[2];
  if (terms != b->dim[0] || device != b->storage->node->device || !is_little(a, b, terms)) return NULL;
  int rank = 0;
  if (a->rank == 2) len[rank++] = a->dim[0];
  if (b->rank == 2) len[rank++] = b->dim[1];
  tt_block out = {.dtype = (tt_dtype)a->dtype, .rank = rank, .len = len, .size = 1};
  for (int k = 0; k < rank; k++) out.size *= len[k];
  tt_buffer *buffer = tt__buffer_new((size_t)out.size * tt__dtype_size(out.dtype), NULL);
  if (!buffer) return NULL;
  out.data = buffer->data;
  tt_node *n = product(a, b, &out) ? tt__node_new(TT_N_BUFFER, out.dtype, rank, len, 0, NULL) : NULL;
  if (!n) {
    tt__buffer_release(buffer);
    return NULL;
  }
  n->attr.buf = buffer;
  n->device = device;
  n->flags |= TT_NODE_AT_ONCE;
  tt__session_count_at_once();
  tt_array *made = tt__array_of(n, NULL);
  tt__node_release(n);
  return made;
}
