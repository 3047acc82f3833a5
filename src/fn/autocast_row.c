/* Which arguments of the functions of functions.def are cast under mixed precision: rows of autocast.def. */
#include <assert.h>
#include <string.h>

#include "fn/autocast.h"

static const struct {
  tt_cast_rule rule;
  const char *name;
} rows[] = {
#define TT_AUTOCAST(rule, name) {TT_CAST_##rule, name},
#define TT_AUTOCAST_OP(op)
#include "fn/autocast.def"
#undef TT_AUTOCAST
#undef TT_AUTOCAST_OP
};

/* ---- which arguments of a row are cast */

enum { MOST_KNOWN = 2048, MOST_PARAMS = 32 };
typedef struct plan {
  bool known;
  uint8_t rule;
  int8_t out;    /* the parameter that is written into, or -1: who gives it gets what it can hold */
  uint32_t cast; /* bit k: parameter k is an array, or arrays, by its signature */
} plan;

/* One parameter of a signature, from its name to the comma behind it; `rest`: it collects all that come. */
static void read_param(plan *p, int k, const char *s, size_t len, bool rest) {
  bool is_out = len >= 3 && strncmp(s, "out", 3) == 0 && (len == 3 || s[3] == ':' || s[3] == '=');
  const char *kind = memchr(s, ':', len), *value = memchr(s, '=', len);
  if (kind && value && value < kind) kind = NULL;
  if (is_out)
    p->out = (int8_t)k;
  else if (rest || (kind && len - (size_t)(kind - s) >= 6 && strncmp(kind, ":array", 6) == 0))
    p->cast |= 1u << k;
}

static void read_signature(plan *p, const char *s) {
  int k = 0;
  while (*s) {
    size_t len = 0, depth = 0;
    for (; s[len] && (s[len] != ',' || depth); len++) depth += (s[len] == '(') - (s[len] == ')');
    bool mark = len == 1 && (*s == '*' || *s == '/');
    if (!mark && k < MOST_PARAMS) {
      bool rest = *s == '*';
      read_param(p, k++, s + rest, len - rest, rest);
    }
    s += len;
    while (*s == ',' || *s == ' ') s++;
  }
}

/* Under the session lock. */
static const plan *plan_of(const tt_function_row *row) {
  static plan known[MOST_KNOWN];
  int64_t k = row - tt__functions;
  assert(k >= 0 && k < MOST_KNOWN);
  plan *p = &known[k];
  if (p->known) return p;
  p->known = true;
  p->out = -1;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (strcmp(rows[i].name, row->info.name) == 0) p->rule = (uint8_t)rows[i].rule;
  if (p->rule != TT_CAST_NONE) read_signature(p, row->info.signature);
  return p;
}

tt_code tt__cast_row(tt_cast_call *c, const tt_function_row *row, const tt_value *arg, int n, tt_error *err) {
  const plan *p = plan_of(row);
  bool writes = p->out >= 0 && p->out < n && arg[p->out].tag != TT_V_MISSING && arg[p->out].tag != TT_V_NONE;
  c->arg = arg;
  return p->rule == TT_CAST_NONE || writes || n == 0
             ? TT_OK
             : tt__cast_arguments(c, (tt_cast_rule)p->rule, p->cast, arg, n, err);
}
