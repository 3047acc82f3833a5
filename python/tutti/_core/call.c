/*
** The table's functions: each row's signature is parsed once, then arguments are bound to
** it here, by position and by name, and converted by the kind the signature gives them.
*/
#include "core.h"

#include <string.h>

enum { MAX_PARAMS = 32 };

typedef enum param_kind {
  ANY,
  OPTIONAL,
  FLAG,
  NUMBER,
  ARRAY,
  ARRAYS,
  DTYPE,
  INDEX,
  OFFSET,
  VALUES,
  MASK,
  PLACES,
  COPY,    /* a truth value, None or missing, but no text */
  EDGES,   /* a number, a word, or an array */
  OPERAND, /* a number of Python takes the type of the arrays, others keep theirs */
  OUT,
  DEVICE,
  LIKE,
} param_kind;

typedef struct param {
  PyObject *name; /* interned */
  param_kind kind;
  bool required, keyword_only, variadic;
} param;

typedef struct row {
  const tt_function_info *info;
  const char *short_name; /* after the last dot */
  param *param;
  int n, positional;  /* all; how many may be given by position */
  int needed, device; /* the first so many hold all that must be given; which one is the device, or -1 */
  bool variadic, has_dtype;
  bool plain, of_all, of_second; /* its results are of no subclass; of that of any operand; of the second one's */
  const char *classes;           /* a letter for each result: 'S' of the subclass, 'a' of none; or NULL */
  PyObject *name;                /* interned */
} row;

static row *rows;
static int row_count;
static PyObject *result_types; /* {name: callable}, filled by the package */

/* ---- signatures */

/* What a parameter without a kind is, by its default: a truth value, or a number for which None is none. */
static param_kind kind_by_default(const char *name, size_t name_len, const char *value, size_t len) {
  if (name_len == 8 && memcmp(name, "keepdims", 8) == 0) return ANY; /* NumPy asks for an integer */
  if (len == 4 && memcmp(value, "True", 4) == 0) return FLAG;
  if (len == 5 && memcmp(value, "False", 5) == 0) return FLAG;
  return len > 0 && (value[0] == '-' || (value[0] >= '0' && value[0] <= '9')) ? NUMBER : ANY;
}

static param_kind kind_named(const char *s, size_t len) {
  static const struct {
    const char *name;
    param_kind kind;
  } kinds[] = {{"array", ARRAY},   {"arrays", ARRAYS},   {"dtype", DTYPE}, {"index", INDEX},
               {"offset", OFFSET}, {"values", VALUES},   {"mask", MASK},   {"optional", OPTIONAL},
               {"places", PLACES}, {"operand", OPERAND}, {"copy", COPY},   {"edges", EDGES}};
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
    if (strlen(kinds[k].name) == len && memcmp(kinds[k].name, s, len) == 0) return kinds[k].kind;
  return ANY;
}

static bool parse_param(const char *s, size_t len, bool keyword_only, param *out) {
  const char *equal = memchr(s, '=', len);
  size_t head = equal ? (size_t)(equal - s) : len;
  const char *colon = memchr(s, ':', head);
  size_t name = colon ? (size_t)(colon - s) : head;
  memset(out, 0, sizeof *out);
  out->required = !equal;
  out->keyword_only = keyword_only;
  if (*s == '*') {
    out->variadic = true;
    out->required = false;
    s++, name--, head--;
    colon = memchr(s, ':', head);
  }
  if (colon) out->kind = kind_named(colon + 1, head - name - 1);
  if (!colon && equal) out->kind = kind_by_default(s, name, equal + 1, len - head - 1);
  if (!colon && !equal && !out->variadic) out->kind = NUMBER;
  /* Three names mean the same in every row: where to write, where the result lives, whose kind it is. */
  if (name == 3 && memcmp(s, "out", 3) == 0) out->kind = OUT;
  if (name == 6 && memcmp(s, "device", 6) == 0) out->kind = DEVICE;
  if (name == 4 && memcmp(s, "like", 4) == 0) out->kind = LIKE;
  out->name = PyUnicode_FromStringAndSize(s, (Py_ssize_t)name);
  if (!out->name) return false;
  PyUnicode_InternInPlace(&out->name);
  return true;
}

/* Parameters end at commas outside parentheses and brackets: defaults may be tuples. */
static size_t param_length(const char *s) {
  size_t len = 0;
  for (int depth = 0; s[len] && (depth > 0 || s[len] != ','); len++) {
    if (s[len] == '(' || s[len] == '[') depth++;
    if (s[len] == ')' || s[len] == ']') depth--;
  }
  return len;
}

