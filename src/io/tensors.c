/* Reading the safetensors format, every field checked before it is used; its header, written. */
#include "io/tensors.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/vec.h"
#include "io/json.h"
#include "ir/dtype.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "elements are read and written as they lie in memory");

/* The reference implementation refuses longer ones. */
#define MAX_HEADER 100000000
#define META "__metadata__"
/* Among the metadata: 16 hexadecimal digits for each tensor, in the order of the file. */
#define CHECKS "xxh3_64"
#define CHECK_DIGITS 16

/* The types of the format in the order of its own list; files have the last ones first, so that all are aligned. */
static const struct {
  const char *name;
  tt_dtype dtype;
  int bits;
} types[] = {
    {"BOOL", TT_BOOL, 8},
    {"F4", TT_DTYPE_NONE, 4},
    {"F6_E2M3", TT_DTYPE_NONE, 6},
    {"F6_E3M2", TT_DTYPE_NONE, 6},
    {"U8", TT_U8, 8},
    {"I8", TT_I8, 8},
    {"F8_E5M2", TT_DTYPE_NONE, 8},
    {"F8_E4M3", TT_DTYPE_NONE, 8},
    {"F8_E8M0", TT_DTYPE_NONE, 8},
    {"I16", TT_I16, 16},
    {"U16", TT_U16, 16},
    {"F16", TT_F16, 16},
    {"BF16", TT_BF16, 16},
    {"I32", TT_I32, 32},
    {"U32", TT_U32, 32},
    {"F32", TT_F32, 32},
    {"C64", TT_C64, 64},
    {"F64", TT_F64, 64},
    {"I64", TT_I64, 64},
    {"U64", TT_U64, 64},
    {"F8_E4M3FNUZ", TT_DTYPE_NONE, 8},
    {"F8_E5M2FNUZ", TT_DTYPE_NONE, 8},
};
#define NTYPE (int)(sizeof types / sizeof *types)

typedef struct meta {
  const char *key, *value;
} meta;

struct tt_tensors {
  int fd;           /* -1: memory */
  const char *data; /* of a file in memory: where its data begins */
  const char *path; /* for messages */
  int64_t start;    /* of the data in the file */
  tt_arena arena;
  TT_VEC(tt_tensor) tensor; /* by name */
  TT_VEC(int64_t) order;    /* their numbers, by place */
  TT_VEC(meta) meta;        /* by key, without the checksums */
  const char *checks;       /* of the metadata, or NULL */
  bool checked;             /* tensors have checksums */
};

static int type_named(const char *name) {
  int k = 0;
  while (k < NTYPE && strcmp(types[k].name, name) != 0) k++;
  return k;
}

static int type_of(tt_dtype dtype) {
  int k = 0;
  while (k < NTYPE && types[k].dtype != dtype) k++;
  return k;
}

bool tt__tensors_has(tt_dtype dtype) { return dtype != TT_DTYPE_NONE && type_of(dtype) < NTYPE; }

/*
** How many bytes so many elements have; false where the last byte would be cut and beyond 64 bits. As for arrays, that
** holds of the lengths that are not 0 where another one is.
*/
static bool byte_size(int type, int rank, const int64_t *len, int64_t *out) {
  int64_t n = 1, size;
  bool empty = false;
  for (int i = 0; i < rank; i++) {
    empty |= len[i] == 0;
    if (len[i] != 0 && __builtin_mul_overflow(n, len[i], &n)) return false;
  }
  int bits = types[type].bits;
  if (__builtin_mul_overflow(n, bits % 8 ? bits : bits / 8, &size)) return false;
  *out = empty ? 0 : bits % 8 ? size / 8 : size;
  return empty || bits % 8 == 0 || size % 8 == 0;
}

/* ---- the header, read */

static tt_code read_shape(tt_json *j, tt_tensor *t, tt_error *err) {
  int64_t len[TT_MAX_RANK];
  bool more;
  TT_TRY(tt__json_need(j, '['));
  t->info.rank = 0;
  for (;;) {
    TT_TRY(tt__json_more(j, ']', t->info.rank == 0, &more));
    if (!more) break;
    if (t->info.rank == TT_MAX_RANK)
      return tt__fail(err, TT_EVALUE, "tensor '%s' has more than %d axes", t->info.name, TT_MAX_RANK);
    TT_TRY(tt__json_count(j, &len[t->info.rank++]));
  }
  t->info.len = tt__arena_dup(j->arena, len, sizeof *len * (size_t)t->info.rank);
  return t->info.len ? TT_OK : tt__fail_memory(err, sizeof len);
}

