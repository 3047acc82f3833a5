/* What users ask of an array's gradient; see leaf.h. */
#include "fn/grad/leaf.h"

#include <assert.h>

#include "fn/compose.h"
#include "graph/session.h"
#include "graph/slab.h"
#include "graph/tape.h"

static tt_tape *entry_of(const tt_array *a) { return a->storage->node->tape; }

static bool has_slope(const tt_array *a) {
  return tt__is_float((tt_dtype)a->dtype) || tt__is_complex((tt_dtype)a->dtype);
}

tt_code tt__leaf_set(tt_array *a, bool on, tt_error *err) {
  tt_storage *s = a->storage;
  if (on == (entry_of(a) != NULL)) return TT_OK;
  if (on && !has_slope(a))
    return tt__fail(err, TT_EGRAD, "only Tensors of floating point and complex dtype can require gradients");
  if (!on && !tt__storage_leaf(s))
    return tt__fail(err, TT_EGRAD,
                    "you can only change requires_grad flags of leaf variables. If you want to use a computed variable "
                    "in a subgraph that doesn't require differentiation use var_no_grad = var.detach().");
  return tt__storage_set_leaf(s, on, err);
}

/* The whole of a leaf's storage; a part of it is computed. */
bool tt__leaf_is(const tt_array *a) {
  const tt_tape *t = entry_of(a);
  return !t || (tt__storage_leaf(a->storage) && a->size == a->storage->node->size);
}

tt_code tt__leaf_retain_grad(tt_array *a, tt_error *err) {
  tt_tape *t = entry_of(a);
  if (!t) return tt__fail(err, TT_EGRAD, "can't retain_grad on Tensor that has requires_grad=False");
  if (t->op != TT_TAPE_LEAF) t->keeps_grad = true;
  return TT_OK;
}

tt_code tt__leaf_grad(tt_array *a, tt_array **out, tt_error *err) {
  tt_tape *t = entry_of(a);
  *out = NULL;
  if (!t || !t->grad) return TT_OK;
  *out = tt__array_view(t->grad, a->rank, a->dim, tt__array_step(a), a->off, err);
  return *out ? TT_OK : TT_ENOMEM;
}

/* As a part of what is summed up for the whole storage. */
static tt_code put_grad(tt_array *a, tt_tape *t, tt_array *grad, tt_error *err) {
  tt_composer c = {.err = err};
  bool before = tt__session_tape;
  tt_array *whole = NULL;
  tt__session_tape = false;
  if (tt__array_is_c(a) && a->size == a->storage->node->size) {
    tt_node *n = tt__array_node(grad, err);
    int64_t step[TT_MAX_RANK];
    tt__shape_steps(t->rank, t->dim, step);
    tt_node *shaped = n ? tt__node_view(n, t->rank, t->dim, step, 0, err) : NULL;
    tt__node_release(n);
    whole = tt__compose_of_node(&c, shaped);
  } else {
    whole = tt__compose_full(&c, (tt_dtype)t->dtype, t->rank, t->dim, tt_v_int(0));
    tt_array *part = whole ? tt__compose_view(&c, whole, a->rank, a->dim, tt__array_step(a), a->off) : NULL;
    if (!part || !tt__compose_set(&c, part, tt_v_array(grad))) whole = NULL;
  }
  tt__session_tape = before;
  if (whole) {
    tt__array_release(t->grad);
    t->grad = tt__array_retain(whole);
  }
  tt_code code = whole ? TT_OK : c.code != TT_OK ? c.code : TT_ENOMEM;
  tt__compose_end(&c);
  return code;
}

tt_code tt__leaf_set_grad(tt_array *a, tt_array *grad, tt_error *err) {
  tt_tape *t = entry_of(a);
  if (!t && !grad) return TT_OK;
  if (!t) return tt__fail(err, TT_EGRAD, "can't assign a gradient to an array that does not require one");
  if (!grad) {
    tt__array_release(t->grad);
    t->grad = NULL;
    return TT_OK;
  }
  char have[256], want[256];
  if (grad->dtype != a->dtype)
    return tt__fail(err, TT_EGRAD, "assigned grad has data of a different type: %s, not %s",
                    tt__dtypes[grad->dtype].name, tt__dtypes[a->dtype].name);
  if (grad->rank == a->rank && tt__shape_same(a->rank, a->dim, grad->dim)) return put_grad(a, t, grad, err);
  tt__shape_tuple(grad->rank, grad->dim, have, sizeof have);
  tt__shape_tuple(a->rank, a->dim, want, sizeof want);
  return tt__fail(err, TT_EGRAD, "assigned grad has data of a different size: %s, not %s", have, want);
}

