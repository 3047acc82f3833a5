/* Rows of the library by the host's functions; see host_rows.h. */
#include "run/device/host_rows.h"

#include "graph/session.h"
#include "run/memory.h"

/* Memory that the host looks at meanwhile. */
typedef struct views {
  tt_device *d;
  tt_stream *s;
  void *at[TT_NODE_SRC + TT_MOST_ROOTS];
  int n;
} views;

static tt_code view(views *v, const void *p, int64_t size, bool write, tt_error *err) {
  if (size == 0) return TT_OK;
  TT_TRY(v->d->ops->shared->map(v->d, v->s, (void *)(uintptr_t)p, (size_t)size, write, err));
  v->at[v->n++] = (void *)(uintptr_t)p;
  return TT_OK;
}

/* All that the operand's elements lie in. */
static tt_code view_operand(views *v, const tt_operand *o, tt_error *err) {
  int64_t size = (int64_t)tt__dtype_size(o->dtype), first = 0, last = 0;
  if (o->size == 0) return TT_OK;
  for (int k = 0; k < o->rank; k++) {
    int64_t reach = (o->len[k] - 1) * o->step[k];
    first += reach < 0 ? reach : 0;
    last += reach > 0 ? reach : 0;
  }
  return view(v, (const char *)o->data + first * size, (last - first + 1) * size, false, err);
}

static tt_code view_operands(views *v, const tt_operand *src, int n, tt_error *err) {
  for (int i = 0; i < n; i++) TT_TRY(view_operand(v, &src[i], err));
  return TT_OK;
}

/* The device has its memory back, whatever came of the call. */
static tt_code end_views(views *v, tt_code code, tt_error *err) {
  for (int i = 0; i < v->n; i++) {
    tt_code back = v->d->ops->shared->unmap(v->d, v->s, v->at[i], code == TT_OK ? err : NULL);
    if (code == TT_OK) code = back;
  }
  return code;
}

tt_code tt__host_row(tt_device *d, tt_stream *s, const tt_lib_attr *attr, const tt_operand *src, int nsrc,
                     const tt_block *out, tt_error *err) {
  views v = {.d = d, .s = s};
  tt_code code = view_operands(&v, src, nsrc, err);
  for (int r = 0; code == TT_OK && r < attr->row->nout; r++)
    if (out[r].data) code = view(&v, out[r].data, out[r].size * (int64_t)tt__dtype_size(out[r].dtype), true, err);
  if (code == TT_OK) {
    int depth = tt__session_suspend();
    code = attr->row->run(attr, src, out, err);
    tt__session_resume(depth);
  }
  return end_views(&v, code, err);
}

tt_code tt__host_maker(tt_device *d, tt_stream *s, const tt_lib_maker *m, const tt_lib_attr *attr,
                       const tt_operand *src, tt_made *out, tt_error *err) {
  views v = {.d = d, .s = s};
  tt_code code = view_operands(&v, src, m->nsrc, err);
  if (code == TT_OK) {
    int depth = tt__session_suspend();
    code = m->run(attr, src, out, err);
    tt__session_resume(depth);
  }
  return end_views(&v, code, err);
}
