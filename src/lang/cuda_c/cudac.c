/*
** From text to entries: assemble, preprocess, scan, rewrite, compile, load. Each step leaves a file in a folder of its
** own, which goes when the program is loaded.
*/
#include "lang/cuda_c/cudac.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/hash.h"
#include "base/lock.h"
#include "base/mem.h"
#include "base/os/interrupt.h"
#include "base/os/os.h"
#include "lang/cuda_c/cache.h"
#include "lang/cuda_c/check.h"
#include "lang/cuda_c/form.h"
#include "lang/cuda_c/run.h"
#include "lang/cuda_c/scan.h"
#include "lang/cuda_c/split.h"
#include "tutti/types.h"

extern const char tt__cuda_prelude[] TT_HIDDEN; /* embedded: abi, prelude, math, types, entry */
extern const char tt__cuda_groups[] TT_HIDDEN;

static const char BEGIN[] = "tt_here_the_program_begins;";

/* TRANSLATION: raise it when the same text becomes another program, so that what is kept on disk is not used. */
enum { PATH_SIZE = 512, MOST_FLAGS = 64, TRANSLATION = 20 };
/* 1,500 kernels take a compiler 75 s of its own, on a busy machine several times that. Who waits can press Ctrl-C. */
enum { PATIENCE_S = 600 };

/* ---- the compiler */

static const char *const flags[] = {"-std=c++17",
                                    "-O3",
                                    "-fPIC",
                                    "-fno-exceptions",
                                    "-fno-rtti",
                                    "-fno-math-errno",
                                    "-fno-trapping-math",
                                    "-fno-strict-aliasing",
                                    "-fno-stack-protector",
                                    "-fstack-clash-protection",
                                    "-fno-threadsafe-statics",
                                    "-fvisibility=hidden",
                                    "-ffp-contract=fast",
                                    "-fno-asynchronous-unwind-tables",
                                    "-w",
                                    "-march=native",
                                    "-fmax-errors=5",
                                    "-fno-diagnostics-color"};
/*
** Device functions are made to be inlined: a thread loop with a call in it is not vectorised. The last two leave out
** passes that take an eighth of the time and bring kernels nothing.
*/
static const char *const gcc_flags[] = {"--param=max-inline-insns-auto=400",
                                        "--param=max-inline-insns-single=2000",
                                        "--param=inline-unit-growth=1000",
                                        "--param=large-function-growth=2000",
                                        "--param=logical-op-non-short-circuit=0",
                                        "--param=max-unswitch-insns=500",
                                        "-fira-region=one",
                                        "-fno-gcse"};
/* GCC 13 took this one out: nobody else may be given it. */
static const char old_gcc_flag[] = "--param=max-unswitch-level=6";
static const char *const clang_flags[] = {"-mllvm", "-inline-threshold=1500"};
/*
** Lanes that give a shuffle a variable that only its leader has set are common. To Clang such a value is anything: it
** takes for granted that all lanes are leaders.
*/
static const char *const clang_shuffle_flags[] = {"-ftrivial-auto-var-init=pattern"};
static const char *const shuffles[] = {"shfl", "cooperative_groups", NULL};

/*
** Programs that are checked: a call for each access, with the lines of the text, variables in the order of the text.
** For the calls the compiler thinks of sanitizers; their libraries are not linked, cuda_check.cuh stands for them. That
** of threads tells of memory that threads may share, those of bounds and of objects of arrays that are a thread's own.
*/
static const char *const check_flags[] = {"-O1", "-g1", "-gdwarf-4", "-fsanitize=thread"};
static const char *const gcc_check_flags[] = {"-fsanitize=bounds,object-size", "--param=tsan-distinguish-volatile=1",
                                              "-fno-toplevel-reorder"};
static const char *const clang_check_flags[] = {"-fsanitize=array-bounds", "-mllvm", "-tsan-distinguish-volatile=1",
                                                "-mllvm", "-tsan-instrument-read-before-write=1"};

TT_LOCK(lock, 1); /* guards what follows; not held while a compiler runs */
static bool looked, is_clang, is_old_gcc;
static int dropped; /* flags that it does not know: 1, those for inlining and the like; 2, -march=native, too */
static char compiler[PATH_SIZE], missing[256];
static int64_t folder_number;

