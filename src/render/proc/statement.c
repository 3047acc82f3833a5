/*
** Statements and functions as text, and the loops that run in parallel.
*/
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "render/proc/proc_int.h"

/*
** The most nodes of a loop's body that is written to be unrolled, which gcc does not by itself. A product of matrices
** gains an eighth; larger bodies gain nothing, and take a fifth more of the compiler's time.
*/
enum { UNROLLED = 20 };
/* Nodes of loops that are written out turn by turn, and turns of each: a stencil of 5 x 5 has 300. */
enum { WRITTEN_OUT = 400, MOST_TURNS = 16 };

/* ---- lines */

static void put_line(tt_pwriter *w, const char *fmt, va_list ap) {
  char text[512];
  for (int k = 0; k < w->indent; k++) tt__str_add(w->out, "  ");
  va_list again;
  va_copy(again, ap);
  int n = vsnprintf(text, sizeof text, fmt, ap);
  if (n >= 0 && (size_t)n < sizeof text) {
    tt__str_add_n(w->out, text, (size_t)n);
  } else { /* rare: an expression as long as a page */
    char *big = tt__arena_alloc(w->arena, (size_t)n + 1);
    if (big) vsnprintf(big, (size_t)n + 1, fmt, again);
    if (big)
      tt__str_add_n(w->out, big, (size_t)n);
    else
      w->out->failed = true;
  }
  va_end(again);
  tt__str_add(w->out, "\n");
}

void tt__pw_line(tt_pwriter *w, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  put_line(w, fmt, ap);
  va_end(ap);
}

void tt__pw_open(tt_pwriter *w, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  put_line(w, fmt, ap);
  va_end(ap);
  w->indent++;
}

const char *tt__pw_peek(tt_pwriter *w, const tt_str *s) {
  if (s->failed) w->out->failed = true;
  return s->data ? s->data : "";
}

void tt__pw_close(tt_pwriter *w, const char *text) {
  assert(w->indent > 0);
  w->indent--;
  tt__pw_line(w, "%s", text);
}

/* ---- failing */

static void put_quoted(const char *text, tt_str *out) {
  tt__str_add(out, "\"");
  for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
    if (*c == '"' || *c == '\\' || *c == '?')
      tt__str_addf(out, "\\%c", *c);
    else if (*c < 32 || *c > 126)
      tt__str_addf(out, "\\%03o", *c);
    else
      tt__str_add_n(out, (const char *)c, 1);
  }
  tt__str_add(out, "\"");
}

/* Inside a TRY: to where its failures are caught. */
const char *tt__pw_leave_text(tt_pwriter *w) {
  if (w->attempt) {
    char text[24];
    int n = snprintf(text, sizeof text, "goto caught%d", w->attempt->number);
    const char *kept = tt__arena_dup(w->arena, text, (size_t)n + 1);
    if (!kept) w->out->failed = true;
    return kept ? kept : "";
  }
  return w->in_parfor || w->f->kind == TT_X_KERNEL ? "return" : "return 1";
}

void tt__pw_fail(tt_pwriter *w, const char *kind, const char *message, int32_t line, tt_str *out) {
  if (w->target == TT_PROGRAM_CUDA) {
    tt__str_add(out, "__trap()");
    return;
  }
  tt__str_addf(out, "{ tt_fail(call, %s, ", kind);
  put_quoted(message, out);
  tt__str_addf(out, ", %d); %s; }", (int)line, tt__pw_leave_text(w));
}

static void put_raise(tt_pwriter *w, const tt_pstmt *s) {
  tt_str text = {0};
  char kind[16];
  snprintf(kind, sizeof kind, "%d", (int)s->k);
  if (s->a) {
    tt__str_add(&text, "if (TT_RARELY(!");
    tt__pw_expr(w, s->a, &text);
    tt__str_add(&text, ")) ");
  }
  if (s->k == TT_X_AGAIN)
    tt__str_addf(&text, "{ tt_fail(call, v%d, what%d, where%d); %s; }", (int)s->local, (int)s->local, (int)s->local,
                 tt__pw_leave_text(w));
  else if (s->b)
    tt__str_addf(&text, "{ tt_fail(call, %s, tt_text_bytes(call, %s), %d); %s; }", kind, tt__pw_text(w, s->b),
                 (int)s->line, tt__pw_leave_text(w));
  else
    tt__pw_fail(w, kind, s->name, s->line, &text);
  tt__pw_line(w, "%s;", tt__pw_peek(w, &text));
  w->out->failed |= text.failed;
  tt__str_free(&text);
}

/* ---- printing: a letter and a value each, one behind another */

/* A text inside a format. */
static void put_in_format(const char *text, tt_str *out) {
  tt_str quoted = {0};
  put_quoted(text, &quoted);
  for (const char *c = quoted.data ? quoted.data + 1 : ""; *c && c[1]; c++)
    tt__str_addf(out, *c == '%' ? "%%%%" : "%c", *c);
  out->failed |= quoted.failed;
  tt__str_free(&quoted);
}

static bool is_truth(const tt_pexpr *e) {
  return e->op != TT_X_STRING && e->type->tag == TT_T_SCALAR && e->type->dtype == TT_BOOL;
}

