/*
** The safetensors format: 8 bytes of length, a header of JSON, bytes. Knows memory and files, no arrays.
**
** Tensors are read with pread, never mapped: a mapped file that somebody cuts kills who looks at its end (SIGBUS),
** which nothing here could turn into an error. So a tensor is copied once, out of the system's cache.
*/
#ifndef TT_IO_TENSORS_H
#define TT_IO_TENSORS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "tutti/safetensors.h"

/* An entry of the header. Invariant once it was read: size is what type and lengths say, and [begin, begin + size) lies
 * in the data. */
typedef struct tt_tensor {
  tt_tensor_info info;
  int64_t begin, size; /* bytes, from the start of the data */
  uint64_t check;      /* XXH3 of 64 bits, where the file has checksums */
} tt_tensor;

TT_HIDDEN tt_code tt__tensors_open(const char *path, tt_tensors **out, tt_error *err);
TT_HIDDEN tt_code tt__tensors_open_memory(const void *data, size_t size, tt_tensors **out, tt_error *err);
TT_HIDDEN void tt__tensors_close(tt_tensors *t);
/* Tensor k in the order of names; NULL: there is none. */
TT_HIDDEN const tt_tensor *tt__tensors_entry(const tt_tensors *t, int64_t k);
/* Bytes [from, from + size) of tensor k; the checksum is looked at when that is all of it. */
TT_HIDDEN tt_code tt__tensors_read(tt_tensors *t, int64_t k, int64_t from, int64_t size, void *out, tt_error *err);

/* Some of a tensor's bytes, read into memory of their own; `drop` gives it back. */
typedef struct tt_tensor_block {
  size_t size;
  void *data;
} tt_tensor_block;
TT_HIDDEN tt_code tt__tensors_block(tt_tensors *t, int64_t k, int64_t from, int64_t size, tt_tensor_block **out,
                                    tt_error *err);
TT_HIDDEN void tt__tensors_block_drop(void *block);

/* What is written: the same, with its bytes. */
typedef struct tt_tensor_bytes {
  tt_tensor tensor; /* name, dtype, rank, len; the rest is filled in */
  const void *data; /* NULL: only sizes are asked for */
} tt_tensor_bytes;

/* Puts t in the order of the file, fills in the rest, and appends the first bytes of the file, all before the data. */
TT_HIDDEN tt_code tt__tensors_header(tt_tensor_bytes *t, const tt_tensors_content *meta, tt_str *out, tt_error *err);
/* The first bytes and the data behind them: as a file, which is there whole or not at all; or to memory of *size bytes,
 * which becomes what they take (data NULL: nothing is written). */
TT_HIDDEN tt_code tt__tensors_write(const char *path, const tt_str *header, const tt_tensor_bytes *t, int64_t n,
                                    tt_error *err);
TT_HIDDEN tt_code tt__tensors_pack(const tt_str *header, const tt_tensor_bytes *t, int64_t n, void *data, size_t *size,
                                   tt_error *err);
/* Is this a type that the format has? */
TT_HIDDEN bool tt__tensors_has(tt_dtype dtype);

#endif
