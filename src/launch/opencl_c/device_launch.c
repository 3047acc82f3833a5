/* See device_launch.h. */
#include "launch/opencl_c/device_launch.h"

#include "graph/index/alias.h"
#include "ir/dtype.h"

/* ---- parts of memory */

/* The bytes of the array that argument k of a launch stands for, in the memory it shares with others. */
static void reach_of(const tt_device_launch *l, const tt_call_array *c, int64_t *from, int64_t *to) {
  const tt_array *a = c->array;
  int64_t stride[TT_MAX_RANK], size = a->size * (int64_t)tt__dtype_size((tt_dtype)a->dtype);
  *from = a->off * (int64_t)tt__dtype_size((tt_dtype)a->dtype);
  if (tt__storage_lies(a->storage)) tt__array_place(a, from, stride);
  *from += c->inside;
  for (int k = 0; k < l->n; k++)
    if (l->entry->offset[k] == c->at && l->arg[k].kind == TT_ARG_MEMORY) size = (int64_t)l->arg[k].as.memory.size;
  *to = *from + size;
}

static int argument_at(const tt_entry *e, int at) {
  int k = 0;
  while (k < e->nparam && e->offset[k] != at) k++;
  return k + 1;
}

tt_code tt__device_launch_parts(const tt_device_launch *l, const tt_device *d, tt_error *err) {
  for (int k = 0; k < l->narray; k++)
    for (int i = 0; i < l->narray; i++) {
      const tt_call_array *a = &l->array[k], *b = &l->array[i];
      int64_t from, to, low, high;
      if (i == k || !(a->writes || b->writes) ||
          tt__storage_root(a->array->storage) != tt__storage_root(b->array->storage))
        continue;
      reach_of(l, a, &from, &to);
      reach_of(l, b, &low, &high);
      if (from % d->target.part_align == 0 || from >= high || low >= to || (from == low && to == high)) continue;
      int first = argument_at(l->entry, a->at), second = argument_at(l->entry, b->at);
      return tt__fail(err, TT_EVALUE,
                      "kernel %s: arguments %d and %d share memory, and argument %d begins where %s has no parts of "
                      "memory (they begin at multiples of %lld bytes): pass a copy of one",
                      l->entry->name, first, second, first, d->name, (long long)d->target.part_align);
    }
  return TT_OK;
}

/* ---- arguments */

tt_code tt__entry_same(const tt_entry *e, const tt_cudac_param *param, int n, const char *where, tt_error *err) {
  for (int k = 0; k < n && n == e->nparam; k++) {
    const int local = TT_CUDAC_LOCAL, pointer = TT_CUDAC_POINTER;
    bool same = (param[k].kind == local) == (e->param[k].kind == local) &&
                (param[k].kind & pointer) == (e->param[k].kind & pointer) && param[k].size == e->param[k].size;
    if (!same)
      return tt__fail(err, TT_EDEVICE, "kernel %s: parameter %d is another on %s than where it was built first",
                      e->name, k + 1, where);
  }
  return n == e->nparam
             ? TT_OK
             : tt__fail(err, TT_EDEVICE, "kernel %s has %d parameters on %s, and %d where it was built first", e->name,
                        n, where, e->nparam);
}

tt_code tt__entry_place(const tt_entry *e, tt_device *d, tt_device_entry *there, size_t sizes, tt_error *err) {
  tt_field field[TT_CALL_ARRAYS];
  TT_TRY(tt__entry_same(e, there->param, there->nparam, d->name, err));
  if (e->nparam > TT_CALL_ARRAYS) return tt__fail(err, TT_EVALUE, "kernel %s takes too many arguments", e->name);
  for (int k = 0; k < e->nparam; k++) {
    int kind = e->param[k].kind;
    field[k] = (tt_field){.kind = kind == TT_CUDAC_LOCAL      ? TT_FIELD_LOCAL
                                  : (kind & TT_CUDAC_POINTER) ? TT_FIELD_MEMORY
                                                              : TT_FIELD_VALUE,
                          .writes = !(there->param[k].kind & TT_CUDAC_CONST),
                          .at = e->offset[k],
                          .size = e->param[k].size};
  }
  TT_TRY(d->ops->sources->fields(d, there->routine, field, e->nparam, sizes, err));
  there->placed = true;
  return TT_OK;
}
