"""vectorize, guvectorize and stencil: a function of elements becomes one of arrays.

The loops are written as the same kind of tree that front.py makes of source, around a call of the user's function, and
go the same way.
"""

import ast
import re
import types

from .. import _core
from .dispatch import NUMPY_ERRORS, PARALLEL, Compiled, Decorated
from .front import Function, Module, quote
from .signature import fitting, parse, read, suffix
from .sources import source_of


def _need_numpy():
    import numpy

    return numpy


def _plain(args):
    """Arrays of ours as NumPy's. Gradients would end here without a word."""
    _core.refuse_gradients(*args)
    return [a.numpy() if isinstance(a, _core.ndarray) else getattr(a, "_jit_argument", a) for a in args]


def _i(k):
    return f"(i {k})"


def _n(name):
    return f"(n {quote(name)})"


def _loops(rank, array, body, parallel=False):
    """for i0 in range(array.shape[0]): for i1 ...: body"""
    for k in reversed(range(rank)):
        kind = "prange" if parallel and k == 0 else "range"
        count = f'(idx (attr {_n(array)} "shape") {_i(k)})'
        body = f'(for 1 {_n(f"i{k}")} (call "{kind}" {count}) ({body}))'
    return body


class Around(Compiled):
    """Loops around a user's function, as a compiled function of their own."""

    def __init__(self, fn, flags, name, params, body):
        super().__init__(fn, flags)
        self._loop = name, params, body

    def _module(self, types):
        if self._text is None:
            self._front = Module(self.py_func)
            self._say(self._front)
        return self._text

    def _say(self, module):
        name, params, body = self._loop
        # the user's functions keep their order behind the loops
        texts = [re.sub(r"\(call (\d+)", lambda m: f"(call {int(m[1]) + 1}", t) for t in module.texts]
        head = f"(fn {quote(name)} 1 ({' '.join(map(quote, params))}) ({body}))"
        self._raises = module.raised
        self._text = f"(module {module.head(1)} {head} {' '.join(texts)})".encode(), list(module.arrays)


class Loops:
    """The loops that a ufunc has: those of its signatures; without any, those of its calls so far."""

    signatures = ()  # (result or results, arguments)
    _called = ()

    def _ran(self, np, kinds, results):
        """Note the types of a call, unless a loop that is there takes its arguments and gives the same types."""
        if self.signatures:
            return
        for given, made in self._called:
            if made == results and all(np.can_cast(a, b, "safe") for a, b in zip(kinds, given)):
                return
        self._called = [*self._called, (kinds, results)]

    def _rows(self, np):
        """(arguments, results) of each loop."""
        if not self.signatures:
            return list(self._called)
        return [([np.dtype(t) for t in row[1]], [np.dtype(t) for t in row[0]]) for row in self.signatures]

    @property
    def types(self):
        """In NumPy's letters: "ff->f"."""
        rows = self._rows(_need_numpy())
        return ["->".join("".join(kind.char for kind in kinds) for kinds in row) for row in rows]

    ntypes = property(lambda self: len(self.types))
    nargs = property(lambda self: self.nin + self.nout)
    ufunc = property(lambda self: self, doc="Numba's name of what this is anyway.")


