/* Asking drivers in a process of its own, and remembering what came of it; see probe.h. */
#include "device/opencl/probe.h"

#include <dirent.h>
#include <dlfcn.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/lock.h"
#include "base/mem.h"
#include "base/os/interrupt.h"
#include "base/os/os.h"
#include "device/opencl/loader.h"

#define PROBE_HEAD "tutti-opencl 1\n"

/* Before the program's own beginning, in the child alone. */
TT_AT_LOAD(0) static void become_probe(void) {
  const char *told = secure_getenv(TT_CL_CHILD);
  if (!told) return;
  char *end;
  int seconds = (int)strtol(told, &end, 10);
  uint32_t avoided = (uint32_t)strtoul(end, &end, 10);
  tt__cl_probe_here(seconds > 0 ? seconds : 1, avoided, *end ? end + 1 : "");
}

static int probe_seconds(void) {
  const char *told = tt__env("TUTTI_OPENCL_PROBE");
  enum { SECONDS = 30, MOST_SECONDS = 3600 };
  long n = told ? strtol(told, NULL, 10) : SECONDS;
  return n < 0 ? 0 : n > MOST_SECONDS ? MOST_SECONDS : (int)n;
}

/* ---- starting the child */

/* What loaders look at, which may have changed since the library was loaded. */
static const char *const looked_at[] = {"OCL_ICD_VENDORS", "OCL_ICD_FILENAMES", "OPENCL_VENDOR_PATH",
                                        "OPENCL_LAYERS",   "LD_LIBRARY_PATH",   "TUTTI_OPENCL"};
enum { LOOKED_AT = sizeof looked_at / sizeof looked_at[0], SETTING = PATH_MAX + 64 };

/* The words of a call of env: what it sets, then the program. */
typedef struct probe_call {
  const char *argv[LOOKED_AT + 5];
  int n;
  char setting[LOOKED_AT + 2][SETTING], program[PATH_MAX];
} probe_call;

static void add_setting(probe_call *c, const char *name, const char *value) {
  char *text = c->setting[c->n - 1];
  int n = snprintf(text, SETTING, "%s=%s", name, value);
  if (n > 0 && n < SETTING) c->argv[c->n++] = text; /* else it stays what it was */
}

/*
** The file that this code is part of; NULL: it is the program. Preloading it gives the symbols that it wants of the
** program (an interpreter's) as they are given here.
*/
static const char *own_file(const char *program) {
  Dl_info found;
  struct stat own, other;
  if (!dladdr((void *)(uintptr_t)&tt__cl_probe, &found) || !found.dli_fname) return NULL;
  if (stat(found.dli_fname, &own) != 0 || stat(program, &other) != 0) return NULL;
  return own.st_dev == other.st_dev && own.st_ino == other.st_ino ? NULL : found.dli_fname;
}

/* False: the system would not preload. */
static bool fill_call(probe_call *c, const char *library, int seconds, uint32_t avoided) {
  char told[PATH_MAX + 32], preload[PATH_MAX];
  ssize_t len = readlink("/proc/self/exe", c->program, sizeof c->program - 1);
  if (len <= 0 || getauxval(AT_SECURE)) return false;
  c->program[len] = 0;
  c->argv[0] = "env";
  c->n = 1;
  snprintf(told, sizeof told, "%d %u %s", seconds, (unsigned)avoided, library);
  add_setting(c, TT_CL_CHILD, told);
  const char *own = own_file(c->program), *before = tt__env("LD_PRELOAD");
  snprintf(preload, sizeof preload, "%s%s%s", before ? before : "", before ? ":" : "", own ? own : "");
  if (own) add_setting(c, "LD_PRELOAD", preload);
  for (int i = 0; i < LOOKED_AT; i++)
    if (getenv(looked_at[i])) add_setting(c, looked_at[i], getenv(looked_at[i]));
  c->argv[c->n++] = c->program;
  c->argv[c->n] = NULL;
  return true;
}

typedef enum probe_end { PROBE_RAN, PROBE_STOPPED, PROBE_UNKNOWN } probe_end;

/* Run it; `said` is what it said, *status its exit status. PROBE_UNKNOWN: nothing was learned, err says why. */
static probe_end run_child(const char *library, int seconds, uint32_t avoided, tt_str *said, int *status,
                           tt_error *err) {
  enum { BEYOND = 5 }; /* seconds, for a driver that hears no signals */
  probe_call *call = tt__mem_zalloc(sizeof *call);
  tt_child child;
  tt_code code = call ? TT_OK : tt__fail_memory(err, sizeof *call);
  if (code == TT_OK && !fill_call(call, library, seconds, avoided))
    code = tt__fail(err, TT_EIO, "no process can be started for it");
  if (code == TT_OK) code = tt__child_start(call->argv, false, &child, err);
  bool started = code == TT_OK;
  if (started) code = tt__child_end(&child, NULL, 0, seconds + BEYOND, status, said, err);
  if (code == TT_EINTERRUPT) tt__interrupt(); /* nobody here can be told: who waits next is */
  tt__mem_free(call, sizeof *call);
  return code == TT_OK ? PROBE_RAN : started && code == TT_EIO ? PROBE_STOPPED : PROBE_UNKNOWN;
}