static void look(void) {
  static const char *const usual[] = {"c++", "g++", "clang++"};
  const char *told = tt__env("TUTTI_CXX");
  looked = true;
  if (told && strcmp(told, "none") == 0) {
    snprintf(missing, sizeof missing, "TUTTI_CXX=none");
    return;
  }
  for (size_t k = 0; k < (told ? 1 : sizeof usual / sizeof *usual); k++) {
    if (tt__find_program(told ? told : usual[k], compiler, sizeof compiler)) break;
    compiler[0] = 0;
  }
  char real[PATH_SIZE * 8];
  const char *path = compiler[0] && realpath(compiler, real) ? real : compiler;
  is_clang = strstr(path, "clang") != NULL;
  const char *version = strrchr(path, '-'); /* x86_64-linux-gnu-g++-12 */
  is_old_gcc = !is_clang && version && atoi(version + 1) > 0 && atoi(version + 1) < 13;
  if (!compiler[0])
    snprintf(missing, sizeof missing,
             "%s. Install g++ or clang++ (Debian, Ubuntu: apt install g++; Fedora: dnf install gcc-c++)",
             told ? "TUTTI_CXX names no program" : "there is no c++, g++ or clang++ in PATH");
}

void tt__cudac_compiler(char *path, size_t size, char *why, size_t why_size) {
  tt__lock(&lock);
  if (!looked) look();
  snprintf(path, size, "%s", compiler);
  snprintf(why, why_size, "%s", missing);
  tt__unlock(&lock);
}

/* ---- one build */

typedef struct build {
  const char *source;
  const tt_cudac_options *o;
  const char *file;
  char folder[PATH_SIZE];
  char path[PATH_SIZE]; /* the compiler's */
  const char *argv[MOST_FLAGS * 2];
  int narg;
} build;

static const char *file_in(const build *b, const char *name, char out[PATH_SIZE * 2]) {
  snprintf(out, PATH_SIZE * 2, "%s/%s", b->folder, name);
  return out;
}

static tt_code write_text(const char *path, const char *text, size_t size, tt_error *err) {
  FILE *f = tt__fault(TT_FAULT_WRITE) ? NULL : fopen(path, "we");
  bool ok = f && fwrite(text, 1, size, f) == size;
  if (f) ok = fclose(f) == 0 && ok;
  return ok ? TT_OK : tt__fail(err, TT_EIO, "cannot write %s: %s", path, strerror(errno));
}

/* Headers that programs name, for which the prelude stands, or nothing. */
static const struct {
  const char *name, *text;
} headers[] = {
#define TT_CUDAC_HEADER(name, head) {name, ""},
#define TT_CUDAC_REFUSED(name) {name, "#error <" name "> is not there for kernels on the CPU\n"},
#include "lang/cuda_c/headers.def"
#undef TT_CUDAC_REFUSED
#undef TT_CUDAC_HEADER
};

static tt_code make_headers(char folder[PATH_SIZE], tt_error *err) {
  static char made[PATH_SIZE]; /* where, by which process: a forked child has a scratch folder of its own */
  const char *scratch = tt__dir_scratch();
  char path[PATH_SIZE * 2];
  if (!scratch) return tt__fail(err, TT_EDEVICE, "no folder for temporary files: set TMPDIR");
  if ((size_t)snprintf(folder, PATH_SIZE, "%s/cuda", scratch) >= PATH_SIZE)
    return tt__fail(err, TT_EDEVICE, "the path of the scratch folder is too long");
  tt__lock(&lock);
  bool done = strcmp(made, folder) == 0;
  tt__unlock(&lock);
  if (done) return TT_OK;
  snprintf(path, sizeof path, "%s/cupy", folder);
  TT_TRY(tt__dir_make(path, err));
  snprintf(path, sizeof path, "%s/cooperative_groups", folder);
  TT_TRY(tt__dir_make(path, err));
  for (size_t k = 0; k < sizeof headers / sizeof *headers; k++) {
    snprintf(path, sizeof path, "%s/%s", folder, headers[k].name);
    TT_TRY(write_text(path, headers[k].text, strlen(headers[k].text), err));
  }
  tt__lock(&lock);
  snprintf(made, sizeof made, "%s", folder);
  tt__unlock(&lock);
  return TT_OK;
}

static void add_arg(build *b, const char *arg) {
  if (b->narg < MOST_FLAGS * 2 - 12) b->argv[b->narg++] = arg;
}