/* A word among others, with spaces around each. */
static bool is_listed(const char *names, const char *name) {
  size_t n = strlen(name);
  for (const char *at = names; (at = strstr(at, name)) != NULL; at += n)
    if (at[-1] == ' ' && at[n] == ' ') return true;
  return false;
}

/* The class of these comes of all operands, as of a ufunc's; of others it is the first one's. */
static bool is_of_all(const char *name) {
  return is_listed(
      " divmod float_power geomspace heaviside isclose kron ldexp linalg.matmul linalg.vecdot linspace "
      "logaddexp2 logspace matmul matvec polyadd polysub vecdot vecmat ",
      name);
}

/* NumPy makes these into arrays of no subclass, and all transforms. */
static bool is_plain(const char *name) {
  static const char *const names =
      " append argwhere bincount broadcast_arrays broadcast_to column_stack concatenate convolve corrcoef cov cross "
      "digitize dstack "
      "einsum empty flatnonzero full histogram histogram2d histogramdd histogram_bin_edges hstack indices interp "
      "intersect1d iscomplex "
      "isin "
      "lexsort linalg.cond linalg.cross linalg.det linalg.eigvals linalg.eigvalsh "
      "linalg.matrix_norm linalg.matrix_rank linalg.norm linalg.outer linalg.slogdet linalg.svdvals linalg.tensordot "
      "linalg.tensorinv linalg.trace linalg.vector_norm nonzero ones outer pad poly polyder polyfit polyint polymul "
      "ravel_multi_index resize "
      "roots searchsorted select setxor1d sinc sort_complex stack tensordot trace tril triu union1d unravel_index "
      "unwrap "
      "vander vstack where zeros ";
  return strncmp(name, "fft.", 4) == 0 || is_listed(names, name);
}

/* And of these the second one's: what stands before it are conditions and coefficients. */
static bool is_of_second(const char *name) { return is_listed(" compress extract polyval ", name); }

/* Of functions with several results, some of the operand's class. */
static const char *classes_of(const char *name) {
  static const struct {
    const char *name, *classes;
  } some[] = {{"linalg.eig", "aS"}, {"linalg.eigh", "aS"},  {"linalg.lstsq", "SSaa"}, {"linalg.svd", "SaS"},
              {"polydiv", "aS"},    {"unique_all", "SSaa"}, {"unique_counts", "Sa"},  {"unique_inverse", "Sa"}};
  for (size_t k = 0; k < sizeof some / sizeof *some; k++)
    if (strcmp(some[k].name, name) == 0) return some[k].classes;
  return NULL;
}

static bool parse_row(const tt_function_info *info, row *r) {
  param list[MAX_PARAMS];
  bool keyword_only = false;
  const char *dot = strrchr(info->name, '.');
  memset(r, 0, sizeof *r);
  r->device = -1;
  r->info = info;
  r->short_name = dot ? dot + 1 : info->name;
  r->plain = is_plain(info->name);
  r->of_all = is_of_all(info->name);
  r->of_second = is_of_second(info->name);
  r->classes = classes_of(info->name);
  for (const char *s = info->signature; *s && r->n < MAX_PARAMS;) {
    while (*s == ' ' || *s == ',') s++;
    size_t len = param_length(s), used = len;
    while (used > 0 && s[used - 1] == ' ') used--;
    if (used == 1 && *s == '*') {
      keyword_only = true;
    } else if (used > 0 && !(used == 1 && *s == '/')) {
      if (!parse_param(s, used, keyword_only, &list[r->n])) return false;
      if (list[r->n].variadic) r->variadic = keyword_only = true;
      if (list[r->n].kind == DTYPE) r->has_dtype = true;
      if (list[r->n].kind == DEVICE) r->device = r->n;
      if (!list[r->n].keyword_only) r->positional++;
      if (list[r->n++].required) r->needed = r->n;
    }
    s += len;
  }
  r->name = PyUnicode_InternFromString(info->name);
  if (!r->name) return false;
  r->param = PyMem_Malloc((size_t)(r->n ? r->n : 1) * sizeof *r->param);
  if (!r->param) return (void)PyErr_NoMemory(), false;
  memcpy(r->param, list, (size_t)r->n * sizeof *list);
  return true;
}

