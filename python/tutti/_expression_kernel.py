"""ElementwiseKernel and ReductionKernel: kernels given as expressions in CUDA C, in CuPy's forms.

Straight-line text becomes operations of the graph. Other text is put into a CUDA C kernel here, whose shapes are
broadcast by the library's functions, and compiled as any other program's.
"""

import re

from . import _core
from ._device import checked
from .kernel import CompileError, Function, _compile

_C_TYPES = {
    "bool": "bool", "int8": "signed char", "int16": "short", "int32": "int", "int64": "long long",
    "uint8": "unsigned char", "uint16": "unsigned short", "uint32": "unsigned int", "uint64": "unsigned long long",
    "float16": "__half", "bfloat16": "__nv_bfloat16", "float32": "float", "float64": "double",
    "complex64": "complex<float>", "complex128": "complex<double>",
}  # fmt: skip
_SPELLINGS = {
    "float": "float32", "double": "float64", "int": "int32", "unsigned int": "uint32", "unsigned": "uint32",
    "char": "int8", "short": "int16", "long": "int64", "long long": "int64", "unsigned char": "uint8",
    "unsigned short": "uint16", "unsigned long": "uint64", "unsigned long long": "uint64", "half": "float16",
    "size_t": "uint64", "ptrdiff_t": "int64",
}  # fmt: skip
_OUT, _RAW, _NUMBER = 1, 2, 4  # tutti/expression.h
_NUMBERS = (bool, int, float, complex)
_WAYS = (None, "graph", "cuda")
_BLOCK = 256
_MOST = 1 << 30  # elements of one launch
_CHUNK = 1 << 14  # elements that one partial result stands for

_HEAD = r"""
template <class tt_T, int tt_N> struct tt_raw {
  tt_T *data; ptrdiff_t n; ptrdiff_t len[tt_N ? tt_N : 1];
  __device__ tt_T &operator[](ptrdiff_t i) const { return data[i]; }
  __device__ tt_T &operator[](const ptrdiff_t *index) const {
    ptrdiff_t at = 0;
    for (int k = 0; k < tt_N; k++) at = at * len[k] + index[k];
    return data[at];
  }
  __device__ ptrdiff_t size() const { return n; }
  __device__ const ptrdiff_t *shape() const { return len; }
  static const int ndim = tt_N;
};
struct tt_index { ptrdiff_t n; __device__ ptrdiff_t size() const { return n; } };
"""
_HALVES = "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n"


class _Param:
    """One of "raw T x": `type` is a dtype's name or a placeholder of one letter."""

    def __init__(self, text):
        words = text.replace("*", " ").split()
        self.raw = "raw" in words
        words = [w for w in words if w not in ("raw", "const")]
        if len(words) < 2 or not words[-1].isidentifier():
            raise SyntaxError(f"a parameter is written 'type name' or 'raw type name', not {text.strip()!r}")
        self.name = words[-1]
        spelled = " ".join(words[:-1])
        self.type = _SPELLINGS.get(spelled, spelled)
        if self.type not in _C_TYPES and not re.fullmatch("[A-Z]", self.type):
            raise TypeError(f"{spelled!r} is no type of a parameter: a dtype's name, or one capital letter for any")
        if self.name == "i" or self.name.startswith("_"):
            raise ValueError(f"a parameter cannot be called {self.name!r}")

    @property
    def is_any(self):
        return self.type not in _C_TYPES


def _params(text):
    found = [_Param(t) for t in text.split(",") if t.strip()]
    if len({p.name for p in found}) != len(found):
        raise ValueError("two parameters have one name")
    return found


def _is_scalar(a):
    return isinstance(a, (bool, int, float, complex)) or (not hasattr(a, "__setitem__") and getattr(a, "ndim", 1) == 0)


def _array(a):
    return a if isinstance(a, _core.ndarray) else _core.asarray(a)


def _dense(a):
    return a if _core._layout(a)[0] else a.copy()


