/* TUTTI_DEBUG: the only file that writes on stderr. */
#include "base/log.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const stage_name[TT_LOG_COUNT] = {"graph", "sched", "kernel", "render"};
static unsigned enabled;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void read_env(void) {
  const char *text = getenv("TUTTI_DEBUG");
  while (text && *text) {
    size_t len = strcspn(text, ", ");
    for (int i = 0; i < TT_LOG_COUNT; i++) {
      bool is_all = len == 3 && memcmp(text, "all", 3) == 0;
      if (is_all || (len == strlen(stage_name[i]) && memcmp(text, stage_name[i], len) == 0)) enabled |= 1u << i;
    }
    text += len + (text[len] != 0);
  }
}

bool tt__log_on(tt_log stage) {
  pthread_once(&once, read_env);
  return (enabled >> stage) & 1;
}

void tt__log_artefact(tt_log stage, const char *what, const char *text) {
  size_t len = strlen(text);
  flockfile(stderr); /* header and text stay together when threads log */
  fprintf(stderr, "-- %s: %s\n%s%s", stage_name[stage], what, text, len && text[len - 1] == '\n' ? "" : "\n");
  fflush(stderr);
  funlockfile(stderr);
}
