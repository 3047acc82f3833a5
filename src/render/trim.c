/*
** The header is cut into items: directives, declarations, functions. An item has names; a text that holds one of these
** as a word needs the item. Words say less than C's grammar would, but only ever too much is kept: names are looked
** for where declarators are, and an item without one is needed by all.
*/
#include "render/trim.h"

#include <stdint.h>
#include <string.h>

#include "base/mem.h"
#include "base/vec.h"

enum { MOST_DEPTH = 32, MOST_PARAMS = 8, MOST_NESTED = 6 };

typedef struct piece {
  const char *at;
  size_t n;
} piece;

/* A part of the text, `len` bytes at `from`. */
typedef struct item {
  size_t from, len;
  bool is_kept;
} item;

/* A word that stands for an item; several items may share one. */
typedef struct name {
  size_t from, len; /* in the text */
  uint32_t hash;
  int32_t item, next; /* next of the same hash slot, -1 at the end */
} name;

/* A macro with parameters, as far as it may stand where declarations do. */
typedef struct macro {
  uint32_t hash; /* of the name; 0 when it is no more */
  piece name, param[MOST_PARAMS], body;
  int nparam, depth, branch; /* under which condition it was defined */
} macro;

typedef struct trim {
  tt_str text; /* of all items */
  TT_VEC(item) items;
  TT_VEC(name) names;
  TT_VEC(macro) macros;
  tt_str row[MOST_NESTED]; /* rows of macros, written out; one in another */
  TT_VEC(int32_t) todo;    /* items whose words were not looked at yet */
  int32_t *slot;           /* [nslot]: first name, -1 for none */
  uint32_t nslot;
  int branch[MOST_DEPTH], depth, nbranch; /* conditions that hold here: the number of the branch at each depth, 0 where
                                             a file is kept from being read twice, which is no condition */
  piece guard;                            /* what the line before asked not to be defined */
  bool failed;
} trim;

/* ---- characters */

enum { SPACE = 1, LETTER = 2, DIGIT = 4, OPEN = 8, CLOSE = 16, QUOTE = 32 };

/* clang-format off */
static const unsigned char kinds[256] = {
    [' '] = SPACE, ['\n'] = SPACE, ['\t'] = SPACE, ['\r'] = SPACE, ['('] = OPEN, ['{'] = OPEN, ['['] = OPEN,
    [')'] = CLOSE, ['}'] = CLOSE, [']'] = CLOSE, ['"'] = QUOTE, ['\''] = QUOTE, ['_'] = LETTER,
    ['0'] = DIGIT, ['1'] = DIGIT, ['2'] = DIGIT, ['3'] = DIGIT, ['4'] = DIGIT, ['5'] = DIGIT, ['6'] = DIGIT,
    ['7'] = DIGIT, ['8'] = DIGIT, ['9'] = DIGIT,
    ['a'] = LETTER, ['b'] = LETTER, ['c'] = LETTER, ['d'] = LETTER, ['e'] = LETTER, ['f'] = LETTER, ['g'] = LETTER,
    ['h'] = LETTER, ['i'] = LETTER, ['j'] = LETTER, ['k'] = LETTER, ['l'] = LETTER, ['m'] = LETTER, ['n'] = LETTER,
    ['o'] = LETTER, ['p'] = LETTER, ['q'] = LETTER, ['r'] = LETTER, ['s'] = LETTER, ['t'] = LETTER, ['u'] = LETTER,
    ['v'] = LETTER, ['w'] = LETTER, ['x'] = LETTER, ['y'] = LETTER, ['z'] = LETTER,
    ['A'] = LETTER, ['B'] = LETTER, ['C'] = LETTER, ['D'] = LETTER, ['E'] = LETTER, ['F'] = LETTER, ['G'] = LETTER,
    ['H'] = LETTER, ['I'] = LETTER, ['J'] = LETTER, ['K'] = LETTER, ['L'] = LETTER, ['M'] = LETTER, ['N'] = LETTER,
    ['O'] = LETTER, ['P'] = LETTER, ['Q'] = LETTER, ['R'] = LETTER, ['S'] = LETTER, ['T'] = LETTER, ['U'] = LETTER,
    ['V'] = LETTER, ['W'] = LETTER, ['X'] = LETTER, ['Y'] = LETTER, ['Z'] = LETTER};