/* What the user's flags mean here. */
static void add_flags(build *b, bool preprocess) {
  for (int k = 0; k < b->o->nflag; k++) {
    const char *f = b->o->flag[k];
    bool alone = strcmp(f, "-I") == 0;
    if (preprocess && (strncmp(f, "-I", 2) == 0 || strncmp(f, "-DNDEBUG", 8) == 0)) {
      add_arg(b, f);
      if (alone && k + 1 < b->o->nflag) add_arg(b, b->o->flag[++k]);
    } else if (strcmp(f, "--fmad=false") == 0 || strcmp(f, "-fmad=false") == 0) {
      add_arg(b, "-ffp-contract=off");
    } else if (strcmp(f, "--use_fast_math") == 0 || strcmp(f, "-use_fast_math") == 0) {
      add_arg(b, "-fno-signed-zeros");
      add_arg(b, "-freciprocal-math");
    } else if (strncmp(f, "-std=", 5) == 0 || strncmp(f, "--std=", 6) == 0) {
      const char *year = strstr(f, "c++");
      if (year && (strcmp(year, "c++20") == 0 || strcmp(year, "c++23") == 0)) add_arg(b, "-std=c++20");
    }
  }
}

static void begin_args(build *b) {
  b->narg = 0;
  add_arg(b, b->path);
  for (size_t k = 0; k < sizeof flags / sizeof *flags; k++)
    if (dropped < 2 || strcmp(flags[k], "-march=native") != 0) add_arg(b, flags[k]);
}

static void leave_out(char *text, const char *folder) {
  size_t n = strlen(folder);
  char *to = text;
  for (char *from = text; *from;) {
    if (strncmp(from, folder, n) == 0 && from[n] == '/') from += n + 1;
    *to++ = *from++;
  }
  *to = 0;
}

/* What the compiler said, from its first error on, and who includes what it is in, without the names of our files. */
static void clean_words(const build *b, tt_str *said) {
  char headers_of[PATH_SIZE + 8];
  const char *scratch = tt__dir_scratch();
  if (!said->data) return;
  snprintf(headers_of, sizeof headers_of, "%s/cuda", scratch ? scratch : "");
  leave_out(said->data, b->folder);
  leave_out(said->data, headers_of);
  char *error = strstr(said->data, "error:");
  while (error && error > said->data && error[-1] != '\n') error--;
  char *included = strstr(said->data, "In file included from ");
  if (included && included < error && !strstr(said->data, "In file included from tutti")) error = included;
  if (error) memmove(said->data, error, strlen(error) + 1);
  said->len = strlen(said->data);
}

/* `text`: what it reads, where that is the translation of the source; NULL otherwise. */
static tt_code run_compiler(build *b, const char *text, tt_error *err) {
  int status = 0;
  tt_str said = {0};
  b->argv[b->narg] = NULL;
  if (tt__fault(TT_FAULT_COMPILE)) return tt__fail(err, TT_EDEVICE, "%s: told to fail", b->path);
  const char *told = tt__env("TUTTI_CC_TIMEOUT");
  double seconds = told ? strtod(told, NULL) : 0;
  tt_code code = tt__spawn(b->argv, seconds > 0 ? seconds : PATIENCE_S, &status, &said, err);
  if (code == TT_OK && status != 0) {
    clean_words(b, &said);
    if (text && b->o->language && b->o->language->mend) b->o->language->mend(&said, b->source, b->file, text);
    bool ptx = said.data && (strstr(said.data, "Assembler messages") || strstr(said.data, "'asm'") ||
                             strstr(said.data, "<inline asm>"));
    code = tt__fail(err, TT_EDEVICE, "the program does not compile%s:\n%.900s",
                    ptx ? ", inline PTX (asm) is not there for kernels on the CPU" : "",
                    said.data ? said.data : "(no words)");
  }
  tt__str_free(&said);
  return code;
}

/* ---- the steps */

static tt_code make_folder(build *b, tt_error *err) {
  const char *scratch = tt__dir_scratch();
  if (!scratch) return tt__fail(err, TT_EDEVICE, "no folder for temporary files: set TMPDIR");
  tt__lock(&lock);
  long long number = folder_number++;
  tt__unlock(&lock);
  snprintf(b->folder, sizeof b->folder, "%s/p%lld", scratch, number);
  return mkdir(b->folder, 0700) == 0 ? TT_OK
                                     : tt__fail(err, TT_EDEVICE, "cannot make %s: %s", b->folder, strerror(errno));
}

static void remove_folder(const build *b) {
  char path[PATH_SIZE * 2];
  const char *const names[] = {"in.cc", "out.ii", "program.cc", "program.so", b->file};
  if (!b->folder[0]) return;
  for (size_t k = 0; k < sizeof names / sizeof *names; k++)
    if (!b->o->check || strcmp(names[k], "program.so") != 0) unlink(file_in(b, names[k], path));
  if (!b->o->check) rmdir(b->folder);
}