static tt_code read_offsets(tt_json *j, tt_tensor *t, tt_error *err) {
  int64_t end;
  TT_TRY(tt__json_need(j, '['));
  TT_TRY(tt__json_count(j, &t->begin));
  TT_TRY(tt__json_need(j, ','));
  TT_TRY(tt__json_count(j, &end));
  TT_TRY(tt__json_need(j, ']'));
  t->size = end - t->begin;
  return t->size >= 0 ? TT_OK : tt__fail(err, TT_EVALUE, "tensor '%s' ends before it begins", t->info.name);
}

/* {"dtype": ..., "shape": [...], "data_offsets": [...]} in any order, each once and nothing else. */
static tt_code read_tensor(tt_json *j, tt_tensor *t, tt_error *err) {
  static const char *const field[] = {"dtype", "shape", "data_offsets"};
  unsigned seen = 0;
  TT_TRY(tt__json_need(j, '{'));
  for (bool more;;) {
    const char *key;
    TT_TRY(tt__json_more(j, '}', seen == 0, &more));
    if (!more) break;
    TT_TRY(tt__json_string(j, &key));
    TT_TRY(tt__json_need(j, ':'));
    unsigned k = 0;
    while (k < 3 && strcmp(key, field[k]) != 0) k++;
    if (k == 3 || (seen & (1u << k)))
      return tt__fail(err, TT_EVALUE, "tensor '%s' has %s '%.60s'", t->info.name,
                      k == 3 ? "an unknown field" : "twice the field", key);
    seen |= 1u << k;
    TT_TRY(k == 0 ? tt__json_string(j, &t->info.type) : k == 1 ? read_shape(j, t, err) : read_offsets(j, t, err));
  }
  if (seen != 7) return tt__fail(err, TT_EVALUE, "tensor '%s' lacks its dtype, shape or data_offsets", t->info.name);
  int type = type_named(t->info.type);
  int64_t size;
  if (type == NTYPE)
    return tt__fail(err, TT_EVALUE, "tensor '%s' has an unknown dtype '%.60s'", t->info.name, t->info.type);
  t->info.type = types[type].name;
  t->info.dtype = types[type].dtype;
  if (!byte_size(type, t->info.rank, t->info.len, &size) || size != t->size)
    return tt__fail(err, TT_EVALUE, "tensor '%s' has %lld bytes, not those of its dtype and shape", t->info.name,
                    (long long)t->size);
  return TT_OK;
}

static tt_code read_metadata(tt_tensors *t, tt_json *j, tt_error *err) {
  TT_TRY(tt__json_need(j, '{'));
  for (bool more, first = true;; first = false) {
    meta m;
    TT_TRY(tt__json_more(j, '}', first, &more));
    if (!more) return TT_OK;
    TT_TRY(tt__json_string(j, &m.key));
    TT_TRY(tt__json_need(j, ':'));
    TT_TRY(tt__json_string(j, &m.value));
    if (!TT_VEC_PUSH(&t->meta, m)) return tt__fail_memory(err, sizeof m);
  }
}

static tt_code read_header(tt_tensors *t, tt_json *j, tt_error *err) {
  bool metadata = false;
  TT_TRY(tt__json_need(j, '{'));
  for (bool more, first = true;; first = false) {
    tt_tensor one = {0};
    TT_TRY(tt__json_more(j, '}', first, &more));
    if (!more) break;
    TT_TRY(tt__json_string(j, &one.info.name));
    TT_TRY(tt__json_need(j, ':'));
    if (strcmp(one.info.name, META) == 0) {
      if (metadata) return tt__fail(err, TT_EVALUE, "the header has " META " twice");
      metadata = true;
      TT_TRY(read_metadata(t, j, err));
      continue;
    }
    TT_TRY(read_tensor(j, &one, err));
    if (!TT_VEC_PUSH(&t->tensor, one)) return tt__fail_memory(err, sizeof one);
  }
  return tt__json_end(j); /* behind blanks: writers fill up to a multiple of 8 */
}

