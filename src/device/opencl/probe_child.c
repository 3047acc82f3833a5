/* The process in which drivers are asked first; see probe.h. Nothing here is tidied up: its end does that. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/os/os.h"
#include "device/opencl/loader.h"
#include "device/opencl/probe.h"

/* ---- what a signal handler may do */

static void say_bytes(const char *text, size_t size) {
  ssize_t written = write(STDOUT_FILENO, text, size); /* who does not listen learns nothing */
  (void)written;
}

static void say_text(const char *text) { say_bytes(text, strlen(text)); }

static void say_number(const char *word, int n) {
  char digits[12], *p = digits + sizeof digits;
  unsigned left = n < 0 ? 0u - (unsigned)n : (unsigned)n;
  *--p = '\n';
  do *--p = (char)('0' + left % 10);
  while (left /= 10);
  if (n < 0) *--p = '-';
  say_text("\n" TT_CL_LINE);
  say_text(word);
  say_bytes(p, (size_t)(digits + sizeof digits - p));
}

/* A line of /proc/self/maps: its file, unless the line before was of the same. */
static void say_mapping(const char *line) {
  static char last[1024];
  const char *path = strchr(line, '/');
  if (!path || !strstr(path, ".so") || strcmp(path, last) == 0 || strlen(path) >= sizeof last) return;
  strcpy(last, path);
  say_text("\n" TT_CL_LINE "file ");
  say_text(path);
  say_text("\n");
}

static void say_files(void) {
  static char line[1200], chunk[4096];
  size_t n = 0;
  ssize_t got;
  int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  while (fd >= 0 && (got = read(fd, chunk, sizeof chunk)) > 0)
    for (ssize_t i = 0; i < got; i++) {
      if (chunk[i] != '\n') {
        if (n + 1 < sizeof line) line[n++] = chunk[i];
        continue;
      }
      line[n] = 0;
      n = 0;
      say_mapping(line);
    }
}

static void on_signal(int number) {
  say_files();
  say_number("signal ", number);
  _exit(1);
}

static void watch_signals(int seconds) {
  static char stack[64 << 10]; /* one that ran over its own */
  static const int fatal[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGSYS, SIGALRM};
  const stack_t other = {.ss_sp = stack, .ss_size = sizeof stack};
  sigaltstack(&other, NULL);
  struct sigaction act = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK | (int)SA_RESETHAND};
  for (size_t i = 0; i < sizeof fatal / sizeof fatal[0]; i++) sigaction(fatal[i], &act, NULL);
  alarm((unsigned)seconds);
}

/* ---- asking */

enum { MOST_OF_PLATFORM = TT_CL_MOST };

static void ask_device(const tt_cl_api *api, void *platform, void *device) {
  enum { PLATFORM = 0x1084, DEVICE_NAME = 0x102b, TYPE = 0x1000 };
  const intptr_t properties[] = {PLATFORM, (intptr_t)platform, 0};
  char name[200];
  int result = 0;
  tt__cl_string(api, device, DEVICE_NAME, name, sizeof name);
  if (tt__cl_number(api, device, TYPE, 8) & TT_CL_TYPE_GPU) say_text("\n" TT_CL_LINE "gpu\n");
  void *context = api->context_new(properties, 1, &device, NULL, NULL, &result);
  if (!context || result != 0) return; /* an error is an answer */
  void *queue = api->queue_new(context, device, 0, &result);
  if (queue && result == 0) {
    api->finish(queue);
    api->queue_free(queue);
  }
  api->context_free(context);
}

static void ask_platform(const tt_cl_api *api, void *platform) {
  void *device[MOST_OF_PLATFORM];
  unsigned n = 0;
  if (api->devices(platform, ~(uint64_t)0 >> 32, MOST_OF_PLATFORM, device, &n) != 0) return;
  for (unsigned i = 0; i < n && i < MOST_OF_PLATFORM; i++) ask_device(api, platform, device[i]);
}

static void say_name(const tt_cl_api *api, void *platform) {
  enum { PLATFORM_NAME = 0x0902 };
  char name[100] = "";
  if (api->platform_info(platform, PLATFORM_NAME, sizeof name, name, NULL) != 0) return;
  name[sizeof name - 1] = 0;
  say_text("\n" TT_CL_LINE "name ");
  say_text(name);
  say_text("\n");
}

static void ask_all(uint32_t avoided, const char *library) {
  tt_cl_api api;
  void *platform[TT_CL_MOST];
  unsigned n = 0;
  say_number("at ", -1);
  void *lib = tt__lib_open(library, NULL);
  if (!lib || tt__cl_resolve(lib, &api)) return;
  if (api.platforms(TT_CL_MOST, platform, &n) != 0) return;
  for (unsigned k = 0; k < n && k < TT_CL_MOST; k++) {
    if (avoided >> k & 1) continue;
    say_number("at ", (int)k);
    say_name(&api, platform[k]);
    ask_platform(&api, platform[k]);
  }
}

/* The bound is for compilers; a driver is to have what it would have in the program. */
static void lift_memory(void) {
  struct rlimit most;
  if (getrlimit(RLIMIT_DATA, &most) != 0) return;
  most.rlim_cur = most.rlim_max;
  setrlimit(RLIMIT_DATA, &most);
}

_Noreturn void tt__cl_probe_here(int seconds, uint32_t avoided, const char *library) {
  watch_signals(seconds);
  lift_memory();
  ask_all(avoided, library);
  say_files();
  say_text("\n" TT_CL_LINE "done\n");
  _exit(0);
}
