/* What the machine is: cores we may use, memory, caches, instruction sets. Read from the kernel's text files. */
#include "base/os/os.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

/* The first line of a small file, without its newline. */
static bool read_line(const char *path, char *out, size_t size) {
  FILE *f = fopen(path, "re");
  if (!f) return false;
  bool ok = fgets(out, (int)size, f) != NULL;
  fclose(f);
  if (ok) out[strcspn(out, "\n")] = 0;
  return ok;
}

size_t tt__page_size(void) {
  long n = sysconf(_SC_PAGESIZE);
  return n > 0 ? (size_t)n : 4096;
}

/* ---- control groups */

enum { GROUP_PATH = 1024 };

/* Our group below `controller` ("" is the unified tree of version 2). */
static bool group_path(const char *controller, char *out, size_t size) {
  FILE *f = fopen("/proc/self/cgroup", "re");
  if (!f) return false;
  char line[GROUP_PATH];
  bool found = false;
  while (!found && fgets(line, sizeof line, f)) {
    char *names = strchr(line, ':');
    char *path = names ? strchr(names + 1, ':') : NULL;
    if (!path) continue;
    *path++ = 0;
    path[strcspn(path, "\n")] = 0;
    for (char *save = NULL, *name = strtok_r(names + 1, ",", &save); name && !found; name = strtok_r(NULL, ",", &save))
      found = strcmp(name, controller) == 0;
    if (!*controller && names[1] == 0) found = true;
    if (found) snprintf(out, size, "%s", strcmp(path, "/") == 0 ? "" : path);
  }
  fclose(f);
  return found;
}

/*
** The least value that `read` finds from our group up to the root, 0 for none. A limit
** of a parent holds for us too; in a container the path may not be visible, its root is.
*/
static double least_up(const char *root, const char *controller, double (*read)(const char *folder)) {
  char path[GROUP_PATH], folder[GROUP_PATH + 64];
  if (!group_path(controller, path, sizeof path)) return 0;
  double least = 0;
  for (;;) {
    snprintf(folder, sizeof folder, "%s%s", root, path);
    double x = read(folder);
    if (x > 0 && (least == 0 || x < least)) least = x;
    char *cut = strrchr(path, '/');
    if (!cut) return least;
    *cut = 0;
  }
}

static double read_number(const char *folder, const char *name) {
  char path[GROUP_PATH + 128], text[64];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return read_line(path, text, sizeof text) ? strtod(text, NULL) : 0;
}

static double cores_v1(const char *folder) {
  double quota = read_number(folder, "cpu.cfs_quota_us"), period = read_number(folder, "cpu.cfs_period_us");
  return quota > 0 && period > 0 ? quota / period : 0;
}

static double cores_v2(const char *folder) {
  char path[GROUP_PATH + 128], text[64];
  double quota = 0, period = 0;
  snprintf(path, sizeof path, "%s/cpu.max", folder);
  if (!read_line(path, text, sizeof text) || sscanf(text, "%lf %lf", &quota, &period) != 2) return 0; /* "max" */
  return quota > 0 && period > 0 ? quota / period : 0;
}

static double memory_v1(const char *folder) { return read_number(folder, "memory.limit_in_bytes"); }
static double memory_v2(const char *folder) { return read_number(folder, "memory.max"); }

/* ---- cores, memory, caches */

static int affinity_count(void) {
  for (int n = 1024; n <= 1 << 20; n *= 2) { /* EINVAL: the kernel knows more cores than the set holds */
    cpu_set_t *set = CPU_ALLOC(n);
    if (!set) return 0;
    size_t size = CPU_ALLOC_SIZE(n);
    bool ok = sched_getaffinity(0, size, set) == 0;
    int count = ok ? CPU_COUNT_S(size, set) : 0;
    CPU_FREE(set);
    if (ok) return count;
  }
  return 0;
}

int tt__cpu_count(void) {
  long online = sysconf(_SC_NPROCESSORS_ONLN);
  int n = affinity_count();
  if (n <= 0) n = online > 0 ? (int)online : 1;
  double quota[2] = {least_up("/sys/fs/cgroup", "", cores_v2), least_up("/sys/fs/cgroup/cpu", "cpu", cores_v1)};
  for (int i = 0; i < 2; i++) {
    if (quota[i] <= 0 || quota[i] >= n) continue;
    int whole = (int)quota[i];
    n = whole + (quota[i] > whole); /* half a core is a core of ours to use */
  }
  return n > 0 ? n : 1;
}