/* A number, or a text that is written out, in a format of C's printf. */
static void put_formatted(tt_pwriter *w, const tt_pexpr *e, tt_str *format, tt_str *args) {
  const char *whole = w->target == TT_PROGRAM_OPENCL ? "long" : "long long";
  if (e->op == TT_X_STRING) {
    put_in_format(e->name, format);
    return;
  }
  if (e->type->tag == TT_T_NONE) {
    tt__str_add(format, "None");
    return;
  }
  const char *x = tt__pw_text(w, e);
  tt_dtype d = (tt_dtype)e->type->dtype;
  bool is_signed = tt__dtypes[d].kind == 'i';
  if (tt__is_complex(d)) {
    tt__str_add(format, "(%.17g%+.17gj)");
    tt__str_addf(args, ", (double)(%s).re, (double)(%s).im", x, x);
  } else if (d == TT_F16 || d == TT_BF16) {
    tt__str_add(format, "%.17g");
    tt__str_addf(args, ", (double)tt_cast_%s_f32(%s)", tt__dtypes[d].suffix, x);
  } else if (tt__is_float(d)) {
    tt__str_add(format, "%.17g");
    tt__str_addf(args, ", (double)(%s)", x);
  } else {
    tt__str_addf(format, "%%%s%c", w->target == TT_PROGRAM_OPENCL ? "l" : "ll", is_signed ? 'd' : 'u');
    tt__str_addf(args, ", (%s%s)(%s)", is_signed ? "" : "unsigned ", whole, x);
  }
}

/* From argument k on. OpenCL's printf writes no text but a format's own: each truth doubles the statements. */
static void put_printf(tt_pwriter *w, const tt_pstmt *s, int k, const char *before, const char *values) {
  tt_str format = {0}, args = {0};
  bool words = w->target == TT_PROGRAM_OPENCL;
  tt__str_add(&format, before);
  tt__str_add(&args, values);
  for (; k < s->n && !(words && is_truth(s->arg[k])); k++) {
    if (is_truth(s->arg[k])) {
      tt__str_add(&format, "%s");
      tt__str_addf(&args, ", (%s) ? \"True\" : \"False\"", tt__pw_text(w, s->arg[k]));
    } else {
      put_formatted(w, s->arg[k], &format, &args);
    }
  }
  if (k == s->n) {
    tt__pw_line(w, "printf(\"%s\\n\"%s);", tt__pw_peek(w, &format), tt__pw_peek(w, &args));
  } else {
    tt_str no = {0};
    tt__str_addf(&no, "%sFalse", tt__pw_peek(w, &format));
    tt__str_add(&format, "True");
    tt__pw_open(w, "if (%s) {", tt__pw_text(w, s->arg[k]));
    put_printf(w, s, k + 1, tt__pw_peek(w, &format), tt__pw_peek(w, &args));
    w->indent--;
    tt__pw_open(w, "} else {");
    put_printf(w, s, k + 1, tt__pw_peek(w, &no), tt__pw_peek(w, &args));
    tt__pw_close(w, "}");
    tt__str_free(&no);
  }
  tt__str_free(&format);
  tt__str_free(&args);
}

static void put_print(tt_pwriter *w, const tt_pstmt *s) {
  if (w->target != TT_PROGRAM_C) {
    put_printf(w, s, 0, "", "");
    return;
  }
  tt_str kinds = {0};
  int at = 0;
  tt__pw_open(w, "{");
  tt__pw_line(w, "tt_i64 word[%d];", 2 * s->n + 1);
  for (int k = 0; k < s->n; k++) {
    const tt_pexpr *e = s->arg[k];
    if (e->type->tag == TT_T_LIST) {
      tt__pw_line(w, "word[%d] = (tt_i64)tt_text_bytes(call, %s);", at++, tt__pw_text(w, e));
      tt__str_add(&kinds, "s");
    } else if (e->op == TT_X_STRING) {
      tt_str quoted = {0};
      put_quoted(e->name, &quoted);
      tt__pw_line(w, "word[%d] = (tt_i64)%s;", at++, tt__pw_peek(w, &quoted));
      tt__str_free(&quoted);
      tt__str_add(&kinds, "s");
    } else if (e->type->tag == TT_T_NONE) {
      tt__str_add(&kinds, "N");
    } else {
      at += tt__pw_to_words(w, e->type, tt__pw_text(w, e), "word", at);
      tt__str_addf(&kinds, "%c", 'A' + e->type->dtype + 32); /* 'a' + dtype; strings and None lie apart */
    }
  }
  tt__pw_line(w, "call->print(call, \"%s\", word);", tt__pw_peek(w, &kinds));
  tt__pw_close(w, "}");
  tt__str_free(&kinds);
}

/* ---- parallel loops: the body becomes a function of a chunk */

typedef struct uses {
  bool *used;
} uses;
static void note_use(void *ctx, int32_t local, bool write) {
  (void)write;
  ((uses *)ctx)->used[local] = true;
}

