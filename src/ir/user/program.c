/*
** The types of programs, interned by a walk over the few that a program has.
*/
#include "ir/user/program.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "ir/dtype.h"

void tt__program_free(tt_proc *p) {
  for (int64_t i = 0; i < p->funcs.n; i++) TT_VEC_FREE(&p->funcs.data[i]->locals);
  TT_VEC_FREE(&p->types);
  TT_VEC_FREE(&p->funcs);
  TT_VEC_FREE(&p->shared);
  TT_VEC_FREE(&p->local);
  TT_VEC_FREE(&p->globals);
  tt__arena_free(&p->arena);
  memset(p, 0, sizeof *p);
}

static bool same(const tt_ptype *a, const tt_ptype *b) {
  if (a->tag != b->tag || a->dtype != b->dtype || a->rank != b->rank || a->layout != b->layout ||
      a->readonly != b->readonly || a->n != b->n)
    return false;
  if ((a->meta == NULL) != (b->meta == NULL) || (a->meta && strcmp(a->meta, b->meta) != 0)) return false;
  for (int k = 0; k < a->n; k++)
    if (a->item[k] != b->item[k]) return false;
  return true;
}

static const tt_ptype *intern(tt_proc *p, const tt_ptype *t) {
  for (int64_t i = 0; i < p->types.n; i++)
    if (same(p->types.data[i], t)) return p->types.data[i];
  tt_ptype *kept = tt__arena_dup(&p->arena, t, sizeof *t);
  if (!kept) return NULL;
  kept->id = (int16_t)p->types.n;
  if (t->n && !(kept->item = tt__arena_dup(&p->arena, t->item, t->n * sizeof *t->item))) return NULL;
  if (t->meta && !(kept->meta = tt__arena_dup(&p->arena, t->meta, strlen(t->meta) + 1))) return NULL;
  return TT_VEC_PUSH(&p->types, kept) ? kept : NULL;
}

const tt_ptype *tt__ptype_scalar(tt_proc *p, tt_dtype dtype) {
  assert((unsigned)dtype < TT_DTYPE_COUNT);
  return intern(p, &(tt_ptype){.tag = TT_T_SCALAR, .dtype = (int8_t)dtype});
}

const tt_ptype *tt__ptype_array(tt_proc *p, tt_dtype dtype, int rank, char layout, bool readonly) {
  assert((unsigned)dtype < TT_DTYPE_COUNT && rank >= 0 && rank <= 255);
  return intern(
      p, &(tt_ptype){
             .tag = TT_T_ARRAY, .dtype = (int8_t)dtype, .rank = (uint8_t)rank, .layout = layout, .readonly = readonly});
}

const tt_ptype *tt__ptype_tuple(tt_proc *p, const tt_ptype *const *item, int n) {
  assert(n >= 0 && n <= 255);
  return intern(p, &(tt_ptype){.tag = TT_T_TUPLE, .n = (uint8_t)n, .item = item});
}

const tt_ptype *tt__ptype_named(tt_proc *p, const tt_ptype *const *item, int n, const char *meta) {
  assert(n >= 0 && n <= 255);
  return intern(p, &(tt_ptype){.tag = TT_T_TUPLE, .n = (uint8_t)n, .item = item, .meta = meta});
}

const tt_ptype *tt__ptype_list(tt_proc *p, const tt_ptype *item, char kind) {
  return intern(p, &(tt_ptype){.tag = TT_T_LIST, .n = 1, .item = &item, .layout = kind});
}

const tt_ptype *tt__ptype_generator(tt_proc *p, const tt_ptype *item, int64_t func) {
  char number[24];
  snprintf(number, sizeof number, "%lld", (long long)func);
  return intern(p, &(tt_ptype){.tag = TT_T_GENERATOR, .n = 1, .item = &item, .meta = number});
}

const tt_ptype *tt__ptype_tag(tt_proc *p, tt_ptag tag, const char *meta) {
  return intern(p, &(tt_ptype){.tag = (uint8_t)tag, .meta = meta});
}

static size_t add(char *out, size_t size, size_t at, const char *text) {
  int n = at < size ? snprintf(out + at, size - at, "%s", text) : 0;
  return at + (n > 0 ? (size_t)n : 0);
}

