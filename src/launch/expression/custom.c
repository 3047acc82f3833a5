/*
** Kernels given as expressions made, asked about, their text read for the types of a call and
** compiled where it has to be; see custom.h.
*/
#include "launch/expression/custom.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "graph/build.h"
#include "graph/session.h"
#include "lang/check/check.h"
#include "launch/language.h"

/* ---- making */

static char *copied(const char *s) { return tt__mem_dup(s ? s : "", s ? strlen(s) + 1 : 1); }
static char *copied_or_null(const char *s) { return s && *s ? copied(s) : NULL; }

static void drop(const char *s) {
  if (s) tt__mem_free((char *)s, strlen(s) + 1);
}

/* A text put together; takes its memory. */
static char *finished(tt_str *s) {
  char *out = s->failed ? NULL : copied(s->data);
  tt__str_free(s);
  return out;
}

/* The preamble after what the flags define; its lines keep their numbers. */
static char *with_definitions(const tt_custom_source *s) {
  tt_str out = {0};
  bool any = false;
  for (int k = 0; k < s->nflag; k++) {
    const char *d = s->flag[k];
    if (strncmp(d, "-D", 2) != 0) continue;
    for (d += 2; *d == ' ' || *d == '\t';) d++;
    const char *is = strchr(d, '=');
    tt__str_addf(&out, "#define %.*s %s\n", is ? (int)(is - d) : (int)strlen(d), d, is ? is + 1 : "1");
    any = true;
  }
  if (any) tt__str_add(&out, "#line 1\n");
  tt__str_add(&out, s->preamble ? s->preamble : "");
  return finished(&out);
}

static char *joined(const char *a, const char *between, const char *b) {
  tt_str out = {0};
  tt__str_addf(&out, "%s%s%s", a, between, b);
  return finished(&out);
}

static bool copy_flags(tt_custom *k, const tt_custom_source *s) {
  k->flag = tt__mem_zalloc((size_t)s->nflag * sizeof *k->flag);
  if (s->nflag && !k->flag) return false;
  k->nflag = s->nflag;
  for (int i = 0; i < s->nflag; i++)
    if (!(k->flag[i] = copied(s->flag[i]))) return false;
  return true;
}

static bool copy_texts(tt_custom *k, const tt_custom_source *s) {
  const char *name = s->name ? s->name : "kernel", *prep = s->loop_prep ? s->loop_prep : "";
  k->text = (tt_cx_texts){.name = copied(name),
                          .preamble = copied(s->preamble),
                          .operation = copied(s->operation),
                          .loop_prep = copied(prep),
                          .after_loop = copied(s->after_loop),
                          .reduce = copied(s->reduce),
                          .post = copied(s->post),
                          .identity = copied_or_null(s->identity)};
  const tt_cx_texts *t = &k->text;
  if (!t->name || !t->preamble || !t->operation || !t->loop_prep || !t->after_loop || !t->reduce || !t->post)
    return false;
  k->declaration = copied_or_null(s->declaration);
  k->inner = copied_or_null(s->inner);
  k->way = copied_or_null(s->way);
  k->file = joined(name, "", ".cu");
  k->before = with_definitions(s);
  k->operation = joined(prep, *prep ? ";" : "", t->operation);
  bool lost = (s->identity && *s->identity && !t->identity) || (s->declaration && *s->declaration && !k->declaration) ||
              (s->inner && *s->inner && !k->inner) || (s->way && *s->way && !k->way);
  return !lost && k->file && k->before && k->operation && copy_flags(k, s);
}

static tt_code read_signature(tt_custom *k, const tt_custom_source *s, tt_error *err) {
  tt_cx_signature *g = &k->signature;
  k->c_form = s->declaration != NULL;
  TT_TRY(k->c_form ? tt__cx_signature_c(s->declaration, g, err)
                   : tt__cx_signature(s->inputs ? s->inputs : "", s->outputs ? s->outputs : "", g, err));
  for (int p = 0; p < g->n; p++) k->has_raw |= g->param[p].is_raw;
  return TT_OK;
}