static const char *identity(tt_pwriter *w, const tt_pstmt *s, int k, const char *type) {
  const tt_ptype *t = w->f->locals.data[s->reduced[k]].type;
  char text[96];
  bool low = s->reduce_op[k] == TT_MINIMUM, high = s->reduce_op[k] == TT_MAXIMUM;
  const char *suffix = tt__dtypes[t->dtype].suffix;
  if (low || high)
    snprintf(text, sizeof text, "e->r%d", (int)s->reduced[k]); /* the value before the loop: harmless twice */
  else if (tt__is_complex((tt_dtype)t->dtype))
    snprintf(text, sizeof text, "tt_complex_%s(%d, 0)", suffix, s->reduce_op[k] == TT_MUL);
  else
    snprintf(text, sizeof text, "(%s)%d", type,
             s->reduce_op[k] == TT_MUL   ? 1
             : s->reduce_op[k] == TT_AND ? (t->dtype == TT_BOOL ? 1 : -1)
                                         : 0);
  char *kept = tt__arena_dup(w->arena, text, strlen(text) + 1);
  if (!kept) w->out->failed = true;
  return kept ? kept : "";
}

static bool is_reduced(const tt_pstmt *s, int32_t local) {
  for (int k = 0; k < s->n; k++)
    if (s->reduced[k] == local) return true;
  return false;
}

static void put_combine(tt_pwriter *w, const tt_pstmt *s, int k, const char *into, const char *with) {
  const tt_ptype *t = w->f->locals.data[s->reduced[k]].type;
  tt_op op = (tt_op)s->reduce_op[k];
  const char *suffix = tt__dtypes[t->dtype].suffix;
  bool plain = (t->dtype == TT_I64 || t->dtype == TT_U64 || t->dtype == TT_F64 || t->dtype == TT_F32);
  if (plain && (op == TT_ADD || op == TT_MUL))
    tt__pw_line(w, "%s = %s %s %s;", into, into, op == TT_ADD ? "+" : "*", with);
  else if (t->dtype == TT_BOOL)
    tt__pw_line(w, "%s = %s %s %s;", into, into, op == TT_AND || op == TT_MUL || op == TT_MINIMUM ? "&" : "|", with);
  else
    tt__pw_line(w, "%s = tt_%s_%s(%s, %s);", into, tt__ops[op].lower, suffix, into, with);
}

/* Locals that the turns write and that are used elsewhere too: behind the loop they have the value of the last turn
 * that wrote them. Each chunk says whether it did, and what. */
typedef struct counts {
  int32_t *all, *written;
} counts;
static void count_use(void *ctx, int32_t local, bool write) {
  counts *c = ctx;
  c->all[local]++;
  c->written[local] += write;
}

static bool *kept_locals(tt_pwriter *w, const tt_pstmt *s) {
  size_t n = (size_t)w->f->locals.n + 1;
  int32_t *count = tt__arena_alloc(w->arena, 4 * n * sizeof *count);
  bool *kept = tt__arena_alloc(w->arena, n);
  if (!count || !kept) return w->out->failed = true, NULL;
  memset(count, 0, 4 * n * sizeof *count);
  counts inside = {count, count + n}, everywhere = {count + 2 * n, count + 3 * n};
  tt__pw_each_stmt(s->body, count_use, &inside);
  tt__pw_each_stmt(w->f->body, count_use, &everywhere);
  for (int64_t k = 0; k < w->f->locals.n; k++)
    kept[k] = inside.written[k] > 0 && everywhere.all[k] > inside.all[k] && k != s->local &&
              !is_reduced(s, (int32_t)k) && k >= w->f->nparam && w->f->locals.data[k].type->tag != TT_T_UNKNOWN &&
              w->f->locals.data[k].type->tag != TT_T_META && w->f->locals.data[k].type->tag != TT_T_NONE;
  return kept;
}