class Vectorized(Decorated, Loops):
    """A function of scalars over arrays, with broadcasting."""

    def __init__(self, fn, parallel=False, identity=None, signatures=()):
        self.signatures = signatures  # (result, arguments); none: whatever the arguments make of it
        self._stand_for(fn)
        self.nin, self.nout, self.identity = fn.__code__.co_argcount, 1, identity
        self._scalar = Compiled(fn, NUMPY_ERRORS)
        self._parallel = parallel
        self._by_rank = {}

    _declared = None  # kernels and functions call it with whatever types they have
    _takes = None  # what signatures take beyond safe casts
    _may_be_called = False  # by Python, where the function does not compile: NumPy's vectorize asks for no more

    def _jit_function(self):
        return self.py_func

    def _rows(self, np):
        if not self.signatures:
            return super()._rows(np)
        rows = [r if r[0] else (self._result(np, r[1]), r[1]) for r in self.signatures]
        return [([np.dtype(t) for t in row[1]], [np.dtype(row[0])]) for row in rows]

    def _result(self, np, kinds):
        try:
            made = self._scalar._compile(",".join(_suffix(np.dtype(k)) for k in kinds))
        except RuntimeError as e:  # no compiler is there, and what does without one lacks something
            if not self._may_be_called:
                raise
            raise NotImplementedError(str(e)) from e
        if self._may_be_called and not _NUMBER.fullmatch(made):
            raise NotImplementedError("a compiled vectorized function gives one number")
        return _dtype_of(np, made)

    def _around(self, rank):
        if rank not in self._by_rank:
            params = [f"a{k}" for k in range(self.nin)]
            index = " ".join(_n(f"i{k}") for k in range(rank))
            args = " ".join(f"(idx {_n(p)} {index})" for p in params)
            body = f"(set 1 (idx {_n('out')} {index}) (call 1 {args}))"
            flags = NUMPY_ERRORS | (PARALLEL if self._parallel else 0)
            body = _loops(rank, "out", body, self._parallel)
            self._by_rank[rank] = Around(self.py_func, flags, self.__name__ + "_loop", [*params, "out"], body)
        return self._by_rank[rank]

    def __call__(self, *args, out=None):
        if len(args) == self.nin + 1 and out is None:
            *args, out = args
        if len(args) != self.nin:
            raise TypeError(f"{self.__name__}() takes {self.nin} arguments but {len(args)} were given")
        try:
            return self._over(args, out)
        except NotImplementedError:
            if not self._may_be_called or out is not None:
                raise
        from .called import Called

        return Called(self.py_func)(*args)

    def _over(self, args, out):
        np = _need_numpy()
        ours = any(isinstance(a, _core.ndarray) for a in args)
        args = [getattr(a, "_jit_argument", a) for a in args]
        arrays = [np.asarray(a) for a in _plain(args)]
        arrays, kind = self._typed(np, arrays, args)
        shape = np.broadcast_shapes(*(a.shape for a in arrays))
        self._ran(np, [a.dtype for a in arrays], [kind])
        made = getattr(out, "_jit_argument", out)
        if made is None:
            made = np.empty(shape, kind)
        spread = [np.broadcast_to(a, shape) for a in arrays]
        if shape and all(a.flags.c_contiguous for a in (*spread, made)):
            self._around(1)(*(a.reshape(-1) for a in spread), made.reshape(-1))
        elif shape:
            self._around(len(shape))(*spread, made)
        else:
            made[()] = self._scalar(*(a[()] for a in arrays))
        if out is not None:
            return out
        return _core.asarray(made) if ours else made if shape else made[()]

    def _typed(self, np, arrays, args):
        """The arrays as a signature wants them, and the type of the result."""
        row = fitting(np, self.signatures, [np.dtype(a.dtype.name) for a in arrays], args, self._takes)
        if row:
            arrays = [a if a.dtype.name == t else self._cast(a, t) for a, t in zip(arrays, row[1])]
        if row and row[0]:
            return arrays, np.dtype(row[0])
        return arrays, self._result(np, [a.dtype.name for a in arrays])

    @staticmethod
    def _cast(array, kind):
        return array.astype(kind)

    def reduce(self, array, axis=0, initial=None):
        """Fold the function along an axis."""
        np = _need_numpy()
        rows = np.moveaxis(np.asarray(array), axis, 0)
        total = rows[0] if initial is None else initial
        for row in rows[1 if initial is None else 0 :]:
            total = self(total, row)
        return total

    def accumulate(self, array, axis=0):
        """Fold the function along an axis and keep every step."""
        np = _need_numpy()
        rows = np.moveaxis(np.asarray(array), axis, 0)
        steps = list(rows[:1])
        for row in rows[1:]:
            steps.append(self(steps[-1], row))
        return np.moveaxis(np.array(steps), 0, axis) if steps else np.empty_like(array)

    def outer(self, a, b):
        """The function of each element of one array with each of another."""
        np = _need_numpy()
        a, b = np.asarray(a), np.asarray(b)
        return self(a.reshape(a.shape + (1,) * b.ndim), b)

    def __repr__(self):
        return f"<vectorized function {self.__name__}>"


def _suffix(dtype):
    return suffix(dtype.name)


_NUMBER = re.compile(r"([biufc])(\d+)")  # a type of numbers as compiled code writes it


def _dtype_of(np, result):
    table = {"b": "bool", "i": "int", "u": "uint", "f": "float", "c": "complex"}
    match = _NUMBER.fullmatch(result)
    if not match:
        raise TypeError("a vectorized function gives one number")
    return np.dtype("bool" if result == "b8" else table[match[1]] + match[2])