static tt_code check_source(const tt_custom_source *s, tt_error *err) {
  const char *name = s->name ? s->name : "kernel";
  if (!tt__cx_is_name(name, strlen(name))) return tt__fail(err, TT_EVALUE, "'%s' is no name of a kernel", name);
  if (s->way && strcmp(s->way, "graph") != 0 && strcmp(s->way, "cuda") != 0)
    return tt__fail(err, TT_EVALUE, "way is 'graph', 'cuda' or None, not '%s'", s->way);
  return TT_OK;
}

static tt_code check_reduction(const tt_custom *k, tt_error *err) {
  const tt_cx_signature *g = &k->signature;
  if (k->c_form || g->n - g->nin != 1) return tt__fail(err, TT_EVALUE, "a reduction has one output");
  return k->has_raw ? tt__fail(err, TT_EVALUE, "a reduction's parameters cannot be raw") : TT_OK;
}

tt_code tt__custom_new(const tt_custom_source *s, bool is_reduction, tt_custom **out, tt_error *err) {
  *out = NULL;
  assert(s && s->operation);
  tt_custom *k = tt__mem_zalloc(sizeof *k);
  if (!k) return tt__fail_memory(err, sizeof *k);
  k->is_reduction = is_reduction;
  tt_code code = read_signature(k, s, err);
  if (code == TT_OK) code = check_source(s, err);
  if (code == TT_OK && is_reduction) code = check_reduction(k, err);
  if (code == TT_OK && !copy_texts(k, s)) code = tt__fail_memory(err, strlen(s->operation));
  if (code == TT_OK)
    *out = k;
  else
    tt__custom_free(k);
  return code;
}

static tt_code read_expression(const tt_source *s, void **out, tt_error *err) {
  tt_custom *k;
  TT_TRY(tt__custom_new(s->expression, s->is_reduction, &k, err));
  *out = k;
  return TT_OK;
}

const tt_language tt__expression = {.name = "expression", .parse = read_expression};

static void free_reading(tt_custom_reading *r, int n) {
  if (!r) return;
  tt__expression_free(r->e);
  drop(r->why);
  tt__mem_free(r, sizeof *r + (size_t)n);
}

static void free_build(tt_custom_build *b, int n) {
  if (!b) return;
  if (b->program) tt__program_release(b->program);
  tt__mem_free(b, sizeof *b + (size_t)n);
}

void tt__custom_free(tt_custom *k) {
  const tt_cx_texts *t = &k->text;
  const char *text[] = {t->name,   t->preamble, t->operation, t->loop_prep,   t->after_loop,
                        t->reduce, t->post,     t->identity,  k->declaration, k->inner,
                        k->way,    k->file,     k->before,    k->operation};
  while (k->read) {
    tt_custom_reading *r = k->read;
    k->read = r->next;
    free_reading(r, k->signature.n);
  }
  while (k->built) {
    tt_custom_build *b = k->built;
    k->built = b->next;
    free_build(b, k->signature.n);
  }
  for (size_t i = 0; i < sizeof text / sizeof *text; i++) drop(text[i]);
  for (int i = 0; i < k->nflag; i++) drop(k->flag[i]);
  tt__mem_free(k->flag, (size_t)k->nflag * sizeof *k->flag);
  tt__cx_signature_free(&k->signature);
  tt__mem_free(k, sizeof *k);
}

/* ---- types */

static const char *dtype_name(tt_dtype t) { return t == TT_DTYPE_NONE ? "of another type" : tt__dtypes[t].name; }