/* ---- what must hold of all entries together */

static int by_name(const void *a, const void *b) {
  return strcmp(((const tt_tensor *)a)->info.name, ((const tt_tensor *)b)->info.name);
}

static int by_key(const void *a, const void *b) { return strcmp(((const meta *)a)->key, ((const meta *)b)->key); }

typedef struct place {
  int64_t begin, size, k;
} place;

static int by_place(const void *a, const void *b) {
  const place *x = a, *y = b;
  if (x->begin != y->begin) return x->begin < y->begin ? -1 : 1;
  if (x->size != y->size) return x->size < y->size ? -1 : 1;
  return x->k < y->k ? -1 : x->k > y->k;
}

static void sort(void *data, int64_t n, size_t elem, int (*order)(const void *, const void *)) {
  if (n) qsort(data, (size_t)n, elem, order);
}

static tt_code check_names(tt_tensors *t, tt_error *err) {
  sort(t->tensor.data, t->tensor.n, sizeof *t->tensor.data, by_name);
  sort(t->meta.data, t->meta.n, sizeof *t->meta.data, by_key);
  for (int64_t k = 1; k < t->tensor.n; k++)
    if (by_name(&t->tensor.data[k - 1], &t->tensor.data[k]) == 0)
      return tt__fail(err, TT_EVALUE, "the header has tensor '%s' twice", t->tensor.data[k].info.name);
  for (int64_t k = 1; k < t->meta.n; k++)
    if (by_key(&t->meta.data[k - 1], &t->meta.data[k]) == 0)
      return tt__fail(err, TT_EVALUE, "the metadata has '%s' twice", t->meta.data[k].key);
  int64_t kept = 0;
  for (int64_t k = 0; k < t->meta.n; k++)
    if (strcmp(t->meta.data[k].key, CHECKS) == 0)
      t->checks = t->meta.data[k].value;
    else
      t->meta.data[kept++] = t->meta.data[k];
  t->meta.n = kept;
  return TT_OK;
}

/* Tensors lie one behind the other, from the first byte of the data to the last. */
static tt_code check_places(tt_tensors *t, int64_t data_size, tt_error *err) {
  size_t size = sizeof(place) * (size_t)t->tensor.n;
  place *p = tt__arena_alloc(&t->arena, size);
  if (!p) return tt__fail_memory(err, size);
  for (int64_t k = 0; k < t->tensor.n; k++) p[k] = (place){t->tensor.data[k].begin, t->tensor.data[k].size, k};
  sort(p, t->tensor.n, sizeof *p, by_place);
  int64_t at = 0;
  for (int64_t k = 0; k < t->tensor.n; k++) {
    if (p[k].begin != at)
      return tt__fail(err, TT_EVALUE,
                      "tensor '%s' begins at byte %lld of the data, where the one before it ends at %lld",
                      t->tensor.data[p[k].k].info.name, (long long)p[k].begin, (long long)at);
    if (p[k].size > data_size - at)
      return tt__fail(err, TT_EVALUE, "tensor '%s' ends behind the end of the file", t->tensor.data[p[k].k].info.name);
    at += p[k].size;
    if (!TT_VEC_PUSH(&t->order, p[k].k)) return tt__fail_memory(err, sizeof(int64_t));
  }
  if (at == data_size) return TT_OK;
  return tt__fail(err, TT_EVALUE, "%lld bytes behind the last tensor are of none", (long long)(data_size - at));
}

static int digit_of(char c) { return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1; }

/* Checksums of another number of tensors are those of another file, whose metadata somebody has taken over. */
static void read_checks(tt_tensors *t) {
  if (!t->checks || strlen(t->checks) != (size_t)t->order.n * CHECK_DIGITS) return;
  const char *c = t->checks;
  for (int64_t k = 0; k < t->order.n; k++) {
    uint64_t v = 0;
    for (int i = 0; i < CHECK_DIGITS; i++, c++) {
      if (digit_of(*c) < 0) return;
      v = v << 4 | (uint64_t)digit_of(*c);
    }
    t->tensor.data[t->order.data[k]].check = v;
  }
  t->checked = true;
}

