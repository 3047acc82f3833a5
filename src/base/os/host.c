/* The files of /proc that say what cores and memory are doing. */
#include "base/os/host.h"

#include <stdio.h>
#include <string.h>

#include "base/os/os.h"

/* "cpu3 user nice system idle iowait irq softirq steal ...": idle and waiting for a disk are not busy. */
static bool read_core(const char *line, tt_host_core *out) {
  if (line[3] < '0' || line[3] > '9') return false; /* the first line is the sum of all */
  long long user, nice, system, idle, wait = 0, irq = 0, soft = 0, steal = 0;
  int n = sscanf(line, "cpu%*d %lld %lld %lld %lld %lld %lld %lld %lld", &user, &nice, &system, &idle, &wait, &irq,
                 &soft, &steal);
  if (n < 4) return false;
  out->busy = user + nice + system + irq + soft + steal;
  out->total = out->busy + idle + wait;
  return true;
}

static bool read_cores(tt_host_stats *out, tt_host_core *core, int room) {
  FILE *f = fopen("/proc/stat", "re");
  char line[512];
  if (!f) return false;
  while (fgets(line, sizeof line, f) && strncmp(line, "cpu", 3) == 0) {
    tt_host_core one;
    if (!read_core(line, &one)) continue;
    if (out->cores < room) core[out->cores] = one;
    out->cores++;
  }
  fclose(f);
  return out->cores > 0;
}

static bool read_memory(tt_host_stats *out) {
  FILE *f = fopen("/proc/meminfo", "re");
  char line[256];
  long long kb, total = -1, available = -1, idle = -1;
  if (!f) return false;
  while (fgets(line, sizeof line, f)) {
    if (sscanf(line, "MemTotal: %lld", &kb) == 1) total = kb;
    if (sscanf(line, "MemFree: %lld", &kb) == 1) idle = kb;
    if (sscanf(line, "MemAvailable: %lld", &kb) == 1) available = kb;
  }
  fclose(f);
  if (total < 0) return false;
  out->memory_total = total * 1024;
  out->memory_used = (total - (available >= 0 ? available : idle)) * 1024;
  return true;
}

static void read_process(tt_host_stats *out) {
  long long pages = 0;
  FILE *f = fopen("/proc/self/statm", "re");
  if (f && fscanf(f, "%*d %lld", &pages) != 1) pages = 0;
  if (f) fclose(f);
  out->process_memory = pages * (int64_t)tt__page_size();
  f = fopen("/proc/loadavg", "re");
  if (f && fscanf(f, "%lf %lf %lf", &out->load[0], &out->load[1], &out->load[2]) != 3) out->load[0] = 0;
  if (f) fclose(f);
}

tt_code tt__host_read(tt_host_stats *out, tt_host_core *core, int room, tt_error *err) {
  memset(out, 0, sizeof *out);
  if (!read_cores(out, core, room) || !read_memory(out)) {
    return tt__fail(err, TT_EIO, "the system does not tell how busy it is (/proc/stat, /proc/meminfo)");
  }
  read_process(out);
  return TT_OK;
}