int core_row(const char *name) {
  static struct {
    const char *name;
    int row;
  } met[32]; /* a literal is asked for again and again */
  int at = (int)((uintptr_t)name >> 2 & 31), k = 0;
  if (met[at].name == name) return met[at].row;
  while (k < row_count && strcmp(rows[k].info->name, name) != 0) k++;
  met[at].name = name;
  return met[at].row = k < row_count ? k : -1;
}

/* ---- binding */

static int param_named(const row *r, PyObject *name) {
  for (int k = 0; k < r->n; k++) {
    if (r->param[k].name == name) return k;
  }
  for (int k = 0; k < r->n; k++) {
    if (PyUnicode_Compare(r->param[k].name, name) == 0) return k;
  }
  return -1;
}

/* NumPy's keywords that a row need not name: in which order the elements lie changes nothing here, a device is
 * heeded. */
static int harmless(const row *r, PyObject *name, PyObject *value, int *device) {
  const char *s = PyUnicode_AsUTF8AndSize(name, NULL);
  if (!r->has_dtype || !s) return 0;
  if (strcmp(s, "order") == 0 || strcmp(s, "subok") == 0 || (strcmp(s, "like") == 0 && value == Py_None)) return 1;
  if (strcmp(s, "device") != 0) return 0;
  return core_device_from(value, device) ? 1 : -1;
}

/* `hidden`: parameters that the caller does not see. */
static bool too_many(const row *r, Py_ssize_t n, int hidden) {
  int least = -hidden;
  n -= hidden;
  for (int k = 0; k < r->n; k++) least += r->param[k].required && !r->param[k].keyword_only;
  if (least + hidden < r->positional) {
    PyErr_Format(PyExc_TypeError, "%s() takes from %d to %d positional arguments but %zd were given", r->short_name,
                 least, r->positional - hidden, n);
  } else {
    PyErr_Format(PyExc_TypeError, "%s() takes %d positional argument%s but %zd %s given", r->short_name, r->positional,
                 r->positional == 1 ? "" : "s", n, n == 1 ? "was" : "were");
  }
  return false;
}

static bool missing(const row *r, PyObject *const *bound) {
  PyObject *names = PyList_New(0), *quoted;
  for (int k = 0; names && k < r->n; k++) {
    if (!r->param[k].required || bound[k]) continue;
    quoted = PyUnicode_FromFormat("'%U'", r->param[k].name);
    if (!quoted || PyList_Append(names, quoted) < 0) Py_CLEAR(names);
    Py_XDECREF(quoted);
  }
  if (!names) return false;
  Py_ssize_t n = PyList_Size(names);
  PyObject *and = PyUnicode_FromString(n == 2 ? " and " : ", "), *text = and? PyUnicode_Join(and, names) : NULL;
  if (text) {
    PyErr_Format(PyExc_TypeError, "%s() missing %zd required positional argument%s: %U", r->short_name, n,
                 n == 1 ? "" : "s", text);
  }
  Py_XDECREF(and);
  Py_XDECREF(text);
  Py_DECREF(names);
  return false;
}

/* bound[k]: the object given for parameter k, borrowed, or NULL. The rest of a variadic row's positions stays in
 * `arg`. */
static bool bind(const row *r, PyObject *self, PyObject *const *arg, Py_ssize_t n, PyObject *names, PyObject **bound,
                 int *device) {
  int shift = self != NULL;
  *device = TT_AUTO;
  if (self) bound[0] = self;
  for (int k = shift; k < r->n; k++) bound[k] = NULL;
  if (n + shift > r->positional && !r->variadic) return too_many(r, n + shift, self && !core_is_array(self));
  for (Py_ssize_t k = 0; k < n && k + shift < r->n && !r->param[k + shift].variadic; k++) bound[k + shift] = arg[k];
  Py_ssize_t nkw = names ? PyTuple_Size(names) : 0;
  for (Py_ssize_t k = 0; k < nkw; k++) {
    PyObject *name = PyTuple_GetItem(names, k);
    int at = param_named(r, name);
    if (at < 0) {
      int ok = harmless(r, name, arg[n + k], device);
      if (ok == 0) PyErr_Format(PyExc_TypeError, "%s() got an unexpected keyword argument %R", r->short_name, name);
      if (ok <= 0) return false;
      continue;
    }
    if (bound[at]) {
      PyErr_Format(PyExc_TypeError, "%s() got multiple values for argument %R", r->short_name, name);
      return false;
    }
    bound[at] = arg[n + k];
  }
  for (int k = 0; k < r->needed; k++)
    if (r->param[k].required && !bound[k]) return missing(r, bound);
  return r->device < 0 || !bound[r->device] || core_device_from(bound[r->device], device);
}