static void put_par_body(tt_pwriter *w, const tt_pstmt *s, const bool *used, int number) {
  tt_str *before = w->out, text = {0};
  tt_pattempt *attempt = w->attempt;
  int indent = w->indent;
  w->attempt = NULL;
  w->out = &text;
  w->indent = 0;
  w->in_parfor = true;
  tt__pw_open(w, "typedef struct {");
  tt__pw_line(w, "tt_i64 lo, hi;");
  for (int64_t k = 0; k < w->f->locals.n; k++) {
    const char *type = tt__pw_type(w, w->f->locals.data[k].type);
    if (!used[k]) continue;
    if (is_reduced(s, (int32_t)k)) tt__pw_line(w, "%s *p%d;", type, (int)k);
    tt__pw_line(w, "%s %s%d;", type, is_reduced(s, (int32_t)k) ? "r" : "v", (int)k);
    if (w->kept && w->kept[k]) tt__pw_line(w, "%s *o%d; tt_b8 *w%d;", type, (int)k, (int)k);
  }
  w->indent--;
  tt__pw_line(w, "} E%d_%d;", w->f->source, number);
  tt__pw_open(w, "static void tt_par%d_%d(tt_pcall *call, void *env, tt_i64 chunk, tt_i64 chunks) {", w->f->source,
              number);
  tt__pw_line(w, "const E%d_%d *e = env;", w->f->source, number);
  tt__pw_turns(w, s->body);
  tt__pw_line(w, "const tt_i64 n = e->hi - e->lo, hi = e->lo + tt_cut(n, chunk + 1, chunks);");
  for (int64_t k = 0; k < w->f->locals.n; k++) {
    if (!used[k] || is_reduced(s, (int32_t)k)) continue;
    tt__pw_line(w, "%s v%d = e->v%d;", tt__pw_type(w, w->f->locals.data[k].type), (int)k, (int)k);
    if (w->kept && w->kept[k]) tt__pw_line(w, "tt_b8 w%d = 0;", (int)k);
  }
  for (int k = 0; k < s->n; k++) {
    const char *type = tt__pw_type(w, w->f->locals.data[s->reduced[k]].type);
    tt__pw_line(w, "%s v%d = %s;", type, (int)s->reduced[k], identity(w, s, k, type));
  }
  tt__pw_open(w, "for (tt_i64 it = e->lo + tt_cut(n, chunk, chunks); it < hi; it++) {");
  tt__pw_line(w, "v%d = it;", (int)s->local);
  tt__pw_stmts(w, s->body);
  tt__pw_close(w, "}");
  for (int k = 0; k < s->n; k++) tt__pw_line(w, "e->p%d[chunk] = v%d;", (int)s->reduced[k], (int)s->reduced[k]);
  for (int64_t k = 0; k < w->f->locals.n; k++)
    if (w->kept && w->kept[k])
      tt__pw_line(w, "e->w%d[chunk] = w%d; if (w%d) e->o%d[chunk] = v%d;", (int)k, (int)k, (int)k, (int)k, (int)k);
  tt__pw_close(w, "}");
  w->in_parfor = false;
  w->attempt = attempt;
  w->indent = indent;
  w->out = before;
  tt__str_add_n(w->fore, text.data ? text.data : "", text.len);
  w->fore->failed |= text.failed;
  tt__str_free(&text);
}

static void put_parfor(tt_pwriter *w, const tt_pstmt *s) {
  int number = w->parfor++;
  bool *used = tt__arena_alloc(w->arena, (size_t)w->f->locals.n + 1);
  if (!used) {
    w->out->failed = true;
    return;
  }
  uses u = {used};
  tt__pw_each_stmt(s->body, note_use, &u);
  used[s->local] = true;
  for (int k = 0; k < s->n; k++) used[s->reduced[k]] = true;
  const bool *kept = w->kept = kept_locals(w, s);
  put_par_body(w, s, used, number);
  w->kept = NULL;
  tt__pw_open(w, "{");
  tt__pw_line(w, "E%d_%d env;", w->f->source, number);
  tt__pw_line(w, "env.lo = %s;", tt__pw_text(w, s->a));
  tt__pw_line(w, "env.hi = %s;", tt__pw_text(w, s->b));
  for (int64_t k = 0; k < w->f->locals.n; k++)
    if (used[k]) tt__pw_line(w, "env.%s%d = v%d;", is_reduced(s, (int32_t)k) ? "r" : "v", (int)k, (int)k);
  tt__pw_line(w, "const tt_i64 n = env.hi - env.lo, chunks = n < TT_CHUNKS ? n : TT_CHUNKS;");
  for (int k = 0; k < s->n; k++) {
    tt__pw_line(w, "%s p%d[TT_CHUNKS];", tt__pw_type(w, w->f->locals.data[s->reduced[k]].type), k);
    tt__pw_line(w, "env.p%d = p%d;", (int)s->reduced[k], k);
  }
  for (int64_t k = 0; k < w->f->locals.n; k++) {
    if (!kept || !kept[k]) continue;
    tt__pw_line(w, "%s o%d[TT_CHUNKS]; tt_b8 w%d[TT_CHUNKS];", tt__pw_type(w, w->f->locals.data[k].type), (int)k,
                (int)k);
    tt__pw_line(w, "env.o%d = o%d; env.w%d = w%d;", (int)k, (int)k, (int)k, (int)k);
  }
  tt__pw_line(w, "if (chunks > 0) call->parallel(call, chunks, tt_par%d_%d, &env);", w->f->source, number);
  tt__pw_line(w, "if (TT_RARELY(*call->failed)) %s;", tt__pw_leave_text(w));
  for (int k = 0; k < s->n; k++) { /* in the order of the chunks: the same bits with any number of threads */
    char into[16], with[24];
    snprintf(into, sizeof into, "v%d", (int)s->reduced[k]);
    snprintf(with, sizeof with, "p%d[c]", k);
    tt__pw_open(w, "for (tt_i64 c = 0; c < chunks; c++) {");
    put_combine(w, s, k, into, with);
    tt__pw_close(w, "}");
  }
  tt__pw_line(w, "if (n > 0) v%d = env.hi - 1;", (int)s->local);
  for (int64_t k = 0; k < w->f->locals.n; k++)
    if (kept && kept[k])
      tt__pw_line(w, "for (tt_i64 c = 0; c < chunks; c++) if (w%d[c]) v%d = o%d[c];", (int)k, (int)k, (int)k);
  tt__pw_close(w, "}");
}

