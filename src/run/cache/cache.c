/*
** The entry file, integers in the machine's own order (another order is another magic, so a miss):
**
**   u64 magic   u32 version   u32 kernels   u64 size of the file   128-bit digest of all that follows
**   identity, header digest, binary; then for each kernel key, text, source, symbol
**
** Each of these is a u64 length and that many bytes. A file that holds several kernels (one run of
** the compiler) is hard-linked under the name of each.
*/
#include "run/cache/cache.h"

#include <assert.h>
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/lock.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/str.h"
#include "base/vec.h"
#include "device/cpu/cc.h"

enum { VERSION = 1, NAME_SIZE = 48, RECOUNT = 64 };
static const uint64_t MAGIC = 0x314b697474757400u; /* read in the other byte order it is another number */
static const char ENDING[] = ".ttk";

typedef struct entry_head {
  uint64_t magic;
  uint32_t version, kernels;
  uint64_t size;
  tt_digest digest; /* of the bytes after this struct */
} entry_head;

/* A function that is loaded already: a binary with ten kernels is loaded once. */
typedef struct memo {
  tt_digest name; /* of the entry: place and kernel */
  tt_digest what; /* of text and source, so that equal keys are not believed */
  tt_kernel_fn fn;
} memo;

TT_LOCK(lock, 1); /* guards everything below; not held while files are read or written */
static bool opened;
static tt_cache_info info;
static TT_VEC(memo) memos;
static int64_t temp_number;

/* ---- the folder */

static int64_t parse_limit(const char *text) {
  if (!text) return (int64_t)1 << 30;
  char *end = NULL;
  double x = strtod(text, &end);
  switch (*end) {
    case 'K':
    case 'k':
      x *= 1024;
      break;
    case 'M':
    case 'm':
      x *= 1024 * 1024;
      break;
    case 'G':
    case 'g':
      x *= 1024 * 1024 * 1024;
      break;
    default:
      break;
  }
  return x > 0 && x < 9e18 ? (int64_t)x : 0;
}

bool tt__cache_root(char *path, size_t size) {
  tt_error err;
  return tt__dir_cache(path, size) && tt__dir_make(path, &err) == TT_OK && tt__file_is_ours(path);
}

/* Make and check the folder; NULL, or why it cannot be used. */
static const char *make_folder(char *path, size_t size, tt_error *err) {
  char parent[sizeof info.path - 16];
  if (!tt__dir_cache(parent, sizeof parent)) return "no HOME and no TUTTI_CACHE_DIR";
  snprintf(path, size, "%s/kernels", parent);
  if (tt__dir_make(path, err) != TT_OK) return err->message;
  if (!tt__file_is_ours(parent) || !tt__file_is_ours(path)) return "the folder is not ours, or others can write to it";
  return NULL;
}

static void count_files(void);

static bool open_locked(void) {
  if (opened) return info.usable;
  opened = true;
  info.limit = parse_limit(tt__env("TUTTI_CACHE_LIMIT"));
  tt_error err = {0};
  const char *why = info.limit ? make_folder(info.path, sizeof info.path, &err) : "TUTTI_CACHE_LIMIT is 0";
  info.usable = !why;
  snprintf(info.why, sizeof info.why, "%.159s", why ? why : "");
  if (info.usable) count_files();
  return info.usable;
}

/* The folder, if there is a cache. */
static bool get_folder(char *path, size_t size) {
  tt__lock(&lock);
  bool ok = open_locked();
  snprintf(path, size, "%s", info.path);
  tt__unlock(&lock);
  return ok;
}

tt_cache_info tt__cache_info(void) {
  char path[sizeof info.path];
  get_folder(path, sizeof path);
  tt__lock(&lock);
  tt_cache_info copy = info;
  tt__unlock(&lock);
  return copy;
}

void tt__cache_reset(void) {
  tt__lock(&lock);
  opened = false;
  memset(&info, 0, sizeof info);
  TT_VEC_FREE(&memos);
  tt__unlock(&lock);
}

/* ---- names */

static tt_digest entry_name(const tt_cache_place *place, tt_digest key) {
  tt_digest part[3] = {tt__digest(place->identity, strlen(place->identity)), place->header, key};
  return tt__digest(part, sizeof part);
}

static tt_digest item_digest(const tt_cache_item *item) {
  tt_digest part[2] = {tt__digest(item->text, strlen(item->text)), tt__digest(item->source, strlen(item->source))};
  return tt__digest(part, sizeof part);
}

/* ---- writing */

