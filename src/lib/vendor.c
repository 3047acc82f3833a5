/* Finding a vendor's library and its handles; see vendor.h. */
#include "lib/vendor.h"

#include <string.h>

#include "base/os/find.h"
#include "base/os/os.h"

/* A library that is there but makes no handle may have lacked memory: it is asked again, not for ever. */
#define MOST_TRIES 3

typedef int (*create_fn)(void **handle);

/* Every symbol is there, and it can make a handle on this device: it serves this driver. */
static bool fits(void *lib, const char *path, void *ctx) {
  (void)path;
  tt_vendor *v = ctx;
  for (int i = 0; i < v->n; i++) {
    const char *name = v->name[i];
    void *p = tt__lib_sym(lib, name + (*name == '?'));
    if (!p && *name != '?') return false;
    memcpy(&v->fn[i], &p, sizeof p); /* ISO C has no cast from object to function pointers */
  }
  void *handle = NULL;
  v->status = ((create_fn)v->fn[0])(&handle);
  if (v->status != 0) return false;
  v->at[v->ndevice].handle = handle;
  return true;
}

static tt_code missing(const tt_vendor *v, tt_error *err) {
  if (v->status) return tt__fail(err, TT_ENOTIMPL, "%s does not serve this device (status %d)", v->stem, v->status);
  return tt__fail(err, TT_ENOTIMPL, "%s", v->path); /* says why there is none */
}

/* A handle for a device that has none. */
static tt_code make_handle(tt_vendor *v, tt_device *d, void **handle, tt_error *err) {
  if (v->ndevice == TT_VENDOR_DEVICES) return tt__fail(err, TT_ENOTIMPL, "%s: too many devices", v->stem);
  if (!v->found && !v->played) {
    if (v->tries == MOST_TRIES) return missing(v, err);
    v->tries++;
    v->status = 0;
    if (!tt__find_library(v->stem, fits, v, v->path, sizeof v->path)) return missing(v, err);
    v->found = true;
  } else {
    v->status = ((create_fn)v->fn[0])(&v->at[v->ndevice].handle);
    if (v->status) return missing(v, err);
  }
  *handle = v->at[v->ndevice].handle;
  v->at[v->ndevice++].device = d;
  return TT_OK;
}

tt_code tt__vendor_enter(tt_vendor *v, tt_device *d, void **handle, tt_error *err) {
  if (d->target.kind != TT_DEVICE_CUDA && !v->played)
    return tt__fail(err, TT_ENOTIMPL, "%s is for CUDA devices", v->stem);
  if (d->ops->interop && d->ops->interop->enter) TT_TRY(d->ops->interop->enter(d, err));
  tt__lock(&v->lock);
  for (int i = 0; i < v->ndevice; i++) {
    if (v->at[i].device != d) continue;
    *handle = v->at[i].handle;
    return TT_OK;
  }
  tt_code code = make_handle(v, d, handle, err);
  if (code != TT_OK) tt__unlock(&v->lock);
  return code;
}

void tt__vendor_leave(tt_vendor *v) { tt__unlock(&v->lock); }