static bool convert_out(core_scratch *s, PyObject *o, tt_value *out) {
  if (PyTuple_Check(o) && PyTuple_Size(o) == 1) o = PyTuple_GetItem(o, 0);
  if (PyTuple_Check(o)) { /* of functions with several results */
    int64_t n = PyTuple_Size(o);
    tt_value *item = core_scratch_values(s, n);
    *out = (tt_value){.tag = TT_V_TUPLE, .as.tuple = {item, n}};
    bool ok = item != NULL;
    for (int64_t k = 0; ok && k < n; k++) ok = convert_out(s, PyTuple_GetItem(o, k), &item[k]);
    return ok;
  }
  if (o == Py_None) return out->tag = TT_V_NONE, true;
  if (!core_is_array(o) || core_is_number(o))
    return PyErr_SetString(PyExc_TypeError, "return arrays must be of ArrayType"), false;
  return *out = tt_v_array(core_handle(o)), true;
}

/* An integer of any size: what lies beyond 64 bits is as far as they reach. */
static bool convert_offset(PyObject *o, tt_value *out) {
  *out = tt_v_int(PyNumber_AsSsize_t(o, NULL));
  return out->as.i != -1 || !PyErr_Occurred();
}

/* A number with a type of its own, ours or NumPy's? */
static bool is_typed_number(PyObject *o) {
  tt_number x;
  return core_is_number(o) || (!core_is_array(o) && core_value_numpy(o, &x));
}

/* What is written into the first argument: numbers, by themselves and in lists, become elements of its type. */
static bool convert_values(core_scratch *s, PyObject *o, PyObject *into, tt_value *out) {
  bool numbers = PyList_Check(o) || PyTuple_Check(o) || Py_TYPE(o) == &PyRange_Type;
  bool plain = !numbers && !is_typed_number(o);
  if (plain || !core_is_array(into)) return core_value_array(s, o, out);
  tt_array *a = core_asarray(o, core_dtype_of(into), CORE_COPY_NEEDED);
  *out = tt_v_array(a);
  return a && core_scratch_own(s, a);
}

/* Numbers of elements: of lists NumPy cuts what is behind the point, of arrays it does not. */
static bool convert_places(core_scratch *s, PyObject *o, tt_value *out) {
  if (!core_value_array(s, o, out)) return false;
  bool cut = (PyList_Check(o) || PyTuple_Check(o)) && core_dtype_kind(tt_array_dtype(out->as.array)) == 'f';
  if (!cut) return true;
  tt_array *a = core_asarray(o, TT_I64, CORE_COPY_NEEDED);
  *out = tt_v_array(a);
  return a && core_scratch_own(s, a);
}

static bool refuse_none(PyObject *o) {
  if (o != Py_None) return true;
  PyErr_SetString(PyExc_TypeError, "'NoneType' object cannot be interpreted as an integer");
  return false;
}

static bool convert(core_scratch *s, param_kind kind, PyObject *o, tt_value *out) {
  if (kind == FLAG) return core_value_truth(o, out);
  if (kind == PLACES) return convert_places(s, o, out);
  if (kind == COPY) return core_check_copy(o) && (o == Py_None ? core_value_any(s, o, out) : core_value_truth(o, out));
  if (kind == EDGES && (PyList_Check(o) || PyTuple_Check(o))) return core_value_array(s, o, out);
  if (kind == MASK) return core_value_mask(s, o, out);
  if ((kind == NUMBER || kind == OPERAND || kind == EDGES) && !refuse_none(o)) return false;
  if (kind == LIKE) return core_check_like(o) && (out->tag = TT_V_MISSING, true);
  if (kind == OUT) return convert_out(s, o, out);
  if (kind == DEVICE) return out->tag = TT_V_MISSING, true; /* read already */
  if (kind == ARRAY || (kind == OPERAND && is_typed_number(o))) return core_value_array(s, o, out);
  if (kind == ARRAYS) return core_value_arrays(s, o, out);
  if (kind == INDEX) return core_value_index(s, o, out);
  if (kind == OFFSET) return convert_offset(o, out);
  if (kind == DTYPE && o != Py_None) {
    out->tag = TT_V_DTYPE;
    return core_dtype_from(o, &out->as.dtype);
  }
  return core_value_any(s, o, out);
}

