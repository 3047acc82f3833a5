/*
** The functions of tutti/safetensors.h that have to do with arrays: src/io knows bytes alone.
*/
#include "tutti/safetensors.h"

#include <string.h>

#include "api/enter.h"
#include "base/mem.h"
#include "graph/build.h"
#include "io/tensors.h"
#include "ir/dtype.h"
#include "run/wanted.h"

tt_code tt_tensors_open(const char *path, tt_tensors **out, tt_error *err) { return tt__tensors_open(path, out, err); }

tt_code tt_tensors_open_memory(const void *data, size_t size, tt_tensors **out, tt_error *err) {
  return tt__tensors_open_memory(data, size, out, err);
}

void tt_tensors_close(tt_tensors **t) {
  if (!t || !*t) return;
  tt__tensors_close(*t);
  *t = NULL;
}

/* ---- loading */

static tt_code load(tt_tensors *t, int64_t k, int64_t from, int64_t size, const int64_t *len, tt_array **out,
                    tt_error *err) {
  const tt_tensor_info *info = &tt__tensors_entry(t, k)->info;
  tt_tensor_block *b;
  tt_entered e;
  if (info->dtype == TT_DTYPE_NONE)
    return tt__fail(err, TT_ETYPE, "tensor '%s' has the type %s, which arrays have not", info->name, info->type);
  if (size == 0) return tt_empty(info->dtype, info->rank, len, out, err);
  TT_TRY(tt__tensors_block(t, k, from, size, &b, err));
  tt_code c = tt_adopt(info->dtype, info->rank, len, b->data, NULL, false, tt__tensors_block_drop, b, out, err);
  if (c != TT_OK) return tt__tensors_block_drop(b), c;
  err = tt__enter(&e, err);
  return tt__leave(&e, tt__wanted_put(out, tt__wanted(), err)); /* where the thread wants new arrays */
}

static tt_code check_number(const tt_tensors *t, int64_t k, tt_error *err) {
  return tt__tensors_entry(t, k) ? TT_OK : tt__fail(err, TT_EINDEX, "there is no tensor %lld", (long long)k);
}

tt_code tt_tensors_load(tt_tensors *t, int64_t k, tt_array **out, tt_error *err) {
  *out = NULL;
  TT_TRY(check_number(t, k, err));
  const tt_tensor *one = tt__tensors_entry(t, k);
  return load(t, k, 0, one->size, one->info.len, out, err);
}

tt_code tt_tensors_load_rows(tt_tensors *t, int64_t k, int64_t start, int64_t stop, tt_array **out, tt_error *err) {
  *out = NULL;
  TT_TRY(check_number(t, k, err));
  const tt_tensor *one = tt__tensors_entry(t, k);
  int64_t len[TT_MAX_RANK], rows = one->info.rank ? one->info.len[0] : 0;
  if (start < 0 || stop < start || stop > rows)
    return tt__fail(err, TT_EINDEX, "tensor '%s' has no elements %lld to %lld along its first axis", one->info.name,
                    (long long)start, (long long)stop);
  memcpy(len, one->info.len, sizeof *len * (size_t)one->info.rank);
  len[0] = stop - start;
  int64_t row = rows ? one->size / rows : 0;
  return load(t, k, start * row, len[0] * row, len, out, err);
}

/* ---- saving */

/* What is written, its arrays held in memory where they lie in C order. */
typedef struct saved {
  tt_tensor_bytes *bytes;
  tt_array **array; /* holds */
  void **hold;
  int64_t n;
  tt_str header;
} saved;

static void saved_free(saved *s) {
  for (int64_t k = 0; k < s->n; k++) {
    if (s->hold) tt_unpeek(s->hold[k]);
    if (s->array) tt_release(&s->array[k]);
  }
  tt__mem_free(s->bytes, sizeof *s->bytes * (size_t)s->n);
  tt__mem_free(s->array, sizeof *s->array * (size_t)s->n);
  tt__mem_free(s->hold, sizeof *s->hold * (size_t)s->n);
  tt__str_free(&s->header);
}

/* One array in C order: a hold. Types that no file has are refused before anything is computed. */
static tt_code hold_array(const char *name, tt_array *a, tt_array **out, tt_error *err) {
  if (!name || !a) return tt__fail(err, TT_EVALUE, "a name or an array is NULL");
  if (!tt__tensors_has(tt_array_dtype(a)))
    return tt__fail(err, TT_ETYPE, "tensor '%s': safetensors files have no %s", name,
                    tt__dtypes[tt_array_dtype(a)].name);
  if (!tt_array_is_contiguous(a)) return tt_copy(a, out, err);
  *out = tt_retain(a);
  return TT_OK;
}

static tt_code prepare(saved *s, const tt_tensors_content *c, bool sizes_alone, tt_error *err) {
  size_t n = (size_t)c->n;
  s->n = c->n;
  s->bytes = tt__mem_zalloc(sizeof *s->bytes * n);
  s->array = tt__mem_zalloc(sizeof *s->array * n);
  s->hold = tt__mem_zalloc(sizeof *s->hold * n);
  if (n && (!s->bytes || !s->array || !s->hold)) return tt__fail_memory(err, sizeof *s->bytes * n);
  for (int64_t k = 0; k < c->n; k++) TT_TRY(hold_array(c->name[k], c->array[k], &s->array[k], err));
  if (!sizes_alone && n) TT_TRY(tt_eval(s->array, (int)c->n, err));
  for (int64_t k = 0; k < c->n; k++) {
    const tt_array *a = s->array[k];
    s->bytes[k].tensor.info = (tt_tensor_info){c->name[k], NULL, tt_array_dtype(a), tt_array_rank(a), tt_array_len(a)};
    if (!sizes_alone) TT_TRY(tt_peek(s->array[k], &s->bytes[k].data, &s->hold[k], err));
  }
  return tt__tensors_header(s->bytes, c, &s->header, err);
}

tt_code tt_tensors_save(const char *path, const tt_tensors_content *content, tt_error *err) {
  saved s = {0};
  tt_code c = prepare(&s, content, false, err);
  if (c == TT_OK) c = tt__tensors_write(path, &s.header, s.bytes, s.n, err);
  saved_free(&s);
  return c;
}

tt_code tt_tensors_pack(const tt_tensors_content *content, void *data, size_t *size, tt_error *err) {
  saved s = {0};
  tt_code c = prepare(&s, content, !data, err);
  if (c == TT_OK) c = tt__tensors_pack(&s.header, s.bytes, s.n, data, size, err);
  saved_free(&s);
  return c;
}
