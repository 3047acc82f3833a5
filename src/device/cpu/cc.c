/*
** Finding the compiler, running it, loading what it made.
**
** Flags: value-safe ones only. -O2 with the vectoriser makes the same loops as -O3 in two thirds of the time.
** -ffast-math is never among them: besides changing results, gcc and clang link a constructor with it that switches
** denormals off in the thread that loads the kernel. What the compiler makes is loaded as it is (object.h); where that
** cannot be, it is linked, without start files and libraries: memcpy and friends resolve in the process.
*/
#include "device/cpu/cc.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/os/interrupt.h"
#include "base/hash.h"
#include "base/lock.h"
#include "base/os/os.h"
#include "device/cpu/object.h"

/*
** Vectors of loops alone: of neighbouring statements, a sum and a difference of products, gcc 12 makes one fused
** operation, -ffp-contract=off or not, and complex functions would have other bits than the interpreter's.
*/
/* clang-format off */
static const char *const flags[] = {
    "-O2", "-ftree-vectorize", "-fno-tree-slp-vectorize", "-fvect-cost-model", "-std=gnu11", "-fPIC",
    "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=off", "-fwrapv", "-fno-strict-aliasing",
    "-fno-stack-protector", "-fstack-clash-protection", "-fno-asynchronous-unwind-tables",
    "-w", "-pipe"};

/*
** What not every compiler understands, best first; the probe settles on the first row that works.
**   -fno-thread-jumps            gcc 13 turns chains of selects (the ends of log) into jumps and then cannot
**                                vectorise: 5.8 ns an element instead of 0.6
**   -fno-tree-pre                gcc moves what one side of a choice shares with a later one onto that side; the
**                                choice is a jump then: maximum of three arrays 26 ns an element instead of 0.3
**   -fira-region=one             registers are given in one region: else gcc 12 keeps accumulators of a row's loop on
**                                the stack where another loop stands beside it; it takes less time besides
**   -mprefer-vector-width=512    exp 0.71 -> 0.43 ns an element on Sapphire Rapids, plain chains 0.24 -> 0.17
*/
static const char *const extras[][6] = {
    {"-march=native", "-fno-thread-jumps", "-fno-tree-pre", "-fira-region=one", "-mprefer-vector-width=512"},
    {"-march=native", "-fno-thread-jumps", "-fno-tree-pre", "-fira-region=one"},
    {"-march=native", "-mprefer-vector-width=512"},
    {"-march=native"},
    {NULL}};

/*
** Where somebody waits for the code (FIRST, beside a row that only gcc understands): passes that take a tenth to a
** fifth of the time and change the speed of no program of bench/jit.py.
*/
static const char *const first_flags[] = {"-fno-gcse", "-fno-schedule-insns2"};
/* clang-format on */

enum { NFIRST = sizeof first_flags / sizeof *first_flags, GCC_ROWS = 2, FIRST = 16 /* added to a row */ };
enum { NFLAG = sizeof flags / sizeof *flags, NEXTRA = sizeof extras / sizeof *extras, GIVE_UP = 3, PATH_SIZE = 256 };
#define AGAIN_NS 1000000000 /* after which one that was given up is tried again */
/* Where somebody waits, what fails is tried once more after this: descriptors or processes may have been short. */
#define AGAIN_FIRST_NS 20000000

/* How far we know the compiler. */
typedef enum cc_state { CC_UNKNOWN, CC_FOUND, CC_PROVED, CC_OFF } cc_state;

static tt_lock lock = TT_LOCK_RANKED(1); /* guards everything below; not held while a compiler runs */
static cc_state state;
static int extra;     /* row of `extras` in use (decided by the probe; the best one assumed until then) */
static int candidate; /* which name `path` came from */
static int in_a_row;  /* failures */
/* When it was last given up; 0: never, or for good. What made it fail may pass: memory, a full disk. */
static int64_t given_up;
static tt_cc_info info;
static char identity[2048]; /* "" while not known */
static int64_t file_number;

