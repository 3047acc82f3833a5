/*
** Words, definitions, kernels. The text is preprocessed: no macros, no comments, directives are line marks.
*/
#include "lang/cuda_c/scan.h"

#include <assert.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"

/* ---- words */

static bool is_start(char c) { return isalpha((unsigned char)c) || c == '_' || (unsigned char)c >= 128 || c == '$'; }
static bool is_part(char c) { return is_start(c) || isdigit((unsigned char)c); }

/* After a quote at `at`: behind its partner, or at the end of the line. */
static uint32_t skip_quoted(const char *text, uint32_t at, uint32_t len) {
  char quote = text[at++];
  while (at < len && text[at] != quote && text[at] != '\n') at += text[at] == '\\' && at + 1 < len ? 2 : 1;
  return at < len ? at + 1 : len;
}

/* R"name( ... )name" with the quote at `at`. */
static uint32_t skip_raw(const char *text, uint32_t at, uint32_t len) {
  uint32_t name = at + 1, n = 0;
  while (name + n < len && n < 16 && text[name + n] != '(' && text[name + n] != '\n') n++;
  for (uint32_t k = name + n; k + n + 1 < len; k++)
    if (text[k] == ')' && memcmp(text + k + 1, text + name, n) == 0 && text[k + 1 + n] == '"') return k + n + 2;
  return len;
}

static uint32_t skip_space(const char *text, uint32_t at, uint32_t len) {
  for (;;) {
    while (at < len && isspace((unsigned char)text[at])) at++;
    if (at + 1 < len && text[at] == '/' && text[at + 1] == '/') {
      while (at < len && text[at] != '\n') at++;
    } else if (at + 1 < len && text[at] == '/' && text[at + 1] == '*') {
      for (at += 2; at < len && !(text[at - 1] == '*' && text[at] == '/'); at++) continue;
      if (at < len) at++;
    } else {
      return at;
    }
  }
}

static bool starts_line(const char *text, uint32_t at) {
  while (at > 0 && (text[at - 1] == ' ' || text[at - 1] == '\t')) at--;
  return at == 0 || text[at - 1] == '\n';
}

static tt_cudac_word next_word(const char *text, uint32_t at, uint32_t len) {
  tt_cudac_word w = {.at = at, .len = 1, .name = -1, .kind = text[at]};
  uint32_t end = at + 1;
  char c = text[at];
  if (c == '#' && starts_line(text, at)) {
    while (end < len && text[end] != '\n') end++;
  } else if (c == '"' || c == '\'') {
    w.kind = 's';
    end = skip_quoted(text, at, len);
  } else if (is_start(c)) {
    w.kind = 'i';
    while (end < len && is_part(text[end])) end++;
    if (end < len && text[end] == '"' && text[end - 1] == 'R' && end - at <= 3) {
      w.kind = 's';
      end = skip_raw(text, end, len);
    }
  } else if (isdigit((unsigned char)c)) {
    w.kind = 'n';
    while (end < len &&
           (is_part(text[end]) || text[end] == '.' || (text[end] == '\'' && end + 1 < len && is_part(text[end + 1]))))
      end++;
  }
  w.len = end - at;
  return w;
}

static bool same_spelling(const tt_cudac_scan *s, const tt_cudac_word *w, const char *text, size_t len) {
  return w->len == len && memcmp(s->text + w->at, text, len) == 0;
}

/* The place of an identifier in the table: its own, or a free one. */
static int64_t find_slot(const tt_cudac_scan *s, const char *text, size_t len) {
  int64_t mask = s->slot.n - 1, k = (int64_t)tt__hash64(text, len) & mask;
  while (s->slot.data[k] && !same_spelling(s, &s->word.data[s->slot.data[k] - 1], text, len)) k = (k + 1) & mask;
  return k;
}

/* The number of a name in the text, or -1. */
static int32_t find_name(const tt_cudac_scan *s, const char *text, size_t len) {
  if (s->slot.n == 0) return -1;
  int32_t at = s->slot.data[find_slot(s, text, len)];
  return at ? s->word.data[at - 1].name : -1;
}

