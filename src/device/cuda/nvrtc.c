/* Finds NVRTC with the library of its builtins, and compiles with it. */
#include "device/cuda/nvrtc.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/os/find.h"
#include "base/lock.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/pool/pool_int.h"

enum { MOST_OPTIONS = 256, MOST_CHIPS = 64, PATH_CAP = 1024 };

typedef struct nvrtc {
  int (*version)(int *major, int *minor);
  int (*chip_count)(int *n);
  int (*chips)(int *list);
  int (*create)(void **program, const char *text, const char *name, int nheader, const char *const *headers,
                const char *const *names);
  int (*destroy)(void **program);
  int (*compile)(void *program, int n, const char *const *options);
  int (*log_size)(void *program, size_t *size);
  int (*log)(void *program, char *out);
  int (*cubin_size)(void *program, size_t *size);
  int (*cubin)(void *program, char *out);
  int (*ptx_size)(void *program, size_t *size);
  int (*ptx)(void *program, char *out);
  const char *(*error_text)(int result);
  int (*add_name)(void *program, const char *name);
  int (*lowered_name)(void *program, const char *name, const char **out);
  int major, minor, nchip, chip[MOST_CHIPS];
  char include[PATH_CAP + 32]; /* option that names the toolkit's headers; "" when they are not there */
  char path[PATH_CAP];
} nvrtc;

static tt_lock lock = TT_LOCK_RANKED(1); /* guards all below; `table` is constant once `ready` points at it */
static nvrtc table;
static _Atomic(const nvrtc *) ready;
static char refusal[600]; /* why the last candidate does not serve; "" */
static char reason[PATH_CAP];
static int seen_changes = -1; /* of the search path at the last search */

/*
** Who leaves the process while another thread compiles would take NVRTC's data away under it. So leaving waits, and
** what has not begun by then does not begin.
*/
static tt_lock busy_lock = TT_LOCK_RANKED(0); /* taken inside of no other and no other inside of it */
static pthread_cond_t busy_less = PTHREAD_COND_INITIALIZER;
static int busy; /* compilations under way */
static bool leaving;

static bool begin(void) {
  tt__lock(&busy_lock);
  bool may = !leaving;
  busy += may;
  tt__unlock(&busy_lock);
  return may;
}

static void end(void) {
  tt__lock(&busy_lock);
  busy--;
  pthread_cond_broadcast(&busy_less);
  tt__unlock(&busy_lock);
}

static void leave(void) {
  tt__lock(&busy_lock);
  leaving = true;
  while (busy > 0) pthread_cond_wait(&busy_less, &busy_lock.mutex);
  tt__unlock(&busy_lock);
}

/* No TT_LOCK_FORKS: two locks, in order, and who compiled is not in the child. */
static void fork_prepare(void) {
  tt__fork_lock(&lock);
  tt__fork_lock(&busy_lock);
}
static void fork_parent(void) {
  tt__fork_unlock(&busy_lock);
  tt__fork_unlock(&lock);
}
static void fork_child(void) {
  busy = 0; /* the threads that compile are the parent's */
  pthread_cond_init(&busy_less, NULL);
  fork_parent();
}
TT_AT_LOAD(1) static void at_load(void) { pthread_atfork(fork_prepare, fork_parent, fork_child); }

static bool resolve(void *lib, nvrtc *t) {
  const struct {
    void *field;
    const char *symbol;
  } row[] = {{&t->version, "nvrtcVersion"},
             {&t->chip_count, "nvrtcGetNumSupportedArchs"},
             {&t->chips, "nvrtcGetSupportedArchs"},
             {&t->create, "nvrtcCreateProgram"},
             {&t->destroy, "nvrtcDestroyProgram"},
             {&t->compile, "nvrtcCompileProgram"},
             {&t->log_size, "nvrtcGetProgramLogSize"},
             {&t->log, "nvrtcGetProgramLog"},
             {&t->cubin_size, "nvrtcGetCUBINSize"},
             {&t->cubin, "nvrtcGetCUBIN"},
             {&t->ptx_size, "nvrtcGetPTXSize"},
             {&t->ptx, "nvrtcGetPTX"},
             {&t->error_text, "nvrtcGetErrorString"},
             {&t->add_name, "nvrtcAddNameExpression"},
             {&t->lowered_name, "nvrtcGetLoweredName"}};
  for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
    void *fn = tt__lib_sym(lib, row[i].symbol);
    if (!fn) return false;
    memcpy(row[i].field, &fn, sizeof fn);
  }
  return true;
}