/*
** A compiler that has started and waits for its text: its start is a third of a short program's compilation. There is
** one at most, and only while functions are expected (tt__cc_expect).
*/
typedef struct spare {
  tt_child child; /* none: pid 0 */
  char path[PATH_SIZE], c_path[PATH_SIZE + 64], o_path[PATH_SIZE + 64];
  int row;
} spare;

static spare waiting = {.child = {.in = -1, .out = -1}};
static int64_t expected; /* functions that will be compiled, as far as we know */
static bool no_spares;   /* one did not do what it should */

/* No TT_LOCK_FORKS: a child forgets the compiler that waits for its parent. */
static void fork_prepare(void) { tt__fork_lock(&lock); }
static void fork_parent(void) { tt__fork_unlock(&lock); }
static void fork_child(void) {
  tt__child_forget(&waiting.child);
  expected = 0;
  tt__fork_unlock(&lock);
}
TT_AT_LOAD(1) static void at_load(void) { pthread_atfork(fork_prepare, fork_parent, fork_child); }

static void drop_spare(spare *s) {
  if (!s->child.pid) return;
  tt__child_stop(&s->child);
  unlink(s->c_path);
  unlink(s->o_path);
}

/* ---- finding */

static void turn_off(const char *why) {
  state = CC_OFF;
  snprintf(info.why, sizeof info.why, "no C compiler: %s", why);
}

/* The next name from `candidate` on that is a program. */
static void find_from(int first) {
  static const char *const usual[] = {"cc", "gcc", "clang"};
  const char *told = tt__env("TUTTI_CC");
  int n = told ? 1 : (int)(sizeof usual / sizeof *usual);
  if (told && strcmp(told, "none") == 0) {
    turn_off("TUTTI_CC=none");
    return;
  }
  for (candidate = first; candidate < n; candidate++) {
    const char *name = told ? told : usual[candidate];
    if (!tt__find_program(name, info.path, sizeof info.path)) continue;
    state = CC_FOUND;
    extra = tt__cpu_level() == 4 ? 0 : 1;
    info.why[0] = identity[0] = 0;
    return;
  }
  if (first > 0) return; /* the last one that was tried keeps its reason */
  info.path[0] = 0;
  turn_off(told ? "TUTTI_CC names no program" : "no cc, gcc or clang in PATH (install gcc or clang)");
}

/* Try one again that was given up at least so long ago. */
static void forgive_locked(int64_t ns) {
  if (state != CC_OFF || !given_up || tt__clock_ns() - given_up < ns) return;
  state = CC_UNKNOWN;
  in_a_row = 0;
  given_up = 0;
}

static void find_locked(void) {
  if (state == CC_UNKNOWN) find_from(0);
  info.usable = state == CC_FOUND || state == CC_PROVED;
  size_t n = 0;
  for (int i = 0; info.usable && extras[extra][i]; i++)
    n += (size_t)snprintf(info.extras + n, sizeof info.extras - n, "%s%s", n ? " " : "", extras[extra][i]);
  if (n == 0) info.extras[0] = 0;
}

tt_cc_info tt__cc_info(void) {
  tt__lock(&lock);
  find_locked();
  tt_cc_info copy = info;
  tt__unlock(&lock);
  return copy;
}

bool tt__cc_usable(void) {
  tt__lock(&lock);
  forgive_locked(AGAIN_NS);
  tt__unlock(&lock);
  return tt__cc_info().usable;
}

void tt__cc_reset(void) {
  tt__lock(&lock);
  drop_spare(&waiting);
  expected = 0;
  no_spares = false;
  state = CC_UNKNOWN;
  in_a_row = 0;
  given_up = 0;
  memset(&info, 0, sizeof info);
  identity[0] = 0;
  tt__unlock(&lock);
}

