/*
** The text form of graphs. It must not know who records or runs them.
*/
#include "graph/text/print.h"

#include <assert.h>

#include "base/vec.h"
#include "graph/session.h"
#include "ir/user/call.h"

typedef TT_VEC(tt_node *) node_list;

static const char *const kind_name[] = {"BUFFER", "EMPTY",   "CONST", "IOTA", "VIEW", "REDUCE", "STORE",
                                        "GATHER", "SCATTER", "LIB",   "PICK", "CALL", "LIST",   "BITCAST"};
static const char *const red_name[TT_RED_COUNT] = {"SUM", "PROD", "MAX", "MIN", "ANY", "ALL", "ARGMAX", "ARGMIN"};

const char *tt__node_name(int op) { return op < TT_OP_COUNT ? tt__ops[op].name : kind_name[op - TT_N_BUFFER]; }
const char *tt__red_name(int red) { return red_name[red]; }

/* Operands before users, without recursion. A node's `slot` becomes its number. */
static bool collect(node_list *list, node_list *stack, tt_node *root, uint32_t open, uint32_t done) {
  if (!TT_VEC_PUSH(stack, root)) return false;
  while (stack->n) {
    tt_node *n = stack->data[stack->n - 1];
    if (n->mark == done || n->mark == open) {
      stack->n--;
      if (n->mark == done) continue;
      n->mark = done;
      n->slot = (int32_t)list->n;
      if (!TT_VEC_PUSH(list, n)) return false;
      continue;
    }
    n->mark = open;
    for (int k = n->nsrc; k-- > 0;)
      if (n->src[k]->mark != done && !TT_VEC_PUSH(stack, n->src[k])) return false;
  }
  return true;
}

static void add_list(tt_str *out, const char *name, const int64_t *x, int n) {
  tt__str_addf(out, "%s", name);
  for (int k = 0; k < n; k++) tt__str_addf(out, "%s%lld", k ? "," : "", (long long)x[k]);
}

static void add_value(tt_str *out, const tt_node *n) {
  tt_value v = tt__scalar_load((tt_dtype)n->dtype, &n->attr.scalar);
  switch (v.tag) {
    case TT_V_BOOL:
      tt__str_add(out, v.as.b ? " 1" : " 0");
      break;
    case TT_V_INT:
      tt__str_addf(out, " %lld", (long long)v.as.i);
      break;
    case TT_V_UINT:
      tt__str_addf(out, " %llu", (unsigned long long)v.as.u);
      break;
    case TT_V_FLOAT:
      tt__str_addf(out, " %.17g", v.as.f);
      break;
    default:
      tt__str_addf(out, " %.17g,%.17g", v.as.z.re, v.as.z.im);
  }
}

static void add_bytes(tt_str *out, const tt_node *n) {
  size_t size = (size_t)n->size * tt__dtype_size((tt_dtype)n->dtype);
  if (size == 0 || size > 64) return;
  tt__str_add(out, " ");
  for (size_t k = 0; k < size; k++) tt__str_addf(out, "%02x", ((const uint8_t *)n->attr.buf->data)[k]);
}

static void add_attr(tt_str *out, tt_node *n) {
  switch (n->op) {
    case TT_N_BUFFER:
      add_bytes(out, n);
      break;
    case TT_N_CONST:
      add_value(out, n);
      break;
    case TT_N_VIEW:
    case TT_N_STORE:
      tt__str_addf(out, " off=%lld", (long long)n->attr.off);
      add_list(out, " step=", tt__node_step(n), n->nstep);
      break;
    case TT_N_REDUCE: {
      int64_t axes[64];
      int count = 0;
      for (int k = 0; k < 64; k++)
        if (n->attr.reduce.axes >> k & 1) axes[count++] = k;
      tt__str_addf(out, " %s", red_name[n->attr.reduce.red]);
      add_list(out, " axes=", axes, count);
      break;
    }
    case TT_N_PICK:
      tt__str_addf(out, " %d", (int)n->attr.pick);
      break;
    case TT_N_CALL: {
      const tt_kernel_call *c = n->attr.call;
      const uint32_t *g = c->grid.grid, *b = c->grid.block;
      tt__str_addf(out, " %s grid=%u,%u,%u block=%u,%u,%u", c->name, g[0], g[1], g[2], b[0], b[1], b[2]);
      break;
    }
    case TT_N_LIB: {
      const tt_lib_attr *a = n->attr.lib;
      tt__str_addf(out, " %s", a->row->name);
      add_list(out, " i=", a->i, 8);
      tt__str_addf(out, " f=%.17g,%.17g,%.17g", a->f[0], a->f[1], a->f[2]);
      break;
    }
    default:
      break;
  }
}

bool tt__graph_print(tt_node *const *node, int n, tt_str *out) {
  assert(n >= 0 && tt__session_is_held());
  node_list list = {NULL, 0, 0}, stack = {NULL, 0, 0};
  uint32_t open = tt__session_stamp(), done = tt__session_stamp();
  bool ok = true;
  for (int k = 0; k < n && ok; k++) ok = collect(&list, &stack, node[k], open, done);
  for (int64_t k = 0; k < list.n && ok; k++) {
    tt_node *at = list.data[k];
    tt__str_addf(out, "%%%lld = %s", (long long)k, tt__dtypes[at->dtype].name);
    add_list(out, "[", tt__node_len(at), at->rank);
    tt__str_addf(out, "] %s", tt__node_name(at->op));
    for (int s = 0; s < at->nsrc; s++) tt__str_addf(out, " %%%d", (int)at->src[s]->slot);
    add_attr(out, at);
    tt__str_add(out, "\n");
  }
  tt__str_add(out, "out");
  for (int k = 0; k < n && ok; k++) tt__str_addf(out, " %%%d", (int)node[k]->slot);
  tt__str_add(out, "\n");
  TT_VEC_FREE(&list);
  TT_VEC_FREE(&stack);
  return ok && !out->failed;
}
