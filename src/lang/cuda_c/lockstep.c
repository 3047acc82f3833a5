/*
** Shuffles as steps of a block; see lockstep.h. Whatever does not fit is left to fibers: what is written here only has
** to be right where cuda_c/split.c finds that all threads come to each exchange, with the same distance.
*/
#include "lang/cuda_c/lockstep.h"

#include <string.h>

#include "lang/cuda_c/split_int.h"

enum { DEEP = 16, MOST_NAMES = 48, MOST_ARGS = 12, MOST_OWN = 8 };

/* Where words come from: the kernel, or a function that is written out, whose names get a number. */
typedef struct frame {
  int number; /* 0: the kernel */
  int32_t name[MOST_NAMES];
  int nname;
  int guard;  /* number of the condition that holds here, 0: none */
  int result; /* number of the variable that takes what a function gives, 0: none */
} frame;

typedef struct writer {
  tt_cudac_split *p;
  tt_cudac_scan *s;
  tt_str *out;
  int serial, depth, exchanges;
  int32_t own[MOST_OWN]; /* functions whose shared memory is declared */
  int nown;
} writer;

/* A call in a statement that is replaced by a variable. */
typedef struct place {
  int64_t from, to;
  char kind; /* 'x' exchange, 'r' result of a function */
  int number;
} place;

static bool put_statements(writer *w, frame *f, int64_t k, int64_t end);

static bool is(const writer *w, int64_t k, const char *text) { return tt__cudac_is(w->s, k, text); }
static char kind(const writer *w, int64_t k) { return k >= 0 && k < w->s->word.n ? w->s->word.data[k].kind : 0; }

/* ---- words */

static bool is_renamed(const writer *w, const frame *f, int64_t k) {
  bool member = kind(w, k - 1) == '.' || (kind(w, k - 1) == '>' && kind(w, k - 2) == '-');
  for (int i = 0; i < f->nname && !member; i++)
    if (f->name[i] == w->s->word.data[k].name) return true;
  return false;
}

static void put(writer *w, const frame *f, int64_t from, int64_t to) {
  for (int64_t k = from; k < to; k++) {
    const tt_cudac_word *x = &w->s->word.data[k];
    bool apart = k == from || x->at > x[-1].at + x[-1].len;
    if (x->kind == '#')
      tt__str_add(w->out, "\n");
    else if (apart)
      tt__str_add(w->out, " ");
    tt__str_add_n(w->out, w->s->text + x->at, x->len);
    if (x->kind == 'i' && is_renamed(w, f, k)) tt__str_addf(w->out, "_tt%d", f->number);
    if (x->kind == '#') tt__str_add(w->out, "\n");
  }
}

static void put_with_places(writer *w, const frame *f, int64_t from, int64_t to, const place *at, int n) {
  for (int i = 0; i < n; i++) {
    put(w, f, from, at[i].from);
    tt__str_addf(w->out, " tt_%c%d", at[i].kind, at[i].number);
    from = at[i].to;
  }
  put(w, f, from, to);
}

/* ---- what is in the way */