static tt_code learn(const tt_custom *k, const tt_cx_parameter *p, const tt_custom_argument *a, tt_cx_types *known,
                     tt_cx_types *weak, tt_error *err) {
  bool number = a->what.kind == TT_ARG_VALUE;
  tt_dtype given = number                         ? a->dtype
                   : a->what.kind == TT_ARG_ARRAY ? (tt_dtype)a->what.as.array->dtype
                                                  : a->what.as.memory.dtype;
  if (number && given == TT_DTYPE_NONE) {
    given = tt__value_dtype(&a->what.as.value);
    if (given == TT_DTYPE_NONE)
      return tt__fail(err, TT_ETYPE, "kernel %s: parameter '%s' is given neither an array nor a number", k->text.name,
                      p->name);
    if (p->letter >= 0 && !weak->of[p->letter]) weak->of[p->letter] = (uint8_t)(given + 1);
    return TT_OK;
  }
  if (p->letter >= 0 && !known->of[p->letter]) known->of[p->letter] = (uint8_t)(given + 1);
  tt_dtype want = tt__cx_dtype(known, p);
  if ((number || given == want) && given != TT_DTYPE_NONE) return TT_OK;
  return tt__fail(err, TT_ETYPE, "kernel %s: parameter '%s' is %s, the array given is %s", k->text.name, p->name,
                  dtype_name(want), dtype_name(given));
}

/* Numbers without a type of their own give way to arrays. */
tt_code tt__custom_types(const tt_custom *k, const tt_custom_argument *arg, int n, tt_cx_types *out, tt_error *err) {
  const tt_cx_signature *g = &k->signature;
  tt_cx_types weak = {{0}};
  *out = weak;
  for (int p = 0; p < n && p < g->n; p++)
    if (!tt__custom_missing(&arg[p])) TT_TRY(learn(k, &g->param[p], &arg[p], out, &weak, err));
  for (int p = 0; p < g->n; p++) {
    int letter = g->param[p].letter;
    if (letter < 0 || out->of[letter]) continue;
    out->of[letter] = weak.of[letter];
    if (!out->of[letter])
      return tt__fail(err, TT_ETYPE, "kernel %s: nothing given says what type %c is", k->text.name, 'A' + letter);
  }
  return TT_OK;
}

tt_dtype tt__custom_inner(const tt_custom *k, const tt_cx_types *types, const char **name) {
  const char *s = k->inner;
  tt_dtype t = TT_DTYPE_NONE;
  if (!s)
    t = tt__cx_dtype(types, &k->signature.param[k->signature.n - 1]);
  else if (s[0] >= 'A' && s[0] <= 'Z' && !s[1] && types->of[s[0] - 'A'])
    t = tt__cx_letter(types, s[0] - 'A');
  else
    t = tt__cx_spelled(s);
  *name = t == TT_DTYPE_NONE ? s : tt__cx_type_name(t);
  return t;
}

/* ---- as operations of the graph */

static bool same_types(const tt_cx_types *a, const tt_cx_types *b) { return memcmp(a, b, sizeof *a) == 0; }

/* The two lists are walked without a lock: what is in them stays as it is. */
static tt_custom_reading *find_reading(const tt_custom *k, const tt_cx_types *types, const uint8_t *form) {
  size_t n = k->is_reduction ? (size_t)k->signature.n : 0;
  tt_custom_reading *r = __atomic_load_n(&k->read, __ATOMIC_ACQUIRE);
  while (r && !(same_types(&r->types, types) && memcmp(r->form, form, n) == 0))
    r = __atomic_load_n(&r->next, __ATOMIC_ACQUIRE);
  return r;
}

typedef struct source {
  tt_expression_source s;
  tt_expression_parameter param[TT_CUSTOM_GRAPH];
  tt_expression_type type[TT_CX_LETTERS + 3];
  char letter[TT_CX_LETTERS][2];
} source;

static void list_types(const tt_custom *k, const tt_cx_types *types, const uint8_t *form, source *out) {
  const tt_cx_signature *g = &k->signature;
  int n = 0;
  for (int l = 0; l < TT_CX_LETTERS; l++) {
    if (!types->of[l]) continue;
    out->letter[l][0] = (char)('A' + l);
    out->letter[l][1] = 0;
    out->type[n++] = (tt_expression_type){out->letter[l], tt__cx_letter(types, l)};
  }
  if (k->is_reduction) {
    int first = 0; /* array: there is one */
    while (form[first] == TT_CX_NUMBER) first++;
    out->type[n++] = (tt_expression_type){"type_in0_raw", tt__cx_dtype(types, &g->param[first])};
    out->type[n++] = (tt_expression_type){"type_out0_raw", tt__cx_dtype(types, &g->param[g->nin])};
    out->type[n++] = (tt_expression_type){"_type_reduce", out->s.accumulator};
  }
  out->s.type = out->type;
  out->s.ntype = n;
}