class _Expression:
    """What both kinds share: parameters, types, compiled variants."""

    def __init__(self, in_params, out_params, name, preamble, options, way):
        self.in_params, self.out_params = _params(in_params), _params(out_params)
        self.params = self.in_params + self.out_params
        if len({p.name for p in self.params}) != len(self.params):
            raise ValueError("two parameters have one name")
        if not name.isidentifier():
            raise ValueError(f"{name!r} is no name of a kernel")
        if way not in _WAYS:
            raise ValueError(f"way is 'graph', 'cuda' or None, not {way!r}")
        self.name, self.preamble, self.options, self.way = name, preamble, tuple(options), way
        self._made = {}  # CUDA C kernels
        self._read = {}  # by types: an expression of the graph, or why it is none
        self._known = {}  # by the arguments' types: the same, where these say all

    def _types(self, args):
        """Placeholders of the arguments given, as dtype names."""
        known = {}
        weak = {}
        for p, a in zip(self.params, args, strict=False):
            if a is None:
                continue
            if isinstance(a, (bool, int, float, complex)):
                if p.is_any:
                    weak.setdefault(p.type, _core.asarray(a).dtype.name)
                continue
            given = _core.dtype(a.dtype).name
            want = known.setdefault(p.type, given) if p.is_any else p.type
            if not _is_scalar(a) and given != want:
                raise TypeError(f"kernel {self.name}: parameter {p.name!r} is {want}, the array given is {given}")
        known = {**weak, **known}
        for p in self.params:
            if p.is_any and p.type not in known:
                raise TypeError(f"kernel {self.name}: nothing given says what type {p.type} is")
        return known

    def _expression(self, key, types, flags, refused, source, more=(None, None, None, None), extra=()):
        """The text as operations of the graph for these types, or None: then it is for a compiler."""
        found = self._read.get(key)
        if found is None:
            if self.way == "cuda":
                found = "asked for"
            elif refused:
                found = refused
            elif self._raw and checked():
                found = "indices are checked"
            else:
                params = tuple((p.name, self._dtype(p, types), f) for p, f in zip(self.params, flags, strict=True))
                names = (*types.items(), *extra)
                found = expression(self.name, source, params, names, self.preamble, self.options, *more)
            self._read[key] = found
        if not isinstance(found, str):
            return found
        if self.way == "graph":
            raise NotImplementedError(f"kernel {self.name}: {found}")
        return None

    nin = property(lambda self: len(self.in_params))
    nout = property(lambda self: len(self.out_params))
    nargs = property(lambda self: len(self.params))

    def explain(self):
        """For each set of types it was called with: the operations it became, or why it was compiled as CUDA C."""
        lines = []
        for key, found in self._read.items():
            types = ", ".join(f"{k}={t}" for k, t in key[0])
            how = f"CUDA C ({found})" if isinstance(found, str) else "operations of the graph"
            lines.append(f"{self.name}<{types}>: {how}" if types else f"{self.name}: {how}")
            if not isinstance(found, str):
                lines += ["  " + line for line in _core.expression_text(found).splitlines()]
        return "\n".join(lines)

    @property
    def is_graph(self):
        """Whether every call so far became operations of the graph; None before the first."""
        return not any(isinstance(x, str) for x in self._read.values()) if self._read else None

    def _function(self, key, text, name):
        f = self._made.get(key)
        if f is None:
            halves = _HALVES if "__half" in text or "bfloat16" in text else ""
            program = _compile(halves + text, f"{self.name}.cu", self.options, ())
            f = self._made[key] = Function(program, name)
        return f

    def _dtype(self, p, types):
        return types.get(p.type, p.type)

    def _c_type(self, p, types):
        return _C_TYPES[self._dtype(p, types)]

    def _head(self, types):
        return "".join(f"typedef {_C_TYPES[t]} {k};\n" for k, t in sorted(types.items()))

    def inspect_source(self):
        """The texts compiled so far."""
        return "\n\n".join(_core.program_text(f._program) for f in self._made.values())


def _preamble(text, options):
    """With what options define."""
    defined = [o[2:].strip() for o in options if o.startswith("-D")]
    if not defined:
        return text
    lines = "".join(f"#define {d.replace('=', ' ', 1) if '=' in d else d + ' 1'}\n" for d in defined)
    return f"{lines}#line 1\n{text}"


