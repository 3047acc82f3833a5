/*
** The text of a reduction: three kernels around the expressions; see kernel.h.
**
** Elements are taken in chunks of a fixed size, and the chunks of a row one after the other: the order of partial
** results does not depend on how many threads there are.
*/
#include <string.h>

#include "lang/expr/kernel.h"

#define WORD_OF(x) #x
#define WORD(x) WORD_OF(x)
#define BLOCK WORD(TT_CX_BLOCK)
#define CHUNK WORD(TT_CX_CHUNK)

/* Parts of declarations and calls. */
typedef struct lists {
  tt_str head;       /* "const float *_x, float f, " */
  tt_str reads;      /* "const float x = _x[i]; " */
  tt_str call;       /* "_x, f, " */
  tt_str in, passed; /* ", float f" and ", f" */
  const char *first; /* the type of the first array */
} lists;

static void add_array(const tt_cx_parameter *p, const char *type, lists *l) {
  if (!l->first) l->first = type;
  tt__str_addf(&l->head, "const %s *_%s, ", type, p->name);
  tt__str_addf(&l->reads, "const %s %s = _%s[i]; ", type, p->name, p->name);
  tt__str_addf(&l->call, "_%s, ", p->name);
}

static void add_number(const tt_cx_parameter *p, const char *type, lists *l) {
  tt__str_addf(&l->head, "%s %s, ", type, p->name);
  tt__str_addf(&l->call, "%s, ", p->name);
  tt__str_addf(&l->in, ", %s %s", type, p->name);
  tt__str_addf(&l->passed, ", %s", p->name);
}

static lists list(const tt_cx_signature *s, const tt_cx_types *types, const uint8_t *form) {
  lists l = {.first = NULL};
  for (int numbers = 0; numbers < 2; numbers++)
    for (int k = 0; k < s->nin; k++) {
      const tt_cx_parameter *p = &s->param[k];
      if ((form[k] == TT_CX_NUMBER) == numbers)
        (numbers ? add_number : add_array)(p, tt__cx_type_name(tt__cx_dtype(types, p)), &l);
    }
  return l;
}

static bool free_lists(lists *l) {
  bool failed = l->head.failed | l->reads.failed | l->call.failed | l->in.failed | l->passed.failed;
  tt__str_free(&l->head);
  tt__str_free(&l->reads);
  tt__str_free(&l->call);
  tt__str_free(&l->in);
  tt__str_free(&l->passed);
  return failed;
}

static const char *text(const tt_str *s) { return s->data ? s->data : ""; }

static void add_functions(const tt_cx_texts *k, const lists *l, const char *inner, const char *out_type,
                          const char *out_name, tt_str *out) {
  tt__str_addf(out,
               "typedef %s type_in0_raw;\n"
               "typedef %s type_out0_raw;\n"
               "%s\n"
               "typedef %s _type_reduce;\n"
               "typedef %s _acc;\n"
               "#define _REDUCE(a, b) (%s)\n"
               "__device__ __forceinline__ _acc _reduce(_acc a, _acc b) { return _REDUCE(a, b); }\n",
               l->first ? l->first : out_type, out_type, k->preamble, inner, inner, k->reduce);
  tt__str_addf(out,
               "__device__ __forceinline__ _acc _map(%sptrdiff_t i) { %s return (%s); }\n"
               "#define _MAP(k) _map(%sk)\n"
               "__device__ __forceinline__ %s _post(_acc a, %s %s%s) {\n"
               "  %s;\n"
               "  return %s;\n"
               "}\n"
               "\n"
               "__device__ char _one[sizeof(_acc)]; /* the host asks for its size */\n",
               text(&l->head), text(&l->reads), k->operation, text(&l->call), out_type, out_type, out_name,
               text(&l->in), k->post, out_name);
}

static const char partial_host[] =
    "#ifdef TUTTI_CPU\n"
    "  if (threadIdx.x != 0) return;\n"
    "  enum { _W = 32 };\n"
    "  _acc r = _START;\n"
    "  ptrdiff_t i = _lo + _SKIP;\n"
    "  if (_hi - i >= 2 * _W) {\n"
    "    _acc lane[_W];\n"
    "    for (int j = 0; j < _W; j++) lane[j] = _MAP(i + j);\n"
    "    for (i += _W; i + _W <= _hi; i += _W)\n"
    "      for (int j = 0; j < _W; j++) lane[j] = _reduce(lane[j], _MAP(i + j));\n"
    "    for (int j = 0; j < _W; j++) r = _reduce(r, lane[j]);\n"
    "  }\n"
    "  for (; i < _hi; i++) r = _reduce(r, _MAP(i));\n"
    "  _part[_row * _chunks + _k] = r;\n"
    "#else\n";