static void put_bytes(tt_str *s, const void *data, size_t size) {
  uint64_t n = size;
  tt__str_add_n(s, (const char *)&n, sizeof n);
  tt__str_add_n(s, data, size);
}

static bool put_entry(tt_str *s, const tt_cache_place *place, const tt_cache_item *item, int n, const void *binary,
                      size_t size) {
  entry_head head = {.magic = MAGIC, .version = VERSION, .kernels = (uint32_t)n};
  tt__str_add_n(s, (const char *)&head, sizeof head);
  put_bytes(s, place->identity, strlen(place->identity));
  put_bytes(s, &place->header, sizeof place->header);
  put_bytes(s, binary, size);
  for (int i = 0; i < n; i++) {
    put_bytes(s, &item[i].key, sizeof item[i].key);
    put_bytes(s, item[i].text, strlen(item[i].text));
    put_bytes(s, item[i].source, strlen(item[i].source));
    put_bytes(s, item[i].symbol, strlen(item[i].symbol) + 1);
  }
  if (s->failed) return false;
  head.size = s->len;
  head.digest = tt__digest(s->data + sizeof head, s->len - sizeof head);
  memcpy(s->data, &head, sizeof head);
  return true;
}

/* ---- reading: total over any bytes */

typedef struct reader {
  const char *p;
  size_t left;
  bool bad;
} reader;

static const char *take_bytes(reader *r, size_t *size) {
  uint64_t n = 0;
  *size = 0;
  if (r->left < sizeof n) r->bad = true;
  if (r->bad) return NULL;
  memcpy(&n, r->p, sizeof n);
  if (n > r->left - sizeof n) {
    r->bad = true;
    return NULL;
  }
  const char *data = r->p + sizeof n;
  r->p += sizeof n + n;
  r->left -= sizeof n + n;
  *size = n;
  return data;
}

static bool take_equal(reader *r, const void *data, size_t size) {
  size_t n;
  const char *got = take_bytes(r, &n);
  return !r->bad && n == size && memcmp(got, data, size) == 0;
}

/* A kernel of an entry, borrowed from its bytes. */
typedef struct entry_kernel {
  tt_digest key;
  const char *text, *source, *symbol;
  size_t text_size, source_size;
} entry_kernel;

static bool take_kernel(reader *r, entry_kernel *k) {
  size_t size;
  const char *key = take_bytes(r, &size);
  if (r->bad || size != sizeof k->key) return false;
  memcpy(&k->key, key, sizeof k->key);
  k->text = take_bytes(r, &k->text_size);
  k->source = take_bytes(r, &k->source_size);
  k->symbol = take_bytes(r, &size);
  return !r->bad && size > 0 && k->symbol[size - 1] == 0;
}

/* Check the whole entry and stand at its first kernel. */
static bool open_entry(const tt_str *s, const tt_cache_place *place, reader *r, uint32_t *kernels, const char **binary,
                       size_t *size) {
  entry_head head;
  if (s->len < sizeof head) return false;
  memcpy(&head, s->data, sizeof head);
  if (head.magic != MAGIC || head.version != VERSION || head.size != s->len) return false;
  tt_digest d = tt__digest(s->data + sizeof head, s->len - sizeof head);
  if (d.lo != head.digest.lo || d.hi != head.digest.hi) return false;
  *r = (reader){.p = s->data + sizeof head, .left = s->len - sizeof head};
  if (!take_equal(r, place->identity, strlen(place->identity))) return false;
  if (!take_equal(r, &place->header, sizeof place->header)) return false;
  *binary = take_bytes(r, size);
  *kernels = head.kernels;
  return !r->bad;
}

static bool matches(const entry_kernel *k, const tt_cache_item *item) {
  return k->key.lo == item->key.lo && k->key.hi == item->key.hi && k->text_size == strlen(item->text) &&
         memcmp(k->text, item->text, k->text_size) == 0 && k->source_size == strlen(item->source) &&
         memcmp(k->source, item->source, k->source_size) == 0;
}

static void remember(tt_digest name, tt_digest what, tt_kernel_fn fn) {
  memo m = {name, what, fn};
  tt__lock(&lock);
  bool kept = TT_VEC_PUSH(&memos, m); /* without it the binary is loaded once more, no harm */
  (void)kept;
  tt__unlock(&lock);
}