static tt_code understand(tt_tensors *t, const char *header, int64_t size, int64_t data_size, tt_error *err) {
  tt_json j = {header, header, header + size, &t->arena, err};
  if (size == 0 || *header != '{') return tt__json_fail(&j, "'{'");
  TT_TRY(read_header(t, &j, err));
  TT_TRY(check_names(t, err));
  TT_TRY(check_places(t, data_size, err));
  read_checks(t);
  return TT_OK;
}

/* ---- opening */

/* The length of the header from the file's first 8 bytes, in *out. */
static tt_code header_size(const unsigned char *head, int64_t file_size, int64_t *out, tt_error *err) {
  uint64_t n = 0;
  if (file_size < 8) return tt__fail(err, TT_EVALUE, "no safetensors file: it has %lld bytes", (long long)file_size);
  memcpy(&n, head, 8);
  if (n > MAX_HEADER)
    return tt__fail(err, TT_EVALUE, "no safetensors file: a header of %llu bytes", (unsigned long long)n);
  if ((int64_t)n > file_size - 8)
    return tt__fail(err, TT_EVALUE, "the file is cut: its header has %llu bytes, the file %lld", (unsigned long long)n,
                    (long long)file_size);
  *out = (int64_t)n;
  return TT_OK;
}

/* Read `size` bytes of the file from `at` on, less at its end: *got. */
static tt_code read_at(int fd, int64_t at, char *out, size_t size, size_t *got, const char *path, tt_error *err) {
  *got = 0;
  while (*got < size) {
    ssize_t n = -1;
    if (!tt__fault_file(TT_FAULT_READ, EIO)) n = pread(fd, out + *got, size - *got, (off_t)(at + (int64_t)*got));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return tt__fail_file(err, "read", path);
    if (n == 0) break;
    *got += (size_t)n;
  }
  return TT_OK;
}

static tt_code read_file(tt_tensors *t, tt_error *err) {
  struct stat st;
  unsigned char head[8];
  size_t got;
  int64_t n = 0;
  if (fstat(t->fd, &st) != 0) return tt__fail_file(err, "stat", t->path);
  if (!S_ISREG(st.st_mode)) return tt__fail(err, TT_EIO, "cannot read %s: not a plain file", t->path);
  TT_TRY(read_at(t->fd, 0, (char *)head, sizeof head, &got, t->path, err));
  TT_TRY(header_size(head, got < 8 ? (int64_t)got : st.st_size, &n, err));
  char *header = tt__mem_alloc((size_t)n + 1);
  if (!header) return tt__fail_memory(err, (size_t)n);
  t->start = 8 + n;
  tt_code c = read_at(t->fd, 8, header, (size_t)n, &got, t->path, err);
  if (c == TT_OK && (int64_t)got < n) c = tt__fail(err, TT_EVALUE, "the file is cut in its header");
  if (c == TT_OK) c = understand(t, header, n, st.st_size - t->start, err);
  tt__mem_free(header, (size_t)n + 1);
  return c;
}

/* The file's name before what is wrong with it. */
static tt_code name_file(const char *path, tt_code c, tt_error *err) {
  if (c != TT_EVALUE || !err) return c;
  tt_error before = *err;
  return tt__fail(err, c, "%.400s: %.500s", path, before.message);
}

tt_code tt__tensors_open(const char *path, tt_tensors **out, tt_error *err) {
  *out = NULL;
  tt_tensors *t = tt__mem_zalloc(sizeof *t);
  if (!t) return tt__fail_memory(err, sizeof *t);
  t->fd = -1;
  tt_code c = TT_OK;
  if (!(t->path = tt__arena_dup(&t->arena, path, strlen(path) + 1))) {
    c = tt__fail_memory(err, strlen(path));
  } else {
    t->fd = tt__fault_file(TT_FAULT_READ, EIO) ? -1 : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    c = t->fd < 0 ? tt__fail_file(err, "open", path) : name_file(path, read_file(t, err), err);
  }
  if (c == TT_OK)
    *out = t;
  else
    tt__tensors_close(t);
  return c;
}