/* Which row of `extras` works follows from the rest, so all of them stand for it. */
static void find_identity(void) {
  struct stat st = {0};
  char real[PATH_MAX];
  const char *path = realpath(info.path, real) ? real : info.path; /* cc is a link to a link to the version */
  if (stat(path, &st) != 0) memset(&st, 0, sizeof st);
  size_t size = sizeof identity,
         n = (size_t)snprintf(identity, size, "%s %lld %lld", path, (long long)st.st_size, (long long)st.st_mtime);
  for (int i = 0; i < NFLAG && n < size; i++) n += (size_t)snprintf(identity + n, size - n, " %s", flags[i]);
  for (int i = 0; i < NFIRST && n < size; i++) n += (size_t)snprintf(identity + n, size - n, " %s", first_flags[i]);
  for (int i = 0; i < NEXTRA && n < size; i++)
    for (int j = 0; extras[i][j] && n < size; j++)
      n += (size_t)snprintf(identity + n, size - n, " %d%s", i, extras[i][j]);
  if (n < size) n += (size_t)snprintf(identity + n, size - n, "; %s; level %d", tt__cpu_name(), tt__cpu_level());
  if (n >= size) identity[0] = 0; /* a path without end: no identity, so no cache */
}

void tt__cc_identity(tt_str *out) {
  tt__lock(&lock);
  find_locked();
  if (info.path[0] && !identity[0]) find_identity();
  tt__str_add(out, identity);
  tt__unlock(&lock);
}

/* ---- loading */

/* Where the scratch folder forbids execution. The descriptor stays open: its number is the library's name. */
static void *load_from_memory(const void *binary, size_t size, tt_error *err) {
  char path[64];
  int fd = memfd_create("tutti-kernel", MFD_CLOEXEC);
  if (fd < 0) return tt__fail(err, TT_EDEVICE, "cannot load a kernel: %s", strerror(errno)), NULL;
  const char *p = binary;
  size_t left = size;
  while (left) {
    ssize_t n = write(fd, p, left);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    p += n;
    left -= (size_t)n;
  }
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  void *lib = left ? NULL : tt__lib_open(path, err);
  if (left) tt__fail(err, TT_EDEVICE, "cannot load a kernel: %s", strerror(errno));
  if (!lib) close(fd);
  return lib;
}

static tt_code find_symbols(void *lib, const char *const *names, int n, tt_kernel_fn *fns, tt_error *err) {
  for (int i = 0; i < n; i++) {
    void *symbol = tt__lib_sym(lib, names[i]);
    if (!symbol) {
      tt__lib_close(lib);
      return tt__fail(err, TT_EDEVICE, "a compiled kernel lacks %s", names[i]);
    }
    memcpy(&fns[i], &symbol, sizeof symbol);
  }
  return TT_OK;
}

/* Fill `path` with a new name in the scratch folder. Under the lock. */
static tt_code scratch_locked(const char *ending, char *path, size_t size, tt_error *err) {
  const char *folder = tt__dir_scratch();
  if (!folder) return tt__fail(err, TT_EDEVICE, "no folder for temporary files: set TMPDIR");
  int64_t number = file_number++;
  int n = snprintf(path, size, "%s/k%lld%s", folder, (long long)number, ending);
  return n > 0 && (size_t)n < size ? TT_OK : tt__fail(err, TT_EDEVICE, "the path of the scratch folder is too long");
}

static tt_code scratch_path(const char *ending, char *path, size_t size, tt_error *err) {
  tt__lock(&lock);
  tt_code c = scratch_locked(ending, path, size, err);
  tt__unlock(&lock);
  return c;
}

/* Under its name at once: nobody else knows it, and it is gone in a moment. */
static tt_code write_scratch(const char *path, const void *data, size_t size, tt_error *err) {
  errno = EIO; /* when told to fail */
  FILE *f = tt__fault(TT_FAULT_WRITE) ? NULL : fopen(path, "we");
  bool ok = f && fwrite(data, 1, size, f) == size;
  if (f) ok = fclose(f) == 0 && ok;
  if (ok) return TT_OK;
  int why = errno;
  unlink(path);
  return tt__fail(err, TT_EDEVICE, "cannot write %s: %s", path, strerror(why));
}

static tt_code load_object(const void *bytes, size_t size, const char *const *names, int n, tt_kernel_fn *fns,
                           tt_error *err) {
  void *at[TT_CC_MOST];
  if (n > TT_CC_MOST) return tt__fail(err, TT_ENOTIMPL, "%d functions in one file", n);
  TT_TRY(tt__object_load(bytes, size, names, n, at, err));
  for (int i = 0; i < n; i++) memcpy(&fns[i], &at[i], sizeof at[i]);
  return TT_OK;
}