/* The wanted function of a verified entry; its neighbours are remembered on the way. */
static tt_kernel_fn load_entry(const tt_str *s, const tt_cache_place *place, const tt_cache_item *item) {
  reader r;
  uint32_t kernels;
  const char *binary;
  size_t size;
  entry_kernel k;
  if (!open_entry(s, place, &r, &kernels, &binary, &size)) return NULL;
  const char *names[TT_CACHE_BATCH];
  tt_kernel_fn fns[TT_CACHE_BATCH], found = NULL;
  bool wanted = false;
  uint32_t n = 0;
  for (reader scan = r; n < kernels && n < TT_CACHE_BATCH && take_kernel(&scan, &k); n++) {
    wanted |= matches(&k, item);
    names[n] = k.symbol;
  }
  if (!wanted || n != kernels) return NULL;
  if (tt__cc_load(binary, size, names, (int)n, fns, NULL) != TT_OK) return NULL;
  for (uint32_t i = 0; i < n && take_kernel(&r, &k); i++) {
    if (matches(&k, item)) found = fns[i];
    tt_digest what[2] = {tt__digest(k.text, k.text_size), tt__digest(k.source, k.source_size)};
    remember(entry_name(place, k.key), tt__digest(what, sizeof what), fns[i]);
  }
  return found;
}

/* The binary of a verified entry that holds `item`. */
static bool copy_binary(const tt_str *s, const tt_cache_place *place, const tt_cache_item *item, tt_str *out) {
  reader r;
  uint32_t kernels;
  const char *binary;
  size_t size;
  entry_kernel k;
  if (!open_entry(s, place, &r, &kernels, &binary, &size)) return false;
  for (uint32_t n = 0; n < kernels && take_kernel(&r, &k); n++) {
    if (!matches(&k, item)) continue;
    tt__str_add_n(out, binary, size);
    return !out->failed;
  }
  return false;
}

static tt_kernel_fn recall(tt_digest name, tt_digest what) {
  tt_kernel_fn fn = NULL;
  tt__lock(&lock);
  for (int64_t i = memos.n - 1; i >= 0 && !fn; i--) {
    const memo *m = &memos.data[i];
    if (m->name.lo == name.lo && m->name.hi == name.hi && m->what.lo == what.lo && m->what.hi == what.hi) fn = m->fn;
  }
  tt__unlock(&lock);
  return fn;
}

static void count_find(bool hit, bool damaged) {
  tt__lock(&lock);
  info.hits += hit;
  info.misses += !hit;
  info.damaged += damaged;
  tt__unlock(&lock);
}

static void entry_path(const char *folder, tt_digest name, char *path, size_t size) {
  char hex[33];
  tt__digest_hex(name, hex);
  snprintf(path, size, "%s/%s%s", folder, hex, ENDING);
}

bool tt__cache_find_binary(const tt_cache_place *place, const tt_cache_item *item, tt_str *out) {
  char folder[sizeof info.path], path[sizeof info.path + NAME_SIZE];
  if (!place->identity[0] || !get_folder(folder, sizeof folder)) return false;
  entry_path(folder, entry_name(place, item->key), path, sizeof path);
  tt_str s = {0};
  bool there = tt__file_is_ours(path) && tt__file_read(path, &s, NULL) == TT_OK;
  bool found = there && copy_binary(&s, place, item, out);
  tt__str_free(&s);
  if (found) utimensat(AT_FDCWD, path, NULL, 0);
  count_find(found, there && !found);
  return found;
}

tt_kernel_fn tt__cache_find(const tt_cache_place *place, const tt_cache_item *item) {
  char folder[sizeof info.path], path[sizeof info.path + NAME_SIZE];
  if (!place->identity[0] || !get_folder(folder, sizeof folder)) return NULL;
  tt_digest name = entry_name(place, item->key);
  tt_kernel_fn fn = recall(name, item_digest(item));
  if (fn) {
    count_find(true, false);
    return fn;
  }
  entry_path(folder, name, path, sizeof path);
  tt_str s = {0};
  bool there = tt__file_is_ours(path) && tt__file_read(path, &s, NULL) == TT_OK;
  if (there) fn = load_entry(&s, place, item);
  tt__str_free(&s);
  if (fn) utimensat(AT_FDCWD, path, NULL, 0); /* used now: trimming takes it last */
  count_find(fn != NULL, there && !fn);
  return fn;
}

/* ---- keeping the folder small */

typedef struct kept_file {
  char name[NAME_SIZE];
  int64_t size, time_ns;
} kept_file;

typedef TT_VEC(kept_file) kept_files;

static int older_first(const void *a, const void *b) {
  const kept_file *x = a, *y = b;
  return x->time_ns < y->time_ns ? -1 : x->time_ns > y->time_ns;
}