/* ---- loops */

static tt_ploop plain_loop(tt_pwriter *w) {
  tt_ploop l = {.up = w->loop};
  return l;
}

static int count_expr(const tt_pexpr *e) {
  int n = e ? 1 : 0;
  for (int k = 0; e && k < e->n; k++) n += count_expr(e->arg[k]);
  return n;
}

/* Nodes of the expressions; a loop inside counts as more than any. */
static int count_nodes(const tt_pstmt *s) {
  int n = 0;
  for (; s; s = s->next) {
    if (s->op == TT_X_FOR || s->op == TT_X_WHILE) return UNROLLED + 1;
    n += count_expr(s->a) + count_expr(s->b) + count_nodes(s->body) + count_nodes(s->other);
  }
  return n;
}

bool tt__pw_is_small(const tt_pstmt *body) { return count_nodes(body) <= UNROLLED; }

/*
** How many turns a loop has that are written one after another, which gcc does too late: then the loop around them
** becomes vector code, and indices are seen not to be negative. -1: it stays a loop.
*/
static int64_t turns_written_out(const tt_pstmt *s) {
  enum { MOST = 1 << 20 };
  if (s->op != TT_X_FOR || s->a->op != TT_X_CONST || s->b->op != TT_X_CONST || s->c->op != TT_X_CONST) return -1;
  int64_t lo = s->a->i, hi = s->b->i, by = s->c->i;
  if (by == 0 || by > MOST || by < -MOST || lo > MOST || lo < -MOST || hi > MOST || hi < -MOST) return -1;
  int64_t turns = by > 0 ? (hi - lo + by - 1) / by : (lo - hi - by - 1) / -by;
  return turns < 0 ? 0 : turns <= MOST_TURNS ? turns : -1;
}

/* Nodes of the statements with such loops written out; more than WRITTEN_OUT: something else is among them. */
static int64_t count_written_out(const tt_pstmt *s) {
  int64_t n = 0;
  for (; s && n <= WRITTEN_OUT; s = s->next) {
    int64_t turns = s->op == TT_X_FOR ? turns_written_out(s) : 1;
    if (turns < 0 || (s->op != TT_X_FOR && s->op != TT_X_SET && s->op != TT_X_STORE && s->op != TT_X_IF))
      return WRITTEN_OUT + 1;
    n += turns * (count_expr(s->a) + count_expr(s->b) + count_written_out(s->body) + count_written_out(s->other));
  }
  return n;
}

static bool sets(const tt_pstmt *s, int32_t local) {
  for (; s; s = s->next)
    if (s->local == local || sets(s->body, local) || sets(s->other, local)) return true;
  return false;
}

/* Loops that stand in others: alone, a loop gains nothing by it. */
static bool put_written_out(tt_pwriter *w, const tt_pstmt *s) {
  int64_t turns = turns_written_out(s);
  if (w->target != TT_PROGRAM_C || w->resume || w->f->yields || !w->loop || turns < 0) return false;
  if (turns * count_written_out(s->body) > WRITTEN_OUT) return false;
  const tt_pturn *around = w->turn;
  bool known = !sets(s->body, s->local);
  tt_str v = {0};
  tt__pw_local(w, s->local, &v);
  for (int64_t k = 0; k < turns; k++) {
    tt_pturn turn = {.up = around, .local = s->local, .value = s->a->i + k * s->c->i};
    tt__pw_line(w, "%s = %lld;", tt__pw_peek(w, &v), (long long)turn.value);
    if (known) w->turn = &turn;
    tt__pw_stmts(w, s->body);
    w->turn = around;
  }
  tt__str_free(&v);
  return true;
}

static void put_for(tt_pwriter *w, const tt_pstmt *s) {
  if (put_written_out(w, s)) return;
  int n = w->serial++;
  tt_str v = {0};
  tt__pw_local(w, s->local, &v);
  tt_ploop loop = plain_loop(w);
  bool outer = w->guarded;
  w->loop = &loop;
  w->guarded = false;
  if (w->resume || w->f->yields) {
    (w->resume ? tt__pw_resume_for : tt__pw_generator_for)(w, s, tt__pw_peek(w, &v));
    goto done;
  }
  tt__pw_open(w, "{");
  tt__pw_line(w, "const tt_i64 hi%d = %s;", n, tt__pw_text(w, s->b));
  bool swaps = s->body && !s->body->next && tt__pw_swaps(w, s->body);
  const char *unroll = w->target == TT_PROGRAM_C && (swaps || tt__pw_is_small(s->body)) ? "TT_UNROLL4 " : "";
  if (s->c->op == TT_X_CONST) {
    tt__pw_open(w, "%sfor (tt_i64 it%d = %s; it%d %s hi%d; it%d += %lld) {", unroll, n, tt__pw_text(w, s->a), n,
                s->c->i > 0 ? "<" : ">", n, n, (long long)s->c->i);
  } else {
    tt__pw_line(w, "const tt_i64 by%d = %s;", n, tt__pw_text(w, s->c));
    if (s->c->nonneg && w->target == TT_PROGRAM_CUDA && tt__pw_is_small(s->body)) {
      /* CUDA's compiler loads for several turns at once only where it sees how many there are. */
      tt__pw_line(w, "tt_i64 it%d = %s;", n, tt__pw_text(w, s->a));
      tt__pw_line(w, "tt_u64 left%d = it%d < hi%d ? ((tt_u64)hi%d - (tt_u64)it%d - 1) / (tt_u64)by%d + 1 : 0;", n, n, n,
                  n, n, n);
      tt__pw_open(w, "TT_UNROLL(4) for (; left%d > 0; left%d--, it%d += by%d) {", n, n, n, n);
    } else if (s->c->nonneg) {
      tt__pw_open(w, "%sfor (tt_i64 it%d = %s; it%d < hi%d; it%d += by%d) {", unroll, n, tt__pw_text(w, s->a), n, n, n,
                  n);
    } else
      tt__pw_open(w, "for (tt_i64 it%d = %s; by%d > 0 ? it%d < hi%d : it%d > hi%d; it%d += by%d) {", n,
                  tt__pw_text(w, s->a), n, n, n, n, n, n, n);
  }
  tt__pw_line(w, "%s = it%d;", tt__pw_peek(w, &v), n);
  tt__pw_stmts(w, s->body);
  tt__pw_close(w, "}");
  tt__pw_close(w, "}");
done:
  w->loop = loop.up;
  w->guarded = outer;
  tt__str_free(&v);
}

