/*
** Types of a program as text: their names and structs, and values of them in words.
*/
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "render/proc/proc_int.h"

static const char *suffix(int dtype) { return tt__dtypes[dtype].suffix; }

const char *tt__pw_type(tt_pwriter *w, const tt_ptype *t) { return tt__pw_type_in(w, t, TT_SPACE_GLOBAL); }

const char *tt__pw_local_type(tt_pwriter *w, int64_t local) {
  return tt__pw_type_in(w, w->f->locals.data[local].type, tt__pw_local_space(w, local));
}

const char *tt__pw_type_in(tt_pwriter *w, const tt_ptype *t, tt_pspace space) {
  assert(t);
  char text[64];
  if (t->tag == TT_T_SCALAR)
    snprintf(text, sizeof text, "tt_%s", suffix(t->dtype));
  else if (t->tag == TT_T_ARRAY)
    snprintf(text, sizeof text, "%c_%s_%d", "ALP"[space], suffix(t->dtype), t -> rank);
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
    const char *d = suffix(t->dtype);
    if (w->target == TT_PROGRAM_CUDA) /* NVIDIA's compiler believes members only to lie anywhere */
      tt__str_addf(w->out, "struct __attribute__((packed)) tt_packed_%s { tt_%s v; };\n", d, d);
    else
      tt__str_addf(w->out, "typedef tt_%s tt_packed_%s __attribute__((aligned(1)%s));\n", d, d,
                   w->target == TT_PROGRAM_OPENCL ? "" : ", may_alias");
  }
}

static void put_array_type(tt_pwriter *w, const tt_ptype *t, tt_pspace space) {
  tt__str_addf(w->out, "typedef struct { %stt_%s *p;", tt__pw_space_word(w, space), suffix(t->dtype));
  for (int k = 0; k < t->rank; k++) tt__str_addf(w->out, " tt_i64 n%d;", k);
  for (int k = 0; k < t->rank; k++) tt__str_addf(w->out, " tt_i64 s%d;", k);
  tt__str_addf(w->out, " } %s;\n", tt__pw_type_in(w, t, space));
}

void tt__pw_types(tt_pwriter *w) {
  int spaces = w->target == TT_PROGRAM_OPENCL ? TT_SPACE_UNKNOWN : 1;
  put_packed(w);
  bool seen[TT_DTYPE_COUNT][TT_PROGRAM_RANK + 1] = {{false}};
  for (int64_t i = 0; i < w->p->types.n; i++) {
    const tt_ptype *t = w->p->types.data[i];
    if (t->tag == TT_T_ARRAY && t->layout != 'E' && !seen[t->dtype][t->rank]) {
      seen[t->dtype][t->rank] = true;
      for (int space = 0; space < spaces; space++) put_array_type(w, t, (tt_pspace)space);
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
void tt__pw_struct(tt_pwriter *w, const tt_ptype *t, tt_pspace space, tt_str *out) {
  tt__str_addf(out, w->target == TT_PROGRAM_CUDA ? "(%s" : "((%s)", tt__pw_type_in(w, t, space));
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
      if (w->target == TT_PROGRAM_OPENCL) /* the address of an argument of its own */
        tt__str_addf(out, "{(__global tt_%s *)%s_at%d", suffix(t->dtype), word, at);
      else
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