def _is_readable(fn):
    """Can the function be compiled at all: is there a source of it?"""
    if not isinstance(getattr(fn, "__code__", None), types.CodeType):
        return False
    try:
        source_of(fn)
    except OSError:
        return False
    return True


def vectorize(fn=None, *args, target="cpu", identity=None, **options):
    """A function of scalars becomes one of arrays, compiled for each list of element types.

    target="parallel" uses all cores, target="cuda" is a kernel: on a GPU where there is one. With NumPy's options
    (otypes, doc, excluded, cache, signature), and where the function's source cannot be read or, without options, does
    not compile, it is called from Python for each element, as NumPy does.
    """
    options.update(zip(("otypes", "doc", "excluded", "cache", "signature"), args))
    theirs = {k: options.pop(k) for k in ("otypes", "doc", "excluded", "cache", "signature") if k in options}
    if theirs and "target" not in options and not isinstance(fn, (str, list, tuple)):
        from .called import Called

        return Called(fn, **theirs) if fn is not None else lambda f: Called(f, **theirs)
    if target == "cpu" and callable(fn) and type(fn).__name__ not in ("Signature",) and not _is_readable(fn):
        from .called import Called

        return Called(fn)
    if target not in ("cpu", "parallel", "cuda"):
        raise ValueError(f"vectorize(target={target!r}): the targets are 'cpu', 'parallel' and 'cuda'")

    def make(f):
        if target != "cuda":
            made = Vectorized(f, target == "parallel", identity, signatures)
            made._may_be_called = target == "cpu" and identity is None and not signatures
            return made
        from .device_ufunc import DeviceVectorized

        return DeviceVectorized(f, identity, signatures)

    signatures = ()
    if fn is not None and not (callable(fn) and hasattr(fn, "__code__")):
        signatures = [parse(s) for s in (fn if isinstance(fn, (list, tuple)) else [fn])]
        return make
    return make if fn is None else make(fn)


# ---- generalised: a function of small arrays, over the axes in front


