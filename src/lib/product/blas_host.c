/*
** Finds OpenBLAS by name and path, resolves blas_api.def in it, and rules its thread count.
** Knows nothing of matrices.
*/
#include "lib/product/blas_host.h"

#include <dirent.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/os/apart.h"
#include "base/os/load.h"
#include "base/lock.h"
#include "base/os/os.h"
#include "base/pool/pool.h"

enum { PATH_CAP = 1024, SEARCH_CAP = 16384 };

/* How a build of the library spells its symbols. */
typedef struct decoration {
  const char *prefix, *suffix; /* of the Fortran name */
  const char *c_suffix;        /* of the library's own C functions */
  int int_bytes;               /* unless openblas_get_config says otherwise */
} decoration;

static const decoration decorations[] = {
    {"", "_", "", 4},   {"", "_64_", "64_", 8}, {"scipy_", "_", "", 4}, {"scipy_", "_64_", "64_", 8},
    {"", "_64", "", 8}, /* MKL's 64-bit interface beside the 32-bit one */
};

static const char *const blas_names[][4] = {
#define TT_BLAS_FN(field, lapack, s, d, c, z) {s, d, c, z},
#include "lib/product/blas_api.def"
#undef TT_BLAS_FN
};
static const bool blas_is_lapack[] = {
#define TT_BLAS_FN(field, lapack, s, d, c, z) lapack,
#include "lib/product/blas_api.def"
#undef TT_BLAS_FN
};
enum { FN_COUNT = sizeof blas_is_lapack / sizeof blas_is_lapack[0] };

typedef void (*any_fn)(void);

/* All of it is guarded by `lock`, and constant once `ready` points at `table`. */
static tt_lock lock = TT_LOCK_RANKED(1);
static tt_blas table;
static char search[SEARCH_CAP];
static char about[512]; /* what tt__blas_info says before the thread count */
static void (*set_threads_fn)(int);
static bool is_openmp;
static bool has_reference; /* libblas.so.3 was seen on the way */

static _Atomic(const tt_blas *) ready; /* NULL: not searched, or nothing found */
static atomic_bool searched;
static atomic_int threads_now; /* what the library was last told; 0: nothing yet */
static atomic_bool forked;     /* this process is a child made after the search */

static any_fn find_symbol(void *lib, const char *name) {
  void *p = tt__lib_sym(lib, name);
  any_fn fn = NULL;
  if (p) memcpy(&fn, &p, sizeof fn); /* ISO C has no cast from object to function pointers */
  return fn;
}

static any_fn find_fortran(void *lib, const decoration *d, const char *base) {
  char name[64];
  snprintf(name, sizeof name, "%s%s%s", d->prefix, base, d->suffix);
  return find_symbol(lib, name);
}

static any_fn find_own(void *lib, const decoration *d, const char *base) {
  char name[64];
  snprintf(name, sizeof name, "%s%s%s", d->prefix, base, d->c_suffix);
  return find_symbol(lib, name);
}

/* Fill `t` from the library as spelled by `d`; false when a BLAS row is missing. */
static bool resolve(void *lib, const decoration *d, tt_blas *t) {
  any_fn fn[FN_COUNT][4];
  t->has_lapack = true;
  for (int i = 0; i < FN_COUNT; i++) {
    for (int j = 0; j < 4; j++) {
      fn[i][j] = find_fortran(lib, d, blas_names[i][j]);
      if (fn[i][j]) continue;
      if (!blas_is_lapack[i]) return false;
      t->has_lapack = false;
    }
  }
  int row = 0;
#define TT_BLAS_FN(field, lapack, s, dd, c, z)                                      \
  for (int j = 0; j < 4; j++) memcpy(&t->field[j], &fn[row][j], sizeof fn[row][j]); \
  row++;
#include "lib/product/blas_api.def"
#undef TT_BLAS_FN
  return true;
}