/* The folder of the library, with a '/' at the end; "" when it cannot be told. */
static void folder_of(const nvrtc *t, char dir[PATH_CAP]) {
  Dl_info info;
  void *p;
  memcpy(&p, &t->version, sizeof p);
  dir[0] = 0;
  if (!dladdr(p, &info) || !info.dli_fname) return;
  const char *slash = strrchr(info.dli_fname, '/');
  if (slash) snprintf(dir, PATH_CAP, "%.*s", (int)(slash + 1 - info.dli_fname), info.dli_fname);
}

/* NVRTC opens its builtins by their bare name, which the loader does not find beside it: so they are opened before. */
static void open_builtins(const nvrtc *t, const char *dir) {
  char path[PATH_CAP + 64];
  snprintf(path, sizeof path, "%slibnvrtc-builtins.so.%d.%d", dir, t->major, t->minor);
  if (*dir) tt__lib_open(path, NULL);
}

static bool note_include(nvrtc *t, const char *dir, const char *tail) {
  char probe[PATH_CAP + 64];
  if (!dir || !*dir) return false;
  snprintf(probe, sizeof probe, "%s%s/cuda_fp16.h", dir, tail);
  if (access(probe, R_OK) != 0) return false;
  int n = snprintf(t->include, sizeof t->include, "--include-path=%s%s", dir, tail);
  return n > 0 && (size_t)n < sizeof t->include;
}

static void find_include(nvrtc *t, const char *dir) {
  t->include[0] = 0;
  if (note_include(t, dir, "../include") || note_include(t, dir, "../../cuda_runtime/include") ||
      note_include(t, dir, "../../../include") || note_include(t, tt__env("CUDA_HOME"), "/include") ||
      note_include(t, tt__env("CUDA_PATH"), "/include") || note_include(t, "/usr/local/cuda", "/include"))
    return;
  t->include[0] = 0;
}

/* ctx: the driver's version. A refusal leaves its cause in `refusal`. */
static bool accept_library(void *lib, const char *path, void *ctx) {
  const int *driver = ctx;
  nvrtc t = {0};
  if (!resolve(lib, &t) || t.version(&t.major, &t.minor) != 0) {
    snprintf(refusal, sizeof refusal, "%s is not a usable NVRTC", path);
    return false;
  }
  if (*driver && t.major > *driver / 1000) {
    snprintf(refusal, sizeof refusal, "%s is NVRTC %d.%d, too new for a driver of CUDA %d.%d", path, t.major, t.minor,
             *driver / 1000, *driver % 1000 / 10);
    return false;
  }
  if (t.chip_count(&t.nchip) != 0 || t.nchip < 1 || t.nchip > MOST_CHIPS || t.chips(t.chip) != 0) {
    snprintf(refusal, sizeof refusal, "%s does not say which chips it knows", path);
    return false;
  }
  char dir[PATH_CAP];
  folder_of(&t, dir);
  open_builtins(&t, dir);
  find_include(&t, dir);
  snprintf(t.path, sizeof t.path, "%s", path);
  table = t;
  return true;
}

static const nvrtc *get(int driver, tt_error *err) {
  const nvrtc *t = atomic_load_explicit(&ready, memory_order_acquire);
  if (t) return t;
  tt__lock(&lock);
  if (!atomic_load(&ready) && seen_changes != tt__find_path_changes()) {
    seen_changes = tt__find_path_changes();
    refusal[0] = 0;
    if (tt__find_library("libnvrtc.so", accept_library, &driver, reason, sizeof reason)) {
      atexit(leave); /* registered after NVRTC's own handlers, so called before them */
      atomic_store(&ready, &table);
    }
  }
  t = atomic_load(&ready);
  if (!t) tt__fail(err, TT_EIO, "CUDA kernels cannot be compiled: %.900s", *refusal ? refusal : reason);
  tt__unlock(&lock);
  return t;
}

/* ---- which chip */

static bool knows(const nvrtc *t, int arch) {
  for (int i = 0; i < t->nchip; i++)
    if (t->chip[i] == arch) return true;
  return false;
}

/* "sm_90a", or "compute_120" where the compiler is older than the chip. From 9.0 on the 'a' opens what only this very
** chip can; a binary for it is all we want. */
static void chip_name(const nvrtc *t, int arch, char out[24]) {
  if (knows(t, arch)) {
    snprintf(out, 24, "sm_%d%s", arch, arch >= 90 ? "a" : "");
    return;
  }
  int best = t->chip[0];
  for (int i = 0; i < t->nchip; i++)
    if (t->chip[i] < arch && (t->chip[i] > best || best > arch)) best = t->chip[i];
  snprintf(out, 24, "compute_%d", best);
}

