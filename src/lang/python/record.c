/*
** Tuples whose items have names. An array of records is the arrays of its fields, which lie among one another in one
** memory; a record in it is arrays without axes, so that writing into it writes there. Nothing below knows of them.
*/
#include <string.h>

#include "lang/python/py_int.h"

/* A name, or behind it and a \x1f a title. */
int py__field(const type *t, const char *name) {
  size_t n = strlen(name);
  const char *at = t->meta ? strchr(t->meta, ':') : NULL;
  for (int k = 0; at && k < t->n; k++, at = strchr(at, ':')) {
    size_t own = strcspn(++at, ":\x1f");
    if (own == n && strncmp(at, name, n) == 0) return k;
    if (at[own] != '\x1f') continue;
    at += own + 1;
    if (strcspn(at, ":") == n && strncmp(at, name, n) == 0) return k;
  }
  return -1;
}

/* A field that is not there: the message names those that are. */
_Noreturn void py__no_field(lower *l, const expr *e, const char *name) {
  if (py__is_named_values(e)) py__fail(l, TT_ETYPE, "Key '%s' is not in dict.", name);
  if (e->type->meta[0] != 'R') py__fail(l, TT_ETYPE, "%s has no field '%s'", py__type_name(l, e->type), name);
  tt_str names = {0};
  const char *at = strchr(e->type->meta, ':');
  for (int k = 0; at && k < e->type->n; k++, at = strchr(at, ':')) {
    size_t n = strcspn(++at, ":\x1f");
    tt__str_addf(&names, "%s'%.*s'", k ? ", " : "", (int)n, at);
  }
  char *text = py__alloc(l, names.len + 1);
  memcpy(text, names.data ? names.data : "", names.len + 1);
  tt__str_free(&names);
  py__fail(l, TT_ETYPE, "Field '%s' was not found in record with fields (%s)", name, text);
}

static bool is_of_records(const expr *e) {
  const char *meta = e->type->tag == TT_T_TUPLE ? e->type->meta : NULL;
  return meta && meta[0] == 'R' && meta[1] >= '0' && meta[1] <= '8' && e->type->n > 0;
}

bool py__is_records(const expr *e) { return is_of_records(e) && e->type->meta[1] != '0'; }
bool py__is_record(const expr *e) { return is_of_records(e) && e->type->meta[1] == '0'; }

/* ---- fields of characters: a tuple, "U", of an array of code points with one axis more; "B" of bytes */

static bool is_chars(const expr *e) {
  const char *meta = e->type->tag == TT_T_TUPLE && e->type->n == 1 ? e->type->meta : NULL;
  if (!meta || (meta[0] != 'U' && meta[0] != 'B') || meta[1] < '0' || meta[1] > '8') return false;
  type *chars = e->type->item[0];
  return chars->tag == TT_T_ARRAY && chars->layout != 'E' && chars->rank == meta[1] - '0' + 1;
}

bool py__is_chars(const expr *e) { return is_chars(e) && e->type->meta[1] != '0'; }

/* Where they are, how many, and the bytes from one to the next. */
static void chars_place(lower *l, expr *chars, expr **arg) {
  expr *a = py__keep(l, py__item(l, py__keep(l, chars), 0)), *step = py__expr(l, TT_X_STEP, py__scalar(l, TT_I64), 1);
  arg[0] = py__expr(l, TT_X_ADDRESS, py__scalar(l, TT_I64), 1);
  arg[0]->arg[0] = step->arg[0] = a;
  arg[1] = py__len(l, a, 0);
  bool wide = a->type->layout != 'P' && chars->type->meta[0] == 'U';
  arg[2] = wide ? py__elem(l, TT_MUL, step, py__int(l, 4)) : step;
}

static expr *text_of_chars(lower *l, expr *chars) {
  expr *arg[3];
  chars_place(l, chars, arg);
  bool bytes = chars->type->meta[0] == 'B';
  l->f->func->can_fail = true;
  return py__keep(l, py__helper(l, bytes ? "tt_bytes_of_chars" : "tt_text_of_chars",
                                bytes ? py__bytes_type(l) : py__text_type(l), true, arg, 3));
}