static bool has_while(const tt_pstmt *s) {
  for (; s; s = s->next)
    if (s->op == TT_X_WHILE || has_while(s->body) || has_while(s->other)) return true;
  return false;
}

/* Loops that may go on for ever ask now and then whether they should. Where one was told to stop, the other threads and
   chunks ask at once: there may be thousands of them. */
void tt__pw_turns(tt_pwriter *w, const tt_pstmt *body) {
  if (w->target == TT_PROGRAM_C && has_while(body)) tt__pw_line(w, "tt_i64 turns = *call->failed ? 0 : 1 << 24;");
}

static void put_while(tt_pwriter *w, const tt_pstmt *s) {
  tt_ploop loop = plain_loop(w);
  bool outer = w->guarded;
  w->loop = &loop;
  w->guarded = false;
  if (w->resume)
    tt__pw_resume_while(w, s);
  else
    tt__pw_open(w, "while (%s) {", tt__pw_text(w, s->a));
  if (w->target == TT_PROGRAM_C)
    tt__pw_line(w, "if (TT_RARELY(--turns < 0)) { turns = 1 << 24; if (call->poll(call)) %s; }", tt__pw_leave_text(w));
  tt__pw_stmts(w, s->body);
  tt__pw_close(w, "}");
  w->loop = loop.up;
  w->guarded = outer;
}

/* ---- statements */

static bool leaves_region(const tt_pwriter *w, const tt_pstmt *s) {
  if (!w->storage) return false;
  return s->op == TT_X_RETURN || !w->loop || w->loop->split;
}

/* Before the flow leaves the bodies of TRYs: the outermost of them has the place where failures went before. */
static void put_back(tt_pwriter *w, const tt_ploop *out_of) {
  const tt_pattempt *outermost = NULL;
  for (const tt_pattempt *a = w->attempt; a && (!out_of || a->loop == out_of); a = a->up) outermost = a;
  if (outermost) tt__pw_line(w, "tt_caught(call, &before%d);", outermost->number);
}

/*
** Failures of the body are noted apart, so that other threads of the call do not take them for its own. Where it was
** told to stop from outside nothing is caught.
*/
static void put_try(tt_pwriter *w, const tt_pstmt *s) {
  tt_pattempt attempt = {.up = w->attempt, .loop = w->loop, .number = w->serial++};
  int n = attempt.number, v = (int)s->local;
  tt__pw_open(w, "{");
  tt__pw_line(w, "tt_i32 kind%d = 0, where%d = 0; const char *what%d = \"\";", n, v, v);
  tt__pw_line(w, "const tt_place before%d = {call->failed, call->message, call->line};", n);
  tt__pw_line(w, "call->failed = &kind%d; call->message = &what%d; call->line = &where%d;", n, v, v);
  w->attempt = &attempt;
  tt__pw_stmts(w, s->body);
  w->attempt = attempt.up;
  tt__pw_line(w, "tt_caught(call, &before%d);", n);
  tt__pw_line(w, "goto done%d;", n);
  tt__pw_line(w, "caught%d: __attribute__((unused));", n);
  tt__pw_line(w, "tt_caught(call, &before%d);", n);
  tt__pw_line(w, "if (*call->failed) %s;", tt__pw_leave_text(w));
  tt__pw_line(w, "v%d = kind%d;", v, n);
  tt__pw_stmts(w, s->other);
  tt__pw_line(w, "done%d:;", n);
  tt__pw_close(w, "}");
}