tt_code tt__leaf_detach(tt_array *a, tt_array **out, tt_error *err) {
  bool before = tt__session_tape;
  *out = NULL;
  tt__session_tape = false;
  tt_node *n = tt__array_node(a, err), *bare = n && n->tape ? tt__tape_wrap(n, NULL, err)
                                               : n          ? tt__node_retain(n)
                                                            : NULL;
  tt__session_tape = before;
  *out = bare ? tt__array_of(bare, err) : NULL;
  tt__node_release(n);
  tt__node_release(bare);
  return *out ? TT_OK : TT_ENOMEM;
}

tt_code tt__leaf_same(tt_array *a, tt_array **out, tt_error *err) {
  tt_node *n = tt__array_node(a, err), *same = n ? tt__tape_same(n, err) : NULL;
  *out = same ? tt__array_of(same, err) : NULL;
  tt__node_release(n);
  tt__node_release(same);
  return *out ? TT_OK : TT_ENOMEM;
}

/* ---- functions of the caller's */

tt_buffer *tt__leaf_owner(void (*drop)(void *ctx), void *ctx, tt_error *err) {
  tt_buffer *b = tt__buffer_adopt(NULL, 0, true, drop, ctx, err);
  if (!b && drop) drop(ctx);
  return b;
}

tt_code tt__leaf_custom(const tt_own_rule *f, tt_array **out, tt_error *err) {
  tt_composer c = {.err = err};
  tt_tape_function own = {.backward = f->backward, .ctx = f->ctx, .owner = f->owner};
  tt_node **src = tt__compose_scratch(&c, f->n + 1, sizeof *src);
  int done = 0;
  for (int k = 0; k < f->nresult; k++) out[k] = NULL;
  for (; src && done < f->n && (src[done] = tt__array_node(f->input[done], err)); done++) continue;
  tt_tape *t = src && done == f->n ? tt__tape_function(&own, src, f->n, f->nresult, err) : NULL;
  if (t) tt__buffer_retain(f->owner);
  bool ok = t != NULL;
  for (int k = 0; ok && k < f->nresult; k++) {
    tt_node *value = tt__array_node(f->result[k], err);
    bool taped = tt__session_tape && has_slope(f->result[k]);
    tt_node *n = !value ? NULL : taped ? tt__tape_result(t, k, value, err) : tt__node_retain(value);
    out[k] = n ? tt__array_of(n, err) : NULL;
    tt__node_release(value);
    tt__node_release(n);
    ok = out[k] != NULL;
  }
  for (int k = 0; !ok && k < f->nresult; k++) {
    tt__array_release(out[k]);
    out[k] = NULL;
  }
  for (int k = 0; k < done; k++) tt__node_release(src[k]);
  tt__tape_release(t);
  tt__compose_end(&c);
  return ok ? TT_OK : TT_ENOMEM;
}

tt_code tt__leaf_hook(tt_array *a, tt_hook_fn call, void *ctx, tt_buffer *owner, int64_t *id, tt_error *err) {
  static int64_t made;
  tt_tape *t = entry_of(a);
  if (!t) return tt__fail(err, TT_EGRAD, "cannot register a hook on a tensor that doesn't require gradient");
  tt_tape_hook *h = tt__slab_alloc(sizeof *h);
  if (!h) return tt__fail_memory(err, sizeof *h);
  *id = ++made;
  *h = (tt_tape_hook){.id = *id, .call = call, .ctx = ctx, .owner = tt__buffer_retain(owner)};
  tt_tape_hook **last = &t->hook; /* they are called as they came */
  while (*last) last = &(*last)->next;
  *last = h;
  return TT_OK;
}

tt_code tt__leaf_unhook(tt_array *a, int64_t id, tt_error *err) {
  (void)err;
  tt_tape *t = entry_of(a);
  for (tt_tape_hook **at = t ? &t->hook : NULL; at && *at; at = &(*at)->next) {
    tt_tape_hook *h = *at;
    if (h->id != id) continue;
    *at = h->next;
    tt__buffer_release(h->owner);
    tt__slab_free(h, sizeof *h);
    break;
  }
  return TT_OK;
}
