/*
** Types of a program as text: their names and structs, and values of them in words.
*/
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "render/proc/proc_int.h"

static const char *suffix(int dtype) { return tt__dtypes[dtype].suffix; }

const char *tt__pw_type(tt_pwriter *w, const tt_ptype *t) {
  assert(t);
  char text[64];
  if (t->tag == TT_T_SCALAR)
    snprintf(text, sizeof text, "tt_%s", suffix(t->dtype));
  else if (t->tag == TT_T_ARRAY)
    snprintf(text, sizeof text, "A_%s_%d", suffix(t->dtype), t->rank);
  else if (t->tag == TT_T_TUPLE)
    snprintf(text, sizeof text, "T%d", t->id);
  else if (t->tag == TT_T_LIST || t->tag == TT_T_GENERATOR)
    snprintf(text, sizeof text, "tt_list *");
  else
    snprintf(text, sizeof text, "tt_b8"); /* a value that nobody looks at */
  char *kept = tt__arena_dup(w->arena, text, strlen(text) + 1);
  if (!kept) w->out->failed = true;
  return kept ? kept : "";
}

/* Elements of packed records. */
static void put_packed(tt_pwriter *w) {
  bool seen[TT_DTYPE_COUNT] = {false};
  for (int64_t i = 0; i < w->p->types.n; i++) {
    const tt_ptype *t = w->p->types.data[i];
    if (t->tag != TT_T_ARRAY || t->layout != 'P' || seen[t->dtype]) continue;
    seen[t->dtype] = true;
    tt__str_addf(w->out, "typedef tt_%s tt_packed_%s __attribute__((aligned(1), may_alias));\n", suffix(t->dtype),
                 suffix(t->dtype));
  }
}

void tt__pw_types(tt_pwriter *w) {
  put_packed(w);
  bool seen[TT_DTYPE_COUNT][TT_PROGRAM_RANK + 1] = {{false}};
  for (int64_t i = 0; i < w->p->types.n; i++) {
    const tt_ptype *t = w->p->types.data[i];
    if (t->tag == TT_T_ARRAY && t->layout != 'E' && !seen[t->dtype][t->rank]) {
      seen[t->dtype][t->rank] = true;
      tt__str_addf(w->out, "typedef struct { tt_%s *p;", suffix(t->dtype));
      for (int k = 0; k < t->rank; k++) tt__str_addf(w->out, " tt_i64 n%d;", k);
      for (int k = 0; k < t->rank; k++) tt__str_addf(w->out, " tt_i64 s%d;", k);
      tt__str_addf(w->out, " } A_%s_%d;\n", suffix(t->dtype), t->rank);
    } else if (t->tag == TT_T_TUPLE) {
      bool known = true; /* tuples of array expressions exist while typing only */
      for (int k = 0; k < t->n; k++) {
        const tt_ptype *item = t->item[k];
        known &= item->tag == TT_T_SCALAR || item->tag == TT_T_TUPLE || item->tag == TT_T_NONE ||
                 item->tag == TT_T_LIST || item->tag == TT_T_GENERATOR ||
                 (item->tag == TT_T_ARRAY && item->layout != 'E');
      }
      if (!known) {
        tt__str_addf(w->out, "typedef tt_b8 T%d;\n", t->id);
        continue;
      }
      tt__str_add(w->out, "typedef struct {");
      for (int k = 0; k < t->n; k++) tt__str_addf(w->out, " %s f%d;", tt__pw_type(w, t->item[k]), k);
      tt__str_addf(w->out, "%s } T%d;\n", t->n ? "" : " tt_b8 none;", t->id);
    }
  }
}

/* A struct made in place: C's compound literal, C++'s braces. */
void tt__pw_struct(tt_pwriter *w, const tt_ptype *t, tt_str *out) {
  tt__str_addf(out, w->target == TT_PROGRAM_CUDA ? "(%s" : "((%s)", tt__pw_type(w, t));
}

/* ---- words */

int tt__pw_from_words(tt_pwriter *w, const tt_ptype *t, const char *word, int at, tt_str *out) {
  assert(at >= 0);
  int n = 0;
  switch (t->tag) {
    case TT_T_SCALAR:
      tt__str_addf(out, "tt_of_words_%s(%s + %d)", suffix(t->dtype), word, at);
      return tt__ptype_words(t);
    case TT_T_ARRAY:
      tt__str_addf(out, "{(tt_%s *)%s[%d]", suffix(t->dtype), word, at);
      for (int k = 1; k < 1 + 2 * t->rank; k++) tt__str_addf(out, ", %s[%d]", word, at + k);
      tt__str_add(out, "}");
      return 1 + 2 * t->rank;
    case TT_T_TUPLE:
      tt__str_add(out, "{");
      for (int k = 0; k < t->n; k++) {
        if (k) tt__str_add(out, ", ");
        n += tt__pw_from_words(w, t->item[k], word, at + n, out);
      }
      tt__str_add(out, "}");
      return n;
    case TT_T_LIST:
    case TT_T_GENERATOR:
      tt__str_addf(out, "(tt_list *)%s[%d]", word, at);
      return 1;
    default:
      tt__str_add(out, "0");
      return 0;
  }
}

int tt__pw_to_words(tt_pwriter *w, const tt_ptype *t, const char *value, const char *word, int at) {
  assert(at >= 0);
  char part[160];
  int n = 0;
  switch (t->tag) {
    case TT_T_SCALAR:
      tt__pw_line(w, "tt_to_words_%s(%s + %d, %s);", suffix(t->dtype), word, at, value);
      return tt__ptype_words(t);
    case TT_T_ARRAY:
      tt__pw_line(w, "%s[%d] = (tt_i64)%s.p;", word, at, value);
      for (int k = 0; k < t->rank; k++) {
        tt__pw_line(w, "%s[%d] = %s.n%d;", word, at + 1 + k, value, k);
        tt__pw_line(w, "%s[%d] = %s.s%d;", word, at + 1 + t->rank + k, value, k);
      }
      return 1 + 2 * t->rank;
    case TT_T_TUPLE:
      for (int k = 0; k < t->n; k++) {
        snprintf(part, sizeof part, "%s.f%d", value, k);
        n += tt__pw_to_words(w, t->item[k], part, word, at + n);
      }
      return n;
    case TT_T_LIST:
    case TT_T_GENERATOR:
      tt__pw_line(w, "%s[%d] = (tt_i64)%s;", word, at, value);
      return 1;
    default:
      return 0;
  }
}
