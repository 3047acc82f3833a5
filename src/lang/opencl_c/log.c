/*
** The word that an error points at is looked for in the user's line: the same spelling, as often as it stands before it
** in the translated line. Where a macro or the translation wrote it, the error points at the line's beginning.
*/
#include "lang/opencl_c/log.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static bool is_of_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

static const char *line_end(const char *p) {
  const char *end = strchr(p, '\n');
  return end ? end : p + strlen(p);
}

/* Line `n` of a source, or NULL. */
static const char *source_line(const char *text, int n) {
  while (text && n > 1) {
    text = strchr(text, '\n');
    if (text) text++;
    n--;
  }
  return text;
}

/* "# 12 "kernel.cl"": the number, and whether it is of `file`; false: no mark. */
static bool read_mark(const char *line, const char *file, int *number, bool *ours) {
  char *end;
  if (line[0] != '#') return false;
  const char *digits = strncmp(line, "#line", 5) == 0 ? line + 5 : line + 1;
  *number = (int)strtol(digits, &end, 10);
  if (end == digits) return false;
  size_t n = strlen(file);
  const char *close = *end ? strchr(end + 2, '"') : NULL;
  *ours = end[0] && end[1] == '"' && close && (size_t)(close - end - 2) >= n && memcmp(close - n, file, n) == 0;
  return true;
}

/* Where line `n` of the file stands in the translated text, or NULL. */
static const char *translated_line(const char *text, const char *file, int n) {
  int at = 0, number;
  bool ours = false, mark_is_ours;
  for (const char *p = text; *p; p = *line_end(p) ? line_end(p) + 1 : line_end(p)) {
    if (read_mark(p, file, &number, &mark_is_ours)) {
      at = number;
      ours = mark_is_ours;
      continue;
    }
    if (ours && at == n) return p;
    at++;
  }
  return NULL;
}

static size_t word_at(const char *at, const char *end) {
  size_t len = 0;
  while (at + len < end && is_of_word(at[len])) len++;
  return len ? len : at < end;
}

/* How often `word` stands as a whole in [from, to). */
static int count_words(const char *from, const char *to, const char *word, size_t len) {
  int n = 0;
  for (const char *p = from; p + len <= to; p++) {
    bool whole = !is_of_word(word[0]) || ((p == from || !is_of_word(p[-1])) && (p + len >= to || !is_of_word(p[len])));
    n += whole && memcmp(p, word, len) == 0;
  }
  return n;
}

/* The k-th place (from 0) of `word` in a line, or NULL. */
static const char *find_word(const char *line, const char *end, const char *word, size_t len, int k) {
  for (const char *p = line; p + len <= end; p++) {
    bool whole = !is_of_word(word[0]) || ((p == line || !is_of_word(p[-1])) && (p + len >= end || !is_of_word(p[len])));
    if (whole && memcmp(p, word, len) == 0 && k-- == 0) return p;
  }
  return NULL;
}

/* The first word of a line that begins so, or NULL. */
static const char *find_start(const char *line, const char *end, const char *word, size_t len) {
  for (const char *p = line; p + len <= end; p++)
    if ((p == line || !is_of_word(p[-1])) && memcmp(p, word, len) == 0) return p;
  return NULL;
}

static int column_in(const char *mine, const char *theirs, int column) {
  const char *end = line_end(mine), *there = line_end(theirs), *at = theirs + column - 1;
  int first = 1;
  while (mine + first - 1 < end && isspace((unsigned char)mine[first - 1])) first++;
  if (column < 1 || at >= there) return first;
  while (at > theirs && is_of_word(*at) && is_of_word(at[-1])) at--;
  size_t len = word_at(at, there);
  if (len > 3 && memcmp(at, "tt_", 3) == 0) { /* tt_vload<4> was vload4 */
    const char *ours = find_start(mine, end, at + 3, len - 3);
    return ours ? (int)(ours - mine) + 1 : first;
  }
  int before = count_words(theirs, at, at, len);
  const char *found = find_word(mine, end, at, len, before);
  if (!found) found = find_word(mine, end, at, len, 0);
  return found ? (int)(found - mine) + 1 : first;
}

static void add_error(tt_str *out, const char *source, const char *file, const char *translated, int line, int column,
                      const char *words, size_t len) {
  const char *mine = source_line(source, line), *theirs = translated_line(translated, file, line);
  int at = mine && theirs ? column_in(mine, theirs, column) : column;
  tt__str_addf(out, "%s:%d:%d: %.*s\n", file, line, at, (int)len, words);
  if (!mine) return;
  tt__str_addf(out, "%5d | %.*s\n      | ", line, (int)(line_end(mine) - mine), mine);
  for (int k = 1; k < at; k++) tt__str_add(out, mine[k - 1] == '\t' ? "\t" : " ");
  tt__str_add(out, "^\n");
}

void tt__opencl_mend_log(tt_str *said, const char *source, const char *file, const char *translated) {
  tt_str out = {0};
  size_t n = strlen(file);
  for (const char *p = said->data ? said->data : ""; *p; p = *line_end(p) ? line_end(p) + 1 : line_end(p)) {
    char *end, *stop;
    if (strncmp(p, file, n) != 0 || p[n] != ':') continue;
    int line = (int)strtol(p + n + 1, &end, 10), column = *end == ':' ? (int)strtol(end + 1, &stop, 10) : 0;
    if (column <= 0 || *stop != ':') continue;
    const char *words = stop + 1 + (stop[1] == ' ');
    size_t len = (size_t)(line_end(words) - words);
    if (len < 6 || (memcmp(words, "error:", 6) != 0 && memcmp(words, "fatal ", 6) != 0)) continue;
    add_error(&out, source, file, translated, line, column, words, len);
  }
  if (out.len && !out.failed) {
    tt__str_clear(said);
    tt__str_add_n(said, out.data, out.len);
  }
  tt__str_free(&out);
}