int64_t tt__ram_bytes(void) {
  double ram = (double)sysconf(_SC_PHYS_PAGES) * (double)tt__page_size();
  double limit[2] = {least_up("/sys/fs/cgroup", "", memory_v2), least_up("/sys/fs/cgroup/memory", "memory", memory_v1)};
  for (int i = 0; i < 2; i++)
    if (limit[i] > 0 && limit[i] < ram) ram = limit[i];
  return (int64_t)ram;
}

int64_t tt__cache_bytes(int level) {
  for (int i = 0; i < 16; i++) {
    char folder[128], path[192], text[64];
    snprintf(folder, sizeof folder, "/sys/devices/system/cpu/cpu0/cache/index%d", i);
    snprintf(path, sizeof path, "%s/level", folder);
    if (!read_line(path, text, sizeof text)) break;
    if (atoi(text) != level) continue;
    snprintf(path, sizeof path, "%s/type", folder);
    if (!read_line(path, text, sizeof text) || strcmp(text, "Instruction") == 0) continue;
    snprintf(path, sizeof path, "%s/size", folder);
    if (!read_line(path, text, sizeof text)) continue;
    char *unit = NULL;
    int64_t size = strtoll(text, &unit, 10);
    return *unit == 'M' ? size << 20 : *unit == 'K' ? size << 10 : size;
  }
  static const int name[] = {0, _SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL2_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE};
  long size = level >= 1 && level <= 3 ? sysconf(name[level]) : 0;
  return size > 0 ? size : 0;
}

/* ---- the processor's name and instruction set */

static char cpu_name[128];
static int cpu_level;
static bool cpu_pairs_bf16;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void read_name(void) {
  snprintf(cpu_name, sizeof cpu_name, "unknown");
  FILE *f = fopen("/proc/cpuinfo", "re");
  char line[512];
  while (f && fgets(line, sizeof line, f)) {
    char *colon = strchr(line, ':');
    if (!colon || (strncmp(line, "model name", 10) != 0 && strncmp(line, "Model", 5) != 0)) continue;
    colon += 1 + strspn(colon + 1, " \t");
    colon[strcspn(colon, "\n")] = 0;
    if (*colon) snprintf(cpu_name, sizeof cpu_name, "%.127s", colon);
    break;
  }
  if (f) fclose(f);
}

static int read_level(void) {
  int level = 0;
#if defined(__x86_64__)
  unsigned a, b, c = 0, d, c_far = 0;
  __builtin_cpu_init();
  __get_cpuid(1, &a, &b, &c, &d);
  __get_cpuid(0x80000001u, &a, &b, &c_far, &d);
  bool has_f16c = c & (1u << 29), has_movbe = c & (1u << 22), has_lzcnt = c_far & (1u << 5);
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
      __builtin_cpu_supports("bmi2") && has_f16c && has_movbe && has_lzcnt)
    level = 3;
  if (level == 3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
    level = 4;
#endif
  const char *cap = tt__env("TUTTI_CPU_LEVEL"); /* lower it to test what older machines run */
  if (cap && *cap >= '0' && *cap <= '9' && atoi(cap) < level) level = atoi(cap) >= 3 ? 3 : 0;
  return level;
}

static void read_cpu(void) {
  read_name();
  cpu_level = read_level();
#if defined(__x86_64__)
  cpu_pairs_bf16 = cpu_level >= 4 && __builtin_cpu_supports("avx512bf16");
#endif
}

const char *tt__cpu_name(void) {
  pthread_once(&once, read_cpu);
  return cpu_name;
}

int tt__cpu_level(void) {
  pthread_once(&once, read_cpu);
  return cpu_level;
}

bool tt__cpu_pairs_bf16(void) {
  pthread_once(&once, read_cpu);
  return cpu_pairs_bf16;
}

int tt__vector_level(void) {
  int level = tt__cpu_level();
#ifdef TT_WIDE
  if (level == 3) level = 4;
#endif
  return level;
}