static bool convert_rest(core_scratch *s, param_kind kind, PyObject *const *arg, Py_ssize_t n, tt_value *out) {
  out->tag = TT_V_TUPLE;
  out->as.tuple.n = n > 0 ? n : 0;
  tt_value *item = core_scratch_values(s, out->as.tuple.n);
  out->as.tuple.item = item;
  bool ok = item != NULL;
  for (Py_ssize_t k = 0; ok && k < n; k++) {
    bool theirs = kind == ANY && !core_is_array(arg[k]) && !PyType_Check(arg[k]) &&
                  PyObject_HasAttrString(arg[k], "__array_interface__"); /* NumPy's scalars keep their types */
    if (theirs || ((kind == ARRAYS || kind == ARRAY) && core_is_number(arg[k]))) { /* a view of it may be written */
      tt_array *own = core_asarray(arg[k], TT_DTYPE_NONE, CORE_COPY_ALWAYS);
      ok = own && core_scratch_own(s, own);
      if (ok) item[k] = tt_v_array(own);
    } else {
      ok = convert(s, kind == ARRAYS ? ARRAY : kind, arg[k], &item[k]);
    }
  }
  return ok;
}

/* ---- results */

/* The object of an array among what was handed in (a tuple of arrays: out=), borrowed, or NULL. */
static PyObject *handed_in(tt_array *a, PyObject *o) {
  if (o && core_is_array(o)) return core_made(o) == a ? o : NULL;
  PyObject *found = NULL;
  Py_ssize_t n = o && PyTuple_Check(o) ? PyTuple_Size(o) : 0;
  for (Py_ssize_t k = 0; k < n && !found; k++) {
    PyObject *item = PyTuple_GetItem(o, k);
    if (core_is_array(item) && core_made(item) == a) found = item;
  }
  return found;
}

/* The one of several operands that a result is a view of; NULL: of none. */
static PyObject *viewed(tt_array *a, PyObject *operands) {
  for (Py_ssize_t k = 0; a && k < PyTuple_Size(operands); k++) {
    PyObject *item = PyTuple_GetItem(operands, k);
    if (core_is_array(item) && core_made(item) && tt_array_shares(core_handle(item), a)) return item;
  }
  return NULL;
}

/* Is this result of no subclass, whatever came in? at: its place among several; -1: it is alone. */
static bool wants_plain(const row *r, PyObject *const *bound, int n, int at) {
  const char *classes = r->classes;
  if (!core_subclassed) return false;
  if (classes) return at < 0 || classes[at] == 'a';
  for (int k = 0; r->plain && k < n; k++)
    if (bound[k] && PyUnicode_CompareWithASCIIString(r->param[k].name, "subok") == 0) return !PyObject_IsTrue(bound[k]);
  return r->plain;
}

/* An array that was handed in (among the first n parameters) comes back as the very object; a view knows its base. */
static PyObject *result_array(tt_array *a, const row *r, PyObject *const *bound, int n, int at) {
  bool plain = wants_plain(r, bound, n, at);
  for (int k = 0; k < n; k++) {
    PyObject *same = handed_in(a, bound[k]);
    if (!same || (plain && r->param[k].kind != OUT && core_is_subclassed(same))) continue;
    tt_release(&a);
    return Py_NewRef(same);
  }
  PyObject *first = n > 0 ? bound[r->of_second] : NULL;
  if (n > 1 && r->param[1].variadic && r->param[0].kind != ARRAY) first = bound[1]; /* einsum's operands */
  if (first && r->param[0].variadic) {
    PyObject *of = viewed(a, first);
    first = of || !core_subclassed ? of : PyTuple_GetItem(first, 0); /* else for the class of results */
  }
  if (core_tensor_class && core_tensor_among(bound, n)) {
    bool view = first && core_is_array(first) && a && core_made(first) && tt_array_shares(core_made(first), a);
    return core_as_tensor(core_wrap(a, view ? first : NULL));
  }
  if (plain) {
    bool view = first && core_is_array(first) && core_made(first) && !core_is_number(first);
    return core_wrap(a, view && a && tt_array_shares(core_handle(first), a) ? first : NULL);
  }
  if (core_subclassed && r->of_all) return core_like_operands(core_wrap(a, NULL), bound, n);
  if (first && core_is_array(first)) return core_made(first) ? core_wrap_view(a, first) : core_wrap(a, NULL);
  return core_wrap(a, NULL);
}

