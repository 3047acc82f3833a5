/*
** A device that a test plays: memory of the process with guards around it, kernels by the system's C compiler under
** emulate.h. What tt_lib_device promises, and how the texts of lib/text/ are run without a GPU.
*/
#ifndef FAKE_DEVICE_H
#define FAKE_DEVICE_H

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ir/library.h"

extern const char tt__prelude_text[];

typedef void (*fake_launch_fn)(void (*kernel)(const void *), unsigned blocks, unsigned threads, const void *args,
                               unsigned seed);

struct tt_routine {
  void (*kernel)(const void *);
  fake_launch_fn launch;
};

typedef struct fake_module {
  char *source;
  void *lib;
  struct tt_routine routine[16];
  char name[16][32];
  int n;
} fake_module;

enum { FAKE_MODULES = 512, FAKE_GUARD = 256 };
static fake_module fake_modules[FAKE_MODULES];
static int fake_module_count, fake_launches;
static unsigned fake_seed = 1;

static struct {
  char *base;
  size_t size;
} fake_temps[64];
static int fake_temp_count;

static void fake_die(const char *what) {
  fprintf(stderr, "fake device: %s\n", what);
  exit(2);
}

static void *fake_load(const char *source) {
  char dir[] = "/tmp/tutti-emulate-XXXXXX", path[128], out[128], command[512];
  if (!mkdtemp(dir)) fake_die("no directory for files");
  snprintf(path, sizeof path, "%s/k.c", dir);
  snprintf(out, sizeof out, "%s/k.so", dir);
  /* The words need the types of the prelude: types first, then words (macros), then the kernels. */
  FILE *f = fopen(path, "w");
  if (!f) fake_die("cannot write");
  fputs(tt__prelude_text, f);
  fprintf(f, "\n#include \"%s/tests/unit/emulate.h\"\n", TT_TEST_SOURCE);
  fputs(source, f);
  fclose(f);
  const char *cc = getenv("TUTTI_CC") ? getenv("TUTTI_CC") : "cc";
  snprintf(
      command, sizeof command,
      "%s -O1 -std=gnu11 -w -fPIC -shared -fvisibility=hidden -fno-strict-aliasing -ffp-contract=off -fwrapv -o %s "
      "%s",
      cc, out, path);
  if (system(command) != 0) fake_die(command);
  void *lib = dlopen(out, RTLD_NOW | RTLD_LOCAL);
  if (!lib) fake_die(dlerror());
  if (!getenv("TT_TEST_KEEP")) {
    unlink(path);
    unlink(out);
    rmdir(dir);
  }
  return lib;
}

static tt_code fake_routine(const tt_lib_device *on, const char *source, tt_scalar_text math, const char *name,
                            tt_routine **out, tt_error *err) {
  (void)on, (void)math, (void)err;
  fake_module *m = NULL;
  for (int i = 0; i < fake_module_count && !m; i++)
    if (strcmp(fake_modules[i].source, source) == 0) m = &fake_modules[i];
  if (!m) {
    if (fake_module_count == FAKE_MODULES) fake_die("too many texts");
    m = &fake_modules[fake_module_count++];
    m->source = strdup(source);
    m->lib = fake_load(source);
  }
  for (int i = 0; i < m->n; i++)
    if (strcmp(m->name[i], name) == 0) {
      *out = &m->routine[i];
      return TT_OK;
    }
  struct tt_routine *r = &m->routine[m->n];
  snprintf(m->name[m->n++], 32, "%s", name);
  r->kernel = (void (*)(const void *))dlsym(m->lib, name);
  r->launch = (fake_launch_fn)dlsym(m->lib, "emu_launch");
  if (!r->kernel || !r->launch) fake_die(name);
  *out = r;
  return TT_OK;
}

static tt_code fake_temp(const tt_lib_device *on, size_t size, void **out, tt_error *err) {
  (void)on, (void)err;
  if (fake_temp_count == 64) fake_die("too much temporary memory");
  char *p = aligned_alloc(256, (size + 2 * FAKE_GUARD + 255) / 256 * 256);
  memset(p, 0x5a, size + 2 * FAKE_GUARD);
  fake_temps[fake_temp_count].base = p;
  fake_temps[fake_temp_count++].size = size;
  *out = p + FAKE_GUARD;
  return TT_OK;
}

/* Give back what a call took; its guards have to be whole. */
static void fake_end(void) {
  for (int k = 0; k < fake_temp_count; k++) {
    char *p = fake_temps[k].base;
    for (int i = 0; i < FAKE_GUARD; i++)
      if (p[i] != 0x5a || p[FAKE_GUARD + fake_temps[k].size + (size_t)i] != 0x5a) fake_die("wrote beside its memory");
    free(p);
  }
  fake_temp_count = 0;
}

static size_t fake_longest = SIZE_MAX; /* no result is longer */
static tt_code fake_result(const tt_lib_device *on, size_t size, void **out, tt_error *err) {
  (void)on;
  if (size > fake_longest) return tt__fail(err, TT_ENOMEM, "no room for %zu bytes", size);
  *out = aligned_alloc(64, (size + 64) / 64 * 64);
  return TT_OK;
}

/* What is shrunk to nothing is not handed on. */
static void fake_shrink(const tt_lib_device *on, void *p, size_t size) {
  (void)on;
  if (!size) free(p);
}

static tt_code fake_read(const tt_lib_device *on, void *to, const void *from, size_t size, tt_error *err) {
  (void)on, (void)err;
  memcpy(to, from, size);
  return TT_OK;
}

static tt_code fake_fill(tt_device *d, tt_stream *s, void *p, uint8_t byte, size_t size, tt_error *err) {
  (void)d, (void)s, (void)err;
  memset(p, byte, size);
  return TT_OK;
}

static tt_code fake_copy(tt_device *d, tt_stream *s, void *to, const void *from, size_t size, tt_error *err) {
  (void)d, (void)s, (void)err;
  memmove(to, from, size);
  return TT_OK;
}

static tt_code fake_launch(tt_device *d, tt_stream *s, tt_routine *r, const tt_grid *g, const void *args, size_t size,
                           tt_error *err) {
  (void)d, (void)s, (void)size, (void)err;
  fake_launches++;
  r->launch(r->kernel, g->grid[0], g->block[0], args, fake_seed += 7919);
  return TT_OK;
}

/* What the vendor's libraries were asked for, as they say. */
static int fake_asked_for;
static const char *fake_last_asked = "";
static tt_code fake_asked(tt_device *d, tt_stream *s, const char *what, tt_error *err) {
  (void)d, (void)s, (void)err;
  fake_asked_for++;
  fake_last_asked = what;
  return TT_OK;
}

static const tt_interop_ops fake_interop = {.asked = fake_asked};
static const tt_device_ops fake_ops = {.name = "fake",
                                       .fill = fake_fill,
                                       .copy_in = fake_copy,
                                       .copy_within = fake_copy,
                                       .launch = fake_launch,
                                       .interop = &fake_interop};
static tt_device fake_gpu = {.ops = &fake_ops,
                             .target = {.kind = TT_DEVICE_NULL,
                                        .units = 4,
                                        .warp = 32,
                                        .block_threads = 1024,
                                        .shared_block = 49152,
                                        .memory_bytes = (int64_t)1 << 34,
                                        .grid_max = {INT32_MAX, 65535, 65535}}};
static tt_lib_device fake = {.device = &fake_gpu,
                             .temp = fake_temp,
                             .result = fake_result,
                             .shrink = fake_shrink,
                             .routine = fake_routine,
                             .read = fake_read};

#endif