static size_t put_type(const tt_ptype *t, char *out, size_t size, size_t at) {
  char text[64];
  switch (t->tag) {
    case TT_T_SCALAR:
      return add(out, size, at, tt__dtypes[t->dtype].name);
    case TT_T_ARRAY:
      snprintf(text, sizeof text, "array(%s, %dd, %c%s)", tt__dtypes[t->dtype].name, t->rank, t->layout,
               t->readonly ? ", readonly" : "");
      return add(out, size, at, text);
    case TT_T_TUPLE:
      if (t->meta) {
        const char *name = t->meta + (t->meta[0] == 'R' ? 2 : 1);
        if (t->meta[0] == 'O') { /* of what may be None the value's */
          at = add(out, size, at, "OptionalType(");
          at = put_type(t->item[1], out, size, at);
          return add(out, size, at, ")");
        }
        if (t->meta[0] == 'K') name = strcmp(t->meta, "Klist") == 0 ? "LiteralList" : "LiteralStrKey[Dict]";
        snprintf(text, sizeof text, "%.*s", (int)strcspn(name, ":#"), name);
        at = add(out, size, at, text);
      }
      at = add(out, size, at, "(");
      for (int k = 0; k < t->n; k++) {
        if (k) at = add(out, size, at, ", ");
        at = put_type(t->item[k], out, size, at);
      }
      return add(out, size, at, t->n == 1 ? ",)" : ")");
    case TT_T_LIST:
      if (t->layout == 'w') return add(out, size, at, "str");
      if (t->layout == 'y') return add(out, size, at, "bytes");
      if (t->layout == 'j') {
        snprintf(text, sizeof text, "%.*s", (int)strcspn(t->item[0]->meta + 1, "#"), t->item[0]->meta + 1);
        return add(out, size, at, text);
      }
      at = add(out, size, at, "list(");
      at = put_type(t->item[0], out, size, at);
      return add(out, size, at, ")");
    case TT_T_GENERATOR:
      at = add(out, size, at, "generator(");
      at = put_type(t->item[0], out, size, at);
      return add(out, size, at, ")");
    case TT_T_META:
      return add(out, size, at, t->meta ? t->meta : "?");
    case TT_T_NONE:
      return add(out, size, at, "none");
    default:
      return add(out, size, at, "unknown");
  }
}

void tt__ptype_code(const tt_ptype *t, tt_str *out) {
  switch (t->tag) {
    case TT_T_SCALAR:
      tt__str_add(out, tt__dtypes[t->dtype].suffix);
      break;
    case TT_T_ARRAY:
      tt__str_addf(out, "A%s:%d%c", tt__dtypes[t->dtype].suffix, t->rank, t->layout);
      break;
    case TT_T_TUPLE:
      tt__str_add(out, "(");
      if (t->meta) tt__str_addf(out, "@%s;", t->meta);
      for (int k = 0; k < t->n; k++) {
        if (k) tt__str_add(out, ",");
        tt__ptype_code(t->item[k], out);
      }
      tt__str_add(out, ")");
      break;
    case TT_T_LIST:
      tt__str_addf(out, "%c", t->layout - 'a' + 'A');
      if (t->layout != 'w' && t->layout != 'y') tt__ptype_code(t->item[0], out);
      break;
    case TT_T_GENERATOR:
      tt__str_add(out, "G");
      tt__ptype_code(t->item[0], out);
      break;
    default:
      tt__str_add(out, "N");
      break;
  }
}

void tt__ptype_text(const tt_ptype *t, char *out, size_t size) {
  if (size) out[0] = 0;
  (void)put_type(t, out, size, 0);
}

int tt__ptype_words(const tt_ptype *t) {
  int n = 0;
  switch (t->tag) {
    case TT_T_SCALAR:
      return t->dtype == TT_C128 ? 2 : 1;
    case TT_T_ARRAY:
      return 1 + 2 * t->rank;
    case TT_T_TUPLE:
      for (int k = 0; k < t->n; k++) n += tt__ptype_words(t->item[k]);
      return n;
    case TT_T_LIST:
    case TT_T_GENERATOR:
      return 1;
    default:
      return 0;
  }
}

int tt__pframe_local(const tt_pfunc *f, int32_t local) {
  assert(local >= 0 && local <= f->locals.n);
  int n = 0;
  for (int32_t k = 0; k < local; k++) n += tt__ptype_words(f->locals.data[k].type);
  return n;
}

int tt__pframe_loop(const tt_pfunc *f, int loop) { return tt__pframe_local(f, (int32_t)f->locals.n) + 3 * (loop - 1); }

int tt__program_loops(const tt_pstmt *s) {
  int n = 0;
  for (; s; s = s->next) {
    if (s->op == TT_X_PARFOR) continue;
    n += s->op == TT_X_FOR || s->op == TT_X_WHILE;
    n += tt__program_loops(s->body) + tt__program_loops(s->other);
  }
  return n;
}
