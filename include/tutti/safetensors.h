/*
** Arrays in files of the safetensors format: a header of JSON, and the elements in a row. A file is checked as a whole
** when it is opened (lengths, types, places, no byte twice, no byte unused), before anything of it is believed.
**
** Files of ours have a checksum of each tensor among their metadata, which other readers pass over.
*/
#ifndef TUTTI_SAFETENSORS_H
#define TUTTI_SAFETENSORS_H

#include "tutti/array.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An open file, or memory that holds one. May be read from several threads. */
typedef struct tt_tensors tt_tensors;

/* Texts and lengths live as long as what is open. */
typedef struct tt_tensor_info {
  const char *name; /* UTF-8 */
  const char *type; /* the format's word ("F32") */
  tt_dtype dtype;   /* TT_DTYPE_NONE: one that no array here has (F8_E4M3) */
  int rank;
  const int64_t *len; /* [rank] */
} tt_tensor_info;

/* Open a file and read its header. TT_EIO: it cannot be read. TT_EVALUE: it is no such file; the message says where. */
TT_API tt_code tt_tensors_open(const char *path, tt_tensors **out, tt_error *err);
/* The same of bytes in memory, which the caller keeps until all is closed. */
TT_API tt_code tt_tensors_open_memory(const void *data, size_t size, tt_tensors **out, tt_error *err);
/* Close it and set *t to NULL; arrays that were loaded stay. NULL and *t == NULL are allowed. */
TT_API void tt_tensors_close(tt_tensors **t);

/* Tensor k, in the order of names, or NULL after the last. */
TT_API const tt_tensor_info *tt_tensors_info(const tt_tensors *t, int64_t k);
/* The k-th in the order of the file, as a number for the functions here; -1 after the last. */
TT_API int64_t tt_tensors_at(const tt_tensors *t, int64_t k);
/* The number of a name, or -1. */
TT_API int64_t tt_tensors_find(const tt_tensors *t, const char *name);
/* Entry k of the metadata, in the order of keys (without the checksums); false after the last. */
TT_API bool tt_tensors_metadata(const tt_tensors *t, int64_t k, const char **key, const char **value);

/* Read tensor k. TT_EVALUE: its bytes are not those that were saved. TT_EIO: the file has become shorter.
 * TT_ETYPE: no array has its type. */
TT_API tt_code tt_tensors_load(tt_tensors *t, int64_t k, tt_array **out, tt_error *err);
/* Elements start to stop - 1 along the first axis alone; no checksum is looked at. TT_EINDEX: there are no such. */
TT_API tt_code tt_tensors_load_rows(tt_tensors *t, int64_t k, int64_t start, int64_t stop, tt_array **out,
                                    tt_error *err);

/* What is saved. */
typedef struct tt_tensors_content {
  const char *const *name; /* [n] */
  tt_array *const *array;  /* [n] */
  int64_t n;
  const char *const *key, *const *value; /* [nmeta] */
  int64_t nmeta;
} tt_tensors_content;

/*
** Replace the file: written beside it, synced and renamed, so that there is the old or the new one at any moment, also
** after a loss of power. All arrays are evaluated together. TT_ETYPE: a type that the format has not (complex128).
** TT_EVALUE: names that are not UTF-8, twice the same one, or "__metadata__".
*/
TT_API tt_code tt_tensors_save(const char *path, const tt_tensors_content *content, tt_error *err);
/* The same into memory. `data` NULL: *size says how many bytes there will be. Else *size is the room, TT_EVALUE: too
 * small. */
TT_API tt_code tt_tensors_pack(const tt_tensors_content *content, void *data, size_t *size, tt_error *err);

#ifdef __cplusplus
}
#endif

#endif