static tt_code read_text(const tt_custom *k, const tt_cx_types *types, const uint8_t *form, tt_expression **out,
                         tt_error *err) {
  const tt_cx_signature *g = &k->signature;
  const char *unused;
  source from = {.s = {.operation = k->operation, .preamble = k->before, .file = k->file}};
  if (g->n > TT_CUSTOM_GRAPH) return tt__fail(err, TT_ENOTIMPL, "more than %d parameters", TT_CUSTOM_GRAPH);
  if (k->c_form) {
    from.s.declaration = k->declaration;
    return tt__expression_new(&from.s, out, err);
  }
  for (int p = 0; p < g->n; p++) {
    const tt_cx_parameter *q = &g->param[p];
    unsigned number = k->is_reduction && form[p] == TT_CX_NUMBER ? TT_EXPR_NUMBER : 0;
    unsigned flags = (p >= g->nin ? TT_EXPR_OUT : 0u) | (q->is_raw ? TT_EXPR_RAW : 0u) | number;
    from.param[p] = (tt_expression_parameter){q->name, tt__cx_dtype(types, q), flags};
  }
  from.s.parameter = from.param;
  from.s.nparameter = g->n;
  if (k->is_reduction) {
    from.s.reduce = k->text.reduce;
    from.s.post = k->text.post;
    from.s.identity = k->text.identity;
    from.s.accumulator = tt__custom_inner(k, types, &unused);
  }
  list_types(k, types, form, &from);
  return tt__expression_new(&from.s, out, err);
}

/* Why the text is not even looked at; false: it is. */
static bool refused(const tt_custom *k, const tt_cx_types *types, char *why, size_t size) {
  const char *inner = "", *reason = NULL;
  if (k->way && k->way[0] == 'c')
    reason = "asked for";
  else if (*k->text.after_loop)
    reason = "there is something after the loop";
  else if (k->is_reduction && tt__custom_inner(k, types, &inner) == TT_DTYPE_NONE)
    reason = "partial results are ";
  else if (k->has_raw && !k->c_form && tt__check_wanted())
    reason = "indices are checked";
  if (reason) snprintf(why, size, "%s%s", reason, inner && reason[0] == 'p' ? inner : "");
  return reason != NULL;
}

static tt_code new_reading(const tt_custom *k, const tt_cx_types *types, const uint8_t *form, tt_custom_reading **out,
                           tt_error *err) {
  tt_error why;
  size_t n = (size_t)k->signature.n;
  tt_custom_reading *r = tt__mem_zalloc(sizeof *r + n);
  *out = NULL;
  if (!r) return tt__fail_memory(err, sizeof *r + n);
  r->types = *types;
  if (k->is_reduction) memcpy(r->form, form, n); /* others have none */
  tt_code code =
      refused(k, types, why.message, sizeof why.message) ? TT_ENOTIMPL : read_text(k, types, form, &r->e, &why);
  if (code == TT_ENOTIMPL) code = (r->why = copied(why.message)) ? TT_OK : tt__fail_memory(&why, 1);
  if (code == TT_OK) return *out = r, TT_OK;
  free_reading(r, k->signature.n);
  return tt__fail(err, code == TT_EVALUE ? TT_ECOMPILE : code, "%s", why.message);
}

static tt_custom_reading *add_reading(tt_custom *k, tt_custom_reading *r) {
  tt__session_lock();
  tt_custom_reading *found = find_reading(k, &r->types, r->form), **end = &k->read;
  while (!found && *end) end = &(*end)->next;
  if (!found) __atomic_store_n(end, r, __ATOMIC_RELEASE);
  tt__session_unlock();
  if (!found) return r;
  free_reading(r, k->signature.n); /* another thread was faster */
  return found;
}