static void put_return(tt_pwriter *w, const tt_pstmt *s) {
  if (w->attempt && s->a && tt__pw_fails(w, w->f)) { /* the value may fail, too */
    tt__pw_line(w, "*result = %s;", tt__pw_text(w, s->a));
    put_back(w, NULL);
    tt__pw_line(w, "return 0;");
    return;
  }
  put_back(w, NULL);
  if (w->f->yields) {
    tt__pw_line(w, "goto over;");
  } else if (w->resume) {
    tt__pw_resume_return(w, s->a);
  } else if (w->f->kind == TT_X_KERNEL && w->apart) {
    tt__pw_line(w, "{ over = 1; goto left%d; }", w->leave);
  } else if (w->f->kind == TT_X_KERNEL) {
    tt__pw_line(w, w->single ? "{ call->leaves(); return; }" : "return;");
  } else if (tt__pw_fails(w, w->f)) {
    if (s->a) tt__pw_line(w, "*result = %s;", tt__pw_text(w, s->a));
    tt__pw_line(w, "return 0;");
  } else {
    tt__pw_line(w, "return %s;", s->a ? tt__pw_text(w, s->a) : "0");
  }
}

/* Of a list's item: the words of the value. */
static void put_list_store(tt_pwriter *w, const tt_pstmt *s) {
  tt__pw_line(w, "{ const %s x = %s; tt_i64 *w = %s;", tt__pw_type(w, s->a->type), tt__pw_text(w, s->b),
              tt__pw_list_place(w, s->a));
  tt__pw_to_words(w, s->a->type, "x", "w", 0);
  tt__pw_line(w, "(void)w; }");
}

/* A thread that is watched touches the element when the value is there, not before. */
static void put_store(tt_pwriter *w, const tt_pstmt *s, bool alone) {
  tt_str text = {0};
  w->access = TT_ACCESS_WRITE;
  tt__pw_place(w, s->a, &text);
  const char *place = tt__pw_peek(w, &text);
  if (w->single)
    tt__pw_line(w, "{ const %s x = %s; %s = x; }", tt__pw_type(w, s->a->type), tt__pw_text(w, s->b), place);
  else if (alone && w->target == TT_PROGRAM_C) /* nobody makes it one with the next */
    tt__pw_line(w, "*(volatile %s *)&%s = %s;", tt__pw_type(w, s->a->type), place, tt__pw_text(w, s->b));
  else
    tt__pw_line(w, "%s = %s;", place, tt__pw_text(w, s->b));
  tt__str_free(&text);
}

/* On a GPU, or of one thread; the block level has its own way. */
static void put_collective(tt_pwriter *w, const tt_pstmt *s) {
  static const char *const names[TT_C_COUNT] = {"tt_sync_count", "tt_sync_and",  "tt_sync_or",  "tt_shfl",
                                                "tt_shfl_up",    "tt_shfl_down", "tt_shfl_xor", "tt_ballot",
                                                "tt_any",        "tt_all",       "tt_match",    "tt_active"};
  tt_str text = {0};
  for (int k = 0; k < s->n; k++) {
    if (k) tt__str_add(&text, ", ");
    if (w->apart) tt__str_add(&text, s->k == TT_C_SYNC_AND ? "over || " : "!over && ");
    tt__pw_expr(w, s->arg[k], &text);
  }
  if (w->target == TT_PROGRAM_OPENCL) tt__str_add(&text, ", call->meet");
  if (w->single && s->k <= TT_C_SYNC_OR) tt__str_addf(&text, ", %d", (int)s->line);
  tt__pw_line(w, "v%d = %s(%s);", (int)s->local, names[s->k], tt__pw_peek(w, &text));
  w->out->failed |= text.failed;
  tt__str_free(&text);
}

static void put_host(tt_pwriter *w, const tt_pstmt *s) {
  const tt_ptype *t = w->f->locals.data[s->local].type;
  tt_str quoted = {0}, value = {0};
  int at = 0, n = 1;
  for (int k = 0; k < s->n; k++) n += tt__ptype_words(s->arg[k]->type);
  put_quoted(s->name, &quoted);
  tt__pw_open(w, "{");
  tt__pw_line(w, "tt_i64 given[%d], got[%d];", n, tt__ptype_words(t) + 1);
  for (int k = 0; k < s->n; k++) {
    char name[16];
    snprintf(name, sizeof name, "g%d", k);
    tt__pw_line(w, "const %s %s = %s;", tt__pw_type(w, s->arg[k]->type), name, tt__pw_text(w, s->arg[k]));
    at += tt__pw_to_words(w, s->arg[k]->type, name, "given", at);
  }
  tt__pw_line(w, "if (TT_RARELY(call->function(call, %s, given, got, %d))) %s;", tt__pw_peek(w, &quoted), (int)s->line,
              tt__pw_leave_text(w));
  if (t->tag != TT_T_SCALAR) tt__pw_struct(w, t, TT_SPACE_GLOBAL, &value);
  tt__pw_from_words(w, t, "got", 0, &value);
  tt__pw_line(w, t->tag != TT_T_SCALAR ? "v%d = %s);" : "v%d = %s;", (int)s->local, tt__pw_peek(w, &value));
  tt__pw_close(w, "}");
  tt__str_free(&quoted);
  tt__str_free(&value);
}