static PyObject *results(const row *r, tt_array **made, const tt_result *result, PyObject *const *bound, int n) {
  if (result->scalar) {
    PyObject *out = core_item(made[0]);
    for (int k = 0; k < result->n; k++) tt_release(&made[k]);
    return out;
  }
  if (result->n == 0 && !result->tuple) Py_RETURN_NONE;
  if (result->n == 1 && !result->tuple) return result_array(made[0], r, bound, n, -1);
  PyObject *tuple = PyTuple_New(result->n);
  for (int k = 0; k < result->n; k++) {
    PyObject *x = tuple ? result_array(made[k], r, bound, n, k) : (tt_release(&made[k]), NULL);
    if (!x) {
      Py_CLEAR(tuple);
    } else {
      PyTuple_SetItem(tuple, k, x);
    }
  }
  PyObject *make = tuple ? PyDict_GetItem(result_types, r->name) : NULL;
  if (!make) return tuple;
  PyObject *named = PyObject_CallFunctionObjArgs(make, tuple, NULL);
  Py_DECREF(tuple);
  return named;
}

/* Functions with more results than usual say how many, and are called again: they only make views. */
static PyObject *run_row(const row *r, const tt_value *value, PyObject *const *bound) {
  tt_array *few[8], **made = few;
  tt_result result;
  tt_error err;
  int room = 8;
  tt_code c = tt_call_row((int)(r - rows), value, r->n, made, room, &result, &err);
  if (c == TT_EVALUE && result.n > room) {
    room = result.n;
    made = PyMem_Malloc((size_t)room * sizeof *made);
    if (!made) return PyErr_NoMemory();
    c = tt_call_row((int)(r - rows), value, r->n, made, room, &result, &err);
  }
  PyObject *out = c == TT_OK ? results(r, made, &result, bound, r->n) : core_raise(c, &err);
  if (made != few) PyMem_Free(made);
  return out;
}

static PyObject *tuple_of(PyObject *const *arg, Py_ssize_t n) {
  PyObject *tuple = PyTuple_New(n);
  if (!tuple) PyErr_Clear(); /* views go without their base */
  for (Py_ssize_t k = 0; tuple && k < n; k++) PyTuple_SetItem(tuple, k, Py_NewRef(arg[k]));
  return tuple;
}

PyObject *core_call(int at, PyObject *self, PyObject *const *arg, Py_ssize_t n, PyObject *names) {
  const row *r = &rows[at];
  PyObject *bound[MAX_PARAMS], *out = NULL;
  tt_value value[MAX_PARAMS];
  core_scratch s;
  int device;
  if (!bind(r, self, arg, n, names, bound, &device)) return NULL;
  core_drain();
  core_line();
  core_scratch_init(&s);
  int shift = self != NULL, used = r->n; /* behind it nothing is converted */
  while (used > 0 && !bound[used - 1] && !r->param[used - 1].variadic) used--;
  bool ok = true;
  for (int k = 0; ok && k < used; k++) {
    if (r->param[k].variadic) {
      ok = convert_rest(&s, r->param[k].kind, arg + (k - shift), n - (k - shift), &value[k]);
    } else if (bound[k]) {
      ok = r->param[k].kind == VALUES ? convert_values(&s, bound[k], bound[0], &value[k])
                                      : convert(&s, r->param[k].kind, bound[k], &value[k]);
    } else {
      value[k].tag = TT_V_MISSING;
    }
  }
  for (int k = used; k < r->n; k++) value[k].tag = TT_V_MISSING;
  PyObject *operands = ok && r->n && r->param[0].variadic && n > 0 ? tuple_of(arg, n) : NULL;
  if (operands) bound[0] = operands;
  if (r->n > 1 && r->param[1].variadic && n > 1 - shift) bound[1] = arg[1 - shift]; /* what a view is of */
  if (ok && device == TT_AUTO) {
    out = run_row(r, value, bound);
  } else if (ok) { /* made there, or else moved there: what looks like another array lives where that one does */
    int before = tt_set_device(device);
    out = core_put(run_row(r, value, bound), device);
    tt_set_device(before);
  }
  core_scratch_free(&s);
  Py_XDECREF(operands);
  return core_warned(out);
}