class Generalised(Decorated, Loops):
    """A function whose arguments have core axes, looped over all axes before them."""

    _takes = None  # what signatures take beyond safe casts

    def __init__(self, fn, layout, parallel=False, signatures=(), writable=()):
        self._stand_for(fn)
        inputs, _, outputs = layout.replace(" ", "").partition("->")
        self.cores = [[d for d in g.split(",") if d] for g in re.findall(r"\(([^)]*)\)", inputs + outputs)]
        self.nin = len(re.findall(r"\(", inputs))
        self.nout = len(self.cores) - self.nin
        if self.nin < 1 or self.nout < 1 or len(self.cores) != fn.__code__.co_argcount:
            raise ValueError(f"the layout {layout!r} does not fit {fn.__name__}()")
        self.parallel, self._by_rank = parallel, {}
        names = fn.__code__.co_varnames
        self.writable = {names.index(a) if isinstance(a, str) else a for a in writable}
        self.signatures, self.boxed = [], set()
        for signature in signatures:
            self._sign(signature)

    def _sign(self, signature):
        """Take a signature: the types of what goes in and out. An array where the layout has no axes is one of one
        element."""
        arguments = read(signature)[1]
        if len(arguments) != len(self.cores) or None in (kind for kind, _ in arguments):
            raise ValueError(f"the signature {signature!r} does not fit {self.__name__}()")
        kinds = tuple(kind for kind, _ in arguments)
        self.signatures.append((kinds[self.nin :], kinds[: self.nin]))
        inputs = zip(arguments[: self.nin], self.cores)
        self.boxed |= {k for k, ((_, axes), core) in enumerate(inputs) if axes and not core}

    def _typed(self, np, arrays, given):
        """The arrays as a signature wants them, and the types of the results."""
        kinds = [np.dtype(a.dtype.name) for a in arrays]
        row = fitting(np, self.signatures, kinds, given[: self.nin], self._takes)
        if not row:
            return arrays, [np.result_type(*kinds)] * self.nout
        arrays = [a if a.dtype.name == t else a.astype(t) for a, t in zip(arrays, row[1])]
        return arrays, [np.dtype(t) for t in row[0]]

    def _around(self, rank):
        if rank not in self._by_rank:
            params = [f"a{k}" for k in range(len(self.cores))]
            index = " ".join(_n(f"i{k}") for k in range(rank))
            # a core without axes is a number on its way in and an array of one element on its way out
            args = [f"(idx {_n(p)} {index})" for p in params]
            body = f"(expr 1 (call 1 {' '.join(args)}))"
            flags = NUMPY_ERRORS | (PARALLEL if self.parallel else 0)
            body = _loops(rank, params[-1], body, self.parallel)
            self._by_rank[rank] = Around(self.py_func, flags, self.__name__ + "_loop", params, body)
        return self._by_rank[rank]

    def __call__(self, *args, out=None):
        given = list(args)
        if out is not None:
            given += list(out) if isinstance(out, tuple) else [out]
        if len(given) not in (self.nin, len(self.cores)):
            raise TypeError(f"{self.__name__}() takes {self.nin} arguments but {len(given)} were given")
        return self._run(given, args)

    def _sizes(self, np, arrays):
        """The length of each core axis, and the axes in front."""
        sizes, fronts = {}, []
        for a, core in zip(arrays, self.cores):
            if a.ndim < len(core):
                raise ValueError(f"{self.__name__}(): an argument lacks its {len(core)} core axes")
            split = a.ndim - len(core)
            fronts.append(tuple(a.shape[:split]))
            for name, n in zip(core, a.shape[split:]):
                if sizes.setdefault(name, n) != n:
                    raise ValueError(f"{self.__name__}(): the core axis '{name}' is {sizes[name]} and {n} long")
        return sizes, np.broadcast_shapes(*fronts)

    def _spread(self, np, k, array, front):
        """An argument over the axes in front; itself where it has them, so that the function may write into it."""
        shape = front + array.shape[array.ndim - len(self.cores[k]) :]
        if array.shape == shape:
            return array
        spread = np.broadcast_to(array, shape)
        return spread.copy() if k in self.writable else spread

    def _run(self, given, args):
        np = _need_numpy()
        given = _plain(given)
        arrays, kinds = self._typed(np, [np.asarray(a) for a in given[: self.nin]], given)
        sizes, front = self._sizes(np, arrays)
        flat = [self._spread(np, k, a, front) for k, a in enumerate(arrays)]
        originals = list(flat)
        flat = [a[..., None] if k in self.boxed else a for k, a in enumerate(flat)]
        outs = given[self.nin :]
        if not outs:
            made = zip(self.cores[self.nin :], kinds)
            outs = [np.empty(front + tuple(sizes[d] for d in core), kind) for core, kind in made]
        self._ran(np, [a.dtype for a in arrays], [np.dtype(o.dtype.name) for o in outs])
        targets = [o if core else o[..., None] for o, core in zip(outs, self.cores[self.nin :])]
        if not front:
            flat, targets = [a[None] for a in flat], [t[None] for t in targets]
        self._around(max(1, len(front)))(*flat, *targets)
        for k in self.writable:  # what was cast, or repeated, is not what was given
            if isinstance(given[k], np.ndarray) and originals[k] is not given[k]:
                given[k][...] = originals[k]
        result = [o if o.ndim else o[()] for o in outs]
        return result[0] if len(result) == 1 else tuple(result)


def guvectorize(*args, target="cpu", writable_args=(), **options):
    """guvectorize(layout) or guvectorize(signatures, layout), layout as "(m,n),(n)->(m)".

    Signatures decide the types of results, and of arguments by safe casts. writable_args: names or numbers of arguments
    that get back what the function wrote into them, where they were cast.

    target="parallel" uses all cores, target="cuda" is a kernel, a thread for each call: on a GPU where there is one.
    """
    if target not in ("cpu", "parallel", "cuda"):
        raise ValueError(f"guvectorize(target={target!r}): the targets are 'cpu', 'parallel' and 'cuda'")
    layout = next((a for a in args if isinstance(a, str) and "->" in a), None)
    if layout is None:
        raise TypeError("guvectorize() needs a layout such as '(n),()->(n)'")
    given = args[0] if args[0] is not layout else []
    signatures = given if isinstance(given, list) else [given]
    if target == "cuda":
        from .device_ufunc import DeviceGeneralised

        return lambda fn: DeviceGeneralised(fn, layout, signatures)
    return lambda fn: Generalised(fn, layout, target == "parallel", signatures, writable_args)


# ---- stencils: relative indices