tt_code tt__custom_read(tt_custom *k, const tt_cx_types *types, const uint8_t *form, tt_custom_reading **out,
                        tt_error *err) {
  assert(types && form && out);
  tt_custom_reading *r = find_reading(k, types, form);
  *out = NULL;
  if (!r) {
    TT_TRY(new_reading(k, types, form, &r, err));
    r = add_reading(k, r);
  }
  const char *why = __atomic_load_n(&r->why, __ATOMIC_ACQUIRE);
  if (!why) *out = r;
  if (!why || !k->way || k->way[0] != 'g') return TT_OK;
  return tt__fail(err, TT_ENOTIMPL, "kernel %s: %s", k->text.name, why);
}

tt_code tt__custom_refuse(tt_custom_reading *r, const char *why, tt_error *err) {
  char *none = NULL, *s = copied(why);
  if (!s) return tt__fail_memory(err, strlen(why) + 1);
  if (!__atomic_compare_exchange_n(&r->why, &none, s, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) drop(s);
  return TT_OK;
}

/* ---- compiled */

static tt_custom_build *find_build(const tt_custom *k, const tt_cx_types *types, const uint8_t *form) {
  tt_custom_build *b = __atomic_load_n(&k->built, __ATOMIC_ACQUIRE);
  while (b && !(same_types(&b->types, types) && memcmp(b->form, form, (size_t)k->signature.n) == 0))
    b = __atomic_load_n(&b->next, __ATOMIC_ACQUIRE);
  return b;
}

static void write_text(const tt_custom *k, const tt_cx_types *types, const uint8_t *form, tt_str *out) {
  const char *inner;
  if (k->c_form) {
    tt__cx_elementwise_c(&k->signature, &k->text, out);
  } else if (k->is_reduction) {
    tt__custom_inner(k, types, &inner);
    tt__cx_reduction(&k->signature, &k->text, types, form, inner, out);
  } else {
    tt__cx_elementwise(&k->signature, &k->text, types, form, out);
  }
}

/* Takes long: with the lock given up, and a binding's. */
static tt_code compile(const tt_custom *k, const char *text, tt_program **out, tt_error *err) {
  tt_program_options o = {.file = k->file, .flag = (const char *const *)k->flag, .nflag = k->nflag};
  tt__session_lock();
  int depth = tt__session_suspend();
  void *made = NULL;
  tt_code code = tt__source_read(&(tt_source){.language = TT_CUDA_C, .text = text, .cuda = &o}, &made, err);
  *out = made;
  tt__session_resume(depth);
  tt__session_unlock();
  return code == TT_EDEVICE || code == TT_EINTERNAL ? err->code = TT_ECOMPILE : code;
}

static tt_code find_entries(const tt_custom *k, tt_custom_build *b, tt_error *err) {
  static const char *const names[TT_CUSTOM_ENTRIES] = {"_partial", "_finish", "_nothing"};
  void *unused;
  size_t part;
  if (!k->is_reduction) return tt__program_find(b->program, k->text.name, &b->entry[0], err);
  for (int i = 0; i < TT_CUSTOM_ENTRIES; i++) TT_TRY(tt__program_find(b->program, names[i], &b->entry[i], err));
  TT_TRY(tt__variable_at(b->program, "_one", -1, &unused, &part, err));
  b->part = (int64_t)part;
  return TT_OK;
}

static tt_code new_build(const tt_custom *k, const tt_cx_types *types, const uint8_t *form, tt_custom_build **out,
                         tt_error *err) {
  size_t n = (size_t)k->signature.n;
  tt_str body = {0}, text = {0};
  tt_custom_build *b = tt__mem_zalloc(sizeof *b + n);
  *out = NULL;
  if (!b) return tt__fail_memory(err, sizeof *b + n);
  b->types = *types;
  memcpy(b->form, form, n);
  write_text(k, types, form, &body);
  bool halves = body.data && (strstr(body.data, "__half") || strstr(body.data, "bfloat16"));
  if (halves) tt__str_add(&text, "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n");
  if (halves) tt__str_add(&text, body.data);
  tt_str *whole = halves ? &text : &body;
  tt_code code = body.failed || text.failed ? tt__fail_memory(err, body.len) : TT_OK;
  if (code == TT_OK) code = compile(k, whole->data, &b->program, err);
  tt__str_free(&body);
  tt__str_free(&text);
  if (code == TT_OK) code = find_entries(k, b, err);
  if (code == TT_OK) return *out = b, TT_OK;
  free_build(b, k->signature.n);
  return code;
}

tt_code tt__custom_build_for(tt_custom *k, const tt_cx_types *types, const uint8_t *form, tt_custom_build **out,
                             tt_error *err) {
  if ((*out = find_build(k, types, form))) return TT_OK;
  tt_custom_build *made;
  TT_TRY(new_build(k, types, form, &made, err));
  tt__session_lock();
  tt_custom_build **end = &k->built;
  *out = find_build(k, types, form);
  while (!*out && *end) end = &(*end)->next;
  if (!*out) __atomic_store_n(end, made, __ATOMIC_RELEASE);
  tt__session_unlock();
  if (*out)
    free_build(made, k->signature.n); /* another thread was faster */
  else
    *out = made;
  return TT_OK;
}

/* ---- asking */

tt_code tt__custom_parameter(const tt_custom *k, int i, tt_custom_parameter *out, tt_error *err) {
  const tt_cx_signature *g = &k->signature;
  if (i < 0 || i >= g->n) return tt__fail(err, TT_EINDEX, "kernel %s has no parameter %d", k->text.name, i);
  const tt_cx_parameter *p = &g->param[i];
  *out = (tt_custom_parameter){p->name, p->letter < 0 ? p->dtype : TT_DTYPE_NONE,
                               (char)(p->letter < 0 ? 0 : 'A' + p->letter), p->is_raw};
  return TT_OK;
}

void tt__custom_ways(const tt_custom *k, int *graph, int *compiled) {
  *graph = *compiled = 0;
  for (tt_custom_reading *r = __atomic_load_n(&k->read, __ATOMIC_ACQUIRE); r;
       r = __atomic_load_n(&r->next, __ATOMIC_ACQUIRE))
    ++*(__atomic_load_n(&r->why, __ATOMIC_ACQUIRE) ? compiled : graph);
}

static void add_types(const tt_custom *k, const tt_cx_types *types, tt_str *out) {
  uint32_t told = 0;
  for (int p = 0; p < k->signature.n; p++) {
    int letter = k->signature.param[p].letter;
    if (letter < 0 || told >> letter & 1) continue;
    tt__str_addf(out, "%s%c=%s", told ? ", " : "<", 'A' + letter, tt__dtypes[tt__cx_letter(types, letter)].name);
    told |= UINT32_C(1) << letter;
  }
  if (told) tt__str_add(out, ">");
}

static void add_operations(const tt_expression *e, tt_str *out) {
  tt_str text = {0};
  tt__expression_print(e, &text);
  if (text.failed) out->failed = true;
  const char *line = text.data;
  while (line && *line) {
    size_t n = strcspn(line, "\n");
    tt__str_addf(out, "\n  %.*s", (int)n, line);
    line += n + (line[n] != 0);
  }
  tt__str_free(&text);
}

char *tt__custom_explain(const tt_custom *k) {
  tt_str out = {0};
  for (tt_custom_reading *r = __atomic_load_n(&k->read, __ATOMIC_ACQUIRE); r;
       r = __atomic_load_n(&r->next, __ATOMIC_ACQUIRE)) {
    const char *why = __atomic_load_n(&r->why, __ATOMIC_ACQUIRE);
    tt__str_addf(&out, "%s%s", out.len ? "\n" : "", k->text.name);
    add_types(k, &r->types, &out);
    if (why)
      tt__str_addf(&out, ": CUDA C (%s)", why);
    else
      tt__str_add(&out, ": operations of the graph");
    if (!why) add_operations(r->e, &out);
  }
  return finished(&out);
}

char *tt__custom_text(const tt_custom *k) {
  tt_str out = {0};
  for (tt_custom_build *b = __atomic_load_n(&k->built, __ATOMIC_ACQUIRE); b;
       b = __atomic_load_n(&b->next, __ATOMIC_ACQUIRE))
    tt__str_addf(&out, "%s%s", out.len ? "\n\n" : "", b->program->text.data ? b->program->text.data : "");
  return finished(&out);
}