/* ---- what it said */

/* The next of our lines, without what marks it; NULL: there is none. It is cut off from the rest. */
static char *next_line(char **rest) {
  for (char *line = *rest; line; line = *rest) {
    char *end = strchr(line, '\n');
    *rest = end ? end + 1 : NULL;
    if (!end) return NULL; /* it is not whole */
    *end = 0;
    if (strncmp(line, TT_CL_LINE, strlen(TT_CL_LINE)) == 0) return line + strlen(TT_CL_LINE);
  }
  return NULL;
}

typedef struct cl_report {
  bool done, has_gpu;
  int at, signal; /* the last platform that was asked, -1: the loader; 0: no signal was heard of */
  char name[100]; /* of that platform, "" */
  tt_str files;   /* a line each */
} cl_report;

static void read_report(char *said, cl_report *r) {
  char *rest = said;
  *r = (cl_report){.at = -1};
  for (const char *line; (line = next_line(&rest));) {
    if (strncmp(line, "file ", 5) == 0) tt__str_addf(&r->files, "%s\n", line + 5);
    if (strncmp(line, "name ", 5) == 0) snprintf(r->name, sizeof r->name, "%.99s", line + 5);
    if (strncmp(line, "at ", 3) == 0) {
      r->at = atoi(line + 3);
      r->name[0] = 0;
    }
    if (strncmp(line, "signal ", 7) == 0) r->signal = atoi(line + 7);
    if (strcmp(line, "gpu") == 0) r->has_gpu = true;
    if (strcmp(line, "done") == 0) r->done = true;
  }
}

/* "ended the process that asked it first (signal 11)". */
static void word_failure(const cl_report *r, probe_end end, int seconds, char *out, size_t size) {
  if (r->signal == SIGALRM || end == PROBE_STOPPED)
    snprintf(out, size, "did not answer in %d seconds", seconds);
  else if (r->signal)
    snprintf(out, size, "ended the process that asked it first (signal %d)", r->signal);
  else
    snprintf(out, size, "ended the process that asked it first");
}

/* ---- what is remembered */

/* Where: by what decides which drivers a loader takes. False: nowhere. */
static bool record_path(const char *library, char *path, size_t size) {
  char folder[PATH_MAX], hex[33];
  struct utsname system;
  tt_error err;
  tt_str key = {0};
  if (!tt__dir_cache(folder, sizeof folder) || tt__dir_make(folder, &err) != TT_OK || !tt__file_is_ours(folder))
    return false;
  tt__str_addf(&key, "%s\n%s\n", library, uname(&system) == 0 ? system.release : "");
  for (int i = 0; i < LOOKED_AT; i++) tt__str_addf(&key, "%s\n", getenv(looked_at[i]) ? getenv(looked_at[i]) : "");
  bool good = !key.failed;
  if (good) tt__digest_hex(tt__digest(key.data, key.len), hex);
  int n = good ? snprintf(path, size, "%s/opencl-%.16s", folder, hex) : -1;
  tt__str_free(&key);
  return n > 0 && (size_t)n < size;
}

static void add_file(tt_str *out, const char *path) {
  struct stat st = {0};
  bool found = stat(path, &st) == 0;
  tt__str_addf(out, "file %lld.%09ld %lld %s\n", found ? (long long)st.st_mtim.tv_sec : -1, st.st_mtim.tv_nsec,
               found ? (long long)st.st_size : -1, path);
}

/* The folder that names drivers, and what is in it. */
static void add_vendors(tt_str *out) {
  const char *told = tt__env("OCL_ICD_VENDORS"), *folder = told ? told : "/etc/OpenCL/vendors";
  char path[PATH_MAX];
  DIR *dir = opendir(folder);
  add_file(out, folder);
  for (const struct dirent *entry; dir && (entry = readdir(dir));) {
    int n = snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
    if (entry->d_name[0] != '.' && n > 0 && (size_t)n < sizeof path) add_file(out, path);
  }
  if (dir) closedir(dir);
}

static void add_files(tt_str *out, const tt_str *files) {
  char path[PATH_MAX];
  for (const char *at = files->data, *end; at && (end = strchr(at, '\n')); at = end + 1)
    if ((size_t)(end - at) < sizeof path) {
      snprintf(path, sizeof path, "%.*s", (int)(end - at), at);
      add_file(out, path);
    }
}

