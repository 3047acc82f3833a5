/*
** Blocks side by side in x become one strip when a kernel uses x only as the global index: its loop over x then runs
** over all of them, so that guards and rows of short blocks cost nothing.
*/
#include "lang/cuda_c/form.h"

#include <string.h>

static const char hidden[] =
    "const tt_uint3 threadIdx, const int tt_global_x, const tt_uint3 blockIdx, const tt_uint3 blockDim, "
    "const tt_uint3 gridDim";

static bool among(const char *text, size_t len, const char *const *words, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (strlen(words[i]) == len && memcmp(text, words[i], len) == 0) return true;
  return false;
}

/* What tells its caller's place by itself. */
static bool asks_place(const char *text, size_t len) {
  static const char *const words[] = {"tt_stop", "__trap"};
  return among(text, len, words, sizeof words / sizeof *words);
}

static bool looks_at_thread(const char *text, size_t len) {
  return asks_place(text, len) || among(text, len, (const char *const[]){"threadIdx"}, 1);
}

/* What has a meaning in one block only, or shows the order of threads. */
static bool is_of_a_block(const char *text, size_t len) {
  static const char *const words[] = {"threadIdx", "blockIdx", "__shared__", "tt_printf"};
  return asks_place(text, len) || among(text, len, words, sizeof words / sizeof *words);
}

static bool own_text_has(const tt_cudac_scan *s, const tt_cudac_def *d, tt_cudac_test test) {
  for (int64_t k = d->open; k < d->close && k < s->word.n; k++) {
    const tt_cudac_word *w = &s->word.data[k];
    if (w->kind == 'i' && test(s->text + w->at, w->len)) return true;
  }
  return false;
}

/* Does anything that the kernel can reach, itself excepted? What a template reaches is known to its arguments only. */
static bool others_have(tt_cudac_scan *s, const tt_cudac_kernel *f, tt_cudac_test test) {
  const tt_cudac_def *d = &s->def.data[f->def];
  for (int64_t i = 0; f->is_template && i < s->def.n; i++) {
    const tt_cudac_def *other = &s->def.data[i];
    bool is_kernel = false;
    for (int64_t k = other->head; k < other->open; k++) is_kernel |= tt__cudac_is(s, k, "__global__");
    if (!is_kernel && own_text_has(s, other, test)) return true;
  }
  return tt__cudac_callees_have(s, d->open + 1, d->close, test);
}

bool tt__cudac_form_tells(tt_cudac_scan *s, const tt_cudac_kernel *k) {
  return own_text_has(s, &s->def.data[k->def], asks_place) || others_have(s, k, looks_at_thread);
}

/* Is x nothing but blockIdx.x * blockDim.x + threadIdx.x? */
static bool is_strip(tt_cudac_scan *s, const tt_cudac_kernel *f) {
  const tt_cudac_def *d = &s->def.data[f->def];
  if (s->all_share) return false;
  for (int64_t k = d->open + 1; k < d->close && k < s->word.n; k++) {
    const tt_cudac_word *w = &s->word.data[k];
    int64_t end = tt__cudac_index_end(s, k);
    if (end >= 0) {
      k = end - 1;
      continue;
    }
    if (w->kind != 'i' || !is_of_a_block(s->text + w->at, w->len)) continue;
    bool index = tt__cudac_is(s, k, "threadIdx") || tt__cudac_is(s, k, "blockIdx");
    bool other = tt__cudac_is(s, k + 1, ".") && (tt__cudac_is(s, k + 2, "y") || tt__cudac_is(s, k + 2, "z"));
    if (!index || !other) return false;
  }
  return !others_have(s, f, is_of_a_block);
}

void tt__cudac_form_head(const tt_cudac_scan *s, const tt_cudac_kernel *k, const char *prefix, const char *before,
                         tt_str *out) {
  static const char *const never[] = {"extern", "static", "inline", "__forceinline__", "__inline__"};
  const tt_cudac_def *d = &s->def.data[k->def];
  int64_t params = tt__cudac_params(s, d->head, d->open);
  tt__str_add(out, "\n");
  for (int64_t w = d->head; w < d->open; w++) {
    const tt_cudac_word *word = &s->word.data[w];
    const char *text = s->text + word->at;
    if (word->kind == 's' || word->kind == '#') continue;
    if (word->kind == 'i' && w < params && among(text, word->len, never, sizeof never / sizeof *never)) continue;
    bool bounds = tt__cudac_is(s, w, "__launch_bounds__") || tt__cudac_is(s, w, "__tt_block__");
    if (bounds && tt__cudac_is(s, w + 1, "(")) {
      w = tt__cudac_close(s, w + 1);
      continue;
    }
    if (tt__cudac_is(s, w, "__global__")) {
      tt__str_add(out, "static inline ");
      continue;
    }
    if (w == params - 1) tt__str_add(out, prefix);
    tt__str_add_n(out, text, word->len);
    if (text[word->len] == ' ' || text[word->len] == '\n' || text[word->len] == '\t') tt__str_add(out, " ");
    if (w != params || !before[0]) continue;
    bool none = tt__cudac_is(s, w + 1, ")") || (tt__cudac_is(s, w + 1, "void") && tt__cudac_is(s, w + 2, ")"));
    tt__str_add(out, before);
    if (none)
      w += tt__cudac_is(s, w + 1, "void");
    else
      tt__str_add(out, ", ");
  }
}

void tt__cudac_form_thread(tt_cudac_scan *s, tt_cudac_kernel *k, tt_str *out) {
  const tt_cudac_def *d = &s->def.data[k->def];
  if (d->open >= s->word.n || d->close >= s->word.n || tt__cudac_params(s, d->head, d->open) < 0) return;
  const tt_cudac_word *open = &s->word.data[d->open], *close = &s->word.data[d->close];
  k->is_strip = is_strip(s, k);
  tt__cudac_form_head(s, k, "tt_thread_", hidden, out);
  tt__str_add_n(out, s->text + open->at, close->at + close->len - open->at);
  tt__str_add(out, "\n");
}
