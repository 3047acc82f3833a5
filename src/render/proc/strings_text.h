/*
** Strings, dictionaries and sets, as text behind proc_text.h.
*/
/* clang-format off: as there */
#ifndef TT_RENDER_PROC_STRINGS_TEXT_H
#define TT_RENDER_PROC_STRINGS_TEXT_H

#ifndef TT_PROGRAM_GPU
/* ---- strings: lists of code points that nobody changes */
enum {
  TT_TEXT_BOOL = 0,
  TT_TEXT_I64 = 4,
  TT_TEXT_U64 = 8,
  TT_TEXT_F64 = 12,
  TT_TEXT_C128 = 14
};                           /* types for `format` */
static tt_list tt_text_none; /* where there is no memory */
TT_FN tt_b8 tt_text_there(const tt_list *s) { return s != &tt_text_none; }
TT_FN tt_i64 tt_word_text(const tt_list *s) { return (tt_i64)s; }
static __attribute__((unused)) tt_list *tt_text_new(tt_pcall *call, tt_i64 n) {
  tt_list *l = n < 0 || n > TT_I64(0x1000000000000) ? 0 : (tt_list *)tt_list_memory(call, (tt_i64)sizeof *l + n * 8);
  if (TT_RARELY(!l)) return &tt_text_none;
  l->w = (tt_i64 *)(l + 1);
  l->n = l->room = n;
  return l;
}
/* Fields of records: code points in n places of so many bytes, the last ones zero. */
static __attribute__((unused)) tt_list *tt_text_of_chars(tt_pcall *call, tt_i64 at, tt_i64 n, tt_i64 step) {
  tt_u32 code = 0;
  for (; n > 0; n--) {
    __builtin_memcpy(&code, (const char *)at + (n - 1) * step, 4);
    if (code) break;
  }
  tt_list *l = tt_text_new(call, n);
  if (l == &tt_text_none) tt_fail(call, TT_ENOMEM, "out of memory", 0);
  for (tt_i64 k = 0; k < l->n; k++) {
    __builtin_memcpy(&code, (const char *)at + k * step, 4);
    l->w[k] = code;
  }
  return l;
}
static __attribute__((unused)) tt_i64 tt_chars_put(tt_i64 at, tt_i64 n, tt_i64 step, const tt_list *s) {
  for (tt_i64 k = 0; k < n; k++) {
    const tt_u32 code = k < s->n ? (tt_u32)s->w[k] : 0;
    __builtin_memcpy((char *)at + k * step, &code, 4);
  }
  return 0;
}
/* The same of bytes: text that is no ASCII does not go there (0). */
static __attribute__((unused)) tt_list *tt_bytes_of_chars(tt_pcall *call, tt_i64 at, tt_i64 n, tt_i64 step) {
  while (n > 0 && !*((const char *)at + (n - 1) * step)) n--;
  tt_list *l = tt_text_new(call, n);
  if (l == &tt_text_none) tt_fail(call, TT_ENOMEM, "out of memory", 0);
  for (tt_i64 k = 0; k < l->n; k++) l->w[k] = *((const unsigned char *)at + k * step);
  return l;
}
static __attribute__((unused)) tt_b8 tt_bytes_put(tt_i64 at, tt_i64 n, tt_i64 step, const tt_list *s, tt_i64 most) {
  for (tt_i64 k = 0; k < s->n; k++)
    if (s->w[k] > most) return 0;
  for (tt_i64 k = 0; k < n; k++) *((char *)at + k * step) = (char)(k < s->n ? s->w[k] : 0);
  return 1;
}
/* As Python writes bytes: b'...', between double quotes where there are single ones and no double ones. */
static __attribute__((unused)) tt_list *tt_text_of_bytes(tt_pcall *call, const tt_list *s) {
  static const char digits[] = "0123456789abcdef";
  tt_list *l = tt_text_new(call, 4 * s->n + 3);
  tt_i64 single = 0, twice = 0, at = 0;
  if (!l->n) return l;
  for (tt_i64 k = 0; k < s->n; k++) {
    single |= s->w[k] == '\'';
    twice |= s->w[k] == '"';
  }
  const tt_i64 quote = single && !twice ? '"' : '\'';
  l->w[at++] = 'b';
  l->w[at++] = quote;
  for (tt_i64 k = 0; k < s->n; k++) {
    const tt_i64 c = s->w[k], named = c == '\t' ? 't' : c == '\n' ? 'n' : c == '\r' ? 'r' : c == quote ? c : 0;
    if (named || c == '\\') l->w[at++] = '\\';
    if (!named && (c < 32 || c > 126)) {
      l->w[at++] = '\\';
      l->w[at++] = 'x';
      l->w[at++] = digits[c >> 4];
      l->w[at++] = digits[c & 15];
    } else {
      l->w[at++] = named ? named : c;
    }
  }
  l->w[at++] = quote;
  l->n = at;
  return l;
}
TT_FN void tt_text_put(tt_i64 *to, const tt_list *s) {
  if (s->n) __builtin_memcpy(to, s->w, (unsigned long)s->n * 8);
}
static __attribute__((unused)) tt_list *tt_text_part(tt_pcall *call, const tt_list *s, tt_i64 lo, tt_i64 hi) {
  tt_list *l = tt_text_new(call, hi - lo);
  if (l->n) __builtin_memcpy(l->w, s->w + lo, (unsigned long)l->n * 8);
  return l;
}
static __attribute__((unused)) tt_list *tt_text_char(tt_pcall *call, tt_i64 code) {
  tt_list *l = tt_text_new(call, 1);
  if (l->n) l->w[0] = code;
  return l;
}
static __attribute__((unused)) tt_list *tt_text_join(tt_pcall *call, const tt_list *a, const tt_list *b) {
  tt_list *l = tt_text_new(call, a->n + b->n);
  if (!l->n) return l;
  tt_text_put(l->w, a);
  tt_text_put(l->w + a->n, b);
  return l;
}
static __attribute__((unused)) tt_list *tt_text_repeat(tt_pcall *call, const tt_list *s, tt_i64 times) {
  tt_i64 n = 0;
  if (times > 0 && __builtin_mul_overflow(s->n, times, &n)) return &tt_text_none;
  tt_list *l = tt_text_new(call, n);
  for (tt_i64 k = 0; k < l->n; k += s->n) tt_text_put(l->w + k, s);
  return l;
}
TT_FN tt_i64 tt_text_compare(const tt_list *a, const tt_list *b) {
  for (tt_i64 k = 0; k < a->n && k < b->n; k++)
    if (a->w[k] != b->w[k]) return a->w[k] < b->w[k] ? -1 : 1;
  return (a->n > b->n) - (a->n < b->n);
}
TT_FN tt_u64 tt_text_turn(const tt_list *s) {
  tt_u64 x = TT_U64(0xcbf29ce484222325);
  for (tt_i64 k = 0; k < s->n; k++) x = (x ^ (tt_u64)s->w[k]) * TT_U64(0x100000001b3);
  return x ^ x >> 29;
}
TT_FN tt_b8 tt_text_at(const tt_list *s, const tt_list *part, tt_i64 at) {
  for (tt_i64 k = 0; k < part->n; k++)
    if (s->w[at + k] != part->w[k]) return 0;
  return 1;
}
/* Bounds as Python cuts them. */
TT_FN tt_i64 tt_text_bound(tt_i64 at, tt_i64 n) { return at < 0 ? (at + n < 0 ? 0 : at + n) : at > n ? n : at; }
/* The first place of a part in [lo, hi), or the last one; -1: there is none. */
TT_FN tt_i64 tt_text_find(const tt_list *s, const tt_list *part, tt_i64 lo, tt_i64 hi) {
  if (lo > s->n) return -1;
  hi = tt_text_bound(hi, s->n);
  for (tt_i64 k = tt_text_bound(lo, s->n); k + part->n <= hi; k++)
    if (tt_text_at(s, part, k)) return k;
  return -1;
}
TT_FN tt_i64 tt_text_rfind(const tt_list *s, const tt_list *part, tt_i64 lo, tt_i64 hi) {
  if (lo > s->n) return -1;
  lo = tt_text_bound(lo, s->n);
  for (tt_i64 k = tt_text_bound(hi, s->n) - part->n; k >= lo; k--)
    if (tt_text_at(s, part, k)) return k;
  return -1;
}
TT_FN tt_i64 tt_text_count(const tt_list *s, const tt_list *part, tt_i64 lo, tt_i64 hi) {
  if (lo > s->n) return 0;
  lo = tt_text_bound(lo, s->n);
  hi = tt_text_bound(hi, s->n);
  if (!part->n) return hi < lo ? 0 : hi - lo + 1;
  tt_i64 n = 0;
  for (tt_i64 k = lo; (k = tt_text_find(s, part, k, hi)) >= 0; k += part->n) n++;
  return n;
}
TT_FN tt_b8 tt_text_starts(const tt_list *s, const tt_list *part) { return part->n <= s->n && tt_text_at(s, part, 0); }
TT_FN tt_b8 tt_text_ends(const tt_list *s, const tt_list *part) {
  return part->n <= s->n && tt_text_at(s, part, s->n - part->n);
}
/* Does the part begin (end: at_end) what lies in [lo, hi)? */
static __attribute__((unused)) tt_b8 tt_text_edge(const tt_list *s, const tt_list *part, tt_i64 lo, tt_i64 hi,
                                                  tt_b8 at_end) {
  if (lo < 0) lo = lo + s->n < 0 ? 0 : lo + s->n;
  if (hi < 0) hi = hi + s->n < 0 ? 0 : hi + s->n;
  if (hi > s->n) hi = s->n;
  if (lo > hi || part->n > hi - lo) return 0;
  return tt_text_at(s, part, at_end ? hi - part->n : lo);
}
TT_FN tt_b8 tt_text_has(const tt_list *set, tt_i64 code) {
  for (tt_i64 k = 0; k < set->n; k++)
    if (set->w[k] == code) return 1;
  return 0;
}
/* Without characters of the set at the beginning (ends & 1) and at the end (ends & 2). */
static __attribute__((unused)) tt_list *tt_text_strip(tt_pcall *call, const tt_list *s, const tt_list *set,
                                                      tt_i64 ends) {
  tt_i64 lo = 0, hi = s->n;
  while (ends & 1 && lo < hi && tt_text_has(set, s->w[lo])) lo++;
  while (ends & 2 && lo < hi && tt_text_has(set, s->w[hi - 1])) hi--;
  return tt_text_part(call, s, lo, hi);
}
/* As wide as asked: filled at the end (0), at the beginning (1), on both sides (2), behind a sign (3). */
static __attribute__((unused)) tt_list *tt_text_pad(tt_pcall *call, const tt_list *s, tt_i64 width, const tt_list *with,
                                                    tt_i64 how) {
  tt_i64 more = width > s->n ? width - s->n : 0;
  tt_i64 before = how == 0 ? 0 : how == 2 ? more / 2 + (more & width & 1) : more;
  tt_list *l = tt_text_new(call, s->n + more);
  if (!l->n) return l;
  for (tt_i64 k = 0; k < l->n; k++) l->w[k] = with->w[0];
  tt_text_put(l->w + before, s);
  if (how == 3 && more && s->n && (s->w[0] == '-' || s->w[0] == '+')) {
    l->w[before] = '0';
    l->w[0] = s->w[0];
  }
  return l;
}
TT_FN tt_b8 tt_text_is_space(tt_i64 c) {
  return (c >= 9 && c <= 13) || (c >= 28 && c <= 32) || c == 0x85 || c == 0xa0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x205f || c == 0x3000;
}
TT_FN tt_b8 tt_text_add(tt_pcall *call, tt_list *to, const tt_list *s, tt_i64 lo, tt_i64 hi) {
  tt_list *part = tt_text_part(call, s, lo, hi);
  if (!tt_text_there(part) || !tt_list_resize(call, to, to->n + 1, 1)) return 0;
  to->w[to->n - 1] = (tt_i64)part;
  return 1;
}
/* At most so many cuts, where that is not below zero; an empty `by` is white space. */
static __attribute__((unused)) tt_list *tt_text_split(tt_pcall *call, const tt_list *s, const tt_list *by,
                                                      tt_i64 most) {
  tt_list *l = tt_list_new(call, 1);
  tt_i64 lo = 0, cuts = 0;
  for (;;) {
    if (!by->n)
      while (lo < s->n && tt_text_is_space(s->w[lo])) lo++;
    if (!by->n && lo == s->n) return l;
    tt_i64 hi = lo;
    if (most >= 0 && cuts == most)
      hi = s->n;
    else if (by->n)
      hi = tt_text_find(s, by, lo, s->n);
    else
      while (hi < s->n && !tt_text_is_space(s->w[hi])) hi++;
    const tt_b8 last = hi < 0 || hi == s->n;
    if (hi < 0) hi = s->n;
    tt_i64 end = hi;
    if (!by->n && most >= 0 && cuts == most)
      while (end > lo && tt_text_is_space(s->w[end - 1])) end--;
    if (!tt_text_add(call, l, s, lo, end)) return &tt_text_none;
    if (last && (!by->n || hi == s->n) && (!by->n || tt_text_find(s, by, lo, s->n) < 0 || (most >= 0 && cuts == most)))
      return l;
    lo = hi + (by->n ? by->n : 1);
    cuts++;
  }
}
/* As split, from the end on; the pieces are found last first. */
static __attribute__((unused)) tt_list *tt_text_rsplit(tt_pcall *call, const tt_list *s, const tt_list *by,
                                                       tt_i64 most) {
  tt_list *l = tt_list_new(call, 1);
  tt_i64 hi = s->n;
  while (1) {
    tt_i64 at, lo;
    if (by->n == 0) {
      while (hi > 0 && tt_text_is_space(s->w[hi - 1])) hi--;
      if (hi == 0) break;
      for (lo = hi; lo > 0 && !tt_text_is_space(s->w[lo - 1]);) lo--;
      if (most >= 0 && l->n >= most) lo = 0;
      at = lo - 1;
    } else {
      at = most >= 0 && l->n >= most ? -1 : tt_text_rfind(s, by, 0, hi);
      lo = at < 0 ? 0 : at + by->n;
    }
    if (!tt_text_add(call, l, s, lo, hi)) return &tt_text_none;
    if (at < 0) break;
    hi = at;
  }
  for (tt_i64 k = 0; k < l->n / 2; k++) {
    const tt_i64 w = l->w[k];
    l->w[k] = l->w[l->n - 1 - k];
    l->w[l->n - 1 - k] = w;
  }
  return l;
}
/* ---- what letters are: bits of call->letter(code, 0, 0) */
enum {
  TT_IS_ALPHA = 1,
  TT_IS_DECIMAL = 2,
  TT_IS_DIGIT = 4,
  TT_IS_NUMERIC = 8,
  TT_IS_SPACE = 16,
  TT_IS_LOWER = 32,
  TT_IS_UPPER = 64,
  TT_IS_TITLE = 128,
  TT_IS_PRINTABLE = 256,
  TT_IS_FIRST = 512,
  TT_IS_LATER = 1024,
  TT_IS_CASED = 2048,
  TT_IS_SEEN_THROUGH = 4096
};
/* Is each letter of one of these kinds, and is there one? */
static __attribute__((unused)) tt_b8 tt_text_all(tt_pcall *call, const tt_list *s, tt_i64 kinds, tt_b8 empty) {
  for (tt_i64 k = 0; k < s->n; k++)
    if (!(call->letter(s->w[k], 0, 0) & kinds)) return 0;
  return s->n > 0 || empty;
}
static __attribute__((unused)) tt_b8 tt_text_ascii(const tt_list *s) {
  for (tt_i64 k = 0; k < s->n; k++)
    if (s->w[k] > 127) return 0;
  return 1;
}
static __attribute__((unused)) tt_b8 tt_text_name(tt_pcall *call, const tt_list *s) {
  for (tt_i64 k = 0; k < s->n; k++)
    if (!(call->letter(s->w[k], 0, 0) & (k ? TT_IS_LATER : TT_IS_FIRST))) return 0;
  return s->n > 0;
}
/* All that has case has this one; the others are `never`. */
static __attribute__((unused)) tt_b8 tt_text_cased(tt_pcall *call, const tt_list *s, tt_i64 is, tt_i64 never) {
  tt_b8 any = 0;
  for (tt_i64 k = 0; k < s->n; k++) {
    const tt_i64 kinds = call->letter(s->w[k], 0, 0);
    if (kinds & never) return 0;
    any |= (kinds & is) != 0;
  }
  return any;
}
static __attribute__((unused)) tt_b8 tt_text_titled(tt_pcall *call, const tt_list *s) {
  tt_b8 any = 0, cased = 0;
  for (tt_i64 k = 0; k < s->n; k++) {
    const tt_i64 kinds = call->letter(s->w[k], 0, 0);
    if (kinds & (TT_IS_UPPER | TT_IS_TITLE)) {
      if (cased) return 0;
      any = cased = 1;
    } else if (kinds & TT_IS_LOWER) {
      if (!cased) return 0;
      any = 1;
    } else {
      cased = 0;
    }
  }
  return any;
}
/* Sigma at the end of a word is another letter. */
static __attribute__((unused)) tt_b8 tt_text_final(tt_pcall *call, const tt_list *s, tt_i64 at) {
  tt_i64 k = at - 1;
  while (k >= 0 && call->letter(s->w[k], 0, 0) & TT_IS_SEEN_THROUGH) k--;
  if (k < 0 || !(call->letter(s->w[k], 0, 0) & TT_IS_CASED)) return 0;
  for (k = at + 1; k < s->n && call->letter(s->w[k], 0, 0) & TT_IS_SEEN_THROUGH;) k++;
  return k == s->n || !(call->letter(s->w[k], 0, 0) & TT_IS_CASED);
}
enum { TT_LOWER = 1, TT_UPPER, TT_TITLE, TT_FOLD, TT_CAPITALIZE, TT_SWAPCASE };
static __attribute__((unused)) tt_list *tt_text_case(tt_pcall *call, const tt_list *s, tt_i64 how) {
  tt_list *l = 0;
  for (int writes = 0; writes < 2; writes++) {
    tt_i64 n = 0;
    tt_b8 cased = 0;
    for (tt_i64 k = 0; k < s->n; k++) {
      tt_u32 out[3];
      const tt_i64 c = s->w[k], kinds = how == TT_TITLE || how == TT_SWAPCASE ? call->letter(c, 0, 0) : 0;
      tt_i64 what = how, one;
      if (how == TT_CAPITALIZE) what = k ? TT_LOWER : TT_TITLE;
      if (how == TT_TITLE) what = cased ? TT_LOWER : TT_TITLE;
      if (how == TT_SWAPCASE) what = kinds & TT_IS_UPPER ? TT_LOWER : kinds & TT_IS_LOWER ? TT_UPPER : 0;
      cased = (kinds & TT_IS_CASED) != 0;
      if (what == TT_LOWER && c == 0x3a3 && tt_text_final(call, s, k))
        one = 1, out[0] = 0x3c2;
      else if (what)
        one = call->letter(c, what, out);
      else
        one = 1, out[0] = (tt_u32)c;
      for (tt_i64 i = 0; writes && i < one; i++) l->w[n + i] = out[i];
      n += one;
    }
    if (!writes && !tt_text_there(l = tt_text_new(call, n))) return l;
  }
  return l;
}
TT_FN tt_b8 tt_text_ends_line(tt_i64 c) {
  return (c >= 10 && c <= 13) || (c >= 0x1c && c <= 0x1e) || c == 0x85 || c == 0x2028 || c == 0x2029;
}
static __attribute__((unused)) tt_list *tt_text_lines(tt_pcall *call, const tt_list *s, tt_b8 keep) {
  tt_list *l = tt_list_new(call, 1);
  for (tt_i64 lo = 0, hi, next; lo < s->n; lo = next) {
    for (hi = lo; hi < s->n && !tt_text_ends_line(s->w[hi]);) hi++;
    next = hi < s->n ? hi + 1 : hi;
    if (next < s->n && s->w[hi] == 13 && s->w[next] == 10) next++;
    if (!tt_text_add(call, l, s, lo, keep ? next : hi)) return &tt_text_none;
  }
  return l;
}
static __attribute__((unused)) tt_list *tt_text_expand(tt_pcall *call, const tt_list *s, tt_i64 size) {
  tt_i64 n = 0, column = 0;
  tt_list *l = 0;
  for (int writes = 0; writes < 2; writes++) {
    n = column = 0;
    for (tt_i64 k = 0; k < s->n; k++) {
      const tt_i64 c = s->w[k];
      const tt_i64 times = c != 9 ? 1 : size > 0 ? size - column % size : 0;
      for (tt_i64 i = 0; writes && i < times; i++) l->w[n + i] = c == 9 ? 32 : c;
      n += times;
      column = c == 10 || c == 13 ? 0 : column + times;
    }
    if (!writes && !tt_text_there(l = tt_text_new(call, n))) return l;
  }
  return l;
}
static __attribute__((unused)) tt_list *tt_text_join_list(tt_pcall *call, const tt_list *between,
                                                          const tt_list *parts) {
  tt_i64 n = parts->n ? between->n * (parts->n - 1) : 0, at = 0;
  for (tt_i64 k = 0; k < parts->n; k++) n += ((const tt_list *)parts->w[k])->n;
  tt_list *l = tt_text_new(call, n);
  for (tt_i64 k = 0; k < parts->n && l->n; k++) {
    const tt_list *part = (const tt_list *)parts->w[k];
    if (k) tt_text_put(l->w + at, between), at += between->n;
    tt_text_put(l->w + at, part);
    at += part->n;
  }
  return l;
}
static __attribute__((unused)) tt_list *tt_text_spread(tt_pcall *call, const tt_list *between, const tt_list *s) {
  tt_i64 at = 0;
  tt_list *l = tt_text_new(call, s->n ? s->n + between->n * (s->n - 1) : 0);
  for (tt_i64 k = 0; k < s->n && l->n; k++) {
    if (k) tt_text_put(l->w + at, between), at += between->n;
    l->w[at++] = s->w[k];
  }
  return l;
}
static __attribute__((unused)) tt_list *tt_text_replace(tt_pcall *call, const tt_list *s, const tt_list *old,
                                                        const tt_list *by, tt_i64 most) {
  tt_i64 times = tt_text_count(s, old, 0, s->n), from = 0, at = 0;
  if (most >= 0 && times > most) times = most;
  tt_list *l = tt_text_new(call, s->n + times * (by->n - old->n));
  if (!l->n) return l;
  for (tt_i64 k = 0; k < times; k++) {
    tt_i64 hit = old->n ? tt_text_find(s, old, from, s->n) : k;
    for (; from < hit; from++) l->w[at++] = s->w[from];
    tt_text_put(l->w + at, by);
    at += by->n;
    from += old->n;
  }
  for (; from < s->n; from++) l->w[at++] = s->w[from];
  return l;
}
static __attribute__((unused)) tt_list *tt_text_of(tt_pcall *call, tt_i64 dtype, const tt_i64 *word) {
  const char *s = call->format(call, dtype, word);
  tt_list *l = s ? tt_text_new(call, (tt_i64)__builtin_strlen(s)) : &tt_text_none;
  for (tt_i64 k = 0; k < l->n; k++) l->w[k] = s[k];
  return l;
}
static __attribute__((unused)) tt_list *tt_text_of_i64(tt_pcall *call, tt_i64 x) {
  return tt_text_of(call, TT_TEXT_I64, &x);
}
static __attribute__((unused)) tt_list *tt_text_of_b8(tt_pcall *call, tt_i64 x) {
  return tt_text_of(call, TT_TEXT_BOOL, &x);
}
static __attribute__((unused)) tt_list *tt_text_of_u64(tt_pcall *call, tt_u64 x) {
  tt_i64 w = (tt_i64)x;
  return tt_text_of(call, TT_TEXT_U64, &w);
}
static __attribute__((unused)) tt_list *tt_text_of_f64(tt_pcall *call, tt_f64 x) {
  tt_i64 w;
  __builtin_memcpy(&w, &x, 8);
  return tt_text_of(call, TT_TEXT_F64, &w);
}
static __attribute__((unused)) tt_list *tt_text_of_c128(tt_pcall *call, tt_f64 re, tt_f64 im) {
  tt_i64 w[2];
  __builtin_memcpy(w, &re, 8);
  __builtin_memcpy(w + 1, &im, 8);
  return tt_text_of(call, TT_TEXT_C128, w);
}
/* As Python writes it, in plain letters. */
static __attribute__((unused)) tt_list *tt_text_quoted(tt_pcall *call, const tt_list *s) {
  tt_i64 n = 2, at = 0;
  for (tt_i64 k = 0; k < s->n; k++) n += s->w[k] > 31 && s->w[k] < 127 && s->w[k] != 39 && s->w[k] != 92 ? 1 : 10;
  tt_list *l = tt_text_new(call, n);
  if (!l->n) return l;
  l->w[at++] = 39;
  for (tt_i64 k = 0; k < s->n; k++) {
    const tt_i64 c = s->w[k];
    if (c > 31 && c < 127 && c != 39 && c != 92) {
      l->w[at++] = c;
      continue;
    }
    l->w[at++] = 92;
    l->w[at++] = 'U';
    for (int j = 28; j >= 0; j -= 4) l->w[at++] = "0123456789abcdef"[c >> j & 15];
  }
  l->w[at] = 39;
  return l;
}
/* As UTF-8 for the host. */
static __attribute__((unused)) const char *tt_text_bytes(tt_pcall *call, const tt_list *s) {
  unsigned char *out = (unsigned char *)tt_list_memory(call, s->n * 4 + 8), *p = out;
  if (!out) return "";
  for (tt_i64 k = 0; k < s->n; k++) {
    const tt_u32 c = (tt_u32)s->w[k];
    if (c < 0x80) {
      *p++ = (unsigned char)c;
    } else {
      const int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
      *p++ = (unsigned char)((0xff00 >> (more + 1) & 0xff) | c >> 6 * more);
      for (int j = more - 1; j >= 0; j--) *p++ = (unsigned char)(0x80 | (c >> 6 * j & 0x3f));
    }
  }
  *p = 0;
  return (const char *)out;
}
/* ---- dictionaries: entries in the order of their keys, (there, key, value words), and an index of twice their room */
typedef struct {
  tt_i64 *w;
  tt_i64 n, room;
  tt_i32 *slot; /* place + 1 of the entry whose key's turn is here; 0: of none */
  tt_i64 nslot, live;
} tt_dict;
static __attribute__((unused)) tt_list *tt_dict_new(tt_pcall *call, tt_i64 words) {
  static tt_dict none;
  tt_dict *d = (tt_dict *)tt_list_memory(call, (tt_i64)sizeof *d);
  (void)words;
  if (TT_RARELY(!d)) {
    tt_fail(call, TT_ENOMEM, "out of memory", 0);
    d = &none;
  }
  __builtin_memset(d, 0, sizeof *d);
  return (tt_list *)d;
}
/* Keys are words, or addresses of strings, which `words` below zero says. */
TT_FN tt_u64 tt_dict_turn(tt_i64 key, int text) {
  if (text) return tt_text_turn((const tt_list *)key);
  tt_u64 x = (tt_u64)key * TT_U64(0x9e3779b97f4a7c15);
  return x ^ x >> 32;
}
TT_FN void tt_dict_enter(tt_dict *d, tt_i64 place, tt_i64 key, int text) {
  tt_u64 at = tt_dict_turn(key, text);
  while (d->slot[at & (tt_u64)(d->nslot - 1)]) at++;
  d->slot[at & (tt_u64)(d->nslot - 1)] = (tt_i32)(place + 1);
}
/* Room for more entries, without those that are gone, and a new index. */
static __attribute__((noinline, unused)) tt_b8 tt_dict_grow(tt_pcall *call, tt_dict *d, tt_i64 words, int text) {
  tt_i64 room = d->live < 4 ? 8 : d->live * 2, nslot = 16, n = 0;
  while (nslot < room * 2) nslot *= 2;
  tt_i64 *w = *call->failed || room > 1 << 30 ? 0 : (tt_i64 *)tt_list_memory(call, room * words * 8);
  tt_i32 *slot = w ? (tt_i32 *)tt_list_memory(call, nslot * 4) : 0;
  if (!slot) {
    tt_fail(call, TT_ENOMEM, "out of memory", 0);
    return 0;
  }
  __builtin_memset(slot, 0, (unsigned long)nslot * 4);
  d->slot = slot;
  d->nslot = nslot;
  for (tt_i64 k = 0; k < d->n; k++) {
    if (!d->w[k * words]) continue;
    __builtin_memcpy(w + n * words, d->w + k * words, (unsigned long)words * 8);
    tt_dict_enter(d, n, w[n * words + 1], text);
    n++;
  }
  d->w = w;
  d->n = n;
  d->room = room;
  return 1;
}
TT_FN tt_i64 tt_dict_find(tt_pcall *call, tt_list *l, tt_i64 key, tt_i64 words) {
  tt_dict *d = (tt_dict *)l;
  const int text = words < 0;
  if (text) words = -words;
  if (TT_RARELY(!d->nslot) && (!d->n || !tt_dict_grow(call, d, words, text))) return -1;
  for (tt_u64 at = tt_dict_turn(key, text);; at++) {
    tt_i64 k = d->slot[at & (tt_u64)(d->nslot - 1)] - 1;
    if (k < 0) return -1;
    const tt_i64 there = d->w[k * words + 1];
    if ((text ? !tt_text_compare((const tt_list *)there, (const tt_list *)key) : there == key) && d->w[k * words])
      return k;
  }
}
TT_FN tt_i64 tt_dict_put(tt_pcall *call, tt_list *l, tt_i64 key, tt_i64 words) {
  tt_dict *d = (tt_dict *)l;
  tt_i64 k = tt_dict_find(call, l, key, words);
  const int text = words < 0;
  if (k >= 0) return k;
  if (text) words = -words;
  if (TT_RARELY(d->n == d->room) && !tt_dict_grow(call, d, words, text)) return -1;
  k = d->n++;
  d->w[k * words] = 1;
  d->w[k * words + 1] = key;
  d->live++;
  tt_dict_enter(d, k, key, text);
  return k;
}
TT_FN tt_i64 tt_dict_drop(tt_pcall *call, tt_list *l, tt_i64 k, tt_i64 words) {
  (void)call;
  if (words < 0) words = -words;
  l->w[k * words] = 0;
  return --((tt_dict *)l)->live;
}
TT_FN tt_i64 tt_dict_live(tt_pcall *call, tt_list *l) {
  (void)call;
  return ((tt_dict *)l)->live;
}
TT_FN tt_i64 tt_dict_clear(tt_pcall *call, tt_list *l) {
  (void)call;
  __builtin_memset(l, 0, sizeof(tt_dict));
  return 0;
}
#endif

#endif