/* A shared library. */
static tt_code load_library(const void *bytes, size_t size, const char *const *names, int n, tt_kernel_fn *fns,
                            tt_error *err) {
  char path[PATH_SIZE + 64];
  void *lib = NULL;
  if (scratch_path(".so", path, sizeof path, NULL) == TT_OK && write_scratch(path, bytes, size, NULL) == TT_OK) {
    lib = tt__lib_open(path, NULL);
    unlink(path);
  }
  if (!lib) lib = load_from_memory(bytes, size, err);
  if (!lib) return TT_EDEVICE;
  return find_symbols(lib, names, n, fns, err);
}

tt_code tt__cc_load(const void *binary, size_t size, const char *const *names, int n, tt_kernel_fn *fns,
                    tt_error *err) {
  assert(n > 0 && size > 0);
  if (!tt__object_is(binary, size)) return load_library(binary, size, names, n, fns, err);
  tt_error why = {0};
  tt_code c = load_object(binary, size, names, n, fns, &why);
  /* who made it linked what needs a linker */
  return c == TT_OK ? c : tt__fail(err, c == TT_ENOMEM ? c : TT_EDEVICE, "%s", why.message);
}

/* ---- running the compiler */

static double timeout_s(void) {
  const char *text = tt__env("TUTTI_CC_TIMEOUT");
  double s = text ? strtod(text, NULL) : 0;
  return s > 0 ? s : 30;
}

/* The end of what the compiler said: whole lines, as far as they fit a message. */
static const char *last_lines(const tt_str *said) {
  enum { KEEP = 600 };
  if (!said->data) return "(it said nothing)";
  size_t from = said->len > KEEP ? said->len - KEEP : 0;
  const char *text = said->data + from, *line = from ? strchr(text, '\n') : NULL;
  return line && line[1] ? line + 1 : text;
}

/* Whom to ask for more. */
static const char *short_of_memory(const tt_str *said) {
  bool is_short = said->data && (strstr(said->data, "out of memory") || strstr(said->data, "memory exhausted"));
  return is_short ? " (TUTTI_CC_MEMORY limits it)" : "";
}

/* What a child's end means. `said` is freed. */
static tt_code judge_end(const char *path, tt_code c, int status, tt_str *said, const tt_error *why, tt_error *err) {
  if (c != TT_OK)
    c = tt__fail(err, c == TT_ENOMEM || c == TT_EINTERRUPT ? c : TT_EDEVICE, "%s", why->message);
  else if (status != 0)
    c = tt__fail(err, TT_EDEVICE, "%s failed with status %d%s: %s", path, status, short_of_memory(said),
                 last_lines(said));
  tt__str_free(said);
  return c;
}

/* argv[0] is the compiler. */
static tt_code run_to_end(const char *const *argv, tt_error *err) {
  int status = 0;
  tt_str said = {0};
  tt_error why = {0};
  tt_code c = tt__spawn(argv, timeout_s(), &status, &said, &why);
  return judge_end(argv[0], c, status, &said, &why, err);
}

enum { MOST_ARGS = NFLAG + NFIRST + 12 };

/* Source file to object file. */
static void put_arguments(const char *path, int row, const char *c_path, const char *o_path,
                          const char *argv[MOST_ARGS]) {
  int n = 0;
  bool first = row & FIRST;
  row &= ~FIRST;
  argv[n++] = path;
  for (int i = 0; extras[row][i]; i++) argv[n++] = extras[row][i];
  for (int i = 0; i < NFLAG; i++) argv[n++] = flags[i];
  for (int i = 0; i < NFIRST && first && row < GCC_ROWS; i++) argv[n++] = first_flags[i];
  argv[n++] = "-c";
  argv[n++] = c_path;
  argv[n++] = "-o";
  argv[n++] = o_path;
  argv[n] = NULL;
}

/* ---- compilers that wait */

