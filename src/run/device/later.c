/*
** Gathered calls of libraries; see later.h.
*/
#include "run/device/later.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "device/cache_alloc.h"
#include "run/device/batch.h"
#include "run/device/exec_device.h"
#include "run/residency.h"

enum { MOST_AXES = 6 };

/* An operand or a result, with nothing that must be kept elsewhere. */
typedef struct place {
  void *data;
  int64_t size, len[MOST_AXES], step[MOST_AXES];
  int32_t dtype, rank;
} place;

/* The bytes of a gathered call: made over zeros, as equal calls must have equal bytes. Of `at` there are the row's
 * operands, then its results: the call ends behind them. */
typedef struct later {
  const tt_lib_row *row;
  int64_t i[8];
  double f[3];
  uint64_t mode;
  const void *term;
  void *temp[TT_LATER_TEMPS];
  size_t temp_size[TT_LATER_TEMPS];
  int32_t ntemp, epilogue, then, unused;
  place at[TT_LATER_SRC + TT_LATER_OUT];
} later;

static uint8_t alignment(const void *p) {
  enum { MOST = 256 }; /* what libraries ask for at most */
  return (uint8_t)__builtin_ctzll((uint64_t)(uintptr_t)p | MOST);
}

static void alignments(const tt_later_call *c, uint8_t *out) {
  memset(out, 0, TT_LATER_PLACES);
  for (int i = 0; i < c->attr->row->nsrc; i++) *out++ = alignment(c->src[i].data);
  for (int i = 0; i < c->attr->row->nout; i++) *out++ = alignment(c->out[i].data);
  *out = alignment(c->term);
}

static bool may_wait(const tt_later_call *c) {
  const tt_lib_row *row = c->attr->row;
  if (!row->mode || row->nsrc > TT_LATER_SRC || row->nout > TT_LATER_OUT) return false;
  for (int i = 0; i < row->nsrc; i++)
    if (c->src[i].rank > MOST_AXES) return false;
  for (int i = 0; i < row->nout; i++)
    if (c->out[i].rank > MOST_AXES) return false;
  return true;
}

bool tt__later_knows(const tt_later_known *k, tt_device *d, const tt_later_call *c) {
  uint8_t align[TT_LATER_PLACES];
  if (k->device != d || k->ntemp > TT_LATER_TEMPS || !may_wait(c) || k->mode != c->attr->row->mode()) return false;
  alignments(c, align);
  return memcmp(align, k->align, sizeof align) == 0;
}

void tt__later_learn(tt_later_known *k, tt_device *d, const tt_later_call *c, const size_t *temp, int n) {
  assert(n >= 0);
  if (!may_wait(c)) return;
  k->device = d;
  k->mode = c->attr->row->mode();
  k->ntemp = n;
  alignments(c, k->align);
  for (int i = 0; i < n && i < TT_LATER_TEMPS; i++) k->temp[i] = temp[i];
}

/* ---- making the call */

typedef struct use {
  tt_lib_use lib;
  const later *call;
  int ntemp;
} use;

static tt_code next_temp(const tt_lib_device *on, size_t size, void **out, tt_error *err) {
  use *u = (use *)(uintptr_t)on;
  if (u->ntemp == u->call->ntemp || u->call->temp_size[u->ntemp] < size)
    return tt__fail(err, TT_EINTERNAL, "%s takes more memory than before", u->call->row->name);
  *out = u->call->temp[u->ntemp++];
  return TT_OK;
}

static tt_operand operand(const place *p) {
  return (tt_operand){
      .data = p->data, .dtype = (tt_dtype)p->dtype, .rank = p->rank, .len = p->len, .step = p->step, .size = p->size};
}

static tt_block block(const place *p) {
  return (tt_block){.data = p->data, .dtype = (tt_dtype)p->dtype, .rank = p->rank, .len = p->len, .size = p->size};
}

static tt_code call_now(tt_device *d, tt_stream *s, const void *what, tt_error *err) {
  const later *c = what;
  tt_operand src[TT_LATER_SRC];
  tt_block out[TT_LATER_OUT];
  tt_lib_attr attr = {.row = c->row};
  use u = {.call = c};
  tt__exec_lib_open(&u.lib, d, s);
  u.lib.on.temp = next_temp; /* what it took before, and nothing to give back */
  for (int i = 0; i < c->row->nsrc; i++) src[i] = operand(&c->at[i]);
  for (int i = 0; i < c->row->nout; i++) out[i] = block(&c->at[c->row->nsrc + i]);
  memcpy(attr.i, c->i, sizeof attr.i);
  memcpy(attr.f, c->f, sizeof attr.f);
  return c->then ? c->row->run_on_then(&u.lib.on, &attr, src, out, c->epilogue, c->term, err)
                 : c->row->run_on(&u.lib.on, &attr, src, out, err);
}

/* ---- gathering it */

static void describe(const tt_later_call *c, uint64_t mode, later *out) {
  const tt_lib_row *row = c->attr->row;
  memset(out, 0, sizeof *out);
  out->row = row;
  memcpy(out->i, c->attr->i, sizeof out->i);
  memcpy(out->f, c->attr->f, sizeof out->f);
  out->mode = mode;
  out->term = c->term;
  out->epilogue = c->epilogue;
  out->then = c->then;
  for (int i = 0; i < row->nsrc; i++) {
    const tt_operand *o = &c->src[i];
    place *p = &out->at[i];
    *p = (place){.data = (void *)(uintptr_t)o->data, .size = o->size, .dtype = (int32_t)o->dtype, .rank = o->rank};
    if (o->rank) memcpy(p->len, o->len, sizeof *p->len * (size_t)o->rank);
    if (o->rank) memcpy(p->step, o->step, sizeof *p->step * (size_t)o->rank);
  }
  for (int i = 0; i < row->nout; i++) {
    const tt_block *o = &c->out[i];
    place *p = &out->at[row->nsrc + i];
    *p = (place){.data = o->data, .size = o->size, .dtype = (int32_t)o->dtype, .rank = o->rank};
    if (o->rank) memcpy(p->len, o->len, sizeof *p->len * (size_t)o->rank);
  }
}

static size_t bytes_of(const later *l) {
  return offsetof(later, at) + sizeof(place) * (size_t)(l->row->nsrc + l->row->nout);
}

tt_code tt__later_gather(const tt_later_known *k, tt_device *d, tt_stream *s, const tt_later_call *c, tt_error *err) {
  assert(tt__later_knows(k, d, c));
  later l;
  tt_dmem *temp[TT_LATER_TEMPS] = {NULL};
  tt_code code = TT_OK;
  describe(c, k->mode, &l);
  for (; l.ntemp < k->ntemp; l.ntemp++) {
    code = tt__resident_temp(d, s, k->temp[l.ntemp], &temp[l.ntemp], err);
    if (code != TT_OK) break;
    l.temp[l.ntemp] = tt__dmem_at(temp[l.ntemp]);
    l.temp_size[l.ntemp] = k->temp[l.ntemp];
  }
  if (code == TT_OK) code = tt__batch_ask(d, s, call_now, &l, bytes_of(&l), err);
  for (int i = 0; i < TT_LATER_TEMPS; i++)
    if (temp[i]) tt__dmem_free(d, temp[i]);
  return code;
}
