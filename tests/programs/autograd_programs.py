"""HIPS autograd's test suite and examples over tutti: its own modules that are about derivatives and arrays are ours.

    python tests/programs/autograd_programs.py PATH [pytest's arguments...]     its tests
    python tests/programs/autograd_programs.py PATH --example NAME              one of its examples

PATH is a checkout of HIPS/autograd. Its differential operators, optimisers and checks run as they are, over our core
and our autograd.numpy. Its convention for complex numbers is the conjugate of PyTorch's, which tutti has; this module
turns one into the other. Tests of how it is built inside (boxes, vector spaces, tables of rules) are left out."""

import functools
import pathlib
import runpy
import sys
import types
import warnings

import numpy as np
import tutti as tt

# About its own tracer, vector spaces, containers and tables, or its speed.
INSIDE = """test_builtins.py test_core.py test_dict.py test_list.py test_tuple.py test_vspaces.py test_performance.py
test_tests.py test_ufunc_dispatch.py test_misc.py""".split()
# That it cannot do what we can, names of its older versions, NumPy's own types, functions and arguments that we lack.
LEFT_OUT = """test_rfftn_odd_not_implemented test_assignment_raises_error test_nograd test_no_vjp_def test_no_jvp_def
test_deprecated_defgrad_wrapper test_deprecated_defvjp_wrapper test_deprecated_defvjp_is_zero_wrapper
test_custom_where_dtypes test_dtypes test_numpy_version test_rgamma test_multigammaln test_logsumexp3
test_logsumexp4 test_logsumexp5 test_odeint test_mvn_entropy""".split()


def leaves(tree, out):
    if isinstance(tree, dict):
        for key in sorted(tree):
            leaves(tree[key], out)
    elif isinstance(tree, (tuple, list)):
        for item in tree:
            leaves(item, out)
    else:
        out.append(tree)
    return out


def rebuilt(tree, values):
    if isinstance(tree, dict):
        return {key: rebuilt(tree[key], values) for key in sorted(tree)}
    if isinstance(tree, (tuple, list)):
        return type(tree)([rebuilt(item, values) for item in tree])
    return next(values)


def array(x):
    if isinstance(x, tt.ndarray):
        return x
    made = tt.asarray(x)
    return made.astype("float64") if made.dtype.kind in "biu" else made


def conj(x):
    return tt.conj(x) if x.dtype.kind == "c" else x


# ---- autograd.core


def make_vjp(fun, x):
    arrays, outputs = [array(a) for a in leaves(x, [])], []

    def flat(*values):
        outputs.append(fun(rebuilt(x, iter(values))))
        return [array(a) for a in leaves(outputs[0], [])]

    made, back = tt.vjp(flat, *arrays)
    value = rebuilt(outputs[0], iter(made))

    def vjp(g):
        found = back([conj(array(a)) for a in leaves(g, [])])
        return rebuilt(x, iter([conj(a) for a in found]))

    return vjp, value


def make_jvp(fun, x):
    arrays, outputs = [array(a) for a in leaves(x, [])], []

    def flat(*values):
        outputs.append(fun(rebuilt(x, iter(values))))
        return [array(a) for a in leaves(outputs[-1], [])]

    def jvp(v):
        directions = [array(a).astype(p.dtype) for a, p in zip(leaves(v, []), arrays, strict=True)]
        _, slopes = tt.jvp(flat, arrays, directions)
        return outputs[-1], rebuilt(outputs[-1], iter(slopes))

    return jvp