/* clang-format on */

static bool is(char c, int kind) { return kinds[(unsigned char)c] & kind; }
static bool is_space(char c) { return is(c, SPACE); }
static bool is_letter(char c) { return is(c, LETTER); }
static bool is_same(piece a, const char *b) { return strlen(b) == a.n && memcmp(a.at, b, a.n) == 0; }

static size_t skip_space(piece p, size_t i) {
  while (i < p.n && is_space(p.at[i])) i++;
  return i;
}

/* Behind the string or character that begins at `i`. */
static size_t skip_quoted(piece p, size_t i) {
  char end = p.at[i++];
  while (i < p.n && p.at[i] != end) i += p.at[i] == '\\' ? 2 : 1;
  return i < p.n ? i + 1 : p.n;
}

/* Behind the number or word at `i`; a number's letters are no word. */
static size_t skip_word(piece p, size_t i) {
  while (i < p.n && is(p.at[i], LETTER | DIGIT)) i++;
  return i;
}

/* Behind what closes the bracket at `i`. */
static size_t skip_brackets(piece p, size_t i) {
  int depth = 0;
  while (i < p.n) {
    while (i < p.n && !is(p.at[i], OPEN | CLOSE | QUOTE)) i++;
    if (i < p.n && is(p.at[i], QUOTE)) {
      i = skip_quoted(p, i);
    } else if (i < p.n) {
      depth += is(p.at[i++], OPEN) ? 1 : -1;
      if (depth <= 0) break;
    }
  }
  return i;
}

/* The next word from *i on; false when there is none. *i moves behind it. */
static bool next_word(piece p, size_t *i, piece *word) {
  while (*i < p.n) {
    char c = p.at[*i];
    size_t end = is(c, QUOTE) ? skip_quoted(p, *i) : is(c, LETTER | DIGIT) ? skip_word(p, *i) : *i + 1;
    *word = (piece){p.at + *i, end - *i};
    *i = end;
    if (is_letter(c)) return true;
  }
  return false;
}

/* Without comments, and with each directive on one line. */
static void clean(const char *s, tt_str *out) {
  const piece p = {s, strlen(s)};
  size_t from = 0; /* what stands before it is written */
  for (size_t i = 0, end; i < p.n; i = end) {
    char c = s[i];
    const char *close;
    if (is(c, QUOTE)) {
      end = skip_quoted(p, i);
      continue;
    }
    end = i + 1;
    if (c == '/' && s[end] == '*')
      end = (close = strstr(s + end + 1, "*/")) != NULL ? (size_t)(close + 2 - s) : p.n;
    else if (c == '/' && s[end] == '/')
      end = i + strcspn(s + i, "\n");
    else if (c == '\\' && s[end] == '\n')
      end = i + 2;
    else
      continue;
    tt__str_add_n(out, s + from, i - from);
    tt__str_add(out, " ");
    from = end;
  }
  tt__str_add_n(out, s + from, p.n - from);
}

/* ---- items and names */

static uint32_t hash_word(piece w) {
  uint32_t h = 2166136261u;
  for (size_t k = 0; k < w.n; k++) h = (h ^ (unsigned char)w.at[k]) * 16777619u;
  return h | 1;
}

/* The item goes to the end of the text. */
static int32_t add_item(trim *t, piece p) {
  item it = {.from = t->text.len, .len = p.n + 1};
  tt__str_add_n(&t->text, p.at, p.n);
  tt__str_add(&t->text, "\n");
  t->failed |= t->text.failed || !TT_VEC_PUSH(&t->items, it);
  return (int32_t)t->items.n - 1;
}

static void add_name(trim *t, int32_t to, piece p, piece word) {
  if (t->failed) return;
  name n = {t->items.data[to].from + (size_t)(word.at - p.at), word.n, hash_word(word), to, -1};
  t->failed |= !TT_VEC_PUSH(&t->names, n);
}

/* An item that is there whatever the source says. */
static void keep(trim *t, int32_t at) {
  if (t->failed || t->items.data[at].is_kept) return;
  t->items.data[at].is_kept = true;
  t->failed |= !TT_VEC_PUSH(&t->todo, at);
}

/* ---- directives */

