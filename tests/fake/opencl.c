/*
** A loader of OpenCL before the real one, to test what is seldom seen: it hands all calls on, and does to some what the
** environment says.
**   FAKE_OPENCL_FAIL      "clFinish:-5:2": the third call of it gives -5. Instead of a number: "crash", "hang", "exit"
**   FAKE_OPENCL_LOAD      "crash", "hang", "exit": as soon as this library is loaded (a driver may be such a one)
**   FAKE_OPENCL_PLATFORMS 0: there is none
**   FAKE_OPENCL_GPU       1: devices say that they are GPUs
**   FAKE_OPENCL_HIDE      extensions, between spaces, that devices do not have; without cl_khr_fp64 no text has doubles
**   FAKE_OPENCL_MEMORY    bytes of a device
*/
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
#define REAL(name) ((__typeof__(&name))real(#name))

static void *real(const char *name) {
  static void *lib;
  if (!lib) lib = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
  void *found = lib ? dlsym(lib, name) : NULL;
  if (!found) abort(); /* it is linked with the real one */
  return found;
}

static volatile uintptr_t nowhere = 8;

static void misbehave(const char *how) {
  if (strcmp(how, "exit") == 0) exit(0);
  while (strcmp(how, "hang") == 0) sleep(1);
  if (strcmp(how, "crash") == 0) *(volatile int *)nowhere = 1;
}

__attribute__((constructor)) static void at_load(void) {
  const char *how = getenv("FAKE_OPENCL_LOAD");
  if (how) misbehave(how);
}

/* What the named call gives: 0, or what it was told to. */
static int answer(const char *name) {
  const char *text = getenv("FAKE_OPENCL_FAIL");
  static int seen;
  size_t n = strlen(name);
  if (!text || strncmp(text, name, n) != 0 || text[n] != ':') return 0;
  char how[16] = "";
  int at = 0;
  sscanf(text + n + 1, "%15[^:]:%d", how, &at);
  if (seen++ != at) return 0;
  misbehave(how);
  return atoi(how);
}

static int64_t number(const char *name) {
  const char *text = getenv(name);
  return text ? atoll(text) : 0;
}

static int hides(const char *word, size_t len) {
  const char *list = getenv("FAKE_OPENCL_HIDE");
  for (const char *at = list; at && (at = strstr(at, word)); at += len)
    if ((at == list || at[-1] == ' ') && (at[len] == 0 || at[len] == ' ')) return 1;
  return 0;
}

/* ---- what there is */

EXPORT int clGetPlatformIDs(unsigned most, void **out, unsigned *n) {
  int told = answer(__func__);
  if (told) return told;
  const char *count = getenv("FAKE_OPENCL_PLATFORMS");
  if (count && atoi(count) == 0) return n ? *n = 0, -1001 : -1001;
  return REAL(clGetPlatformIDs)(most, out, n);
}

EXPORT int clGetDeviceIDs(void *platform, uint64_t type, unsigned most, void **out, unsigned *n) {
  int told = answer(__func__);
  return told ? told : REAL(clGetDeviceIDs)(platform, type, most, out, n);
}

static void hide_words(char *text) {
  char *to = text;
  for (const char *from = text; *from;) {
    size_t len = strcspn(from, " ");
    char word[128];
    snprintf(word, sizeof word, "%.*s", (int)len, from);
    if (len && !hides(word, len)) {
      memmove(to, from, len);
      to += len;
      *to++ = ' ';
    }
    from += len + strspn(from + len, " ");
  }
  *to = 0;
}

EXPORT int clGetDeviceInfo(void *device, unsigned what, size_t size, void *out, size_t *need) {
  enum { TYPE = 0x1000, MOST_BLOCK = 0x1010, MEMORY = 0x101f, EXTENSIONS = 0x1030, DOUBLES = 0x1032, GPU = 4 };
  int result = REAL(clGetDeviceInfo)(device, what, size, out, need);
  if (result != 0 || !out) return result;
  int64_t memory = number("FAKE_OPENCL_MEMORY");
  if (what == TYPE && number("FAKE_OPENCL_GPU")) memcpy(out, &(uint64_t){GPU}, 8);
  if (what == DOUBLES && hides("cl_khr_fp64", 11)) memset(out, 0, 8);
  if (memory && (what == MEMORY || what == MOST_BLOCK)) memcpy(out, &memory, 8);
  if (what == EXTENSIONS && getenv("FAKE_OPENCL_HIDE")) hide_words(out);
  return result;
}

/* ---- what may fail */

EXPORT void *clCreateContext(const intptr_t *properties, unsigned n, void *const *devices, void *notify, void *user,
                             int *result) {
  int told = answer(__func__);
  if (told) return *result = told, NULL;
  return REAL(clCreateContext)(properties, n, devices, notify, user, result);
}

EXPORT int clFinish(void *queue) {
  int told = answer(__func__);
  return told ? told : REAL(clFinish)(queue);
}

EXPORT int clEnqueueNDRangeKernel(void *queue, void *kernel, unsigned rank, const size_t *first, const size_t *global,
                                  const size_t *local, unsigned nwait, void *const *wait, void **event) {
  int told = answer(__func__);
  return told ? told : REAL(clEnqueueNDRangeKernel)(queue, kernel, rank, first, global, local, nwait, wait, event);
}

EXPORT void *clCreateProgramWithSource(void *context, unsigned n, const char **text, const size_t *size, int *result) {
  const char *both[2] = {"#undef cl_khr_fp64\n#define double this_device_has_no_double\n", text[0]};
  if (n != 1 || size || !hides("cl_khr_fp64", 11))
    return REAL(clCreateProgramWithSource)(context, n, text, size, result);
  return REAL(clCreateProgramWithSource)(context, 2, both, NULL, result);
}

/* ---- memory, of which there may be less */

enum { PIECES = 4096 };
static struct {
  void *handle;
  size_t size;
} pieces[PIECES];
static size_t taken;

EXPORT void *clCreateBuffer(void *context, uint64_t flags, size_t size, void *host, int *result) {
  int told = answer(__func__), k = 0;
  enum { OF_HOST = 1 << 4 };
  size_t most = flags & OF_HOST ? 0 : (size_t)number("FAKE_OPENCL_MEMORY");
  if (!told && most && (size > most || taken > most - size)) told = -4;
  void *made = told ? NULL : REAL(clCreateBuffer)(context, flags, size, host, result);
  if (told) *result = told;
  while (k < PIECES && pieces[k].handle) k++;
  if (made && most && k < PIECES) {
    pieces[k].handle = made;
    pieces[k].size = size;
    taken += size;
  }
  return made;
}

EXPORT int clReleaseMemObject(void *memory) {
  for (int k = 0; k < PIECES; k++)
    if (pieces[k].handle == memory && memory) {
      taken -= pieces[k].size;
      pieces[k].handle = NULL;
    }
  return REAL(clReleaseMemObject)(memory);
}