void tt__nvrtc_identity(int arch, int driver, tt_str *out) {
  const nvrtc *t = get(driver, NULL);
  char chip[24];
  if (!t) return;
  chip_name(t, arch, chip);
  tt__str_addf(out, "nvrtc %d.%d %s", t->major, t->minor, chip);
}

void tt__nvrtc_info(char *out, size_t size) {
  tt_error why;
  const nvrtc *t = get(0, &why);
  if (t)
    snprintf(out, size, "NVRTC %d.%d (%s)", t->major, t->minor, t->path);
  else
    snprintf(out, size, "%s", why.message);
}

/* ---- compiling */

/* Cuts `text` (changed in place) into words; returns how many, at most `most`. */
static int split(char *text, const char **word, int most) {
  int n = 0;
  while (n < most) {
    while (*text == ' ' || *text == '\n') text++;
    if (!*text) break;
    word[n++] = text;
    char *to = text;
    for (bool quoted = false; *text && (quoted || (*text != ' ' && *text != '\n')); text++) {
      if (*text == '"')
        quoted = !quoted;
      else
        *to++ = *text;
    }
    bool more = *text != 0;
    *to = 0;
    if (more) text++;
  }
  return n;
}

static tt_code fail_nvrtc(const nvrtc *t, const char *what, int result, tt_error *err) {
  const char *text = t->error_text(result);
  return tt__fail(err, TT_EDEVICE, "NVRTC %d.%d cannot %s: %s", t->major, t->minor, what, text ? text : "?");
}

static tt_code fail_compile(const nvrtc *t, void *program, int result, tt_error *err) {
  size_t size = 0;
  char *log = NULL;
  if (t->log_size(program, &size) == 0 && size > 1 && (log = tt__mem_alloc(size)) != NULL &&
      t->log(program, log) == 0) {
    log[size - 1] = 0;
    tt__fail(err, TT_EDEVICE, "CUDA compilation failed:\n%.980s", log);
  } else {
    fail_nvrtc(t, "compile", result, err);
  }
  tt__mem_free(log, log ? size : 0);
  return TT_EDEVICE;
}

static tt_code take_binary(const nvrtc *t, void *program, bool portable, tt_str *binary, tt_error *err) {
  size_t size = 0;
  int result = portable ? t->ptx_size(program, &size) : t->cubin_size(program, &size);
  if (result != 0 || size == 0) return fail_nvrtc(t, "give a binary", result, err);
  char *data = tt__mem_alloc(size);
  if (!data) return tt__fail_memory(err, size);
  result = portable ? t->ptx(program, data) : t->cubin(program, data);
  if (result == 0) tt__str_add_n(binary, data, size);
  tt__mem_free(data, size);
  if (result != 0) return fail_nvrtc(t, "give a binary", result, err);
  return binary->failed ? tt__fail_memory(err, size) : TT_OK;
}

/* Take the words that name things out of the options; returns how many options are left. */
static int take_names(const char **word, int n, const char **name, int *nname) {
  int kept = 0;
  *nname = 0;
  for (int k = 0; k < n; k++) {
    if (strncmp(word[k], TT_NVRTC_NAME, sizeof TT_NVRTC_NAME - 1) == 0)
      name[(*nname)++] = word[k] + sizeof TT_NVRTC_NAME - 1;
    else
      word[kept++] = word[k];
  }
  return kept;
}

/* --minimal (no runtime API, no textures: nothing of that is compiled sooner) and, for tests, --Ofast-compile are known
 * from 13.0 on for certain. */
static int drop_new(const nvrtc *t, const char **word, int n) {
  int kept = 0;
  for (int k = 0; k < n; k++)
    if (t->major >= 13 || (strcmp(word[k], "--minimal") != 0 && strcmp(word[k], "--Ofast-compile=min") != 0))
      word[kept++] = word[k];
  return kept;
}

/* Behind the binary: the names that its symbols have, a line each, their size, a mark. */
static tt_code add_lowered(const nvrtc *t, void *program, const char *const *name, int n, tt_str *binary,
                           tt_error *err) {
  size_t start = binary->len;
  for (int k = 0; k < n; k++) {
    const char *symbol = NULL;
    int result = t->lowered_name(program, name[k], &symbol);
    if (result != 0 || !symbol) return fail_nvrtc(t, "name a symbol", result, err);
    tt__str_addf(binary, "%s\n", symbol);
  }
  uint64_t size = binary->len - start;
  tt__str_add_n(binary, (const char *)&size, sizeof size);
  tt__str_add(binary, TT_NVRTC_MARK);
  return binary->failed ? tt__fail_memory(err, start) : TT_OK;
}