tt_code tt__tensors_open_memory(const void *data, size_t size, tt_tensors **out, tt_error *err) {
  int64_t n = 0;
  *out = NULL;
  TT_TRY(header_size(data, (int64_t)size, &n, err));
  tt_tensors *t = tt__mem_zalloc(sizeof *t);
  if (!t) return tt__fail_memory(err, sizeof *t);
  t->fd = -1;
  t->path = "the bytes";
  t->start = 8 + n;
  t->data = (const char *)data + t->start;
  tt_code c = understand(t, (const char *)data + 8, n, (int64_t)size - t->start, err);
  if (c == TT_OK)
    *out = t;
  else
    tt__tensors_close(t);
  return c;
}

void tt__tensors_close(tt_tensors *t) {
  if (!t) return;
  if (t->fd >= 0) close(t->fd);
  TT_VEC_FREE(&t->tensor);
  TT_VEC_FREE(&t->order);
  TT_VEC_FREE(&t->meta);
  tt__arena_free(&t->arena);
  tt__mem_free(t, sizeof *t);
}

/* ---- asking and reading */

const tt_tensor *tt__tensors_entry(const tt_tensors *t, int64_t k) {
  return k >= 0 && k < t->tensor.n ? &t->tensor.data[k] : NULL;
}

const tt_tensor_info *tt_tensors_info(const tt_tensors *t, int64_t k) {
  const tt_tensor *one = tt__tensors_entry(t, k);
  return one ? &one->info : NULL;
}

int64_t tt_tensors_at(const tt_tensors *t, int64_t k) { return k >= 0 && k < t->order.n ? t->order.data[k] : -1; }

int64_t tt_tensors_find(const tt_tensors *t, const char *name) {
  tt_tensor key = {.info.name = name};
  if (t->tensor.n == 0) return -1;
  const tt_tensor *found = bsearch(&key, t->tensor.data, (size_t)t->tensor.n, sizeof key, by_name);
  return found ? found - t->tensor.data : -1;
}

bool tt_tensors_metadata(const tt_tensors *t, int64_t k, const char **key, const char **value) {
  if (k < 0 || k >= t->meta.n) return false;
  *key = t->meta.data[k].key;
  *value = t->meta.data[k].value;
  return true;
}

tt_code tt__tensors_read(tt_tensors *t, int64_t k, int64_t from, int64_t size, void *out, tt_error *err) {
  enum { PIECE = 1 << 20 }; /* hashed while it is in the cache that it was copied through */
  const tt_tensor *one = tt__tensors_entry(t, k);
  assert(one && from >= 0 && size >= 0 && from <= one->size - size);
  bool checks = t->checked && size == one->size;
  tt_hash hash;
  tt__hash_begin(&hash);
  for (int64_t at = 0; at < size;) {
    size_t n = (size_t)(size - at < PIECE ? size - at : PIECE), got = n;
    char *to = (char *)out + at;
    if (t->fd < 0)
      memcpy(to, t->data + one->begin + from + at, n);
    else
      TT_TRY(read_at(t->fd, t->start + one->begin + from + at, to, n, &got, t->path, err));
    if (got < n)
      return tt__fail(err, TT_EIO, "cannot read tensor '%s' of %s: the file has become shorter since it was opened",
                      one->info.name, t->path);
    if (checks) tt__hash_add(&hash, to, n);
    at += (int64_t)n;
  }
  if (checks && tt__hash_end(&hash) != one->check)
    return tt__fail(err, TT_EVALUE, "tensor '%s' of %s is damaged: its bytes are not those of its checksum",
                    one->info.name, t->path);
  return TT_OK;
}

/* ---- the header, written */

static int by_type(const void *a, const void *b) {
  const tt_tensor *x = &((const tt_tensor_bytes *)a)->tensor, *y = &((const tt_tensor_bytes *)b)->tensor;
  int tx = type_of(x->info.dtype), ty = type_of(y->info.dtype);
  return tx != ty ? ty - tx : strcmp(x->info.name, y->info.name);
}

static int by_name_of(const void *a, const void *b) {
  return by_name(&((const tt_tensor_bytes *)a)->tensor, &((const tt_tensor_bytes *)b)->tensor);
}