/*
** OpenBLAS falls back to its AVX2 kernels on AVX-512 CPUs it does not know. Measured on such a CPU, one core, f64
** 1000 x 1000: 60 Gflop/s there, 106 in our own code.
*/
static bool is_narrow(const char *core) {
  static const char *const wide[] = {"SkylakeX", "Cooperlake", "SapphireRapids"};
  if (tt__cpu_level() < 4) return false;
  for (size_t i = 0; i < sizeof wide / sizeof wide[0]; i++) {
    if (!strcasecmp(core, wide[i])) return false;
  }
  return true;
}

/* Learn name, integer width and thread control of a resolved library. `is_asked`: the user named it, so it is used. */
static void learn(void *lib, const decoration *d, const char *path, bool is_asked) {
  char version[160] = "BLAS of unknown version";
  table.int_bytes = d->int_bytes;
  is_openmp = false;
  any_fn fn = find_own(lib, d, "openblas_get_config");
  if (fn) {
    const char *config = ((char *(*)(void))fn)();
    snprintf(version, sizeof version, "%s", config);
    if (strstr(config, "USE64BITINT")) table.int_bytes = 8;
  }
  fn = find_own(lib, d, "openblas_get_corename");
  table.is_narrow = fn && !is_asked && is_narrow(((char *(*)(void))fn)());
  fn = find_own(lib, d, "openblas_get_parallel");
  if (fn) is_openmp = ((int (*)(void))fn)() == 2;
  fn = find_own(lib, d, "openblas_set_num_threads");
  if (!fn) fn = find_symbol(lib, "MKL_Set_Num_Threads");
  set_threads_fn = (void (*)(int))fn;
  snprintf(about, sizeof about, "%s (%s, %s%s%s)", version, path, table.int_bytes == 8 ? "ilp64" : "lp64",
           table.has_lapack ? "" : ", no LAPACK", table.is_narrow ? ", own matrix product" : "");
}

static bool try_library(const char *path, bool is_asked) {
  void *lib = tt__lib_open(path, NULL);
  if (!lib) return false;
  for (size_t i = 0; i < sizeof decorations / sizeof decorations[0]; i++) {
    if (!resolve(lib, &decorations[i], &table)) continue;
    learn(lib, &decorations[i], path, is_asked);
    return true;
  }
  tt__lib_close(lib);
  return false;
}

static bool is_openblas_name(const char *name) {
  bool named = !strncmp(name, "libopenblas", 11) || !strncmp(name, "libscipy_openblas", 17);
  return named && strstr(name, ".so");
}

/* Try every OpenBLAS of a folder in name order, so that the choice does not depend on the folder's order. */
static bool try_folder(const char *dir) {
  char last[256] = "";
  for (;;) {
    char best[256] = "";
    DIR *d = opendir(dir);
    if (!d) return false;
    for (struct dirent *e; (e = readdir(d));) {
      if (!strcmp(e->d_name, "libblas.so.3")) has_reference = true;
      if (!is_openblas_name(e->d_name) || strlen(e->d_name) >= sizeof best || strcmp(e->d_name, last) <= 0) continue;
      if (!best[0] || strcmp(e->d_name, best) < 0) snprintf(best, sizeof best, "%s", e->d_name);
    }
    closedir(d);
    if (!best[0]) return false;
    char path[PATH_CAP];
    if (snprintf(path, sizeof path, "%s/%s", dir, best) < (int)sizeof path && try_library(path, false)) return true;
    snprintf(last, sizeof last, "%s", best);
  }
}

/* Call try_folder on each entry of a ':' list with `tail` appended. */
static bool try_list(const char *list, const char *tail) {
  while (list && *list) {
    size_t len = strcspn(list, ":");
    char dir[PATH_CAP];
    if (len && snprintf(dir, sizeof dir, "%.*s%s", (int)len, list, tail) < (int)sizeof dir && try_folder(dir))
      return true;
    list += len;
    if (*list) list++;
  }
  return false;
}