def expression(name, source, params, types, preamble, options, reduce=None, post=None, identity=None, inner=None):
    """The text as operations of the graph, or a str: why it is for a compiler. `params` may be C's declarations."""
    text = _preamble(preamble, options)
    try:
        return _core.expression(source, text, f"{name}.cu", params, tuple(types), reduce, post, identity, inner)
    except NotImplementedError as e:
        return str(e)
    except ValueError as e:
        raise CompileError(str(e)) from None


def _place(arrays):
    """Where results go: beside the first array that is somewhere."""
    for a in arrays:
        if isinstance(a, _core.ndarray):
            return str(a.device)
    return None


def _empty(shape, dtype, place):
    import tutti

    if place in (None, "cpu", "cpu:0"):
        return tutti.empty(shape, dtype=dtype)
    return tutti.empty(shape, dtype=dtype, device=place)


class ElementwiseKernel(_Expression):
    """`ElementwiseKernel("float32 x, T y", "T z", "z = x * y", "name")`: an operation on each element, in CUDA C.

    `raw` parameters are used whole, by `x[i]`; `i` is the index of the element and `_ind.size()` how many there are.
    Called with the inputs, and the outputs if they are to be written into; `size=` when all inputs are raw.
    """

    def __init__(
        self,
        in_params,
        out_params,
        operation,
        name="kernel",
        reduce_dims=True,
        preamble="",
        no_return=False,
        return_tuple=False,
        *,
        options=(),
        loop_prep="",
        after_loop="",
        way=None,
        **unused,
    ):
        super().__init__(in_params, out_params, name, preamble, options, way)
        self._raw = any(p.raw for p in self.params)
        n_in, n_out = len(self.in_params), len(self.out_params)
        self._missing = {n_in: (None,) * n_out, n_in + n_out: ()}
        self._flags = [(_OUT if k >= len(self.in_params) else 0) | (_RAW if p.raw else 0)
                       for k, p in enumerate(self.params)]  # fmt: skip
        self.operation, self.no_return, self.return_tuple = operation, no_return, return_tuple
        self.loop_prep, self.after_loop = loop_prep, after_loop

    def __repr__(self):
        return f"<ElementwiseKernel {self.name}>"

    def _text(self, types, ranks, by_value):
        head, body, n_in = [], [], len(self.in_params)
        for k, p in enumerate(self.params):
            t = self._c_type(p, types)
            const = "const " if k < n_in else ""
            if by_value[k]:
                head.append(f"{t} {p.name}")
            elif p.raw:
                head.append(f"{const}{t} *_{p.name}")
                head += [f"ptrdiff_t _{p.name}_{d}" for d in range(ranks[k] + 1)]
                lens = ", ".join(f"_{p.name}_{d}" for d in range(1, ranks[k] + 1)) or "0"
                body.append(f"const tt_raw<{const}{t}, {ranks[k]}> {p.name} = {{_{p.name}, _{p.name}_0, {{{lens}}}}};")
            else:
                head.append(f"{const}{t} *_{p.name}")
                if k < n_in:
                    body.append(f"const {t} {p.name} = _{p.name}[i];")
                else:
                    body.append(f"{t} &{p.name} = _{p.name}[i];")
        head += ["ptrdiff_t _from", "int _n", "ptrdiff_t _all"]
        named_n = "" if any(p.name == "n" for p in self.params) else "const ptrdiff_t n = _all; (void)n;\n"
        return (
            f"{_HEAD}{self._head(types)}{self.preamble}\n"
            f'extern "C" __global__ void {self.name}({", ".join(head)}) {{\n'
            f"const tt_index _ind = {{_all}}; (void)_ind;\n{self.loop_prep};\n"
            "const int _i = blockIdx.x * blockDim.x + threadIdx.x;\nif (_i < _n) {\n"
            "const ptrdiff_t i = _from + _i;\n"
            + named_n
            + "\n".join(body)
            + f"\n{self.operation};\n}}\n{self.after_loop};\n}}\n"
        )

    def __call__(self, *args, size=None, block_size=None, stream=None):
        e = self._known.get(tuple([a.dtype if type(a) is _core.ndarray else type(a) for a in args]))
        if e is not None:
            out = _core.expression_call(e, args + self._missing[len(args)], -1 if size is None else size)
        else:
            out = self._first_call(args, size)
        if self.no_return:
            return None
        return out if len(out) != 1 or self.return_tuple else out[0]

    def _first_call(self, args, size):
        """The outputs of a call with types that were not met before."""
        n_in, n_out = len(self.in_params), len(self.out_params)
        if len(args) not in (n_in, n_in + n_out):
            raise TypeError(
                f"kernel {self.name} takes {n_in} inputs, or {n_in + n_out} arguments with the outputs "
                f"({len(args)} given)"
            )
        given = [a if _is_scalar(a) else _array(a) for a in args[:n_in]] + list(args[n_in:])
        types = self._types(given)
        out = self._record(given, types, size)
        if out is None:
            return tuple(self._compiled(given, types, size))
        if all(type(a) is _core.ndarray or (type(a) in _NUMBERS and not p.is_any) for p, a in zip(self.params, args)):
            known = tuple(a.dtype if type(a) is _core.ndarray else type(a) for a in args)
            self._known[known] = self._read[tuple(types.items()),]
        return out

    def _record(self, given, types, size):
        """The outputs, as operations of the graph; None where that is not the way."""
        n_in, n_out = len(self.in_params), len(self.out_params)
        if not all(isinstance(a, _core.ndarray) for a in given[n_in:]):
            return None  # memory that is somebody else's
        source = f"{self.loop_prep};{self.operation}" if self.loop_prep else self.operation
        refused = "there is something after the loop" if self.after_loop else None
        e = self._expression((tuple(types.items()),), types, self._flags, refused, source)
        if e is None:
            return None
        args = [a.item() if _is_scalar(a) and hasattr(a, "item") else a for a in given]
        args += [None] * (n_in + n_out - len(given))
        return _core.expression_call(e, tuple(args), -1 if size is None else size)

    def _compiled(self, given, types, size):
        n_in, n_out = len(self.in_params), len(self.out_params)
        by_value = [_is_scalar(a) and not p.raw for p, a in zip(self.in_params, given, strict=False)] + [False] * n_out
        shape = self._shape(given, by_value, size)
        out = list(given[n_in:]) or [_empty(shape, self._dtype(p, types), _place(given)) for p in self.out_params]
        whole = self._operands(given[:n_in], by_value, shape) + out
        for p, a in zip(self.out_params, out, strict=True):
            if not p.raw and tuple(a.shape) != tuple(shape):
                raise ValueError(
                    f"kernel {self.name}: output {p.name!r} has shape {tuple(a.shape)}, not {tuple(shape)}"
                )
        ranks = tuple(a.ndim if p.raw else 0 for p, a in zip(self.params, whole, strict=True))
        key = (tuple(sorted(types.items())), ranks, tuple(by_value))
        f = self._made.get(key) or self._function(key, self._text(types, ranks, by_value), self.name)
        self._launch(f, whole, shape)
        return out

    def _shape(self, given, by_value, size):
        import tutti

        plain = [a for p, a, v in zip(self.params, given, by_value, strict=False) if not p.raw and not v]
        if size is not None:
            if any(a.ndim for a in plain[: len(self.in_params)]) and not all(p.raw for p in self.in_params):
                raise ValueError("Specified 'size' can be used only if all of the ndarray are 'raw'.")
            return (size,)
        if not plain:
            if any(not p.raw for p in self.in_params):
                return ()
            raise ValueError("Loop size is undecided.")
        return tutti.broadcast_shapes(*(tuple(a.shape) for a in plain))

    def _operands(self, given, by_value, shape):
        import tutti

        whole = []
        for p, a, v in zip(self.in_params, given, by_value, strict=False):
            if v:
                whole.append(a.item() if hasattr(a, "item") else a)
            elif p.raw or tuple(a.shape) == tuple(shape):
                whole.append(_dense(a))
            else:
                whole.append(_dense(tutti.broadcast_to(a, shape)))
        return whole

    def _launch(self, f, whole, shape):
        args = []
        for p, a in zip(self.params, whole, strict=True):
            args.append(a)
            if p.raw:
                args += [a.size, *a.shape]
        total = 1
        for n in shape:
            total *= n
        for start in range(0, total, _MOST):
            n = min(_MOST, total - start)
            f.launch(-(-n // _BLOCK), _BLOCK, (*args, start, n, total))


class ReductionKernel(_Expression):
    """`ReductionKernel("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "norm")`: reduce mapped elements, in CUDA C.

    Called with the inputs; `axis=` as NumPy's. Partial results have one fixed order, whatever the number of threads.
    """

    def __init__(
        self,
        in_params,
        out_params,
        map_expr,
        reduce_expr,
        post_map_expr,
        identity,
        name="reduce_kernel",
        reduce_type=None,
        reduce_dims=True,
        preamble="",
        options=(),
        *,
        way=None,
    ):
        super().__init__(in_params, out_params, name, preamble, options, way)
        self._raw = False
        if len(self.out_params) != 1:
            raise ValueError("a reduction has one output")
        if any(p.raw for p in self.params):
            raise ValueError("a reduction's parameters cannot be raw")
        self.map_expr, self.reduce_expr, self.post_map_expr = map_expr, reduce_expr, post_map_expr
        self.identity = None if identity is None or str(identity) == "" else str(identity)
        self.reduce_type = reduce_type

    def __repr__(self):
        return f"<ReductionKernel {self.name}>"

    def _text(self, types, by_value):
        out = self.out_params[0]
        inner = self._inner(types)
        inner = _C_TYPES.get(inner, inner)
        values = [f"{self._c_type(p, types)} {p.name}" for p, v in zip(self.in_params, by_value, strict=True) if v]
        arrays = [(p, self._c_type(p, types)) for p, v in zip(self.in_params, by_value, strict=True) if not v]
        head = [f"const {t} *_{p.name}" for p, t in arrays] + values
        reads = " ".join(f"const {t} {p.name} = _{p.name}[i];" for p, t in arrays)
        passed = [p.name for p, v in zip(self.in_params, by_value, strict=True) if v]
        call = ", ".join([f"_{p.name}" for p, _ in arrays] + passed)
        values_in, values_on = "".join(", " + v for v in values), "".join(", " + v for v in passed)
        heads = {
            "map": ", ".join([*head, "ptrdiff_t i"]),
            "partial": ", ".join([*head, "void *_parts", "ptrdiff_t _m", "int _chunks"]),
        }
        start = f"_acc({self.identity})" if self.identity is not None else "_MAP(_lo)"
        skip = 0 if self.identity is not None else 1
        out_type = self._c_type(out, types)
        return f"""{self._head(types)}
typedef {self._c_type(arrays[0][0], types)} type_in0_raw;
typedef {out_type} type_out0_raw;
{self.preamble}
typedef {inner} _type_reduce;
typedef {inner} _acc;
#define _REDUCE(a, b) ({self.reduce_expr})
__device__ __forceinline__ _acc _reduce(_acc a, _acc b) {{ return _REDUCE(a, b); }}
__device__ __forceinline__ _acc _map({heads["map"]}) {{ {reads} return ({self.map_expr}); }}
#define _MAP(k) _map({call}, k)
__device__ __forceinline__ void _post(_acc a, {out_type} &{out.name}{values_in}) {{
  {self.post_map_expr};
}}

__device__ char _one[sizeof(_acc)]; /* the host asks for its size */

/* Elements [_lo, _hi) to one. On the processor by lanes, that a vector holds; on a device by a block. */
extern "C" __global__ void _partial({heads["partial"]}) {{
  _acc *_part = (_acc *)_parts;
  const ptrdiff_t _row = blockIdx.x / _chunks, _k = blockIdx.x % _chunks;
  const ptrdiff_t _lo = _row * _m + _k * {_CHUNK}, _end = (_row + 1) * _m;
  const ptrdiff_t _hi = _lo + {_CHUNK} < _end ? _lo + {_CHUNK} : _end;
#ifdef TUTTI_CPU
  if (threadIdx.x != 0) return;
  enum {{ _W = 32 }};
  _acc r = {start};
  ptrdiff_t i = _lo + {skip};
  if (_hi - i >= 2 * _W) {{
    _acc lane[_W];
    for (int j = 0; j < _W; j++) lane[j] = _MAP(i + j);
    for (i += _W; i + _W <= _hi; i += _W)
      for (int j = 0; j < _W; j++) lane[j] = _reduce(lane[j], _MAP(i + j));
    for (int j = 0; j < _W; j++) r = _reduce(r, lane[j]);
  }}
  for (; i < _hi; i++) r = _reduce(r, _MAP(i));
  _part[blockIdx.x] = r;
#else
  __shared__ char _room[{_BLOCK} * sizeof(_acc)];
  __shared__ int _has[{_BLOCK}];
  _acc *_s = (_acc *)_room;
  const int t = threadIdx.x;
  bool has = false;
  _acc r;
  for (ptrdiff_t i = _lo + t; i < _hi; i += {_BLOCK}) {{
    r = has ? _reduce(r, _MAP(i)) : _MAP(i);
    has = true;
  }}
  if (has) _s[t] = r;
  _has[t] = has;
  __syncthreads();
  for (int k = {_BLOCK} / 2; k > 0; k /= 2) {{
    if (t < k && _has[t + k]) {{ _s[t] = _has[t] ? _reduce(_s[t], _s[t + k]) : _s[t + k]; _has[t] = 1; }}
    __syncthreads();
  }}
  if (t == 0) _part[blockIdx.x] = {"_reduce(" + start + ", _s[0])" if not skip else "_s[0]"};
#endif
}}
extern "C" __global__ void _finish(const void *_parts, {out_type} *_out{values_in}, int _chunks, int _rows) {{
  const _acc *_part = (const _acc *)_parts;
  const int _row = blockIdx.x * blockDim.x + threadIdx.x;
  if (_row < _rows) {{
    _acc r = _part[(ptrdiff_t)_row * _chunks];
    for (int k = 1; k < _chunks; k++) r = _reduce(r, _part[(ptrdiff_t)_row * _chunks + k]);
    _post(r, _out[_row]{values_on});
  }}
}}
extern "C" __global__ void _nothing({out_type} *_out{values_in}, int _rows) {{
  const int _row = blockIdx.x * blockDim.x + threadIdx.x;
  if (_row < _rows) _post(_acc({self.identity or 0}), _out[_row]{values_on});
}}
"""

    def __call__(self, *args, axis=None, keepdims=False, out=None, stream=None):
        n_in = len(self.in_params)
        if len(args) == n_in + 1 and out is None:
            *args, out = args
        if len(args) != n_in:
            raise TypeError(f"kernel {self.name} takes {n_in} inputs ({len(args)} given)")
        given = [a if _is_scalar(a) else _array(a) for a in args]
        types = self._types([*given, out])
        by_value = tuple(_is_scalar(a) for a in given)
        if all(by_value):
            raise TypeError(f"kernel {self.name}: at least one input is an array")
        result = self._record(given, by_value, types, axis, keepdims, out)
        return self._compiled(given, by_value, types, axis, keepdims, out) if result is None else result

    def _inner(self, types):
        """What partial results are: a dtype's name where it is one."""
        inner = self.reduce_type or self._dtype(self.out_params[0], types)
        return types.get(inner, _SPELLINGS.get(inner, inner))

    def _record(self, given, by_value, types, axis, keepdims, out):
        """The result, as operations of the graph; None where that is not the way."""
        if out is not None and not isinstance(out, _core.ndarray):
            return None  # memory that is somebody else's
        inner = self._inner(types)
        refused = None if inner in _C_TYPES else f"partial results are {inner}"
        flags = [_NUMBER if v else 0 for v in by_value] + [_OUT]
        first = self._dtype(self.in_params[by_value.index(False)], types)
        names = (("type_in0_raw", first), ("type_out0_raw", self._dtype(self.out_params[0], types)))
        if refused is None:
            names += (("_type_reduce", inner),)
        parts = (self.reduce_expr, self.post_map_expr, self.identity, inner)
        e = self._expression((tuple(types.items()), by_value), types, flags, refused, self.map_expr, parts, names)
        if e is None:
            return None
        rank = max(a.ndim for a, v in zip(given, by_value, strict=True) if not v)
        axes = (1 << rank) - 1 if axis is None else sum(1 << k for k in _axes(rank, axis))
        args = [a.item() if v and hasattr(a, "item") else a for a, v in zip(given, by_value, strict=True)]
        try:
            result = _core.expression_reduce(e, (*args, out), axes, keepdims)
        except NotImplementedError as x:
            self._read[tuple(types.items()), by_value] = str(x)
            if self.way == "graph":
                raise
            return None
        return result if out is None else out

    def _compiled(self, given, by_value, types, axis, keepdims, out):
        import tutti

        arrays = [a for a, v in zip(given, by_value, strict=True) if not v]
        shape = tutti.broadcast_shapes(*(tuple(a.shape) for a in arrays))
        axes, kept, rows, m = _split(shape, axis)
        turned = iter([_dense(tutti.broadcast_to(a, shape).transpose(*kept, *axes)) for a in arrays])
        values = [a.item() if hasattr(a, "item") else a for a, v in zip(given, by_value, strict=True) if v]
        key = (tuple(sorted(types.items())), tuple(by_value))
        text = None if (key, "_partial") in self._made else self._text(types, by_value)
        partial = self._function((key, "_partial"), text, "_partial")
        for n in ("_finish", "_nothing"):
            if (key, n) not in self._made:
                self._made[key, n] = Function(partial._program, n)
        result = out
        if result is None:
            result = _empty([shape[k] for k in kept], self._dtype(self.out_params[0], types), _place(given))
        elif result.size != rows:
            raise ValueError(f"kernel {self.name}: the output has {result.size} elements, not {rows}")
        self._run(key, list(turned), values, result, rows, m)
        if keepdims:
            result = result.reshape([1 if k in axes else n for k, n in enumerate(shape)])
        return result

    def _run(self, key, arrays, values, result, rows, m):
        if rows == 0:
            return
        grid = -(-rows // _BLOCK)
        if m == 0:
            if self.identity is None:
                raise ValueError(f"kernel {self.name}: zero-size array to a reduction which has no identity")
            self._made[key, "_nothing"].launch(grid, _BLOCK, (result, *values, rows))
            return
        chunks = -(-m // _CHUNK)
        size = _core.program_variable(self._made[key, "_partial"]._program, "_one")[1]
        part = _empty(rows * chunks * size, "uint8", _place(arrays))
        self._made[key, "_partial"].launch(rows * chunks, _BLOCK, (*arrays, *values, part, m, chunks))
        self._made[key, "_finish"].launch(grid, _BLOCK, (part, result, *values, chunks, rows))


def _axes(rank, axis):
    """The axes, sorted, from an int or several; AxisError, and ValueError for repeats."""
    wanted = range(rank) if axis is None else (axis,) if isinstance(axis, int) else axis
    axes = []
    for k in wanted:
        if not -rank <= k < rank:
            from .exceptions import AxisError

            raise AxisError(k, rank)
        axes.append(k % rank)
    if len(set(axes)) != len(axes):
        raise ValueError("duplicate value in 'axis'")
    return sorted(axes)


def _split(shape, axis):
    """(reduced axes, kept axes, how many results, elements of each)."""
    rank = len(shape)
    axes = _axes(rank, axis)
    kept = [k for k in range(rank) if k not in axes]
    rows = m = 1
    for k in range(rank):
        if k in axes:
            m *= shape[k]
        else:
            rows *= shape[k]
    return axes, kept, rows, m