/* Under the lock. A failure is no more than a compiler that is started later. */
static void start_spare(void) {
  spare *s = &waiting;
  const char *argv[MOST_ARGS];
  static const char text[] = "#include \"/dev/stdin\"\n"; /* a source on its own would be read before anything else */
  find_locked();
  if (s->child.pid || no_spares || expected <= 0 || !info.usable || tt__fault(TT_FAULT_COMPILE)) return;
  if (scratch_locked(".c", s->c_path, sizeof s->c_path, NULL) != TT_OK) return;
  if (scratch_locked(".o", s->o_path, sizeof s->o_path, NULL) != TT_OK) return;
  if (write_scratch(s->c_path, text, sizeof text - 1, NULL) != TT_OK) return;
  snprintf(s->path, sizeof s->path, "%s", info.path);
  s->row = extra | FIRST;
  put_arguments(s->path, s->row, s->c_path, s->o_path, argv);
  if (tt__child_start(argv, true, &s->child, NULL) != TT_OK) unlink(s->c_path);
}

void tt__cc_expect(int64_t n) {
  tt__lock(&lock);
  expected = expected + n > 0 ? expected + n : 0;
  start_spare();
  tt__unlock(&lock);
}

/* The compiler that waits, if it is the one that is wanted. */
static bool take_spare(const char *path, int row, spare *out) {
  tt__lock(&lock);
  *out = waiting;
  out->child.name = out->path;
  waiting.child = (tt_child){.in = -1, .out = -1};
  tt__unlock(&lock);
  if (!out->child.pid) return false;
  if (strcmp(out->path, path) == 0 && out->row == row) return true;
  drop_spare(out);
  return false;
}

/*
** Compile and load by the compiler that waits. Whatever fails, even what the text is to blame for, is done again by one
** that starts anew: compilers may be scripts, and caches of compilers read their input twice.
*/
static bool compile_ahead(const char *path, int row, const char *source, const char *const *names, int n,
                          tt_kernel_fn *fns, tt_str *bytes) {
  spare s;
  int status = 0;
  size_t start = bytes->len;
  if (!take_spare(path, row, &s)) return false;
  tt_code code = tt__child_end(&s.child, source, strlen(source), timeout_s(), &status, NULL, NULL);
  bool ok = code == TT_OK && status == 0;
  if (code == TT_EINTERRUPT) tt__interrupt(); /* the compiler that is started instead will hear it */
  ok = ok && tt__file_read(s.o_path, bytes, NULL) == TT_OK;
  ok = ok && load_object(bytes->data + start, bytes->len - start, names, n, fns, NULL) == TT_OK;
  if (!ok) bytes->len = start;
  tt__lock(&lock);
  info.ahead += ok;
  no_spares |= !ok && code != TT_EINTERRUPT;
  tt__unlock(&lock);
  unlink(s.c_path);
  unlink(s.o_path);
  return ok;
}

/* ---- compiling */

/* Object file to shared library, loaded. Its bytes take the place of the object's, from `start` on. */
static tt_code link_object(const char *path, const char *o_path, const char *const *names, int n, tt_kernel_fn *fns,
                           tt_str *bytes, size_t start, tt_error *err) {
  char so_path[PATH_SIZE + 64];
  TT_TRY(scratch_path(".so", so_path, sizeof so_path, err));
  const char *const argv[] = {path, "-w", "-shared", "-nostdlib", o_path, "-o", so_path, NULL};
  tt_code c = run_to_end(argv, err);
  bytes->len = start;
  if (c == TT_OK) c = tt__file_read(so_path, bytes, err);
  if (c == TT_OK) {
    void *lib = tt__lib_open(so_path, NULL);
    if (!lib) lib = load_from_memory(bytes->data + start, bytes->len - start, err);
    c = lib ? find_symbols(lib, names, n, fns, err) : TT_EDEVICE;
  }
  unlink(so_path);
  return c;
}