static tt_code place_tensors(tt_tensor_bytes *t, int64_t n, tt_error *err) {
  for (int64_t k = 0; k < n; k++) {
    tt_tensor *one = &t[k].tensor;
    int type = type_of(one->info.dtype);
    if (!tt__tensors_has(one->info.dtype))
      return tt__fail(err, TT_ETYPE, "tensor '%s': safetensors files have no %s", one->info.name,
                      tt__dtypes[one->info.dtype].name);
    one->info.type = types[type].name;
    if (!byte_size(type, one->info.rank, one->info.len, &one->size))
      return tt__fail(err, TT_EVALUE, "tensor '%s' is too large", one->info.name);
  }
  sort(t, n, sizeof *t, by_name_of);
  for (int64_t k = 1; k < n; k++)
    if (by_name_of(&t[k - 1], &t[k]) == 0)
      return tt__fail(err, TT_EVALUE, "two tensors are called '%s'", t[k].tensor.info.name);
  sort(t, n, sizeof *t, by_type);
  int64_t at = 0;
  for (int64_t k = 0; k < n; k++) {
    t[k].tensor.begin = at;
    if (__builtin_add_overflow(at, t[k].tensor.size, &at)) return tt__fail(err, TT_EVALUE, "the tensors are too large");
    if (t[k].data) t[k].tensor.check = tt__hash64(t[k].data, (size_t)t[k].tensor.size);
  }
  return TT_OK;
}

static tt_code write_text(tt_str *out, const char *text, tt_error *err) {
  return tt__json_write(out, text) ? TT_OK : tt__fail(err, TT_EVALUE, "a name or a text of the metadata is not UTF-8");
}

static tt_code write_metadata(const tt_tensor_bytes *t, const tt_tensors_content *c, tt_str *out, tt_error *err) {
  tt__str_add(out, "{\"" META "\":{");
  for (int64_t k = 0; k < c->nmeta; k++) {
    if (strcmp(c->key[k], CHECKS) == 0) continue; /* of the file that another reader took the metadata from */
    TT_TRY(write_text(out, c->key[k], err));
    tt__str_add(out, ":");
    TT_TRY(write_text(out, c->value[k], err));
    tt__str_add(out, ",");
  }
  tt__str_add(out, "\"" CHECKS "\":\"");
  for (int64_t k = 0; k < c->n; k++) tt__str_addf(out, "%016llx", (unsigned long long)t[k].tensor.check);
  tt__str_add(out, "\"}");
  return TT_OK;
}

static tt_code write_entry(const tt_tensor *t, tt_str *out, tt_error *err) {
  if (strcmp(t->info.name, META) == 0) return tt__fail(err, TT_EVALUE, "no tensor can be called '" META "'");
  tt__str_add(out, ",");
  TT_TRY(write_text(out, t->info.name, err));
  tt__str_addf(out, ":{\"dtype\":\"%s\",\"shape\":[", t->info.type);
  for (int i = 0; i < t->info.rank; i++) tt__str_addf(out, i ? ",%lld" : "%lld", (long long)t->info.len[i]);
  tt__str_addf(out, "],\"data_offsets\":[%lld,%lld]}", (long long)t->begin, (long long)(t->begin + t->size));
  return TT_OK;
}

tt_code tt__tensors_header(tt_tensor_bytes *t, const tt_tensors_content *c, tt_str *out, tt_error *err) {
  TT_TRY(place_tensors(t, c->n, err));
  tt__str_add_n(out, "\0\0\0\0\0\0\0\0", 8); /* the length is known at the end */
  TT_TRY(write_metadata(t, c, out, err));
  for (int64_t k = 0; k < c->n; k++) TT_TRY(write_entry(&t[k].tensor, out, err));
  tt__str_add(out, "}");
  while (out->len % 8 && !out->failed) tt__str_add(out, " ");
  if (out->failed) return tt__fail_memory(err, out->len);
  uint64_t size = out->len - 8;
  if (size > MAX_HEADER)
    return tt__fail(err, TT_EVALUE, "too many tensors or metadata: a header of %zu bytes", out->len);
  memcpy(out->data, &size, 8);
  return TT_OK;
}
