/*
** The functions of tutti/opencl.h: arguments, the lock, a call.
*/
#include "tutti/opencl.h"

#include <string.h>

#include "api/enter.h"
#include "base/mem.h"
#include "device/opencl/loader.h"
#include "ir/target.h"
#include "lang/opencl_c/opencl.h"
#include "launch/language.h"
#include "launch/opencl_c/range.h"

tt_code tt_program_opencl(const char *source, const char *options, const char *file, int device, tt_program **out,
                          tt_error *err) {
  tt_error local = {0};
  tt_str text = {0};
  int n = 0;
  void *made = NULL;
  *out = NULL;
  if (!err) err = &local;
  if (!source) return tt__fail(err, TT_EVALUE, "the source is NULL");
  tt_code code = tt__opencl_flags(options, &text, &n, err);
  size_t size = ((size_t)n + 1) * sizeof(char *);
  const char **flag = code == TT_OK ? tt__mem_alloc(size) : NULL;
  if (code == TT_OK && !flag) code = tt__fail_memory(err, size);
  const char *at = text.data;
  for (int k = 0; flag && k < n; k++, at += strlen(at) + 1) flag[k] = at;
  if (code == TT_OK) {
    tt_program_options o = {.file = file, .flag = flag, .nflag = n};
    tt_source s = {.language = TT_OPENCL_C, .text = source, .cuda = &o, .words = options, .device = device};
    code = tt__source_read(&s, &made, err);
  }
  *out = made;
  if (flag) tt__mem_free((void *)flag, size);
  tt__str_free(&text);
  return code;
}

const char *tt_program_source(const tt_program *p) { return p->source; }

tt_code tt_entry_range(tt_entry *r, const tt_range *range, const tt_argument *arg, int n, tt_error *err) {
  tt_entered c;
  err = tt__enter(&c, err);
  return tt__leave(&c, tt__entry_range(r, range, arg, n, err));
}

tt_code tt_opencl_ask(int device, bool platform, unsigned what, void *out, size_t size, size_t *need, tt_error *err) {
  tt_error local;
  char text[80];
  const tt_cl_machine *m = tt__cl_machine(NULL, 0);
  int k = device > 0 && tt__device_kind(device) == TT_DEVICE_OPENCL ? tt__device_index(device) : -1;
  if (!err) err = &local;
  if (!m || k < 0 || k >= m->n) return tt__fail(err, TT_EVALUE, "device %d is none of OpenCL's", device);
  *need = 0;
  int result = platform ? m->api.platform_info(m->at[k].platform, what, 0, NULL, need)
                        : m->api.device_info(m->at[k].device, what, 0, NULL, need);
  if (result == 0 && size >= *need)
    result = platform ? m->api.platform_info(m->at[k].platform, what, size, out, NULL)
                      : m->api.device_info(m->at[k].device, what, size, out, NULL);
  if (result == 0) return TT_OK;
  tt__cl_text(result, text, sizeof text);
  return tt__fail(err, TT_EVALUE, "OpenCL has no answer to %#x: %s", what, text);
}

void tt_entry_asked(const tt_entry *r, uint32_t local[3]) { tt__entry_asked(r, local); }
int64_t tt_local_memory(void) { return tt__local_memory(); }