static bool number_names(tt_cudac_scan *s) {
  int64_t size = 64;
  while (size < 2 * s->word.n) size *= 2;
  for (int64_t k = 0; k < size; k++)
    if (!TT_VEC_PUSH(&s->slot, 0)) return false;
  for (int64_t k = 0; k < s->word.n; k++) {
    tt_cudac_word *w = &s->word.data[k];
    if (w->kind != 'i') continue;
    int64_t at = find_slot(s, s->text + w->at, w->len);
    if (!s->slot.data[at]) {
      w->name = s->names++;
      s->slot.data[at] = (int32_t)k + 1;
    } else {
      w->name = s->word.data[s->slot.data[at] - 1].name;
    }
  }
  return true;
}

static bool cut_words(tt_cudac_scan *s) {
  for (uint32_t at = skip_space(s->text, 0, s->len); at < s->len; at = skip_space(s->text, at, s->len)) {
    tt_cudac_word w = next_word(s->text, at, s->len);
    if (!TT_VEC_PUSH(&s->word, w)) return false;
    at += w.len;
  }
  return true;
}

bool tt__cudac_is(const tt_cudac_scan *s, int64_t k, const char *spelling) {
  return k >= 0 && k < s->word.n && same_spelling(s, &s->word.data[k], spelling, strlen(spelling));
}

static char kind_at(const tt_cudac_scan *s, int64_t k) { return k >= 0 && k < s->word.n ? s->word.data[k].kind : 0; }

int64_t tt__cudac_close(const tt_cudac_scan *s, int64_t k) {
  assert(k >= 0);
  int64_t depth = 0;
  for (; k < s->word.n; k++) {
    char c = s->word.data[k].kind;
    depth += c == '(' || c == '[' || c == '{';
    depth -= c == ')' || c == ']' || c == '}';
    if (depth <= 0) return k;
  }
  return s->word.n;
}

/* ---- declarations */