/* One compilation, handed to a thread with stack enough. */
typedef struct compile_job {
  const nvrtc *t;
  const char *source, *chip;
  const char *const *word;
  int n;
  const char *const *name; /* whose symbols are wanted */
  int nname;
  tt_str *binary;
  tt_error *err;
  tt_code code;
} compile_job;

static void *compile_now(void *ctx) {
  compile_job *j = ctx;
  void *program = NULL;
  int result = j->t->create(&program, j->source, "kernel.cu", 0, NULL, NULL);
  if (result != 0) {
    j->code = fail_nvrtc(j->t, "take the text", result, j->err);
    return NULL;
  }
  for (int k = 0; k < j->nname && result == 0; k++) result = j->t->add_name(program, j->name[k]);
  if (result == 0) result = j->t->compile(program, j->n, j->word);
  j->code = result != 0 ? fail_compile(j->t, program, result, j->err)
                        : take_binary(j->t, program, strncmp(j->chip, "compute", 7) == 0, j->binary, j->err);
  if (j->code == TT_OK && j->nname) j->code = add_lowered(j->t, program, j->name, j->nname, j->binary, j->err);
  j->t->destroy(&program);
  return NULL;
}

/*
** Measured: NVRTC overruns the 2 MiB of our background thread at an expression nested 500 deep. A thread of its own
** costs a thousandth of what it then does. Where none can be had the caller's stack must do.
*/
static void compile_deep(compile_job *j) {
  enum { STACK = 256 << 20 }; /* addresses; memory only as far as it is used */
  pthread_attr_t attr;
  pthread_t thread;
  sigset_t all, old;
  bool is_started = false;
  if (!tt__fault(TT_FAULT_SPAWN) && pthread_attr_init(&attr) == 0) {
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old); /* signals are for the host's threads */
    is_started = pthread_attr_setstacksize(&attr, STACK) == 0 && pthread_create(&thread, &attr, compile_now, j) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    pthread_attr_destroy(&attr);
  }
  if (is_started)
    pthread_join(thread, NULL);
  else
    compile_now(j);
}

tt_code tt__nvrtc_compile(int arch, int driver, const char *source, const char *options, tt_str *binary,
                          tt_error *err) {
  const nvrtc *t = get(driver, err);
  if (!t) return TT_EIO;
  char chip[24], target[64];
  chip_name(t, arch, chip);
  snprintf(target, sizeof target, "--gpu-architecture=%s", chip);
  const char *word[MOST_OPTIONS] = {target}, *name[MOST_OPTIONS];
  int nname;
  int n = 1;
  size_t size = options ? strlen(options) + 1 : 0;
  char *copy = size ? tt__mem_dup(options, size) : NULL;
  if (size && !copy) return tt__fail_memory(err, size);
  if (copy) n += split(copy, word + n, MOST_OPTIONS - n);
  tt_code code;
  if (n == MOST_OPTIONS) {
    code = tt__fail(err, TT_EVALUE, "more than %d options for the compiler", MOST_OPTIONS - 2);
  } else if (!begin()) {
    code = tt__fail(err, TT_EDEVICE, "the process is ending");
  } else {
    n = take_names(word, drop_new(t, word, n), name, &nname);
    if (*t->include) word[n++] = t->include;
    compile_job j = {t, source, chip, word, n, name, nname, binary, err, TT_OK};
    compile_deep(&j);
    end();
    code = j.code;
  }
  tt__mem_free(copy, size);
  return code;
}

/* ---- getting it ready */

static void *warm(void *ctx) {
  tt_nvrtc_warm *w = ctx;
  tt_str binary = {0};
  tt__nvrtc_compile(w->arch, w->driver, "extern \"C\" __global__ void warm(int *x) { *x = 1; }\n", NULL, &binary, NULL);
  tt__str_free(&binary);
  return NULL;
}

void tt__nvrtc_warm_begin(tt_nvrtc_warm *w, int arch, int driver) {
  *w = (tt_nvrtc_warm){.arch = arch, .driver = driver};
  w->is_started = tt__thread_start(&w->thread, TT_THREAD_STACK, warm, w);
}

void tt__nvrtc_warm_end(tt_nvrtc_warm *w) {
  if (!w->is_started) return;
  pthread_join(w->thread, NULL);
  /* What NVRTC made at its first compilation it takes down before our first handler: so there is a second. */
  if (atomic_load(&ready)) atexit(leave);
}