/* -D and -U: behind the prelude, which has names of its own. */
static void add_defines(const build *b, tt_str *out) {
  for (int k = 0; k < b->o->nflag; k++) {
    const char *f = b->o->flag[k];
    if (strncmp(f, "-D", 2) != 0 && strncmp(f, "-U", 2) != 0) continue;
    bool define = f[1] == 'D';
    const char *name = f[2] ? f + 2 : k + 1 < b->o->nflag ? b->o->flag[++k] : "";
    size_t n = strcspn(name, "=");
    if (!define)
      tt__str_addf(out, "#undef %s\n", name);
    else
      tt__str_addf(out, "#define %.*s %s\n", (int)n, name, name[n] ? name + n + 1 : "1");
  }
}

/* Does the program name one of these, or may it, in another file? The compiler need not read what it does not. */
static bool mentions(const build *b, const char *const *word) {
  for (const char *p = b->source; (p = strstr(p, "include")) != NULL; p++)
    if (p[7 + strspn(p + 7, " \t")] == '"') return true;
  for (; *word; word++) {
    if (strstr(b->source, *word)) return true;
    for (int k = 0; k < b->o->nexpression; k++)
      if (strstr(b->o->expression[k], *word)) return true;
    for (int k = 0; k < b->o->nflag; k++)
      if (strstr(b->o->flag[k], *word) || strncmp(b->o->flag[k], "-I", 2) == 0) return true;
  }
  return false;
}

static void add_parts(build *b) {
  static const char *const halves[] = {"half", "float16", "fp16", "bf16", NULL};
  static const char *const words[] = {"_rn", "_rz", "_rd", "_ru", "__v", "__dp", "__fns", "__funnel", NULL};
  bool half = mentions(b, halves);
  if (half) add_arg(b, "-DTT_HALF=1");
  if (half || mentions(b, words)) add_arg(b, "-DTT_WORD=1");
}

static const char *prelude_of(const build *b) { return b->o->language ? b->o->language->prelude : tt__cuda_prelude; }

static bool uses_groups(const build *b) { return !b->o->language && strstr(b->source, "cooperative_groups"); }

static void add_names(build *b) {
  static const char *const cuda[] = {
      "-D__CUDACC__=1",           "-D__NVCC__=1",           "-D__CUDA_ARCH__=700", "-D__CUDACC_VER_MAJOR__=12",
      "-D__CUDACC_VER_MINOR__=0", "-DCUDART_VERSION=12000", "-DTUTTI_CPU=1",       NULL};
  for (const char *const *d = b->o->language ? b->o->language->define : cuda; *d; d++) add_arg(b, *d);
}