static tt_code compile_text(const char *path, int row, const char *source, const char *const *names, int n,
                            tt_kernel_fn *fns, tt_str *binary, tt_error *err) {
  char c_path[PATH_SIZE + 64], o_path[PATH_SIZE + 64];
  const char *argv[MOST_ARGS];
  tt_str own = {0}, *bytes = binary ? binary : &own;
  size_t start = bytes->len;
  if (tt__fault(TT_FAULT_COMPILE)) return tt__fail(err, TT_EDEVICE, "%s: told to fail", path);
  if (compile_ahead(path, row, source, names, n, fns, bytes)) {
    tt__str_free(&own);
    return TT_OK;
  }
  TT_TRY(scratch_path(".c", c_path, sizeof c_path, err));
  TT_TRY(scratch_path(".o", o_path, sizeof o_path, err));
  TT_TRY(write_scratch(c_path, source, strlen(source), err));
  put_arguments(path, row, c_path, o_path, argv);
  tt_code c = run_to_end(argv, err);
  if (c == TT_OK) c = tt__file_read(o_path, bytes, err);
  if (c == TT_OK) {
    c = load_object(bytes->data + start, bytes->len - start, names, n, fns, err);
    if (c == TT_ENOTIMPL) c = link_object(path, o_path, names, n, fns, bytes, start, err);
  }
  tt__str_free(&own);
  unlink(c_path);
  unlink(o_path);
  return c;
}

static const char *const probe_name = "tt_probe";
static const char probe_text[] = "void tt_probe(void *a, const int *b) { *(int *)a = *b + 1; }\n";

/* Does its code run? */
static tt_code run_probe(const char *path, tt_kernel_fn fn, tt_error *err) {
  int in = 41, out = 0;
  void (*run)(void *, const int *);
  memcpy(&run, &fn, sizeof run);
  run(&out, &in);
  return out == 42 ? TT_OK : tt__fail(err, TT_EDEVICE, "%s: its code gives %d for 42", path, out);
}

static tt_code probe(const char *path, int row, tt_error *err) {
  tt_kernel_fn fn = NULL;
  TT_TRY(compile_text(path, row, probe_text, &probe_name, 1, &fn, NULL, err));
  return run_probe(path, fn, err);
}

/* Was it stopped for taking too long? */
static bool hung(const tt_error *why) { return strstr(why->message, "did not end") != NULL; }

/*
** Under the lock; `how`: what it is said to do. One that hangs is not asked again: it would cost its time limit each
** time. Compilers say several lines; the reason becomes one.
*/
static void give_up(const char *how, const tt_error *why) {
  state = CC_OFF;
  given_up = hung(why) ? 0 : tt__clock_ns();
  snprintf(info.why, sizeof info.why, "the C compiler %s: %.440s", how, why->message);
  for (char *p = info.why; *p; p++)
    if (*p == '\n') *p = p[1] ? ' ' : 0;
}

/* What a trial of compiler `tried` with flags `row` says of it, if it was not judged meanwhile. */
static void note_trial(int tried, int row, tt_code c, const tt_error *why) {
  tt__lock(&lock);
  if (state == CC_FOUND && candidate == tried && extra == row) {
    if (c == TT_OK) {
      state = CC_PROVED;
    } else if (extra + 1 < NEXTRA && !hung(why)) {
      extra++;
    } else {
      give_up("does not work", why);
      info.failures++;
      find_from(tried + 1);
    }
  }
  tt__unlock(&lock);
}

/* The compiler in use, which of them it is, how far we know it. */
static tt_code find_current(char path[PATH_SIZE], int *row, int *tried, cc_state *at, tt_error *err) {
  tt__lock(&lock);
  forgive_locked(AGAIN_NS);
  find_locked();
  *at = state;
  *tried = candidate;
  *row = extra;
  snprintf(path, PATH_SIZE, "%s", info.path);
  tt_code c = state == CC_OFF ? tt__fail(err, TT_EDEVICE, "%s", info.why) : TT_OK;
  tt__unlock(&lock);
  return c;
}

/* Settle on a compiler that works: each name in turn, with what flags it understands. */
static tt_code prove(char path[PATH_SIZE], int *row, tt_error *err) {
  for (;;) {
    int tried;
    cc_state at;
    TT_TRY(find_current(path, row, &tried, &at, err));
    if (at == CC_PROVED) return TT_OK;
    tt_error why = {0};
    tt_code c = probe(path, *row, &why);
    if (c == TT_ENOMEM) return tt__fail(err, c, "%s", why.message);
    note_trial(tried, *row, c, &why);
  }
}