class _Relative(Function):
    """The user's function with a[dy, dx] meaning a[i0 + dy, i1 + dx]."""

    def __init__(self, module, fn, arrays, rank):
        super().__init__(module, fn)
        self.arrays, self.rank = arrays, rank
        self.low, self.high = [0] * rank, [0] * rank

    def of_Subscript(self, e):
        if not (isinstance(e.value, ast.Name) and e.value.id in self.arrays):
            return super().of_Subscript(e)
        items = e.slice.elts if isinstance(e.slice, ast.Tuple) else [e.slice]
        if len(items) != self.rank:
            self.fail(f"'{self.snippet(e)}' needs {self.rank} offsets", e)
        parts = []
        for k, item in enumerate(items):
            try:
                step = int(ast.literal_eval(item))
                self.low[k], self.high[k] = min(self.low[k], step), max(self.high[k], step)
                parts.append(f"(bin + {_n(f'$i{k}')} {_i(step)})")
            except ValueError:
                parts.append(f"(bin + {_n(f'$i{k}')} {self.expr(item)})")
        return f"(idx {_n(e.value.id)} {' '.join(parts)})"


class Stencil(Decorated):
    """A function of an array's neighbourhood, over the whole array; `cval` where the neighbourhood leaves it."""

    def __init__(self, fn, cval=0, neighborhood=None, standard_indexing=()):
        self._stand_for(fn)
        self.cval, self.neighborhood, self.standard = cval, neighborhood, set(standard_indexing)
        self._by_rank = {}

    def _compiled(self, args):
        np = _need_numpy()
        rank = args[0].ndim
        key = (rank, *(isinstance(a, np.ndarray) for a in args))
        if key in self._by_rank:
            return self._by_rank[key]
        names = self.py_func.__code__.co_varnames[: self.py_func.__code__.co_argcount]
        arrays = {n for n, a in zip(names, args) if isinstance(a, np.ndarray) and n not in self.standard}
        stencil = self

        class Loop(Compiled):
            def _module(self, types):
                module = Module.__new__(Module)
                module.begin(stencil.py_func)
                module.file, self._raises = "?", module.raised
                inner = _Relative(module, stencil.py_func, arrays, rank)
                text = inner.text()
                body = text[text.index("(", text.index(")")) :][:-1]  # its list of statements
                params = [*names, *(f"$i{k}" for k in range(rank))]
                element = f"(fn {quote(stencil.__name__)} {inner.line} ({' '.join(map(quote, params))}) {body})"
                module.texts.append("")  # its place
                module.translate()
                module.texts.pop(0)
                low, high = inner.low, inner.high
                if stencil.neighborhood:
                    low, high = zip(*stencil.neighborhood)
                calls = " ".join(map(_n, names)) + " " + " ".join(_n(f"i{k}") for k in range(rank))
                index = " ".join(_n(f"i{k}") for k in range(rank))
                loop = f"(set 1 (idx {_n('$out')} {index}) (call 1 {calls}))"
                for k in reversed(range(rank)):
                    n = f'(idx (attr {_n("$out")} "shape") {_i(k)})'
                    loop = f'(for 1 {_n(f"i{k}")} (call "range" {_i(-low[k])} (bin - {n} {_i(high[k])})) ({loop}))'
                head = f"(fn {quote(stencil.__name__ + '_loop')} 1 ({' '.join(map(quote, [*names, '$out']))}) ({loop}))"
                texts = [re.sub(r"\(call (\d+)", lambda m: f"(call {int(m[1]) + 1}", t) for t in module.texts]
                element = re.sub(r"\(call (\d+)", lambda m: f"(call {int(m[1]) + 1}", element)
                stencil.inner = element
                self._text = f"(module {module.head(1)} {head} {element} {' '.join(texts)})".encode(), module.arrays
                return self._text

            def _overload(self, asked):
                raise NotImplementedError("a function that is written for each list of types, in a stencil")

        self._by_rank[key] = Loop(self.py_func, NUMPY_ERRORS)
        return self._by_rank[key]

    def __call__(self, *args, out=None):
        np = _need_numpy()
        ours = isinstance(args[0], _core.ndarray)
        args = _plain(args)
        if not isinstance(args[0], np.ndarray):
            raise TypeError("a stencil's first argument is an array")
        if out is None:
            kind = np.result_type(args[0], self.cval) if args[0].dtype.kind in "fc" else np.float64
            out = np.full(args[0].shape, self.cval, kind)
        self._compiled(args)(*args, out)
        return _core.asarray(out) if ours else out


def stencil(fn=None, *args, cval=0, neighborhood=None, standard_indexing=(), **options):
    """A function of relative indices, a[0, 1] + a[0, -1], becomes one of whole arrays."""
    if callable(fn) and hasattr(fn, "__code__"):
        return Stencil(fn, cval, neighborhood, standard_indexing)
    return lambda f: Stencil(f, cval, neighborhood, standard_indexing)