static bool is_shuffle(const writer *w, int64_t k) {
  static const char *const names[] = {"__shfl_sync", "__shfl_up_sync", "__shfl_down_sync", "__shfl_xor_sync",
                                      "__shfl",      "__shfl_up",      "__shfl_down",      "__shfl_xor"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (is(w, k, names[i]) && is(w, k + 1, "(")) return true;
  return false;
}

/* The one function that is called at word k, if it waits for other threads; -1. */
static int32_t called_def(writer *w, int64_t k) {
  int32_t found = -1;
  if (kind(w, k) != 'i' || !is(w, k + 1, "(")) return -1;
  for (int64_t i = 0; i < w->s->def.n; i++) {
    const tt_cudac_def *d = &w->s->def.data[i];
    int64_t open = tt__cudac_params(w->s, d->head, d->open);
    if (open < 1 || w->s->word.data[open - 1].name != w->s->word.data[k].name) continue;
    if (found >= 0) return -1;
    found = (int32_t)i;
  }
  return found;
}

/* Do the words wait for other threads, or what they call? */
static bool waits(writer *w, int64_t from, int64_t to) {
  for (int64_t k = from; k < to; k++) {
    const tt_cudac_word *x = &w->s->word.data[k];
    if (x->kind == 'i' && tt__cudac_is_wait(w->s->text + x->at, x->len)) return true;
  }
  return tt__cudac_callees_have(w->s, from, to, tt__cudac_is_wait);
}

static bool has_word(const writer *w, int64_t from, int64_t to, const char *word) {
  for (int64_t k = from; k < to; k++)
    if (is(w, k, word)) return true;
  return false;
}

/* Is each operand of the statement computed, once, whatever the others are? */
static bool is_straight(const writer *w, int64_t from, int64_t to) {
  for (int64_t k = from; k < to; k++) {
    char a = kind(w, k), b = kind(w, k + 1);
    if (a == '?' || a == '{' || a == '#' || ((a == '&' || a == '|') && a == b) || ((a == '+' || a == '-') && a == b))
      return false;
  }
  return true;
}

/* ---- declarations */

/* The name that [from, to), "T name = value;" or "T name;", declares alone, or -1. */
static int64_t declared(const writer *w, int64_t from, int64_t to) {
  int64_t k = tt__split_type_end(w->p, from, to);
  if (k < 0) return -1;
  while (kind(w, k) == '*') k++;
  if (kind(w, k) != 'i' || (kind(w, k + 1) != '=' && kind(w, k + 1) != ';') || kind(w, k + 2) == '=') return -1;
  for (int64_t at = k; at < to - 1; at++) { /* one only */
    if (kind(w, at) == '(' || kind(w, at) == '[') at = tt__cudac_close(w->s, at);
    if (kind(w, at) == ',') return -1;
  }
  return k;
}

static void put_type(writer *w, const frame *f, int64_t from, int64_t to) {
  for (int64_t k = from; k < to; k++)
    if (!is(w, k, "const")) put(w, f, k, k + 1);
}

static void put_guard(writer *w, const frame *f) {
  if (f->guard) tt__str_addf(w->out, " if (tt_c%d)", f->guard);
}

/* A statement without a wait of its own, some of its calls replaced. */
static bool put_plain(writer *w, const frame *f, int64_t from, int64_t to, const place *at, int n) {
  if (has_word(w, from, to, "return") || is(w, from, "break") || is(w, from, "continue") || is(w, from, "goto"))
    return false;
  if (!f->guard || is(w, from, "__shared__") || is(w, from, "static") || is(w, from, "extern")) {
    put_with_places(w, f, from, to, at, n);
    return true;
  }
  int64_t name = declared(w, from, to);
  if (name < 0 && tt__split_type_end(w->p, from, to) > from + 1) return false; /* one of another kind */
  if (name >= 0) {
    put_type(w, f, from, name + 1);
    tt__str_add(w->out, ";");
    from = name;
    if (kind(w, name + 1) == ';') return true;
  }
  put_guard(w, f);
  put_with_places(w, f, from, to, at, n);
  return true;
}

/* ---- exchanges */

static int split_args(const writer *w, int64_t open, int64_t *at) {
  int64_t close = tt__cudac_close(w->s, open);
  int n = 0;
  at[n++] = open + 1;
  for (int64_t k = open + 1; k < close; k++) {
    char c = kind(w, k);
    if (c == '(' || c == '[' || c == '{') k = tt__cudac_close(w->s, k);
    if (c != ',') continue;
    if (n == MOST_ARGS) return -1;
    at[n++] = k + 1;
  }
  at[n] = close + 1; /* each ends before the word before the next begins */
  return close == open + 1 ? 0 : n;
}

static bool put_exchange(writer *w, const frame *f, int64_t k, int number) {
  const tt_cudac_word *x = &w->s->word.data[k];
  int64_t at[MOST_ARGS + 1];
  int n = split_args(w, k + 1, at), sync = x->len > 5 && memcmp(w->s->text + x->at + x->len - 5, "_sync", 5) == 0;
  if (n < 2 + sync || n > 3 + sync) return false;
  const char *way = is(w, k, "__shfl") || is(w, k, "__shfl_sync")           ? "from"
                    : is(w, k, "__shfl_up") || is(w, k, "__shfl_up_sync")   ? "up"
                    : is(w, k, "__shfl_xor") || is(w, k, "__shfl_xor_sync") ? "xor"
                                                                            : "down";
  int64_t v = at[sync], by = at[sync + 1];
  if (kind(w, v) != 'i' || at[sync + 1] != v + 2) return false; /* a variable alone: what it is called, its type is */
  tt__str_add(w->out, "__typeof__(tt_v_");
  tt__str_add_n(w->out, w->s->text + w->s->word.data[v].at, w->s->word.data[v].len);
  if (is_renamed(w, f, v)) tt__str_addf(w->out, "_tt%d", f->number);
  tt__str_addf(w->out, "[0]) tt_x%d;\ntt_exchange_%s(tt_x%d,", number, way, number);
  put(w, f, v, v + 1);
  tt__str_add(w->out, ",");
  put(w, f, by, at[sync + 2] - 1);
  tt__str_add(w->out, ",");
  if (n == 3 + sync)
    put(w, f, at[sync + 2], at[sync + 3] - 1);
  else
    tt__str_add(w->out, " 32");
  tt__str_add(w->out, ");\n");
  w->exchanges++;
  return true;
}

/* ---- functions that are written out */

static bool note_name(frame *f, int32_t name) {
  if (f->nname == MOST_NAMES) return false;
  f->name[f->nname++] = name;
  return true;
}

/* Names that the words declare: behind a type, and after commas there. */
static bool note_names(const writer *w, frame *f, int64_t from, int64_t to) {
  for (int64_t k = from; k < to; k++) {
    bool starts = k == from || strchr(";{}(", kind(w, k - 1)) || kind(w, k - 1) == '#';
    int64_t type = starts && kind(w, k) == 'i' ? tt__split_type_end(w->p, k, to) : -1;
    while (type > 0 && kind(w, type) == '*') type++;
    if (type < 0 || kind(w, type) != 'i' || !strchr("=;,[", kind(w, type + 1))) continue;
    for (; type < to && kind(w, type) != ';'; type++) {
      char before = kind(w, type - 1);
      bool name = kind(w, type) == 'i' && (before == 'i' || before == '*' || before == ',' || before == '>');
      if (name && strchr("=;,[", kind(w, type + 1)) && !note_name(f, w->s->word.data[type].name)) return false;
      if (kind(w, type) == '=') /* its value */
        while (type + 1 < to && kind(w, type + 1) != ',' && kind(w, type + 1) != ';')
          type = strchr("([{", kind(w, type + 1)) ? tt__cudac_close(w->s, type + 1) : type + 1;
    }
  }
  return true;
}

/* The parameters of a function become variables, given what the call gives. */
static bool put_params(writer *w, const frame *caller, frame *f, int64_t open, int64_t call) {
  int64_t param[MOST_ARGS + 1], arg[MOST_ARGS + 1];
  int n = split_args(w, open, param);
  if (n < 0 || n != split_args(w, call + 1, arg)) return false;
  for (int i = 0; i < n; i++) {
    int64_t end = param[i + 1] - 1, name = end - 1;
    for (int64_t k = param[i]; k < end; k++)
      if (strchr("&=[<", kind(w, k))) return false;
    if (kind(w, name) != 'i' || name == param[i] || !note_name(f, w->s->word.data[name].name)) return false;
    put_type(w, f, param[i], end);
    tt__str_add(w->out, ";");
    put_guard(w, caller);
    put(w, f, name, end);
    tt__str_add(w->out, " = (");
    put(w, caller, arg[i], arg[i + 1] - 1);
    tt__str_add(w->out, ");\n");
  }
  return true;
}

/* "return value;" at the end of a function: its value, and where that begins; 0: it gives nothing. */
static int64_t last_return(const writer *w, int64_t open, int64_t close) {
  for (int64_t k = close - 1; k > open && kind(w, k) != '}' && kind(w, k) != '{'; k--)
    if (is(w, k, "return")) return k;
  return 0;
}

static bool put_function(writer *w, const frame *caller, int64_t call, int number) {
  int32_t def = called_def(w, call);
  const tt_cudac_def *d = &w->s->def.data[def];
  int64_t open = tt__cudac_params(w->s, d->head, d->open), gives = last_return(w, d->open, d->close);
  frame f = {.number = ++w->serial, .guard = caller->guard};
  if (w->depth >= DEEP || has_word(w, d->head, open, "template")) return false;
  if (!put_params(w, caller, &f, open, call) || !note_names(w, &f, d->open + 1, d->close)) return false;
  bool shares = has_word(w, d->open, d->close, "__shared__");
  for (int i = 0; i < w->nown && shares; i++)
    if (w->own[i] == def) return false; /* the same memory twice: one call of it is written out */
  if (shares && w->nown == MOST_OWN) return false;
  if (shares) w->own[w->nown++] = def;
  tt_cudac_split *p = w->p;
  int64_t end = p->body_end;
  p->body_end = d->close;
  w->depth++;
  bool good = put_statements(w, &f, d->open + 1, gives ? gives : d->close);
  w->depth--;
  if (good && gives && waits(w, gives, d->close)) good = false;
  if (good && gives) {
    static const char *const words[] = {"__device__", "__forceinline__", "__noinline__", "inline",
                                        "__inline__", "static",          "__host__",     "const"};
    for (int64_t k = d->head; k < open - 1; k++) {
      bool drop = false;
      for (size_t i = 0; i < sizeof words / sizeof *words; i++) drop |= is(w, k, words[i]);
      if (!drop) put(w, &f, k, k + 1);
    }
    tt__str_addf(w->out, " tt_r%d;", number);
    put_guard(w, &f);
    tt__str_addf(w->out, " tt_r%d = (", number);
    put(w, &f, gives + 1, d->close - 1);
    tt__str_add(w->out, ");\n");
  }
  p->body_end = end;
  return good;
}

/* A simple statement that waits: what is exchanged or computed by functions first, then the statement itself. */
static bool put_simple(writer *w, frame *f, int64_t from, int64_t to) {
  place at[MOST_ARGS];
  int n = 0;
  if (!is_straight(w, from, to)) return false;
  for (int64_t k = from; k < to; k++) {
    bool shuffles = is_shuffle(w, k);
    if (!shuffles && (called_def(w, k) < 0 || !waits(w, k, k + 1))) {
      const tt_cudac_word *x = &w->s->word.data[k];
      if (x->kind == 'i' && tt__cudac_is_wait(w->s->text + x->at, x->len)) return false;
      continue;
    }
    int64_t close = tt__cudac_close(w->s, k + 1);
    if (n == MOST_ARGS || waits(w, k + 2, close)) return false;
    at[n] = (place){.from = k, .to = close + 1, .kind = shuffles ? 'x' : 'r', .number = ++w->serial};
    if (!(shuffles ? put_exchange(w, f, k, at[n].number) : put_function(w, f, k, at[n].number))) return false;
    n++;
    k = close;
  }
  if (n == 1 && at[0].from == from && at[0].to == to - 1) return true; /* nobody takes what it gives */
  return put_plain(w, f, from, to, at, n);
}

/* ---- statements around */

static bool put_condition(writer *w, frame *f, int64_t k, int64_t to) {
  int64_t close = tt__cudac_close(w->s, k + 1), end = tt__split_statement_end(w->p, close + 1);
  int outer = f->guard, yes = ++w->serial;
  if (end < 0 || waits(w, k + 1, close)) return false;
  tt__str_addf(w->out, "bool tt_c%d = ", yes);
  if (outer) tt__str_addf(w->out, "tt_c%d && ", outer);
  tt__str_add(w->out, "(bool)(");
  put(w, f, k + 2, close);
  tt__str_add(w->out, ");\n");
  f->guard = yes;
  bool good = put_statements(w, f, close + 1, end);
  if (good && end < to) {
    f->guard = ++w->serial;
    tt__str_addf(w->out, "bool tt_c%d = ", f->guard);
    if (outer) tt__str_addf(w->out, "tt_c%d && ", outer);
    tt__str_addf(w->out, "!tt_c%d;\n", yes);
    good = put_statements(w, f, end + 1, to);
  }
  f->guard = outer;
  return good;
}

static bool put_waiting(writer *w, frame *f, int64_t k, int64_t to) {
  if (kind(w, k) == '{') return put_statements(w, f, k + 1, to - 1);
  if (is(w, k, "if") && is(w, k + 1, "(")) return put_condition(w, f, k, to);
  if (is(w, k, "__syncthreads") || is(w, k, "__syncwarp")) { /* all come here, but those of a condition may not */
    bool warps = is(w, k, "__syncwarp");
    tt__str_add(w->out, warps ? "__syncwarp();\n" : "__syncthreads();\n");
    return (warps || !f->guard) && is(w, k + 1, "(") && tt__cudac_close(w->s, k + 1) == to - 2;
  }
  if (!is(w, k, "for")) return !is(w, k, "while") && !is(w, k, "do") && !is(w, k, "switch") && put_simple(w, f, k, to);
  int64_t close = tt__cudac_close(w->s, k + 1);
  if (waits(w, k + 1, close)) return false;
  put(w, f, k, close + 1);
  tt__str_add(w->out, " {\n");
  bool good = put_statements(w, f, close + 1, to);
  tt__str_add(w->out, "}\n");
  return good;
}

static bool put_statements(writer *w, frame *f, int64_t k, int64_t end) {
  if (++w->depth > DEEP) return false;
  bool good = true;
  while (k < end && good) {
    if (kind(w, k) == ';' || kind(w, k) == '#') { /* a directive says how to unroll what is no loop any more */
      k++;
      continue;
    }
    int64_t to = tt__split_statement_end(w->p, k);
    if (to < 0 || to > end) return false;
    good = waits(w, k, to) ? put_waiting(w, f, k, to) : put_plain(w, f, k, to, NULL, 0);
    tt__str_add(w->out, "\n");
    k = to;
  }
  w->depth--;
  return good;
}

bool tt__cudac_lockstep(tt_cudac_scan *s, const tt_cudac_kernel *k, tt_str *out) {
  const tt_cudac_def *d = &s->def.data[k->def];
  tt_cudac_split p = {.s = s, .body = d->open + 1, .body_end = d->close};
  writer w = {.p = &p, .s = s, .out = out};
  frame f = {.number = 0};
  uint32_t open = s->word.data[d->open].at + 1, close = s->word.data[d->close].at;
  if (!k->sync || k->together) return false;
  tt__str_add_n(out, s->text, open);
  bool good = put_statements(&w, &f, d->open + 1, d->close) && w.exchanges;
  tt__str_add_n(out, s->text + close, s->len - close);
  return good && !out->failed;
}