static void put_if(tt_pwriter *w, const tt_pstmt *s) {
  bool outer = w->guarded, swaps = tt__pw_swaps(w, s), seldom = tt__pw_is_extremum(w, s);
  w->guarded = w->loop != NULL;
  if (swaps) tt__pw_come_near(w, s);
  tt__pw_open(w, swaps || seldom ? "if (__builtin_expect(%s, 0)) {" : "if (%s) {", tt__pw_text(w, s->a));
  if (seldom) tt__pw_line(w, "TT_JUMPED_TO;");
  tt__pw_stmts(w, s->body);
  if (s->other) {
    w->indent--;
    tt__pw_open(w, "} else {");
    tt__pw_stmts(w, s->other);
  }
  tt__pw_close(w, "}");
  w->guarded = outer;
  w->near = 0;
}

static void put_barrier(tt_pwriter *w, const tt_pstmt *s) {
  if (w->target == TT_PROGRAM_OPENCL)
    tt__pw_line(w, "TT_BARRIER();");
  else if (w->target == TT_PROGRAM_CUDA)
    tt__pw_line(w, s->k == 2 ? "tt_grid_barrier();" : s->k ? "__syncwarp();" : "__syncthreads();");
  else if (w->single && s->k == 2)
    tt__pw_line(w, "call->grid((const void *)(tt_i64)%d);", (int)s->line);
  else if (w->single)
    tt__pw_line(w, s->k ? "(void)tt_ballot(1, ~0u);" : "(void)tt_sync_count(1, %d);", (int)s->line);
}

void tt__pw_stmt(tt_pwriter *w, const tt_pstmt *s) {
  tt_str text = {0};
  bool holds;
  switch ((tt_pstmt_op)s->op) {
    case TT_X_SET:
      if ((w->remat && w->remat[s->local]) || tt__pw_set_carried(w, s)) break;
      tt__pw_local(w, s->local, &text);
      tt__pw_line(w, "%s = %s;", tt__pw_peek(w, &text), tt__pw_text(w, s->a));
      break;
    case TT_X_STORE:
      if (s->a->op == TT_X_AT)
        put_list_store(w, s);
      else
        put_store(w, s, false);
      break;
    case TT_X_IF:
      if (w->bounds && tt__pw_bounds_decides(w->bounds, s->a, &holds)) {
        tt__pw_stmts(w, holds ? s->body : s->other);
        break;
      }
      if (!tt__pw_put_count(w, s)) put_if(w, s);
      break;
    case TT_X_WHILE:
      put_while(w, s);
      break;
    case TT_X_FOR:
      put_for(w, s);
      break;
    case TT_X_PARFOR:
      put_parfor(w, s);
      break;
    case TT_X_RETURN:
    case TT_X_BREAK:
    case TT_X_CONTINUE:
      if (leaves_region(w, s))
        tt__pw_leave(w, s);
      else if (s->op == TT_X_RETURN)
        put_return(w, s);
      else {
        if (w->loop) put_back(w, w->loop);
        tt__pw_line(w, s->op == TT_X_BREAK ? "break;" : "continue;");
      }
      break;
    case TT_X_YIELD:
      tt__pw_yield(w, s);
      break;
    case TT_X_TRY:
      put_try(w, s);
      break;
    case TT_X_EVAL:
      tt__pw_line(w, "(void)%s;", tt__pw_text(w, s->a));
      break;
    case TT_X_BARRIER:
      put_barrier(w, s);
      break;
    case TT_X_COLLECTIVE:
      put_collective(w, s);
      break;
    case TT_X_PRINT:
      put_print(w, s);
      break;
    case TT_X_RAISE:
      put_raise(w, s);
      break;
    case TT_X_FENCE:
      tt__pw_line(w, w->single ? "call->fence();" : "TT_FENCE();");
      break;
    case TT_X_HOST:
      put_host(w, s);
      break;
  }
  if (w->kept && s->local >= 0 && w->kept[s->local]) tt__pw_line(w, "w%d = 1;", (int)s->local);
  w->out->failed |= text.failed;
  tt__str_free(&text);
}

void tt__pw_stmts(tt_pwriter *w, const tt_pstmt *first) {
  if (w->resume && tt__pw_resume_stmts(w, first)) return;
  if (w->apart && !w->leave && w->f->kind == TT_X_KERNEL) {
    tt__pw_meet_stmts(w, first);
    return;
  }
  for (const tt_pstmt *s = first; s; s = s->next) {
    if (w->guarded && tt__pw_is_swap(w, first, s))
      put_store(w, s, true);
    else
      tt__pw_stmt(w, s);
  }
}

void tt__pw_locals(tt_pwriter *w, int32_t from) {
  for (int64_t k = from; k < w->f->locals.n; k++) {
    const tt_ptype *t = w->f->locals.data[k].type;
    if (t->tag == TT_T_UNKNOWN || t->tag == TT_T_META || (t->tag == TT_T_ARRAY && t->layout == 'E')) continue;
    const char *name = w->f->locals.data[k].name;
    tt__pw_line(w, "%s v%d; /* %s */", tt__pw_local_type(w, k), (int)k, strchr(name, '*') ? "" : name);
  }
}