static void define_macro(trim *t, piece p, size_t at) {
  piece word;
  macro m = {.depth = t->depth, .branch = t->depth ? t->branch[t->depth - 1] : 0};
  if (!next_word(p, &at, &m.name) || at >= p.n || p.at[at] != '(') return;
  size_t close = skip_brackets(p, at);
  piece params = {p.at, close};
  while (next_word(params, &at, &word)) {
    if (m.nparam == MOST_PARAMS) return;
    m.param[m.nparam++] = word;
  }
  m.body = (piece){p.at + close, p.n - close};
  m.hash = hash_word(m.name);
  t->failed |= !TT_VEC_PUSH(&t->macros, m);
}

static bool is_macro(const macro *m, piece word, uint32_t hash) {
  return m->hash == hash && m->name.n == word.n && memcmp(m->name.at, word.at, word.n) == 0;
}

static void forget_macro(trim *t, piece word) {
  uint32_t hash = hash_word(word);
  for (int64_t k = 0; k < t->macros.n; k++)
    if (is_macro(&t->macros.data[k], word, hash)) t->macros.data[k].hash = 0;
}

/* A line that begins with '#'. */
static void add_directive(trim *t, piece p) {
  size_t at = 1;
  piece what, word, guard = t->guard;
  int32_t to = add_item(t, p);
  t->guard = (piece){NULL, 0};
  if (!next_word(p, &at, &what)) return;
  if (is_same(what, "define") || is_same(what, "undef")) {
    size_t body = at;
    if (!next_word(p, &at, &word)) return;
    add_name(t, to, p, word);
    if (is_same(what, "define") && word.n == guard.n && memcmp(word.at, guard.at, word.n) == 0 &&
        skip_space(p, at) >= p.n)
      t->branch[t->depth - 1] = 0;
    if (is_same(what, "define"))
      define_macro(t, p, body);
    else
      forget_macro(t, word);
    return;
  }
  keep(t, to);
  if (is_same(what, "if") || is_same(what, "ifdef") || is_same(what, "ifndef")) {
    t->failed |= t->depth == MOST_DEPTH;
    if (!t->failed) t->branch[t->depth++] = ++t->nbranch;
    if (is_same(what, "ifndef")) next_word(p, &at, &t->guard);
  } else if (is_same(what, "endif")) {
    if (t->depth) t->depth--;
  } else if (is_same(what, "else") || is_same(what, "elif")) {
    if (t->depth) t->branch[t->depth - 1] = ++t->nbranch;
  }
}

/* ---- declarations */

static const macro *find_macro(const trim *t, piece word) {
  uint32_t hash = hash_word(word);
  for (int64_t k = t->macros.n - 1; k >= 0; k--)
    if (is_macro(&t->macros.data[k], word, hash)) return &t->macros.data[k];
  return NULL;
}

/* Was it defined under no condition but those that hold here? Else another definition may be meant. */
static bool is_certain(const trim *t, const macro *m) {
  return m->depth == 0 || m->branch == 0 || (m->depth <= t->depth && t->branch[m->depth - 1] == m->branch);
}

static void name_braces(trim *t, int32_t to, piece p, size_t open) {
  piece inside = {p.at, skip_brackets(p, open)}, word;
  for (size_t at = open; next_word(inside, &at, &word);) add_name(t, to, p, word);
}

/* typedef, struct, union, enum: the tag, what an enum counts, the name at the end. */
static bool name_type(trim *t, int32_t to, piece p, piece first, size_t at) {
  bool is_typedef = is_same(first, "typedef"), named = false;
  piece word = first, last = {NULL, 0};
  if (is_typedef && !next_word(p, &at, &word)) return false;
  bool is_enum = is_same(word, "enum"), is_tagged = is_enum || is_same(word, "struct") || is_same(word, "union");
  if (!is_typedef && !is_tagged) return false;
  for (;;) {
    at = skip_space(p, at);
    if (at < p.n && p.at[at] == '{') {
      if (is_enum) name_braces(t, to, p, at);
      named |= is_enum;
      if (is_tagged && last.at) add_name(t, to, p, last), named = true;
      at = skip_brackets(p, at);
      last.at = NULL;
    } else if (at < p.n && (p.at[at] == '(' || p.at[at] == '[')) {
      at = skip_brackets(p, at);
    } else if (at < p.n && is_letter(p.at[at])) {
      next_word(p, &at, &last);
    } else if (at < p.n) {
      at++;
    } else {
      break;
    }
  }
  if (is_typedef && last.at) add_name(t, to, p, last), named = true;
  return named;
}