/* Words that take a bracket and are no function's name. */
static bool takes_bracket(const tt_cudac_scan *s, int64_t k) {
  static const char *const words[] = {
      "__launch_bounds__", "__align__", "__attribute__", "alignas",      "__cluster_dims__",
      "__maxnreg__",       "decltype",  "__declspec",    "__tt_block__", "noexcept",
      "__alignof__",       "alignof",   "sizeof"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (tt__cudac_is(s, k, words[i])) return true;
  return false;
}

/* Is the sign at k part of an operator's name: `operator+=`? */
static bool names_operator(const tt_cudac_scan *s, int64_t k) {
  int64_t i = k - 1;
  while (i >= 0 && k - i <= 3 && kind_at(s, i) && strchr("=<>!+-*/%&|^", kind_at(s, i))) i--;
  return tt__cudac_is(s, i, "operator");
}

/* The bracket that opens the parameter list of the declaration from k on, or -1: it is of a variable. */
static int64_t find_params(const tt_cudac_scan *s, int64_t k, int64_t end) {
  for (; k < end; k++) {
    char c = kind_at(s, k);
    if (c == ';' || c == '{' || c == '=') {
      if (c != '=' || !names_operator(s, k)) return -1;
    } else if (c == '[') {
      k = tt__cudac_close(s, k);
    } else if (c == '(' && takes_bracket(s, k - 1)) {
      k = tt__cudac_close(s, k);
    } else if (c == '(') {
      return k;
    }
  }
  return -1;
}

int64_t tt__cudac_params(const tt_cudac_scan *s, int64_t k, int64_t end) { return find_params(s, k, end); }

static bool head_has(const tt_cudac_scan *s, int64_t head, int64_t end, const char *spelling) {
  for (int64_t k = head; k < end; k++)
    if (tt__cudac_is(s, k, spelling)) return true;
  return false;
}

/* "outer::inner::" and the word; false when it does not fit. */
static bool qualified(const tt_cudac_scan *s, const tt_cudac_word *w, char out[TT_CUDAC_NAME]) {
  size_t n = 0;
  for (int64_t k = 0; k <= s->space.n; k++) {
    const tt_cudac_word *part = k < s->space.n ? &s->space.data[k] : w;
    bool last = k == s->space.n;
    if (part->len == 0) continue; /* no name of its own */
    if (n + part->len + 3 > TT_CUDAC_NAME) return false;
    memcpy(out + n, s->text + part->at, part->len);
    n += part->len;
    if (!last) out[n++] = ':', out[n++] = ':';
  }
  out[n] = 0;
  return n > 0;
}

static void note_params(const tt_cudac_scan *s, int64_t open, char out[TT_CUDAC_NAME]) {
  int64_t close = tt__cudac_close(s, open), last = -1;
  size_t n = 0;
  bool done = false;
  int angle = 0;
  for (int64_t k = open + 1; k <= close && k < s->word.n; k++) {
    char c = kind_at(s, k);
    angle += c == '<';
    angle -= c == '>' && angle > 0;
    if (c == '(' || c == '{' || c == '[') {
      if (c == '[') done = true;
      k = tt__cudac_close(s, k);
    } else if (k == close || (c == ',' && angle == 0)) {
      const tt_cudac_word *w = last < 0 ? NULL : &s->word.data[last];
      if (!w || n + w->len + 2 > TT_CUDAC_NAME) {
        out[0] = 0;
        return;
      }
      memcpy(out + n, s->text + w->at, w->len);
      n += w->len;
      out[n++] = ',';
      last = -1;
      done = false;
    } else if (c == '=') {
      done = true;
    } else if (c == 'i' && !done) {
      last = k;
    }
  }
  out[n ? n - 1 : 0] = 0;
}

static int digits_in(const tt_cudac_scan *s, int64_t k) {
  char text[16] = "";
  if (kind_at(s, k) != 'n' || (kind_at(s, k + 1) != ',' && kind_at(s, k + 1) != ')')) return 0;
  const tt_cudac_word *w = &s->word.data[k];
  memcpy(text, s->text + w->at, w->len < 15 ? w->len : 15);
  long n = strtol(text, NULL, 0);
  return n > 0 && n < 100000 ? (int)n : 0;
}

static bool note_kernel(tt_cudac_scan *s, int64_t head, int64_t open, int def) {
  int64_t params = find_params(s, head, open);
  if (params <= head || kind_at(s, params - 1) != 'i') return true;
  tt_cudac_kernel fresh = {.def = def};
  if (!qualified(s, &s->word.data[params - 1], fresh.name)) return true;
  fresh.is_template = head_has(s, head, params, "template");
  note_params(s, params, fresh.params);
  for (int64_t k = head; k < params; k++)
    if (tt__cudac_is(s, k, "__launch_bounds__") && kind_at(s, k + 1) == '(') fresh.most_threads = digits_in(s, k + 2);
  for (int64_t k = head; k < params; k++)
    if (tt__cudac_is(s, k, "__tt_block__") && kind_at(s, k + 1) == '(') fresh.asked = k + 1;
  for (int64_t k = 0; k < s->kernel.n; k++)
    if (strcmp(s->kernel.data[k].name, fresh.name) == 0) s->kernel.data[k].is_overloaded = fresh.is_overloaded = true;
  return TT_VEC_PUSH(&s->kernel, fresh);
}

static bool is_on_device(const tt_cudac_scan *s, int64_t head, int64_t end) {
  return head_has(s, head, end, "__constant__") || head_has(s, head, end, "__device__") ||
         head_has(s, head, end, "__managed__");
}

/* `__constant__ float a[3], b;` between head and end. */
static bool note_globals(tt_cudac_scan *s, int64_t head, int64_t end) {
  if (!is_on_device(s, head, end) || find_params(s, head, end) >= 0) return true;
  if (head_has(s, head, end, "template") || head_has(s, head, end, "extern")) return true;
  int64_t last = -1;
  bool named = false;
  for (int64_t k = head; k <= end && k < s->word.n; k++) {
    char c = kind_at(s, k);
    if (c == '[' || c == '{' || c == '(') {
      named |= c != '(';
      k = tt__cudac_close(s, k);
    } else if (c == '=') {
      named = true;
    } else if (k == end || c == ',') {
      tt_cudac_global g;
      if (last >= 0 && qualified(s, &s->word.data[last], g.name) && !TT_VEC_PUSH(&s->global, g)) return false;
      named = false;
      last = -1;
    } else if (c == 'i' && !named) {
      last = k;
    }
  }
  return true;
}

static bool push_link(tt_cudac_scan *s, int32_t name, int64_t def) {
  int64_t link = (int64_t)name << 32 | def;
  return name < 0 || TT_VEC_PUSH(&s->link, link);
}

/* What stands between the braces at `open`; its head begins at `head`. */
static bool note_def(tt_cudac_scan *s, int64_t head, int64_t open, int64_t close) {
  tt_cudac_def d = {(int32_t)head, (int32_t)open, (int32_t)close, false};
  int64_t def = s->def.n;
  int64_t params = find_params(s, head, open); /* a function has its name before them; anything else, all its words */
  bool is_class = params < 0 && (head_has(s, head, open, "struct") || head_has(s, head, open, "class"));
  if (!TT_VEC_PUSH(&s->def, d)) return false;
  for (int64_t k = params > head ? params - 1 : head; k < (params < 0 ? open : params); k++)
    if (!push_link(s, s->word.data[k].name, def)) return false;
  for (int64_t k = open; is_class && k < close; k++)
    if (kind_at(s, k + 1) == '(' && !push_link(s, s->word.data[k].name, def)) return false;
  return !head_has(s, head, open, "__global__") || note_kernel(s, head, open, (int)def);
}

/* Is what opens at `open` a namespace, or `extern "C"`? Its words are seen as if it were not there. */
static bool is_open_space(const tt_cudac_scan *s, int64_t head, int64_t open, tt_cudac_word *name) {
  *name = (tt_cudac_word){.name = -1};
  if (open == head + 2 && tt__cudac_is(s, head, "extern") && kind_at(s, head + 1) == 's') return true;
  for (int64_t k = head; k < open; k++) {
    if (!tt__cudac_is(s, k, "namespace")) continue;
    if (kind_at(s, k + 1) != 'i') return true;
    *name = s->word.data[k + 1];
    for (int64_t i = k + 2; i < open; i++) name->len = s->word.data[i].at + s->word.data[i].len - name->at;
    return true;
  }
  return false;
}

static bool find_defs(tt_cudac_scan *s) {
  int64_t head = 0;
  for (int64_t k = 0; k < s->word.n; k++) {
    char c = kind_at(s, k);
    if (c == '#') {
      if (head == k) head = k + 1;
    } else if (c == ';') {
      if (!note_globals(s, head, k)) return false;
      head = k + 1;
    } else if (c == '}') {
      if (s->space.n) s->space.n--;
      head = k + 1;
    } else if (c == '(' || c == '[') {
      k = tt__cudac_close(s, k);
    } else if (c == '{') {
      tt_cudac_word name;
      if (is_open_space(s, head, k, &name)) {
        if (!TT_VEC_PUSH(&s->space, name)) return false;
        head = k + 1;
        continue;
      }
      int64_t close = tt__cudac_close(s, k);
      if (find_params(s, head, k) < 0 && is_on_device(s, head, k)) { /* = { ... }; */
        k = close;
        continue;
      }
      if (!note_def(s, head, k, close)) return false;
      k = close;
      head = close + 1;
    }
  }
  return true;
}

/* ---- who can meet a barrier */

bool tt__cudac_is_wait(const char *text, size_t len) {
  static const char *const starts[] = {"__syncthreads",  "__syncwarp",  "__shfl",      "__ballot",  "__any",
                                       "__all",          "__match_any", "__match_all", "__reduce_", "__activemask",
                                       "__barrier_sync", "__match",     "tt_group_"};
  for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
    size_t n = strlen(starts[i]);
    if (len >= n && memcmp(text, starts[i], n) == 0) return true;
  }
  static const char *const groups[] = {"this_thread_block", "this_grid",         "tiled_partition", "coalesced_threads",
                                       "thread_block",      "thread_block_tile", "thread_group",    "coalesced_group",
                                       "grid_group",        "cooperative_groups"};
  for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
    if (len == strlen(groups[i]) && memcmp(text, groups[i], len) == 0) return true;
  return false;
}

