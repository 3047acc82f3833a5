/*
** Reading a graph's text back. Every line is checked as if an enemy wrote it: a graph that reads is well formed.
*/
#include "graph/text/print.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "graph/build.h"
#include "graph/session.h"

typedef struct reader {
  const char *at; /* the rest of the text */
  int line;
  TT_VEC(tt_node *) node;
  tt_error *err;
} reader;

typedef struct line {
  tt_dtype dtype;
  int op, rank, nsrc, nstep;
  int64_t len[TT_MAX_RANK], step[TT_MAX_RANK], size, off;
  tt_node *src[TT_NODE_SRC];
} line;

/* ---- words */

static tt_code fail_at(reader *r, const char *what) {
  return tt__fail(r->err, TT_EVALUE, "graph text, line %d: %s", r->line, what);
}

static bool take(reader *r, const char *word) {
  size_t n = strlen(word);
  if (strncmp(r->at, word, n) != 0) return false;
  r->at += n;
  return true;
}

static bool take_word(reader *r, char *out, size_t size) {
  size_t n = strspn(r->at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.");
  if (n == 0 || n >= size) return false;
  memcpy(out, r->at, n);
  out[n] = 0;
  r->at += n;
  return true;
}

static bool take_int(reader *r, int64_t *out) {
  char *end;
  if (*r->at != '-' && (*r->at < '0' || *r->at > '9')) return false;
  *out = strtoll(r->at, &end, 10);
  if (end == r->at) return false;
  r->at = end;
  return true;
}

static bool take_float(reader *r, double *out) {
  char *end;
  if (*r->at == ' ' || *r->at == '\n') return false;
  *out = strtod(r->at, &end);
  if (end == r->at) return false;
  r->at = end;
  return true;
}

/* "1,2,3", possibly empty, into at most `room`. */
static bool take_ints(reader *r, int64_t *out, int room, int *n) {
  *n = 0;
  if (*r->at != '-' && (*r->at < '0' || *r->at > '9')) return true;
  do {
    if (*n == room || !take_int(r, &out[(*n)++])) return false;
  } while (take(r, ","));
  return true;
}

static int kind_named(const char *name) {
  for (int op = 0; op < TT_OP_COUNT; op++)
    if (strcmp(tt__ops[op].name, name) == 0) return op;
  for (int op = TT_N_BUFFER; op <= TT_N_BITCAST; op++) /* launches have no text to read */
    if (op != TT_N_CALL && op != TT_N_LIST && strcmp(tt__node_name(op), name) == 0) return op;
  return -1;
}

static bool take_node(reader *r, tt_node **out) {
  int64_t k;
  if (!take(r, "%") || !take_int(r, &k) || k < 0 || k >= r->node.n) return false;
  *out = r->node.data[k];
  return true;
}

/* ---- what a line must satisfy */

static bool same_shape(const line *l, tt_node *a) {
  return a->rank == l->rank && tt__shape_same(l->rank, a->dim, l->len);
}

/* Every flat element that the view (len, step, off) names lies in [0, size). */
static bool view_fits(int rank, const int64_t *len, const int64_t *step, int64_t off, int64_t size) {
  int64_t lo = off, hi = off;
  for (int k = 0; k < rank; k++) {
    int64_t far;
    if (len[k] == 0) return true;
    if (__builtin_mul_overflow(len[k] - 1, step[k], &far)) return false;
    if (__builtin_add_overflow(far < 0 ? lo : hi, far, far < 0 ? &lo : &hi)) return false;
  }
  return lo >= 0 && hi < size;
}

static const char *check_elementwise(const line *l) {
  if (l->nsrc != tt__ops[l->op].arity) return "wrong number of operands";
  for (int k = 0; k < l->nsrc; k++)
    if (!same_shape(l, l->src[k])) return "operands must have the node's shape";
  return NULL;
}

static const char *check_sources(const line *l) {
  static const uint8_t count[] = {0, 0, 0, 0, 1, 1, 2, 2, 3, 0, 1, 0, 0, 1};
  if (l->op < TT_OP_COUNT) return check_elementwise(l);
  if (l->op != TT_N_LIB && l->nsrc != count[l->op - TT_N_BUFFER]) return "wrong number of operands";
  switch (l->op) {
    case TT_N_IOTA:
      return l->dtype == TT_I64 ? NULL : "IOTA is int64";
    case TT_N_GATHER:
      return l->src[1]->dtype == TT_I64 && same_shape(l, l->src[1]) ? NULL : "bad index of GATHER";
    case TT_N_STORE:
      return l->src[1]->dtype == l->dtype ? NULL : "STORE of another type";
    case TT_N_SCATTER:
      return l->src[1]->dtype == TT_I64 && l->src[1]->size == l->src[2]->size && l->src[2]->dtype == l->dtype
                 ? NULL
                 : "bad index or value of SCATTER";
    case TT_N_BITCAST:
      return l->size * (int64_t)tt__dtype_size(l->dtype) ==
                     l->src[0]->size * (int64_t)tt__dtype_size((tt_dtype)l->src[0]->dtype)
                 ? NULL
                 : "BITCAST of another number of bytes";
    case TT_N_PICK:
      return l->src[0]->op == TT_N_LIB ? NULL : "PICK of something else than LIB";
    default:
      return NULL;
  }
}
/* GATHER and SCATTER come back without TT_NODE_CHECKED: nobody has proved their indices. */

/* ---- attributes, by kind */

static tt_code read_buffer(reader *r, const line *l, tt_node **out) {
  size_t size = (size_t)l->size * tt__dtype_size(l->dtype);
  tt_buffer *b = tt__buffer_new(size, r->err);
  if (!b) return TT_ENOMEM;
  if (size) memset(b->data, 0, size);
  bool bytes = take(r, " ");
  for (size_t k = 0; bytes && k < size; k++, r->at += 2) {
    unsigned byte;
    char two[3] = {r->at[0], r->at[0] ? r->at[1] : 0, 0};
    if (sscanf(two, "%2x", &byte) != 1 || !two[1]) {
      tt__buffer_release(b);
      return fail_at(r, "bytes of the BUFFER expected");
    }
    ((uint8_t *)b->data)[k] = (uint8_t)byte;
  }
  *out = tt__node_new(TT_N_BUFFER, l->dtype, l->rank, l->len, 0, r->err);
  if (!*out) {
    tt__buffer_release(b);
    return TT_ENOMEM;
  }
  (*out)->attr.buf = b;
  return TT_OK;
}

static tt_code read_const(reader *r, const line *l, tt_node **out) {
  tt_value v = {.tag = TT_V_INT};
  bool ok = take(r, " ");
  if (tt__is_complex(l->dtype)) {
    v.tag = TT_V_COMPLEX;
    ok = ok && take_float(r, &v.as.z.re) && take(r, ",") && take_float(r, &v.as.z.im);
  } else if (tt__is_float(l->dtype)) {
    v.tag = TT_V_FLOAT;
    ok = ok && take_float(r, &v.as.f);
  } else if (l->dtype == TT_U64) {
    char *end;
    v.tag = TT_V_UINT;
    v.as.u = strtoull(r->at, &end, 10);
    ok = ok && end != r->at;
    r->at = end;
  } else {
    ok = ok && take_int(r, &v.as.i);
  }
  if (!ok) return fail_at(r, "a value expected");
  *out = tt__node_const(l->dtype, tt__scalar_from(&v, l->dtype), l->rank, l->len, r->err);
  return *out ? TT_OK : TT_ENOMEM;
}

static tt_code read_reduce(reader *r, const line *l, uint64_t *axes, int *red) {
  char name[16];
  int64_t axis[64];
  int n, kept = 0;
  if (!take(r, " ") || !take_word(r, name, sizeof name)) return fail_at(r, "a reduction expected");
  for (*red = 0; *red < TT_RED_COUNT && strcmp(tt__red_name(*red), name) != 0;) ++*red;
  if (*red == TT_RED_COUNT) return fail_at(r, "an unknown reduction");
  if (!take(r, " axes=") || !take_ints(r, axis, 64, &n)) return fail_at(r, "axes expected");
  *axes = 0;
  for (int k = 0; k < n; k++) {
    if (axis[k] < 0 || axis[k] >= l->src[0]->rank) return fail_at(r, "an axis out of range");
    *axes |= UINT64_C(1) << axis[k];
  }
  for (int k = 0; k < l->src[0]->rank; k++) {
    if (*axes >> k & 1) continue;
    if (kept >= l->rank || l->len[kept++] != l->src[0]->dim[k]) return fail_at(r, "axes and shape disagree");
  }
  if (kept != l->rank) return fail_at(r, "axes and shape disagree");
  bool arg = *red == TT_RED_ARGMAX || *red == TT_RED_ARGMIN;
  return l->dtype == (arg ? TT_I64 : (tt_dtype)l->src[0]->dtype) ? TT_OK
                                                                 : fail_at(r, "a reduction keeps its operand's type");
}

static tt_code read_lib(reader *r, const line *l, tt_node **out) {
  char name[64];
  tt_lib_attr a = {.row = NULL};
  int n;
  if (!take(r, " ") || !take_word(r, name, sizeof name) || !(a.row = tt__lib_row(name)))
    return fail_at(r, "an unknown library function");
  if (a.row->nsrc != l->nsrc) return fail_at(r, "wrong number of operands");
  if (!take(r, " i=") || !take_ints(r, a.i, 8, &n) || !take(r, " f=") || !take_float(r, &a.f[0]) || !take(r, ",") ||
      !take_float(r, &a.f[1]) || !take(r, ",") || !take_float(r, &a.f[2]))
    return fail_at(r, "attributes expected");
  *out = tt__node_lib(&a, l->src, l->nsrc, r->err);
  return *out ? TT_OK : TT_ENOMEM;
}

/* A node as the text says it, without the folding of the constructors. */
static tt_node *raw_node(reader *r, const line *l) {
  tt_node *n = tt__node_new(l->op, l->dtype, l->rank, l->len, l->nstep, r->err);
  if (!n) return NULL;
  n->pending = l->op != TT_N_EMPTY && l->op != TT_N_IOTA;
  for (int k = 0; k < l->nsrc; k++) {
    n->src[n->nsrc++] = tt__node_retain(l->src[k]);
    tt__node_account(n, l->src[k]);
  }
  if (n->op == TT_N_VIEW || n->op == TT_N_GATHER) tt__node_list_reader(n);
  if (l->nstep) memcpy(tt__node_step(n), l->step, (size_t)l->nstep * sizeof(int64_t));
  return n;
}

static tt_code read_rest(reader *r, line *l, tt_node **out) {
  uint64_t axes = 0;
  int red = 0;
  int64_t pick = 0;
  switch (l->op) {
    case TT_N_BUFFER:
      return read_buffer(r, l, out);
    case TT_N_CONST:
      return read_const(r, l, out);
    case TT_N_LIB:
      return read_lib(r, l, out);
    case TT_N_REDUCE:
      TT_TRY(read_reduce(r, l, &axes, &red));
      break;
    case TT_N_PICK:
      if (!take(r, " ") || !take_int(r, &pick) || pick < 0 || pick >= l->src[0]->attr.lib->row->nout)
        return fail_at(r, "a result number expected");
      break;
    case TT_N_VIEW:
    case TT_N_STORE: {
      tt_node *shape = l->op == TT_N_STORE ? l->src[1] : NULL;
      int rank = shape ? shape->rank : l->rank;
      const int64_t *len = shape ? shape->dim : l->len;
      if (!take(r, " off=") || !take_int(r, &l->off) || !take(r, " step=") ||
          !take_ints(r, l->step, TT_MAX_RANK, &l->nstep))
        return fail_at(r, "off and step expected");
      if (l->nstep != rank || !view_fits(rank, len, l->step, l->off, l->src[0]->size))
        return fail_at(r, "a view that reaches outside");
      break;
    }
    default:
      break;
  }
  *out = raw_node(r, l);
  if (!*out) return TT_ENOMEM;
  if (l->op == TT_N_REDUCE) {
    (*out)->attr.reduce.axes = axes;
    (*out)->attr.reduce.red = (uint8_t)red;
  } else if (l->op == TT_N_PICK) {
    (*out)->attr.pick = (int32_t)pick;
  } else {
    (*out)->attr.off = l->off;
  }
  return TT_OK;
}

/* ---- lines */

static tt_code read_node(reader *r, tt_node **out) {
  line l = {.off = 0};
  char name[32];
  int64_t number;
  if (!take(r, "%") || !take_int(r, &number) || number != r->node.n || !take(r, " = "))
    return fail_at(r, "the next %n expected");
  if (!take_word(r, name, sizeof name) || (l.dtype = tt__dtype_named(name)) == TT_DTYPE_NONE)
    return fail_at(r, "an unknown dtype");
  if (!take(r, "[") || !take_ints(r, l.len, TT_MAX_RANK, &l.rank) || !take(r, "] "))
    return fail_at(r, "a shape expected");
  TT_TRY(tt__shape_size(l.rank, l.len, l.dtype, &l.size, r->err));
  if (!take_word(r, name, sizeof name) || (l.op = kind_named(name)) < 0) return fail_at(r, "an unknown op");
  while (r->at[0] == ' ' && r->at[1] == '%') {
    r->at++;
    if (l.nsrc == TT_NODE_SRC || !take_node(r, &l.src[l.nsrc++])) return fail_at(r, "an unknown operand");
  }
  const char *wrong = check_sources(&l);
  if (wrong) return fail_at(r, wrong);
  TT_TRY(read_rest(r, &l, out));
  return TT_OK;
}

static tt_code read_all(reader *r, tt_node **out, int room, int *n) {
  while (!take(r, "out")) {
    tt_node *node;
    r->line++;
    TT_TRY(read_node(r, &node));
    if (!TT_VEC_PUSH(&r->node, node)) {
      tt__node_release(node);
      return tt__fail_memory(r->err, sizeof node);
    }
    if (!take(r, "\n")) return fail_at(r, "something after the node");
  }
  r->line++;
  while (take(r, " ")) {
    tt_node *node;
    if (*n == room || !take_node(r, &node)) return fail_at(r, "an unknown output");
    out[(*n)++] = tt__node_retain(node);
  }
  return TT_OK;
}

tt_code tt__graph_parse(const char *text, tt_node **out, int room, int *n, tt_error *err) {
  assert(room >= 0 && tt__session_is_held());
  reader r = {.at = text, .err = err};
  *n = 0;
  tt_code code = read_all(&r, out, room, n);
  for (int64_t k = 0; k < r.node.n; k++) tt__node_release(r.node.data[k]);
  TT_VEC_FREE(&r.node);
  for (; code != TT_OK && *n > 0; --*n) tt__node_release(out[*n - 1]);
  return code;
}