/*
** The declarator of a function or a variable: the first word before a bracket, '=' or ';'. A word behind round brackets
** says that they are those of a qualifier, as in ALIGNED(16) char room[], or that one follows: both are names.
*/
static bool name_declarator(trim *t, int32_t to, piece p) {
  piece word = {NULL, 0};
  for (size_t at = 0; (at = skip_space(p, at)) < p.n;) {
    if (is_letter(p.at[at])) {
      next_word(p, &at, &word);
    } else if (word.at && is_same(word, "__attribute__") && p.at[at] == '(') {
      at = skip_brackets(p, at);
    } else if (p.at[at] == '*') {
      at++;
    } else {
      if (!word.at || !strchr("([=;", p.at[at])) return false;
      add_name(t, to, p, word);
      if (p.at[at] != '(') return true;
      at = skip_space(p, skip_brackets(p, at));
      if (at >= p.n || !is_letter(p.at[at])) return true;
    }
  }
  return false;
}

static void add_declaration(trim *t, piece p) {
  size_t at = 0;
  piece first;
  int32_t to = add_item(t, p);
  bool named = next_word(p, &at, &first) && (name_type(t, to, p, first, at) || name_declarator(t, to, p));
  if (!named) keep(t, to);
}

/* Behind the declaration or function that begins at `i`. */
static size_t skip_declaration(piece p, size_t i) {
  char before = 0;
  while (i < p.n) {
    char c = p.at[i];
    if (c == ';') return i + 1;
    bool is_body = c == '{' && before == ')';
    if (!is_space(c)) before = c;
    if (is(c, OPEN)) {
      i = skip_brackets(p, i);
      before = p.at[i - 1];
      if (is_body) return i;
    } else {
      i = is(c, QUOTE) ? skip_quoted(p, i) : i + 1;
    }
  }
  return p.n;
}

/* ---- rows of macros */

/* The arguments between the brackets at `open`; how many, -1 if they are too many. */
static int find_arguments(piece p, size_t open, size_t close, piece arg[MOST_PARAMS]) {
  int n = 0;
  for (size_t i = open + 1, from = i; i < close;) {
    char c = p.at[i];
    if (c == ',' || i + 1 == close) {
      if (n == MOST_PARAMS) return -1;
      size_t end = i;
      from = skip_space(p, from);
      while (end > from && is_space(p.at[end - 1])) end--;
      arg[n++] = (piece){p.at + from, end - from};
      from = ++i;
    } else {
      i = is(c, OPEN) ? skip_brackets(p, i) : is(c, QUOTE) ? skip_quoted(p, i) : i + 1;
    }
  }
  return n;
}

static const piece *find_argument(const macro *m, const piece *arg, piece word) {
  for (int k = 0; k < m->nparam; k++)
    if (m->param[k].n == word.n && memcmp(m->param[k].at, word.at, word.n) == 0) return &arg[k];
  return NULL;
}

/* The macro's body with arguments in place of parameters, and ## done. False: beyond us. */
static bool write_out(const macro *m, const piece *arg, tt_str *out) {
  const piece p = m->body;
  size_t from = 0; /* what stands before it is written */
  for (size_t i = 0, end; i < p.n; i = end) {
    char c = p.at[i];
    end = is(c, QUOTE) ? skip_quoted(p, i) : is(c, LETTER | DIGIT) ? skip_word(p, i) : i + 1;
    if (c == '#') {
      if (end >= p.n || p.at[end] != '#') return false;
      tt__str_add_n(out, p.at + from, i - from);
      while (out->len && is_space(out->data[out->len - 1])) out->data[--out->len] = 0;
      from = end = skip_space(p, end + 1);
    } else if (is_letter(c)) {
      const piece *found = find_argument(m, arg, (piece){p.at + i, end - i});
      if (!found) continue;
      tt__str_add_n(out, p.at + from, i - from);
      tt__str_add_n(out, found->at, found->n);
      from = end;
    }
  }
  tt__str_add_n(out, p.at + from, p.n - from);
  return true;
}

