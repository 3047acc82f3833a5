/*
** Tensors' bytes on their way: into memory of their own, and behind a header into a file or the caller's memory.
*/
#include <assert.h>
#include <string.h>

#include "base/mem.h"
#include "base/os/replace.h"
#include "io/tensors.h"

void tt__tensors_block_drop(void *block) {
  tt_tensor_block *b = block;
  tt__mem_free_data(b->data, b->size);
  tt__mem_free(b, sizeof *b);
}

/* A kernel takes a truth value to be 0 or 1, which a file need not. */
static void make_truth(uint8_t *p, size_t n) {
  for (size_t i = 0; i < n; i++) p[i] = p[i] != 0;
}

tt_code tt__tensors_block(tt_tensors *t, int64_t k, int64_t from, int64_t size, tt_tensor_block **out, tt_error *err) {
  assert(size > 0);
  tt_tensor_block *b = tt__mem_alloc(sizeof *b);
  if (!b) return tt__fail_memory(err, sizeof *b);
  *b = (tt_tensor_block){(size_t)size, tt__mem_alloc_data((size_t)size)};
  tt_code c = b->data ? tt__tensors_read(t, k, from, size, b->data, err) : tt__fail_memory(err, (size_t)size);
  if (c != TT_OK) {
    tt__tensors_block_drop(b);
    return c;
  }
  if (tt__tensors_entry(t, k)->info.dtype == TT_BOOL) make_truth(b->data, (size_t)size);
  *out = b;
  return TT_OK;
}

tt_code tt__tensors_write(const char *path, const tt_str *header, const tt_tensor_bytes *t, int64_t n, tt_error *err) {
  tt_replace file;
  TT_TRY(tt__replace_begin(&file, path, err));
  tt_code c = tt__replace_write(&file, header->data, header->len, err);
  for (int64_t k = 0; k < n && c == TT_OK; k++) c = tt__replace_write(&file, t[k].data, (size_t)t[k].tensor.size, err);
  if (c == TT_OK) return tt__replace_end(&file, err);
  tt__replace_drop(&file);
  return c;
}

tt_code tt__tensors_pack(const tt_str *header, const tt_tensor_bytes *t, int64_t n, void *data, size_t *size,
                         tt_error *err) {
  size_t need = header->len;
  for (int64_t k = 0; k < n; k++) need += (size_t)t[k].tensor.size;
  if (data && *size < need) return tt__fail(err, TT_EVALUE, "%zu bytes have no room in %zu", need, *size);
  *size = need;
  if (!data) return TT_OK;
  char *to = data;
  memcpy(to, header->data, header->len);
  to += header->len;
  for (int64_t k = 0; k < n; to += t[k++].tensor.size)
    if (t[k].tensor.size) memcpy(to, t[k].data, (size_t)t[k].tensor.size);
  return TT_OK;
}
