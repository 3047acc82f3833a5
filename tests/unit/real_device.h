/*
** What tt_lib_device promises, over a device that is there: memory until real_end, kernels compiled at once. And one
** that is not: its kernels are compiled for sm_90 and never run.
*/
#ifndef REAL_DEVICE_H
#define REAL_DEVICE_H

#include "base/str.h"
#include "device/cuda/nvrtc.h"
#include "device/device.h"
#include "ir/library.h"
#include "render/dialect.h"
#include "render/render.h"

enum { REAL_TEMPS = 512, REAL_MODULES = 256 };

static struct {
  void *p;
  size_t size;
} real_temp[REAL_TEMPS];
static int real_temps, real_compiled;

static struct {
  char *source;
  tt_module *module;
} real_module[REAL_MODULES];
static int real_modules;

static tt_code real_take(const tt_lib_device *on, size_t size, void **out, tt_error *err) {
  if (real_temps == REAL_TEMPS) return tt__fail(err, TT_EINTERNAL, "the test takes too much memory");
  TT_TRY(on->device->ops->alloc(on->device, size ? size : 1, out, err));
  real_temp[real_temps].p = *out;
  real_temp[real_temps++].size = size ? size : 1;
  return TT_OK;
}

static void real_end(const tt_lib_device *on) {
  on->device->ops->stream_wait_idle(on->device, on->stream, NULL);
  while (real_temps) {
    real_temps--;
    on->device->ops->free(on->device, real_temp[real_temps].p, real_temp[real_temps].size);
  }
}

static tt_code real_text(const char *source, tt_scalar_text math, tt_str *text) {
  tt__render_header(&tt__dialect_cuda, math, text);
  tt__str_add(text, source);
  return text->failed ? TT_ENOMEM : TT_OK;
}

static tt_code real_routine(const tt_lib_device *on, const char *source, tt_scalar_text math, const char *name,
                            tt_routine **out, tt_error *err) {
  tt_module *m = NULL;
  for (int i = 0; i < real_modules && !m; i++)
    if (strcmp(real_module[i].source, source) == 0) m = real_module[i].module;
  if (!m) {
    tt_str text = {0}, binary = {0};
    tt_code code = real_text(source, math, &text);
    if (code == TT_OK) code = on->device->ops->compile(on->device, text.data, "--fmad=false", &binary, err);
    if (code == TT_OK) code = on->device->ops->load(on->device, binary.data, binary.len, &m, err);
    tt__str_free(&text);
    tt__str_free(&binary);
    if (code != TT_OK) return code;
    real_module[real_modules].source = strdup(source);
    real_module[real_modules++].module = m;
  }
  tt_routine_info info;
  return on->device->ops->routine(on->device, m, name, out, &info, err);
}

static tt_code real_read(const tt_lib_device *on, void *to, const void *from, size_t size, tt_error *err) {
  TT_TRY(on->device->ops->copy_out(on->device, on->stream, to, from, size, err));
  return on->device->ops->stream_wait_idle(on->device, on->stream, err);
}

/* cuda:0; false and why when there is none. */
static bool real_open(tt_lib_device *on, tt_error *err) {
  tt_device *d = NULL;
  if (tt__device_open(tt__device_id(TT_DEVICE_CUDA, 0), &d, err) != TT_OK) return false;
  *on = (tt_lib_device){.device = d,
                        .stream = d->work,
                        .temp = real_take,
                        .result = real_take,
                        .routine = real_routine,
                        .read = real_read};
  return true;
}

/* ---- compiled, not run */

static inline bool real_has_compiler(void) {
  tt_str id = {0};
  tt__nvrtc_identity(90, 0, &id);
  bool has = id.len > 0;
  tt__str_free(&id);
  return has;
}

static inline tt_code compiled_routine(const tt_lib_device *on, const char *source, tt_scalar_text math,
                                       const char *name, tt_routine **out, tt_error *err) {
  (void)on;
  tt_str text = {0}, binary = {0};
  TT_TRY(real_text(source, math, &text));
  tt_code code = tt__nvrtc_compile(90, 0, text.data, "--fmad=false", &binary, err);
  if (code == TT_OK && !memmem(binary.data, binary.len, name, strlen(name)))
    code = tt__fail(err, TT_EINTERNAL, "no %s in the binary", name);
  real_compiled += code == TT_OK;
  tt__str_free(&text);
  tt__str_free(&binary);
  *out = NULL;
  return code;
}

static inline tt_code no_launch(tt_device *d, tt_stream *s, tt_routine *r, const tt_grid *g, const void *args,
                                size_t size, tt_error *err) {
  (void)d, (void)s, (void)r, (void)g, (void)args, (void)err;
  return size <= 4096 ? TT_OK : TT_EINTERNAL;
}

#endif