/*
** The first source of all, with the probe behind it: most compilers work, and one run is less than two. When it fails
** nobody knows who is to blame; then nothing is said of the compiler, unless it hangs.
*/
static bool compile_first(int way, const char *source, const char *const *names, int n, tt_kernel_fn *fns,
                          tt_str *binary) {
  char path[PATH_SIZE];
  const char *name[TT_CC_MOST];
  tt_kernel_fn fn[TT_CC_MOST];
  int row, tried;
  cc_state at;
  size_t start = binary ? binary->len : 0;
  tt_str text = {0};
  tt_error why = {0};
  if (n >= TT_CC_MOST || find_current(path, &row, &tried, &at, NULL) != TT_OK || at != CC_FOUND) return false;
  memcpy(name, names, (size_t)n * sizeof *name);
  name[n] = probe_name;
  tt__str_add(&text, source);
  tt__str_add(&text, probe_text);
  tt_code c = text.failed ? tt__fail_memory(&why, text.len)
                          : compile_text(path, row | way, text.data, name, n + 1, fn, binary, &why);
  if (c == TT_OK) c = run_probe(path, fn[n], &why);
  tt__str_free(&text);
  if (c == TT_OK || hung(&why)) note_trial(tried, row, c, &why);
  if (c == TT_OK) memcpy(fns, fn, (size_t)n * sizeof *fns);
  if (c != TT_OK && binary) binary->len = start;
  return c == TT_OK;
}

static void note_result(tt_code c, int n, int64_t ns, const tt_error *why) {
  tt__lock(&lock);
  info.ns += ns;
  if (c == TT_OK) {
    info.compiles++;
    info.kernels += n;
    in_a_row = 0;
  } else {
    info.failures++;
    if (c == TT_EDEVICE && ++in_a_row >= GIVE_UP) {
      char how[64];
      snprintf(how, sizeof how, "was given up after %d failures in a row", GIVE_UP);
      give_up(how, why);
    }
  }
  tt__unlock(&lock);
}

/* Somebody waits for the code, and would have to do without: whatever kept others from theirs may have passed. */
static void forgive(void) {
  tt__lock(&lock);
  forgive_locked(0);
  tt__unlock(&lock);
}

/* `way`: 0 or FIRST. */
static tt_code compile(int way, const char *source, const char *const *names, int n, tt_kernel_fn *fns, tt_str *binary,
                       tt_error *err) {
  char path[PATH_SIZE];
  int row;
  tt_error why = {0};
  if (way == FIRST) forgive();
  int64_t start = tt__clock_ns();
  if (compile_first(way, source, names, n, fns, binary)) {
    note_result(TT_OK, n, tt__clock_ns() - start, &why);
    return TT_OK;
  }
  TT_TRY(prove(path, &row, err));
  start = tt__clock_ns();
  tt_code c = compile_text(path, row | way, source, names, n, fns, binary, &why);
  if (c != TT_OK && c != TT_ENOMEM && way == FIRST && !hung(&why)) {
    const struct timespec pause = {.tv_nsec = AGAIN_FIRST_NS};
    nanosleep(&pause, NULL);
    c = compile_text(path, row | way, source, names, n, fns, binary, &why);
  }
  if (c == TT_EIO) c = why.code = TT_EDEVICE;
  note_result(c, n, tt__clock_ns() - start, &why);
  if (c != TT_OK && err) *err = why;
  return c;
}

tt_code tt__cc_compile(const char *source, const char *const *names, int n, tt_kernel_fn *fns, tt_str *binary,
                       tt_error *err) {
  assert(source && n > 0 && n <= TT_CC_MOST);
  return compile(0, source, names, n, fns, binary, err);
}

tt_code tt__cc_compile_first(const char *source, const char *const *names, int n, tt_kernel_fn *fns, tt_str *binary,
                             tt_error *err) {
  return compile(FIRST, source, names, n, fns, binary, err);
}