static bool is_grids(const char *text, size_t len) {
  return (len == 9 && memcmp(text, "this_grid", 9) == 0) || (len == 10 && memcmp(text, "grid_group", 10) == 0);
}

static int by_number(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return x < y ? -1 : x > y;
}

static int64_t first_link(const tt_cudac_scan *s, int32_t name) {
  int64_t lo = 0, hi = s->link.n, want = (int64_t)name << 32;
  while (lo < hi) {
    int64_t mid = lo + (hi - lo) / 2;
    if (s->link.data[mid] < want)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo;
}

typedef TT_VEC(int32_t) def_stack;

/* Put what a name may lead to on the stack, once. */
static bool follow(tt_cudac_scan *s, int32_t name, def_stack *todo) {
  for (int64_t k = first_link(s, name); k < s->link.n && s->link.data[k] >> 32 == name; k++) {
    int32_t def = (int32_t)s->link.data[k];
    if (s->def.data[def].visited) continue;
    s->def.data[def].visited = true;
    if (!TT_VEC_PUSH(todo, def)) return false;
  }
  return true;
}

/* Whatever lies on the stack, and what that leads to. Out of memory: yes, which is always safe. */
static bool any_has(tt_cudac_scan *s, def_stack *todo, tt_cudac_test test) {
  while (todo->n) {
    const tt_cudac_def *d = &s->def.data[todo->data[--todo->n]];
    for (int64_t k = d->open; k < d->close && k < s->word.n; k++) {
      const tt_cudac_word *w = &s->word.data[k];
      if (w->kind != 'i') continue;
      if (test(s->text + w->at, w->len) || !follow(s, w->name, todo)) return true;
    }
  }
  return false;
}

static void forget_visits(tt_cudac_scan *s) {
  for (int64_t k = 0; k < s->def.n; k++) s->def.data[k].visited = false;
}

static bool def_has(tt_cudac_scan *s, int32_t def, tt_cudac_test test) {
  def_stack todo = {0};
  forget_visits(s);
  s->def.data[def].visited = true;
  bool waits = !TT_VEC_PUSH(&todo, def) || any_has(s, &todo, test);
  TT_VEC_FREE(&todo);
  return waits;
}

bool tt__cudac_expression_waits(tt_cudac_scan *s, const char *expression) {
  def_stack todo = {0};
  bool waits = false;
  forget_visits(s);
  for (const char *p = expression; *p && !waits;) {
    size_t n = 0;
    while (is_part(p[n])) n++;
    if (n && is_start(*p)) {
      int32_t name = find_name(s, p, n);
      waits = name >= 0 && !follow(s, name, &todo);
    }
    p += n ? n : 1;
  }
  waits = waits || any_has(s, &todo, tt__cudac_is_wait);
  TT_VEC_FREE(&todo);
  return waits;
}

bool tt__cudac_callees_have(tt_cudac_scan *s, int64_t k, int64_t end, tt_cudac_test test) {
  def_stack todo = {0};
  bool has = false;
  forget_visits(s);
  for (int64_t i = 0; i < s->def.n; i++)
    if (s->def.data[i].open < k && end <= s->def.data[i].close) s->def.data[i].visited = true;
  for (; k < end && !has; k++) has = s->word.data[k].name >= 0 && !follow(s, s->word.data[k].name, &todo);
  has = has || any_has(s, &todo, test);
  TT_VEC_FREE(&todo);
  return has;
}

/* ---- all of it */

static bool all_share(const tt_cudac_scan *s) {
  for (int64_t k = 0; k < s->word.n; k++)
    if (tt__cudac_is(s, k, "extern") && (tt__cudac_is(s, k + 1, "__shared__") || tt__cudac_is(s, k + 2, "__shared__")))
      return true;
  return false;
}

tt_code tt__cudac_scan(tt_cudac_scan *s, const char *text, size_t len, tt_error *err) {
  *s = (tt_cudac_scan){.text = text, .len = (uint32_t)len};
  if (len >= 1u << 30) return tt__fail(err, TT_EVALUE, "a program of %zu bytes is too long", len);
  if (!cut_words(s) || !number_names(s) || !find_defs(s)) {
    tt__cudac_scan_free(s);
    return tt__fail_memory(err, len);
  }
  s->all_share = all_share(s);
  if (s->link.n) qsort(s->link.data, (size_t)s->link.n, sizeof *s->link.data, by_number);
  for (int64_t k = 0; k < s->kernel.n; k++) {
    tt_cudac_kernel *f = &s->kernel.data[k];
    f->sync = def_has(s, f->def, tt__cudac_is_wait);
    f->together = f->sync && def_has(s, f->def, is_grids);
  }
  return TT_OK;
}

void tt__cudac_scan_free(tt_cudac_scan *s) {
  TT_VEC_FREE(&s->word);
  TT_VEC_FREE(&s->def);
  TT_VEC_FREE(&s->kernel);
  TT_VEC_FREE(&s->global);
  TT_VEC_FREE(&s->slot);
  TT_VEC_FREE(&s->link);
  TT_VEC_FREE(&s->space);
}