static void split(trim *t, piece p, int nested);

/* A row NAME(...) where a declaration may stand; its end is returned, 0 if it is none. */
static size_t add_row(trim *t, piece p, size_t i, int nested) {
  size_t at = i;
  piece word, arg[MOST_PARAMS] = {{NULL, 0}};
  if (nested == MOST_NESTED || !next_word(p, &at, &word)) return 0;
  const macro *m = find_macro(t, word);
  at = skip_space(p, at);
  if (!m || at >= p.n || p.at[at] != '(') return 0;
  size_t close = skip_brackets(p, at);
  tt_str *text = &t->row[nested];
  tt__str_clear(text);
  bool ok = is_certain(t, m) && find_arguments(p, at, close, arg) == m->nparam && write_out(m, arg, text);
  t->failed |= text->failed;
  if (ok && text->len) split(t, (piece){text->data, text->len}, nested + 1);
  if (ok) return close;
  keep(t, add_item(t, (piece){p.at + i, close - i}));
  return close;
}

static void split(trim *t, piece p, int nested) {
  for (size_t i = 0; !t->failed && (i = skip_space(p, i)) < p.n;) {
    size_t end = i;
    if (p.at[i] == '#') {
      while (end < p.n && p.at[end] != '\n') end++;
      add_directive(t, (piece){p.at + i, end - i});
    } else if (p.at[i] == ';') {
      end = i + 1;
    } else if (!is_letter(p.at[i]) || (end = add_row(t, p, i, nested)) == 0) {
      end = skip_declaration(p, i);
      add_declaration(t, (piece){p.at + i, end - i});
    }
    i = end;
  }
}

/* ---- what is needed */

static void make_slots(trim *t) {
  t->nslot = 64;
  while (t->nslot < 2 * (uint64_t)t->names.n) t->nslot *= 2;
  t->slot = t->failed ? NULL : tt__mem_alloc(t->nslot * sizeof *t->slot);
  t->failed |= !t->slot;
  if (t->failed) return;
  memset(t->slot, 0xff, t->nslot * sizeof *t->slot);
  for (int32_t k = 0; k < (int32_t)t->names.n; k++) {
    name *n = &t->names.data[k];
    n->next = t->slot[n->hash & (t->nslot - 1)];
    t->slot[n->hash & (t->nslot - 1)] = k;
  }
}

static void need_words(trim *t, piece p) {
  piece word;
  for (size_t i = 0; !t->failed && next_word(p, &i, &word);) {
    uint32_t hash = hash_word(word);
    for (int32_t k = t->slot[hash & (t->nslot - 1)]; k >= 0; k = t->names.data[k].next) {
      const name *n = &t->names.data[k];
      if (n->hash == hash && n->len == word.n && memcmp(t->text.data + n->from, word.at, word.n) == 0) keep(t, n->item);
    }
  }
}

void tt__trim(const char *header, const char *source, tt_str *out) {
  trim t = {0};
  tt_str text = {0}, below = {0};
  clean(header, &text);
  clean(source, &below); /* an apostrophe in a comment is no quotation mark */
  t.failed = text.failed || below.failed;
  if (text.len) split(&t, (piece){text.data, text.len}, 0);
  make_slots(&t);
  if (below.len) need_words(&t, (piece){below.data, below.len});
  while (!t.failed && t.todo.n) {
    item it = t.items.data[t.todo.data[--t.todo.n]];
    need_words(&t, (piece){t.text.data + it.from, it.len});
  }
  for (int64_t k = 0; !t.failed && k < t.items.n; k++) {
    item it = t.items.data[k];
    if (it.is_kept) tt__str_add_n(out, t.text.data + it.from, it.len);
  }
  out->failed |= t.failed;
  tt__mem_free(t.slot, t.slot ? t.nslot * sizeof *t.slot : 0);
  tt__str_free(&text);
  tt__str_free(&below);
  tt__str_free(&t.text);
  for (int k = 0; k < MOST_NESTED; k++) tt__str_free(&t.row[k]);
  TT_VEC_FREE(&t.items);
  TT_VEC_FREE(&t.names);
  TT_VEC_FREE(&t.macros);
  TT_VEC_FREE(&t.todo);
}