/* All entries with the bytes that each stands for; leftovers of writers that died an hour ago go. */
static int64_t list_files(const char *folder, kept_files *files) {
  DIR *dir = opendir(folder);
  if (!dir) return 0;
  int64_t total = 0;
  time_t now = time(NULL);
  for (struct dirent *d; (d = readdir(dir)) != NULL;) {
    struct stat st;
    if (!strstr(d->d_name, ENDING) || fstatat(dirfd(dir), d->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (!S_ISREG(st.st_mode)) continue;
    bool whole = strlen(d->d_name) == 32 + sizeof ENDING - 1;
    if (!whole && now - st.st_mtime > 3600) unlinkat(dirfd(dir), d->d_name, 0);
    if (!whole) continue;
    kept_file f = {.size = st.st_size / (st.st_nlink ? (int64_t)st.st_nlink : 1)};
    f.time_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
    snprintf(f.name, sizeof f.name, "%.47s", d->d_name);
    total += f.size;
    if (files && !TT_VEC_PUSH(files, f)) break;
  }
  closedir(dir);
  return total;
}

static void count_files(void) { info.bytes = list_files(info.path, NULL); }

/* Remove what was used longest ago until a fifth of the limit is free. */
static void trim(const char *folder, int64_t limit) {
  kept_files files = {0};
  char path[sizeof info.path + NAME_SIZE];
  int64_t total = list_files(folder, &files), removed = 0;
  if (total > limit) {
    qsort(files.data, (size_t)files.n, sizeof *files.data, older_first);
    for (int64_t i = 0; i < files.n && total > limit - limit / 5; i++) {
      snprintf(path, sizeof path, "%s/%s", folder, files.data[i].name);
      if (unlink(path) != 0) continue;
      total -= files.data[i].size;
      removed++;
    }
  }
  TT_VEC_FREE(&files);
  tt__lock(&lock);
  info.bytes = total;
  info.trimmed += removed;
  tt__unlock(&lock);
}

/* ---- storing */

/* The same file under another kernel's name; a copy where the file system has no links. */
static bool link_entry(const char *first, const char *path, const tt_str *s) {
  char temp[sizeof info.path + NAME_SIZE + 64];
  tt__lock(&lock);
  int64_t number = temp_number++;
  tt__unlock(&lock);
  snprintf(temp, sizeof temp, "%s.%ld.%lld", path, (long)getpid(), (long long)number);
  bool linked = link(first, temp) == 0 && rename(temp, path) == 0;
  unlink(temp); /* still there when both were one file already */
  return linked || tt__file_write(path, s->data, s->len, NULL) == TT_OK;
}

static bool store_entry(const char *folder, const tt_cache_place *place, const tt_cache_item *item, int n,
                        const tt_str *s, tt_error *err) {
  char first[sizeof info.path + NAME_SIZE], path[sizeof info.path + NAME_SIZE];
  entry_path(folder, entry_name(place, item[0].key), first, sizeof first);
  if (tt__file_write(first, s->data, s->len, err) != TT_OK) {
    /* Somebody may have deleted the folder under us. */
    if (tt__dir_make(folder, NULL) != TT_OK || !tt__file_is_ours(folder)) return false;
    if (tt__file_write(first, s->data, s->len, err) != TT_OK) return false;
  }
  for (int i = 1; i < n; i++) {
    entry_path(folder, entry_name(place, item[i].key), path, sizeof path);
    if (!link_entry(first, path, s)) return false;
  }
  return true;
}

void tt__cache_store(const tt_cache_place *place, const tt_cache_item *item, int n, const void *binary, size_t size) {
  assert(n > 0 && size > 0);
  char folder[sizeof info.path];
  if (n < 1 || n > TT_CACHE_BATCH || !place->identity[0] || !get_folder(folder, sizeof folder)) return;
  tt_str s = {0};
  tt_error err = {0};
  bool ok = put_entry(&s, place, item, n, binary, size);
  if (!ok) tt__fail_memory(&err, s.len);
  if (ok) ok = store_entry(folder, place, item, n, &s, &err);
  tt__lock(&lock);
  info.stores += ok;
  info.failures += !ok;
  if (!ok) snprintf(info.why, sizeof info.why, "%.159s", err.message);
  info.bytes += ok ? (int64_t)s.len : 0;
  /* Other processes store too: what is there is counted anew from time to time. */
  bool full = info.bytes > info.limit || (ok && info.stores % RECOUNT == 0);
  int64_t limit = info.limit;
  tt__unlock(&lock);
  tt__str_free(&s);
  if (full) trim(folder, limit);
}