static const char partial_device[] =
    "  __shared__ char _room[" BLOCK
    " * sizeof(_acc)];\n"
    "  __shared__ int _has[" BLOCK
    "];\n"
    "  _acc *_s = (_acc *)_room;\n"
    "  const int t = threadIdx.x;\n"
    "  bool has = false;\n"
    "  _acc r;\n"
    "  for (ptrdiff_t i = _lo + t; i < _hi; i += " BLOCK
    ") {\n"
    "    r = has ? _reduce(r, _MAP(i)) : _MAP(i);\n"
    "    has = true;\n"
    "  }\n"
    "  if (has) _s[t] = r;\n"
    "  _has[t] = has;\n"
    "  __syncthreads();\n"
    "  for (int k = " BLOCK
    " / 2; k > 0; k /= 2) {\n"
    "    if (t < k && _has[t + k]) { _s[t] = _has[t] ? _reduce(_s[t], _s[t + k]) : _s[t + k]; _has[t] = 1; }\n"
    "    __syncthreads();\n"
    "  }\n"
    "  if (t == 0) _part[_row * _chunks + _k] = _LAST;\n"
    "#endif\n"
    "}\n";

/* With an identity each chunk begins with it; without, with its first element. */
static void add_partial(const tt_cx_texts *k, const lists *l, tt_str *out) {
  if (k->identity)
    tt__str_addf(out,
                 "\n__device__ __forceinline__ _acc _start() { return _acc(%s); }\n"
                 "#define _START _start()\n#define _SKIP 0\n#define _LAST _reduce(_START, _s[0])\n",
                 k->identity);
  else
    tt__str_add(out, "\n#define _START _MAP(_lo)\n#define _SKIP 1\n#define _LAST _s[0]\n");
  tt__str_addf(out,
               "/* Elements [_lo, _hi) to one. On the processor by lanes, that a vector holds; on a device by a block. "
               "*/\n"
               "extern \"C\" __global__ void _partial(%svoid *_parts, ptrdiff_t _m, int _chunks, ptrdiff_t _first) {\n"
               "  _acc *_part = (_acc *)_parts;\n"
               "  const ptrdiff_t _row = _first + blockIdx.x / _chunks, _k = blockIdx.x %% _chunks;\n"
               "  const ptrdiff_t _lo = _row * _m + _k * " CHUNK
               ", _end = (_row + 1) * _m;\n"
               "  const ptrdiff_t _hi = _lo + " CHUNK " < _end ? _lo + " CHUNK " : _end;\n",
               text(&l->head));
  tt__str_add(out, partial_host);
  tt__str_add(out, partial_device);
}

static void add_finish(const tt_cx_texts *k, const lists *l, const char *out_type, tt_str *out) {
  tt__str_addf(
      out,
      "extern \"C\" __global__ void _finish(const void *_parts, %s *_out%s, int _chunks, ptrdiff_t _first, int "
      "_rows) {\n"
      "  const _acc *_part = (const _acc *)_parts;\n"
      "  const int _at = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  const ptrdiff_t _row = _first + _at;\n"
      "  if (_at < _rows) {\n"
      "    _acc r = _part[_row * _chunks];\n"
      "    for (int k = 1; k < _chunks; k++) r = _reduce(r, _part[_row * _chunks + k]);\n"
      "    _out[_row] = _post(r, _out[_row]%s);\n"
      "  }\n"
      "}\n",
      out_type, text(&l->in), text(&l->passed));
  tt__str_addf(out,
               "extern \"C\" __global__ void _nothing(%s *_out%s, ptrdiff_t _first, int _rows) {\n"
               "  const int _at = blockIdx.x * blockDim.x + threadIdx.x;\n"
               "  if (_at < _rows) _out[_first + _at] = _post(_acc(%s), _out[_first + _at]%s);\n"
               "}\n",
               out_type, text(&l->in), k->identity ? k->identity : "0", text(&l->passed));
}

void tt__cx_reduction(const tt_cx_signature *s, const tt_cx_texts *k, const tt_cx_types *types, const uint8_t *form,
                      const char *inner, tt_str *out) {
  const tt_cx_parameter *last = &s->param[s->n - 1];
  const char *out_type = tt__cx_type_name(tt__cx_dtype(types, last));
  lists l = list(s, types, form);
  tt__cx_typedefs(types, out);
  add_functions(k, &l, inner, out_type, last->name, out);
  add_partial(k, &l, out);
  add_finish(k, &l, out_type, out);
  out->failed |= free_lists(&l);
}