/*
** What a function is bound to: its row. It is pickled as the module that has the function, of which pickle then asks
** the function's name.
*/
typedef struct row_object {
  PyObject_HEAD int row;
} row_object;

static PyObject *call_row(PyObject *self, PyObject *const *arg, Py_ssize_t n, PyObject *names) {
  return core_call(((row_object *)self)->row, NULL, arg, n, names);
}

int core_row_of(PyObject *function) {
  bool own = PyCFunction_Check(function) && PyCFunction_GetFunction(function) == CORE_FAST(call_row);
  return own ? ((row_object *)PyCFunction_GetSelf(function))->row : -1;
}

/* "tutti" for "sum", "tutti.linalg" for "linalg.solve". */
static PyObject *module_name(const row *r) {
  Py_ssize_t n = r->short_name - r->info->name;
  PyObject *part = PyUnicode_FromStringAndSize(r->info->name, n > 0 ? n - 1 : 0);
  PyObject *name = part ? PyUnicode_FromFormat(n > 0 ? "tutti.%U" : "tutti%U", part) : NULL;
  Py_XDECREF(part);
  return name;
}

static PyObject *row_reduce(PyObject *self, PyObject *unused) {
  (void)unused;
  PyObject *module = PyImport_ImportModule("importlib"), *name = module_name(&rows[((row_object *)self)->row]);
  PyObject *import = module ? PyObject_GetAttrString(module, "import_module") : NULL;
  PyObject *out = import && name ? Py_BuildValue("O(O)", import, name) : NULL;
  Py_XDECREF(module);
  Py_XDECREF(import);
  Py_XDECREF(name);
  return out;
}

static PyTypeObject *row_type(void) {
  static PyMethodDef methods[] = {{"__reduce__", row_reduce, METH_NOARGS, NULL}, {NULL, NULL, 0, NULL}};
  static PyType_Slot slots[] = {{Py_tp_methods, methods}, {0, NULL}};
  static PyType_Spec spec = {"tutti._core.row", sizeof(row_object), 0, Py_TPFLAGS_DEFAULT, slots};
  static PyTypeObject *type;
  if (!type) type = (PyTypeObject *)PyType_FromSpec(&spec);
  return type;
}

/* ---- the functions */

static bool add_function(PyObject *functions, int k, PyMethodDef *def) {
  const char *doc = core_document(NULL, rows[k].info->name);
  *def = (PyMethodDef){rows[k].short_name, CORE_FAST(call_row), METH_FASTCALL | METH_KEYWORDS, doc};
  PyTypeObject *type = row_type();
  PyObject *self = type ? PyType_GenericAlloc(type, 0) : NULL, *module = module_name(&rows[k]);
  if (self) ((row_object *)self)->row = k;
  PyObject *f = self && module ? PyCFunction_NewEx(def, self, module) : NULL;
  bool ok = f && PyDict_SetItemString(functions, rows[k].info->name, f) == 0;
  Py_XDECREF(self);
  Py_XDECREF(module);
  Py_XDECREF(f);
  return ok;
}

/* _core.functions: {dotted name: function}; _core.signatures: {dotted name: signature}. They live with the process. */
int core_call_init(PyObject *module) {
  while (tt_function(row_count)) row_count++;
  rows = PyMem_Malloc((size_t)(row_count ? row_count : 1) * sizeof *rows);
  PyMethodDef *defs = PyMem_Malloc((size_t)(row_count ? row_count : 1) * sizeof *defs);
  PyObject *functions = PyDict_New(), *signatures = PyDict_New();
  result_types = PyDict_New();
  bool ok = rows && defs && functions && signatures && result_types;
  if (!ok && !PyErr_Occurred()) PyErr_NoMemory();
  for (int k = 0; ok && k < row_count; k++) {
    const tt_function_info *info = tt_function(k);
    PyObject *words = PyUnicode_FromString(info->signature);
    ok = parse_row(info, &rows[k]) && add_function(functions, k, &defs[k]) && words &&
         PyDict_SetItemString(signatures, info->name, words) == 0;
    Py_XDECREF(words);
  }
  ok = ok && PyModule_AddObjectRef(module, "functions", functions) == 0 &&
       PyModule_AddObjectRef(module, "signatures", signatures) == 0 &&
       PyModule_AddObjectRef(module, "result_types", result_types) == 0;
  Py_XDECREF(functions);
  Py_XDECREF(signatures);
  return ok ? 0 : -1;
}