class VSpace:
    """What their checks ask of the space of a value: one for all kinds of values."""

    def __init__(self, value):
        self.tree = rebuilt(value, iter([None] * len(leaves(value, []))))
        self.parts = [(a.shape, a.dtype.name) for a in map(array, leaves(value, []))]
        self.shape = self.parts[0][0] if len(self.parts) == 1 else None
        self.size = sum(int(np.prod(s)) * (2 if t.startswith("c") else 1) for s, t in self.parts)
        self.iscomplex = any(t.startswith("c") for _, t in self.parts)

    def __eq__(self, other):
        return self.tree == other.tree and self.parts == other.parts

    def __repr__(self):
        return f"VSpace({self.parts})"

    def _of(self, make):
        return rebuilt(self.tree, iter([make(s, t) for s, t in self.parts]))

    def _with(self, f, *trees):
        return rebuilt(
            self.tree, iter([f(*map(array, xs)) for xs in zip(*(leaves(t, []) for t in trees), strict=True)])
        )

    def zeros(self):
        return self._of(lambda s, t: tt.zeros(s, t))

    def ones(self):
        return self._of(lambda s, t: tt.ones(s, t))

    def randn(self):
        def draw(shape, dtype):
            made = np.asarray(np.random.standard_normal(shape))
            made = made + 1j * np.random.standard_normal(shape) if dtype.startswith("c") else made
            return tt.asarray(made.astype(dtype))

        return self._of(draw)

    def standard_basis(self):
        for k, (shape, dtype) in enumerate(self.parts):
            for place in np.ndindex(shape):
                for unit in (1, 1j) if dtype.startswith("c") else (1,):
                    made = [tt.zeros(s, t) for s, t in self.parts]
                    made[k][place] = unit
                    yield rebuilt(self.tree, iter(made))

    def add(self, x, y):
        return self._with(tt.add, x, y)

    mut_add = add

    def scalar_mul(self, x, a):
        return self._with(lambda v: v * a, x)

    def inner_prod(self, x, y):
        pairs = zip(leaves(x, []), leaves(y, []), strict=True)
        return sum(tt.sum(tt.real(tt.conj(array(a)) * array(b))) for a, b in pairs)

    def covector(self, x):
        return self._with(conj, x)


# ---- functions with rules of one's own

RULES = {}


class Own(tt.Function):
    @staticmethod
    def forward(ctx, function, kwargs, *args):
        ctx.function, ctx.kwargs, ctx.args = function, kwargs, args
        return tt.asarray(function.raw(*map(plain, args), **kwargs))

    @staticmethod
    def backward(ctx, g):
        rules = RULES[ctx.function.raw]
        value = ctx.function(*ctx.args, **ctx.kwargs)
        return (
            None,
            None,
            *(
                conj(array(rules[k](value, *ctx.args, **ctx.kwargs)(conj(g)))) if k in rules and needed else None
                for k, needed in enumerate(ctx.needs_input_grad[2:])
            ),
        )


def plain(x):
    """As NumPy's and SciPy's functions take it."""
    return x.detach().numpy() if isinstance(x, tt.ndarray) else x


def sum_to(target, g):
    """A cotangent of what was broadcast."""
    shape = tt.shape(target)
    g = tt.sum(g, tuple(range(tt.ndim(g) - len(shape)))) if tt.ndim(g) > len(shape) else g
    grown = tuple(k for k, n in enumerate(shape) if n == 1 and g.shape[k] != 1)
    g = tt.sum(g, grown, keepdims=True) if grown else g
    return tt.real(g) if g.dtype.kind == "c" and array(target).dtype.kind != "c" else g


def primitive(raw):
    @functools.wraps(raw)
    def call(*args, **kwargs):
        if raw in RULES and any(isinstance(a, tt.ndarray) and a.requires_grad for a in args):
            return Own.apply(call, kwargs, *args)
        return raw(*map(plain, args), **kwargs) if raw in RULES else raw(*args, **kwargs)

    call.raw = raw
    return call


def defvjp(function, *rules, argnums=None):
    places = range(len(rules)) if argnums is None else argnums
    RULES[function.raw] = {k: r if r is not None else zero for k, r in zip(places, rules)}


class ByNumber:
    """Rules of all arguments by one function."""

    def __init__(self, maker):
        self.maker = maker

    def __contains__(self, k):
        return True

    def __getitem__(self, k):
        return lambda value, *args, **kwargs: self.maker(k, value, args, kwargs)


def defvjp_argnum(function, maker):
    RULES[function.raw] = ByNumber(maker)


def defvjp_argnums(function, maker):
    """Rules of all arguments by one function of several of them."""

    def one(k, value, args, kwargs):
        found = maker((k,), value, args, kwargs)
        return lambda g: next(iter(found(g)))

    defvjp_argnum(function, one)


def wrap_namespace(old, new):
    for name, value in list(old.items()):
        if callable(value) and not isinstance(value, type) and not name.startswith("_"):
            new[name] = primitive(value)


def zero(value, *args, **kwargs):
    return lambda g: 0 * g


def defjvp(function, *rules, argnums=None):
    """Derivatives in a direction are made of the others."""


def notrace_primitive(raw):
    @functools.wraps(raw)
    def call(*args, **kwargs):
        return raw(*(a.detach() if isinstance(a, tt.ndarray) else a for a in args), **kwargs)

    return call


def isbox(x):
    return isinstance(x, tt.ndarray) and x.requires_grad