static void set_chars(lower *l, expr *chars, expr *value) {
  expr *arg[5];
  bool bytes = chars->type->meta[0] == 'B';
  if (is_chars(value)) value = text_of_chars(l, value);
  arg[3] = py__keep(l, py__text(l, value));
  if (!py__is_text(arg[3]) && !(bytes && py__is_bytes(arg[3])))
    py__fail(l, TT_ETYPE, "cannot store %s in a field of %s", py__type_name(l, value->type),
             bytes ? "bytes" : "characters");
  chars_place(l, chars, arg);
  py__wrote(l, arg[0]->arg[0]);
  if (bytes) { /* of a string the codes are bytes, of bytes all are */
    arg[4] = py__int(l, py__is_text(arg[3]) ? 127 : 255);
    py__raise_unless(l, py__keep(l, py__helper(l, "tt_bytes_put", py__scalar(l, TT_BOOL), false, arg, 5)), TT_EVALUE,
                     "'ascii' codec can't encode a character: a field of bytes takes ASCII");
    return;
  }
  py__stmt(l, TT_X_EVAL)->a = py__helper(l, "tt_chars_put", py__scalar(l, TT_I64), false, arg, 4);
}

expr *py__chars_index(lower *l, expr *chars, const tt_tree *const *item, int n) {
  expr *part = py__records_index(l, chars, item, n);
  return py__is_unknown(part) || py__is_chars(part) ? part : text_of_chars(l, part);
}

/* ---- fields */

/* A number in memory is read when it is asked for, and characters; other fields are themselves. */
expr *py__field_value(lower *l, expr *record, int k) {
  expr *e = py__item(l, record->op == TT_X_TUPLE ? record : py__keep(l, record), k);
  if (py__is_record(record) && is_chars(e)) return text_of_chars(l, e);
  bool number = py__is_record(record) && py__is_array(e) && e->type->rank == 0;
  return number ? py__keep(l, py__load(l, py__keep(l, e), NULL, 0)) : e;
}

void py__set_field(lower *l, expr *record, const char *name, expr *value, const char *op) {
  int k = py__field(record->type, name);
  if (k < 0) py__no_field(l, record, name);
  py__set_field_at(l, record, k, value, op);
}

void py__set_field_at(lower *l, expr *record, int k, expr *value, const char *op) {
  expr *place = py__item(l, py__keep(l, record), k);
  if (py__is_unknown(value)) return;
  if (place->type->tag == TT_T_TUPLE) {
    if (op) py__fail(l, TT_ETYPE, "arithmetic on a record");
    if (is_chars(place)) {
      set_chars(l, place, value);
      return;
    }
    py__set_record(l, place, value);
    return;
  }
  if (!py__is_array(place))
    py__fail(l, TT_ETYPE, "a record of numbers is read-only: pass its array, and where it is in it");
  py__fill(l, place, value, op, false);
}

void py__set_record(lower *l, expr *record, expr *value) {
  if (py__is_unknown(record) || py__is_unknown(value)) return;
  bool fits = value->type->tag == TT_T_TUPLE && value->type->n == record->type->n && py__is_record(record);
  if (!fits) py__fail(l, TT_ETYPE, "cannot store %s in a record", py__type_name(l, value->type));
  expr *part[TT_PROGRAM_ARGS]; /* all are read before one is written */
  value = py__keep(l, value);
  for (int k = 0; k < value->type->n; k++)
    part[k] = py__is_record(value) ? py__field_value(l, value, k) : py__item(l, value, k);
  record = py__keep(l, record);
  for (int k = 0; k < record->type->n; k++) {
    expr *place = py__item(l, record, k);
    if (is_chars(place))
      set_chars(l, place, part[k]);
    else if (place->type->tag == TT_T_TUPLE)
      py__set_record(l, place, part[k]);
    else
      py__fill(l, place, part[k], NULL, false);
  }
}