/* Text of the user behind the prelude, through the preprocessor. */
static tt_code preprocess_once(build *b, tt_str *out, tt_error *err) {
  char include[PATH_SIZE], inc[PATH_SIZE + 4], in[PATH_SIZE * 2], ii[PATH_SIZE * 2], own[PATH_SIZE * 2];
  tt_str all = {0};
  TT_TRY(make_headers(include, err));
  tt__str_add(&all, "#line 1 \"tutti\"\n");
#define TT_DTYPE(E, name, suffix, ctype, kind, bytes, typestr, format) \
  tt__str_addf(&all, "#define TT_D_%s %d\n", #E, (int)TT_##E);
#include "tutti/dtype.def"
#undef TT_DTYPE
  tt__str_addf(&all, "%s\n", prelude_of(b));
  if (uses_groups(b))
    tt__str_addf(&all, "#define TT_GROUP inline __attribute__((always_inline))\n%s\n", tt__cuda_groups);
  add_defines(b, &all);
  tt__str_addf(&all, "%s\n#line 1 \"%s\"\n%s\n", BEGIN, file_in(b, b->file, own), b->source);
  tt_code code = all.failed ? tt__fail_memory(err, all.len) : TT_OK;
  if (code == TT_OK) code = write_text(file_in(b, "in.cc", in), all.data, all.len, err);
  /* The user's text alone as well: the compiler quotes its lines. */
  if (code == TT_OK) code = write_text(own, b->source, strlen(b->source), err);
  tt__str_free(&all);
  if (code != TT_OK) return code;
  begin_args(b);
  add_names(b);
  if (b->o->check) add_arg(b, "-DTT_CHECK=1");
  if (b->o->wide) add_arg(b, "-DTT_WIDE=1");
  add_parts(b);
  snprintf(inc, sizeof inc, "-I%s", include);
  add_arg(b, inc);
  add_flags(b, true);
  add_arg(b, "-E");
  add_arg(b, in);
  add_arg(b, "-o");
  add_arg(b, file_in(b, "out.ii", ii));
  TT_TRY(run_compiler(b, NULL, err));
  return tt__file_read(ii, out, err);
}

/* "a::b<T>" to "a::tt_split_b<T>". */
static void form_name(const tt_cudac_kernel *f, const char *name, tt_str *out) {
  size_t head = strcspn(name, "<"), at = head;
  while (at > 0 && name[at - 1] != ':') at--;
  tt__str_addf(out, "%.*s%s%s", (int)at, name, f->form == TT_CUDAC_FORM_SPLIT ? "tt_split_" : "tt_thread_", name + at);
}

/* A row for each entry, then the table of the program. `f`: the kernel, or NULL when nobody knows which it is. */
static void add_entry(const tt_cudac_scan *s, tt_str *out, int k, const char *name, const char *of,
                      const tt_cudac_kernel *f, bool waits, int most) {
  static const char *const form[] = {"tt_entry", "tt_entry_split", "tt_entry_thread"};
  static const char *const word[] = {"false", "true"};
  tt_cudac_form what = f ? f->form : TT_CUDAC_FORM_NONE;
  bool together = f && f->together, asked = f && f->asked;
  tt__str_addf(out, "static constexpr tt_cudac_entry tt_e%d = %s%s%s<(&%s), ", k, asked ? "tt_asked(" : "",
               together ? "tt_together(" : "", form[what], of);
  if (what != TT_CUDAC_FORM_NONE) {
    tt__str_add(out, "(&");
    form_name(f, of, out);
    tt__str_add(out, ")");
  }
  if (what == TT_CUDAC_FORM_NONE)
    tt__str_addf(out, "%s>(\"", word[waits]);
  else if (what == TT_CUDAC_FORM_SPLIT)
    tt__str_add(out, ">(\"");
  else
    tt__str_addf(out, ", %s, %s>(\"", word[f->is_strip], word[f->tells]);
  for (const char *p = name; *p; p++)
    if (*p == '"' || *p == '\\' || *p == '\n')
      tt__str_addf(out, "\\%c", *p == '\n' ? 'n' : *p);
    else
      tt__str_add_n(out, p, 1);
  if (what == TT_CUDAC_FORM_SPLIT)
    tt__str_addf(out, "\", %d, %d)%s", most, waits ? 2 : 0, together ? ")" : "");
  else
    tt__str_addf(out, "\", %d)%s", most, together ? ")" : "");
  if (asked) { /* the words between its brackets, which the compiler computes with */
    int64_t close = tt__cudac_close(s, f->asked);
    const tt_cudac_word *from = &s->word.data[f->asked], *to = &s->word.data[close];
    tt__str_addf(out, ", %.*s)", (int)(to->at - from->at - 1), s->text + from->at + 1);
  }
  tt__str_add(out, ";\n");
}

static const tt_cudac_kernel *kernel_named(const tt_cudac_scan *s, const char *name, size_t len) {
  for (int64_t i = 0; i < s->kernel.n; i++)
    if (strlen(s->kernel.data[i].name) == len && strncmp(s->kernel.data[i].name, name, len) == 0)
      return &s->kernel.data[i];
  return NULL;
}

static void add_table(const build *b, tt_cudac_scan *s, tt_str *out, tt_str *params) {
  int n = 0;
  char of[2 * TT_CUDAC_NAME];
  tt__str_add(out, "\n# 1 \"tutti\"\n");
  for (int64_t k = 0; k < s->kernel.n; k++) {
    const tt_cudac_kernel *f = &s->kernel.data[k];
    if (f->is_template || f->is_overloaded) continue;
    snprintf(of, sizeof of, "::%s", f->name);
    add_entry(s, out, n++, f->name, of, f, f->sync, f->most_threads);
    tt__str_addf(params, "%s\t%s\n", f->name, f->params);
  }
  for (int k = 0; k < b->o->nexpression; k++) {
    const char *e = b->o->expression[k];
    const tt_cudac_kernel *f = kernel_named(s, e, strcspn(e, "< "));
    if (f && strcmp(f->name, e) == 0 && !f->is_template && !f->is_overloaded) continue; /* it is there already */
    bool waits = tt__cudac_expression_waits(s, e);
    bool usable = f && (f->form != TT_CUDAC_FORM_THREAD || !waits); /* an argument of the template may wait */
    add_entry(s, out, n++, e, e, usable ? f : NULL, waits, 0);
    tt__str_addf(params, "%s\t%s\n", e, f ? f->params : "");
  }
  tt__str_add(out, "static const tt_cudac_entry *const tt_entries[] = {");
  for (int k = 0; k < n; k++) tt__str_addf(out, "&tt_e%d, ", k);
  tt__str_add(out, "nullptr};\nstatic const tt_cudac_variable tt_variables[] = {");
  for (int64_t k = 0; k < s->global.n; k++)
    tt__str_addf(out, "{\"%s\", (void *)&::%s, sizeof(::%s)},\n", s->global.data[k].name, s->global.data[k].name,
                 s->global.data[k].name);
  tt__str_addf(out,
               "{nullptr, nullptr, 0}};\nextern \"C\" __attribute__((visibility(\"default\"))) const tt_cudac_program "
               "tt_program = {%d, %d, %d, tt_entries, tt_variables, &tt_core, tt_where};\n",
               TT_CUDAC_ABI, n, (int)s->global.n);
}

/* The text with a second form of each kernel that can have one, and a new scan of it; how many there are. */
static tt_code add_forms(tt_cudac_scan *s, tt_str *more, int *nform, tt_error *err) {
  uint32_t at = 0;
  *nform = 0;
  for (int64_t k = 0; k < s->kernel.n; k++) {
    tt_cudac_kernel *f = &s->kernel.data[k];
    int64_t close = s->def.data[f->def].close;
    if (tt__interrupt_waiting()) return tt__interrupt_told(err);
    if (f->is_overloaded || close >= s->word.n) continue;
    uint32_t end = s->word.data[close].at + 1;
    tt_str one = {0};
    f->tells = tt__cudac_form_tells(s, f);
    tt_cudac_form form = TT_CUDAC_FORM_NONE;
    if (tt__cudac_split(s, f, &one)) {
      form = TT_CUDAC_FORM_SPLIT;
    } else if (!f->sync) {
      tt__cudac_form_thread(s, f, &one);
      form = TT_CUDAC_FORM_THREAD;
    }
    if (end >= at && one.len && !one.failed) {
      tt__str_add_n(more, s->text + at, end - at);
      tt__str_add(more, one.data);
      at = end;
      f->form = form;
      ++*nform;
    }
    tt__str_free(&one);
  }
  if (*nform == 0) return TT_OK;
  tt__str_add_n(more, s->text + at, s->len - at);
  if (more->failed) return tt__fail_memory(err, more->len);
  tt_cudac_scan again;
  TT_TRY(tt__cudac_scan(&again, more->data, more->len, err));
  for (int64_t k = 0; k < again.kernel.n && k < s->kernel.n; k++) {
    tt_cudac_kernel *to = &again.kernel.data[k], *from = &s->kernel.data[k];
    to->form = from->form;
    to->is_strip = from->is_strip;
    to->tells = from->tells;
  }
  tt__cudac_scan_free(s);
  *s = again;
  return TT_OK;
}

/* The preprocessed text to what is compiled. *nform: in, whether kernels may have other forms; out, how many do. */
static tt_code translate(const build *b, const tt_str *in, tt_str *out, tt_str *params, tt_str *own, int *nform,
                         tt_error *err) {
  const char *begin = in->data ? strstr(in->data, BEGIN) : NULL;
  if (!begin) return tt__fail(err, TT_EINTERNAL, "the preprocessor lost the program");
  const char *text = begin + strlen(BEGIN);
  size_t len = in->len - (size_t)(text - in->data);
  tt_cudac_scan s;
  tt_str more = {0}, words = {0};
  if (b->o->language) {
    tt_code code = b->o->language->translate(text, len, b->o, &words, err);
    if (code != TT_OK) {
      tt__str_free(&words);
      return code;
    }
    text = words.data ? words.data : "";
    len = words.len;
  }
  tt_code code = tt__cudac_scan(&s, text, len, err);
  if (code != TT_OK) {
    tt__str_free(&words);
    return code;
  }
  code = tt__cudac_refuse(&s, b->file, err);
  if (code == TT_OK && *nform) code = add_forms(&s, &more, nform, err);
  tt__str_add_n(out, in->data, (size_t)(begin - in->data));
  size_t start = out->len;
  if (code == TT_OK) {
    tt__cudac_rewrite(&s, b->o->check, out);
    add_table(b, &s, out, params);
  }
  if (!out->failed) tt__str_add_n(own, out->data + start, out->len - start);
  tt__cudac_scan_free(&s);
  tt__str_free(&more);
  tt__str_free(&words);
  if (code == TT_OK && (out->failed || params->failed || own->failed)) return tt__fail_memory(err, out->len);
  return code;
}

static void add_all(build *b, const char *const *arg, size_t n) {
  for (size_t k = 0; k < n; k++) add_arg(b, arg[k]);
}
#define ADD_ALL(b, list) add_all(b, list, sizeof list / sizeof *list)

static tt_code compile_once(build *b, const tt_str *text, tt_str *binary, tt_error *err) {
  char cc[PATH_SIZE * 2], so[PATH_SIZE * 2];
  TT_TRY(write_text(file_in(b, "program.cc", cc), text->data, text->len, err));
  begin_args(b);
  if (b->o->check) {
    ADD_ALL(b, check_flags);
    if (is_clang)
      ADD_ALL(b, clang_check_flags);
    else if (!dropped)
      ADD_ALL(b, gcc_check_flags);
  }
  if (!is_clang && !dropped) ADD_ALL(b, gcc_flags);
  if (is_old_gcc && !dropped) add_arg(b, old_gcc_flag);
  if (is_clang && !dropped) ADD_ALL(b, clang_flags);
  if (is_clang && mentions(b, shuffles)) ADD_ALL(b, clang_shuffle_flags);
  if (!dropped && tt__cpu_level() == 4) add_arg(b, "-mprefer-vector-width=512");
  add_flags(b, false);
  add_arg(b, "-shared");
  add_arg(b, "-Wl,-Bsymbolic"); /* a program's own operator new, not that of a library that stands before it */
  add_arg(b, "-nostdlib");
  add_arg(b, "-x");
  add_arg(b, "c++-cpp-output");
  add_arg(b, cc);
  add_arg(b, "-o");
  add_arg(b, file_in(b, "program.so", so));
  TT_TRY(run_compiler(b, text->data, err));
  return tt__file_read(so, binary, err);
}

/* Did the compiler stumble over a flag? Then it is to be tried again with fewer. */
static bool drop_flags(const build *b, tt_code code, const tt_error *err) {
  static const char *const words[] = {"unrecognized",    "unknown argument", "Unknown command line", "bad value",
                                      "invalid --param", "--param",          "unknown value"};
  bool stumbled = false;
  if (err && strstr(err->message, b->file)) return false; /* it speaks of the user's text */
  for (size_t k = 0; code == TT_EDEVICE && err && k < sizeof words / sizeof *words; k++)
    stumbled |= strstr(err->message, words[k]) != NULL;
  tt__lock(&lock);
  stumbled = stumbled && dropped < 2;
  dropped += stumbled;
  tt__unlock(&lock);
  return stumbled;
}

static tt_code preprocess(build *b, tt_str *out, tt_error *err) {
  tt_code code;
  do {
    code = preprocess_once(b, out, err);
  } while (drop_flags(b, code, err));
  return code;
}

static tt_code compile(build *b, const tt_str *text, tt_str *binary, tt_error *err) {
  tt_code code;
  do {
    code = compile_once(b, text, binary, err);
  } while (drop_flags(b, code, err));
  return code;
}

static tt_code load(build *b, const tt_str *binary, const tt_cudac_program **out, tt_error *err) {
  char so[PATH_SIZE * 2];
  TT_TRY(write_text(file_in(b, "program.so", so), binary->data, binary->len, err));
  void *lib = tt__lib_open(so, err);
  if (!lib) return TT_EDEVICE;
  const tt_cudac_program *p = tt__lib_sym(lib, "tt_program");
  if (!p || p->abi != TT_CUDAC_ABI) {
    tt__lib_close(lib);
    return tt__fail(err, TT_EDEVICE, "a compiled program is not one of this version");
  }
  if (b->o->check) TT_TRY(tt__cudac_note(p, so, binary, b->file, err));
  *p->core = &tt__cudac_core;
  *out = p;
  return TT_OK;
}

/* ---- all of it */

/* TUTTI_KERNEL_SPLIT=0: every barrier is met by fibers. */
static bool may_split(void) {
  const char *told = tt__env("TUTTI_KERNEL_SPLIT");
  return !told || strcmp(told, "0") != 0;
}

/* What a binary depends on, if that can be told without the compiler: not when other files are included. */
static bool make_key(const build *b, tt_str *key) {
  char real[PATH_SIZE * 8];
  const char *path = realpath(b->path, real) ? real : b->path;
  struct stat st = {0};
  if (stat(path, &st) != 0) return false;
  tt__str_addf(key, "%d %d %d %s %lld %lld %s %d %d", TRANSLATION, (int)may_split(), (int)b->o->check, path,
               (long long)st.st_size, (long long)st.st_mtime, tt__cpu_name(), tt__cpu_level(), (int)b->o->wide);
  for (size_t k = 0; k < sizeof flags / sizeof *flags; k++) tt__str_addf(key, " %s", flags[k]);
  if (b->o->language) tt__str_addf(key, " %s %d %d", b->o->language->name, b->o->language->version, (int)b->o->offset);
  tt_digest d = tt__digest(prelude_of(b), strlen(prelude_of(b)));
  tt__str_addf(key, " %llx%llx\n", (unsigned long long)d.lo, (unsigned long long)d.hi);
  if (uses_groups(b)) {
    d = tt__digest(tt__cuda_groups, strlen(tt__cuda_groups));
    tt__str_addf(key, "%llx%llx\n", (unsigned long long)d.lo, (unsigned long long)d.hi);
  }
  for (int k = 0; k < b->o->nflag; k++) {
    if (strncmp(b->o->flag[k], "-I", 2) == 0) return false;
    tt__str_addf(key, "%s\n", b->o->flag[k]);
  }
  for (int k = 0; k < b->o->nexpression; k++) tt__str_addf(key, "%s\n", b->o->expression[k]);
  tt__str_addf(key, "%s\n%s", b->file, b->source);
  for (const char *p = b->source; (p = strstr(p, "include")) != NULL; p++)
    if (p[7 + strspn(p + 7, " \t")] == '"') return false;
  return !key->failed;
}

/* The rest of a comment and its lines. */
static void add_comment(tt_str *out, const char *text) {
  for (size_t n; *text; text += n + (text[n] == '\n')) {
    n = strcspn(text, "\n");
    tt__str_add(out, text[0] == '\n' ? "" : " ");
    tt__str_add_n(out, text, n);
    tt__str_add(out, text[n] ? "\n//" : "");
  }
  tt__str_add(out, "\n");
}

/* The second forms are a guess: where they do not compile, the user's text stands alone, or tells its own errors. The
 * text says that it was so. */
static tt_code compile_plain(build *b, const tt_str *in, tt_str *binary, tt_str *params, tt_str *own, tt_error *err) {
  tt_str text = {0}, plain = {0};
  char first[sizeof err->message];
  int nform = 0;
  snprintf(first, sizeof first, "%s", err->message);
  tt__str_clear(params);
  tt__str_clear(own);
  tt__str_clear(binary);
  tt_code code = translate(b, in, &text, params, &plain, &nform, err);
  if (code == TT_OK) code = compile(b, &text, binary, err);
  if (code == TT_OK) {
    tt__str_add(own, "// Without the forms that need no fibers, since with them");
    add_comment(own, first);
    tt__str_add_n(own, plain.data ? plain.data : "", plain.len);
  }
  tt__str_free(&text);
  tt__str_free(&plain);
  return code;
}

static tt_code run_steps(build *b, const tt_cudac_program **out, tt_str *params, tt_str *own, tt_error *err) {
  tt_str key = {0}, binary = {0}, in = {0}, text = {0};
  bool keep = make_key(b, &key);
  bool found = keep && tt__cudac_cache_find(&key, &binary, params, own);
  tt_code code = TT_OK;
  if (!found) {
    code = preprocess(b, &in, err);
    int nform = may_split() && !b->o->check;
    if (code == TT_OK) code = translate(b, &in, &text, params, own, &nform, err);
    if (code == TT_OK) code = compile(b, &text, &binary, err);
    if (code == TT_EDEVICE && nform && text.len) code = compile_plain(b, &in, &binary, params, own, err);
  }
  if (code == TT_OK) code = load(b, &binary, out, err);
  if (code == TT_OK && keep && !found) tt__cudac_cache_store(&key, &binary, params, own);
  tt__str_free(&key);
  tt__str_free(&binary);
  tt__str_free(&in);
  tt__str_free(&text);
  return code;
}

static const char *usual_file(const tt_cudac_options *o) { return o->language ? o->language->file : "kernel.cu"; }

tt_code tt__cudac_build(const char *source, const tt_cudac_options *o, const tt_cudac_program **out, tt_str *params,
                        tt_str *text, tt_error *err) {
  char why[256];
  build b = {
      .source = source, .o = o, .file = o->file && o->file[0] && !strchr(o->file, '/') ? o->file : usual_file(o)};
  tt_str no_params = {0}, no_text = {0};
  *out = NULL;
  tt__cudac_compiler(b.path, sizeof b.path, why, sizeof why);
  if (!b.path[0])
    return tt__fail(err, TT_EDEVICE, "%s on the CPU needs a C++ compiler: %s",
                    o->language ? o->language->name : "CUDA C", why);
  TT_TRY(make_folder(&b, err));
  tt_code code = run_steps(&b, out, params ? params : &no_params, text ? text : &no_text, err);
  remove_folder(&b);
  tt__str_free(&no_params);
  tt__str_free(&no_text);
  return code;
}