static bool search_library(void) {
  static const char *const names[] = {"libopenblas.so.0",  "libopenblas.so",      "libopenblasp.so.0",
                                      "libopenblaso.so.0", "libopenblas64_.so.0", "libopenblas64.so.0",
                                      "libopenblas64.so"};
  static const char *const wheels[] = {"/scipy_openblas32/lib", "/scipy_openblas64/lib", "/numpy.libs", "/scipy.libs"};
  static const char system_dirs[] =
      "/usr/lib/x86_64-linux-gnu:/usr/lib/aarch64-linux-gnu:/usr/lib64:/usr/lib:/usr/local/lib:/usr/local/lib64";
  const char *env = tt__env("TUTTI_BLAS");
  if (env) {
    if (!strcmp(env, "none")) {
      snprintf(about, sizeof about, "own fallback (TUTTI_BLAS=none)");
      return false;
    }
    if (try_library(env, true)) return true;
    snprintf(about, sizeof about, "own fallback (TUTTI_BLAS=%.200s cannot be loaded or has no BLAS)", env);
    return false;
  }
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    if (try_library(names[i], false)) return true;
  }
  if (try_list(tt__env("LD_LIBRARY_PATH"), "") || try_list(system_dirs, "")) return true;
  for (size_t i = 0; i < sizeof wheels / sizeof wheels[0]; i++) {
    if (try_list(search, wheels[i])) return true;
  }
  snprintf(about, sizeof about, "own fallback (no OpenBLAS found%s)",
           has_reference ? "; the libblas.so.3 present may be the slow reference and is not used" : "");
  return false;
}

/* No TT_LOCK_FORKS: a child remembers that it is one. */
static void before_fork(void) { tt__fork_lock(&lock); }
static void in_parent(void) { tt__fork_unlock(&lock); }
static void in_child(void) {
  atomic_store(&forked, true);
  tt__fork_unlock(&lock);
}

TT_AT_LOAD(1) static void at_load(void) { pthread_atfork(before_fork, in_parent, in_child); }

static const tt_blas *find_library(void) {
  tt__lock(&lock);
  if (!atomic_load(&searched)) {
    if (search_library()) atomic_store(&ready, &table);
    atomic_store(&searched, true);
  }
  const tt_blas *b = atomic_load(&ready);
  tt__unlock(&lock);
  return b;
}

static void tell_threads(int n) {
  if (atomic_load_explicit(&threads_now, memory_order_relaxed) == n) return;
  tt__lock(&lock);
  if (set_threads_fn) set_threads_fn(n);
  atomic_store(&threads_now, n);
  tt__unlock(&lock);
}

static int threads_wanted(void) {
  bool alone = tt__pool_inside() || (is_openmp && atomic_load_explicit(&forked, memory_order_relaxed));
  alone = alone || tt__apart_goes_on(); /* whose threads are taken */
  int most = alone ? 1 : tt__pool_size(), cores = most > 1 ? tt__cores_free() : 1;
  return most < cores ? most : cores;
}

void tt__blas_search_path(const char *dirs) {
  tt__lock(&lock);
  snprintf(search, sizeof search, "%s", dirs ? dirs : "");
  if (!atomic_load(&ready)) atomic_store(&searched, false);
  tt__unlock(&lock);
}

const tt_blas *tt__blas_find(void) {
  const tt_blas *b = atomic_load_explicit(&ready, memory_order_acquire);
  return b || atomic_load_explicit(&searched, memory_order_acquire) ? b : find_library();
}

const tt_blas *tt__blas_enter(bool is_shared) {
  const tt_blas *b = tt__blas_find();
  if (b) tell_threads(is_shared ? threads_wanted() : 1);
  return b;
}

void tt__blas_serial(bool on) {
  if (atomic_load(&ready)) tell_threads(on ? 1 : threads_wanted());
}

void tt__blas_info(char *out, size_t size) {
  if (tt__blas_find()) {
    snprintf(out, size, "%s, at most %d threads", about, tt__pool_size());
  } else {
    snprintf(out, size, "%s", about);
  }
}