static void remember(const char *path, const tt_str *files, const tt_cl_verdict *v) {
  tt_error err;
  tt_str text = {0};
  tt__str_add(&text, PROBE_HEAD);
  add_vendors(&text);
  add_files(&text, files);
  tt__str_addf(&text, "verdict %d %d %u %s\nend\n", v->is_safe, v->has_gpu, (unsigned)v->avoided, v->why);
  if (!text.failed) tt__file_write(path, text.data, text.len, &err); /* where it cannot be written it is asked again */
  tt__str_free(&text);
}

/* Is the line what would be written of that file now? */
static bool is_file_as_before(const char *line) {
  int from = 0;
  (void)sscanf(line, "file %*s %*s %n", &from);
  if (from == 0) return false;
  tt_str now = {0};
  add_file(&now, line + from);
  size_t len = strlen(line);
  bool same = !now.failed && now.len == len + 1 && memcmp(now.data, line, len) == 0;
  tt__str_free(&now);
  return same;
}

/* Read a record; false: it is none, or the files are others now. */
static bool read_record(char *text, tt_cl_verdict *out) {
  bool seen = false;
  if (strncmp(text, PROBE_HEAD, strlen(PROBE_HEAD)) != 0) return false;
  for (char *line = text + strlen(PROBE_HEAD), *end; (end = strchr(line, '\n')); line = end + 1) {
    *end = 0;
    if (strncmp(line, "file ", 5) == 0 && !is_file_as_before(line)) return false;
    int safe, gpu, from = 0;
    unsigned avoided;
    if (sscanf(line, "verdict %d %d %u %n", &safe, &gpu, &avoided, &from) == 3 && from > 0) {
      *out = (tt_cl_verdict){.is_known = true, .is_safe = safe == 1, .has_gpu = gpu == 1, .avoided = avoided};
      snprintf(out->why, sizeof out->why, "%s", line + from);
      seen = true;
    }
    if (strcmp(line, "end") == 0) return seen;
  }
  return false;
}

/* A bad verdict is believed for a day: what stopped a driver may have been the machine. */
static bool recall(const char *path, tt_cl_verdict *out) {
  enum { DAY = 86400 };
  tt_str text = {0};
  tt_error err;
  struct stat st;
  bool good = tt__file_is_ours(path) && stat(path, &st) == 0 && tt__file_read(path, &text, &err) == TT_OK &&
              text.data && read_record(text.data, out);
  if (good && (!out->is_safe || out->avoided)) good = time(NULL) - st.st_mtime < DAY;
  tt__str_free(&text);
  return good;
}

/* ---- all of it */

/* One child's run. True: ask once more, with one platform less. */
static bool ask_once(const char *library, int seconds, tt_cl_verdict *v, tt_str *files) {
  tt_str said = {0};
  tt_error err = {0};
  cl_report r = {.at = -1};
  char how[160];
  int status = 0;
  probe_end end = run_child(library, seconds, v->avoided, &said, &status, &err);
  if (said.len && !said.failed) read_report(said.data, &r);
  if (end == PROBE_RAN && status > 128 && !r.signal) r.signal = status - 128; /* the driver has a handler of its own */
  tt__str_free(&said);
  tt__str_free(files);
  *files = r.files;
  v->is_known = end != PROBE_UNKNOWN;
  v->is_safe = end == PROBE_RAN && r.done;
  v->has_gpu = r.has_gpu;
  if (v->is_safe) return false;
  word_failure(&r, end, seconds, how, sizeof how);
  if (v->is_known && r.at >= 0) {
    v->avoided |= 1u << r.at;
    snprintf(v->why, sizeof v->why, "platform %d of OpenCL (%.60s) is left out: it %s", r.at,
             r.name[0] ? r.name : "without a name", how);
    return true;
  }
  if (v->is_known)
    snprintf(v->why, sizeof v->why,
             "OpenCL is left out: a driver %s; OCL_ICD_VENDORS can name a folder that does not list it", how);
  else
    snprintf(v->why, sizeof v->why,
             "OpenCL is left out: its drivers could not be tried (%.120s); TUTTI_OPENCL_PROBE=0 takes them untried",
             err.message);
  return false;
}

void tt__cl_probe(const char *library, tt_cl_verdict *out) {
  char path[PATH_MAX];
  int seconds = probe_seconds();
  bool is_kept = seconds > 0 && record_path(library, path, sizeof path);
  *out = (tt_cl_verdict){.is_safe = true, .is_known = true, .has_gpu = true};
  if (seconds == 0 || (is_kept && recall(path, out))) return;
  tt_str files = {0};
  *out = (tt_cl_verdict){0};
  for (int k = 0; k < TT_CL_MOST && ask_once(library, seconds, out, &files); k++) continue;
  if (is_kept && out->is_known && !files.failed) remember(path, &files, out);
  tt__str_free(&files);
}