def getval(x):
    return x.detach() if isinstance(x, tt.ndarray) else x


# ---- its modules


def module(name, **names):
    made = sys.modules[name] = types.ModuleType(name)
    vars(made).update(names)
    return made


def over(name, ours, other, **names):
    """A module with our functions, and NumPy's or SciPy's where we have none: those know no gradients."""
    made = module(name, **names)

    def find(word):
        if word.startswith("__"):
            raise AttributeError(word)
        return getattr(ours, word) if hasattr(ours, word) else getattr(other, word)

    made.__getattr__ = find
    return made


def of_triangle(f):
    """A function of Hermitian matrices as one of the triangle that is read: its elements stand for two."""

    def read(x, UPLO="L"):
        x = (tt.tril if UPLO == "L" else tt.triu)(array(x))
        diagonal = x * tt.eye(x.shape[-1])
        return f(x + tt.conj(tt.swapaxes(x - diagonal, -1, -2)), UPLO)

    return read


def of_lists(f):
    """A function of sequences that takes iterators."""
    return lambda arrays, *args, **kwargs: f(
        arrays if isinstance(arrays, (tt.ndarray, np.ndarray)) else list(arrays), *args, **kwargs
    )


def make_diagonal(x, offset=0, axis1=0, axis2=1):
    """Matrices with these diagonals."""
    made = x[..., None] * tt.eye(x.shape[-1])
    return tt.moveaxis(made, (-2, -1), (axis1, axis2))


def install():
    import scipy.special

    random = over("autograd.numpy.random", tt.random, np.random)
    parts = {
        "random": random,
        "linalg": over(
            "autograd.numpy.linalg",
            tt.linalg,
            np.linalg,
            eigh=of_triangle(tt.linalg.eigh),
            eigvalsh=of_triangle(tt.linalg.eigvalsh),
            _dot=tt.matmul,
            T=lambda x: tt.swapaxes(x, -1, -2),
        ),
        "fft": over("autograd.numpy.fft", tt.fft, np.fft),
    }
    wrapper = module("autograd.numpy.numpy_wrapper", wrap_namespace=wrap_namespace)
    sequences = {name: of_lists(getattr(tt, name)) for name in ("concatenate", "stack", "vstack", "hstack")}
    over(
        "autograd.numpy", tt, np, __path__=[], numpy_wrapper=wrapper, make_diagonal=make_diagonal, **sequences, **parts
    )
    known = {
        "vspace": VSpace, "VSpace": VSpace, "make_vjp": make_vjp, "make_jvp": make_jvp, "primitive": primitive,
        "defvjp": defvjp, "defjvp": defjvp, "primitive_vjps": RULES, "primitive_jvps": {}, "isbox": isbox,
        "getval": getval, "notrace_primitive": notrace_primitive, "Box": tt.ndarray,
        "register_notrace": lambda *a: None, "defvjp_argnum": defvjp_argnum, "defvjp_argnums": defvjp_argnums,
        "def_linear": defjvp, "defjvp_argnums": defjvp, "defjvp_argnum": defjvp, "Node": object, "trace": None,
        "primitive_with_deprecation_warnings": primitive,
    }  # fmt: skip
    for name in ("core", "tracer", "extend"):
        module(f"autograd.{name}", **known)
    module("autograd.builtins", dict=dict, list=list, tuple=tuple, isinstance=isinstance, type=type)
    over("autograd.scipy.special", tt.special, scipy.special)
    module("autograd.numpy.numpy_vjps", unbroadcast_f=lambda x, f: lambda g: sum_to(x, f(g)), unbroadcast=sum_to)


def of_gradients(items):
    return [i for i in items if i.name.partition("[")[0] not in LEFT_OUT]


class Chosen:
    def pytest_collection_modifyitems(self, items):
        items[:] = of_gradients(items)


def main(path, *arguments):
    import pytest

    path = pathlib.Path(path).resolve()
    sys.path.insert(0, str(path))
    warnings.simplefilter("ignore")
    install()
    if arguments[:1] == ("--example",):
        sys.path.insert(0, str(path / "examples"))
        runpy.run_path(str(path / "examples" / f"{arguments[1]}.py"), run_name="__main__")
        return 0
    left = [f"--ignore={path / 'tests' / name}" for name in INSIDE]
    plain = ["-c", "/dev/null", "--rootdir", str(path), "-p", "no:cacheprovider"]
    return pytest.main([str(path / "tests"), *plain, *left, *arguments], [Chosen()])


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
