"""Each row of derivatives against central differences, and what every operation must have."""

import pathlib
import re

import numpy as np
import pytest
import tutti as tt
from differences import check, check_second

INCLUDE = pathlib.Path(__file__).resolve().parents[2] / "include" / "tutti"
OPS = dict(re.findall(r'^TT_OP\((\w+),.*"([^"]*)"\)$', (INCLUDE / "ops.def").read_text(), flags=re.M))
CLASSES = dict(re.findall(r"^TT_OP\((\w+), \w+, \d, (\w+),", (INCLUDE / "ops.def").read_text(), flags=re.M))
ROWS = {
    name: re.findall(r'"([^"]*)"', re.sub(r'"\s*"', "", texts))
    for name, texts in re.findall(r"^TT_GRAD\((\w+),(.*?)\)$", (INCLUDE / "grad.def").read_text(), flags=re.M | re.S)
}
WITHOUT = {"COMPARE", "LOGIC", "BITS", "SHIFT", "WHOLE", "TEST", "DRAW"}  # no float comes out, or none goes in

# Where a function is looked at: the ends of each operand's interval.
RANGES = {
    "ACOSH": [(1.2, 3)], "ERFINV": [(-0.8, 0.8)], "ERFCINV": [(0.2, 1.8)], "NDTRI": [(0.1, 0.9)], "LOGIT": [(0.1, 0.9)],
    "ELLIPK": [(0.1, 0.8)], "ELLIPE": [(0.1, 0.8)], "ELLIPKM1": [(0.1, 0.8)], "GAMMAINCINV": [(0.5, 3), (0.1, 0.9)],
    "GAMMAINCCINV": [(0.5, 3), (0.1, 0.9)], "BETAINC": [(0.5, 3), (0.5, 3), (0.1, 0.9)], "CHDTRI": [(1, 4), (0.1, 0.9)],
    "BETAINCC": [(0.5, 3), (0.5, 3), (0.1, 0.9)], "BETAINCINV": [(0.5, 3), (0.5, 3), (0.1, 0.9)],
    "BETAINCCINV": [(0.5, 3), (0.5, 3), (0.1, 0.9)], "GDTRIX": [(0.5, 2), (0.5, 3), (0.1, 0.9)],
    "GDTRIA": [(0.1, 0.9), (0.5, 3), (0.5, 2)], "STDTRIT": [(1, 4), (0.1, 0.9)], "FDTRI": [(1, 4), (1, 4), (0.1, 0.9)],
    "ASIN": [(-0.9, 0.9)], "ACOS": [(-0.9, 0.9)], "ATANH": [(-0.9, 0.9)], "LOG1P": [(-0.5, 2)],
    "POCH": [(0.5, 3), (0.2, 2)], "BINOM": [(2.2, 5), (0.3, 2)], "LAMBERTW": [(0.1, 2)],
}  # fmt: skip
WHOLE = {"POLYGAMMA": 0, "EXPN": 0, "KN": 0, "YN": 0, "PDTR": 0, "PDTRC": 0}  # the operand that is an integer
INNER = {"REAL", "IMAG", "CONJ", "CAST", "WHERE"}  # tried below


def function(word):
    home = tt
    for part in word.split("."):
        home = getattr(home, part)
    return home


def samples(op, count, n=9):
    rng = np.random.default_rng(len(op))
    ends = RANGES.get(op, [(0.3, 2.2)] * count)
    xs = [rng.uniform(*ends[k], size=n) for k in range(count)]
    if op in WHOLE:
        xs[WHOLE[op]] = np.floor(xs[WHOLE[op]] + 1)
    return xs


def test_every_operation_has_a_row():
    need = {op for op, cls in CLASSES.items() if cls not in WITHOUT and not op.endswith("_PART")}
    assert need == set(ROWS)


FLAT = sorted(op for op in ROWS if OPS[op] and set(ROWS[op]) <= {"0", ""})
SLOPES = sorted(op for op in ROWS if OPS[op] and op not in INNER and set(ROWS[op]) - {"0", "?", ""})


@pytest.mark.parametrize("op", FLAT)
def test_flat(op):
    xs = samples(op, len([t for t in ROWS[op] if t]))
    leaf = tt.array(xs[0]).requires_grad_()
    function(OPS[op])(leaf, *map(tt.array, xs[1:])).sum().backward()
    assert leaf.grad is None or not leaf.grad.any()


@pytest.mark.parametrize("op", SLOPES)
def test_first_derivative(op):
    f, texts = function(OPS[op]), [t for t in ROWS[op] if t]
    xs = samples(op, len(texts))
    free = [k for k, t in enumerate(texts) if t not in ("?", "0")]

    def of_free(*given):
        all_of = list(map(tt.array, xs))
        for k, x in zip(free, given, strict=True):
            all_of[k] = x
        return f(*all_of)

    check(of_free, *[xs[k] for k in free], tolerance=2e-5)


@pytest.mark.parametrize("op", sorted(op for op in ROWS if OPS[op] and "?" in ROWS[op]))
def test_what_is_not_known_says_so(op):
    f, texts = function(OPS[op]), [t for t in ROWS[op] if t]
    xs = list(map(tt.array, samples(op, len(texts))))
    xs[texts.index("?")].requires_grad = True
    with pytest.raises(NotImplementedError, match="derivative"):
        f(*xs).sum().backward()


SMOOTH = ["sin", "cos", "tan", "exp", "log", "sqrt", "tanh", "arctan", "log1p", "expm1", "square", "reciprocal",
          "special.erf", "special.expit", "special.gammaln", "special.i0", "special.j0", "arcsinh", "cosh"]  # fmt: skip


@pytest.mark.parametrize("word", SMOOTH)
def test_second_derivative(word):
    f = function(word)

    def slope(x):
        return tt.grad(lambda y: f(y).sum())(x)

    check(slope, np.linspace(0.3, 1.9, 5), tolerance=1e-4)


@pytest.mark.parametrize(
    "word", ["sin", "exp", "log", "sqrt", "tanh", "square", "reciprocal", "conj", "real", "imag", "abs"]
)
def test_complex(word):
    f = function(word)
    z = np.array([0.4 + 0.3j, -0.2 + 1.1j, 1.5 - 0.7j])
    check(f, z, tolerance=1e-5)


@pytest.mark.parametrize("op", ["add", "subtract", "multiply", "divide", "power"])
def test_complex_pairs(op):
    z, w = np.array([0.4 + 0.3j, -0.2 + 1.1j]), np.array([1.4 - 0.3j, 0.2 + 0.6j])
    check(function(op), z, w, tolerance=1e-5)
    check(function(op), z, np.array([1.5, 0.7]), tolerance=1e-5)


def test_ties_are_shared():
    x = tt.array([1.0, 2.0, 2.0]).requires_grad_()
    y = tt.array([1.0, 2.0, 3.0]).requires_grad_()
    tt.maximum(x, y).sum().backward()
    assert x.grad.tolist() == [0.5, 0.5, 0] and y.grad.tolist() == [0.5, 0.5, 1]
    z = tt.array([1.0, 3.0, 3.0]).requires_grad_()
    z.max().backward()
    assert z.grad.tolist() == [0, 0.5, 0.5]


def test_where_and_casts():
    c = tt.array([True, False, True])
    check(lambda x, y: tt.where(c, x, y), np.array([1.0, 2, 3]), np.array([4.0, 5, 6]))
    x = tt.array([1.0, 2.0], dtype="float32").requires_grad_()
    (x.astype("float64") * tt.array([3.0, 4.0])).sum().backward()
    assert x.grad.dtype == tt.float32 and x.grad.tolist() == [3, 4]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_types_stay(dtype):
    x = tt.array([0.5, 1.5, 2.5]).astype(dtype).requires_grad_()
    (tt.sin(x) * 2 + x**2 / 3).sum().backward()
    assert x.grad.dtype == x.dtype
    want = 2 * np.cos([0.5, 1.5, 2.5]) + 2 * np.array([0.5, 1.5, 2.5]) / 3
    np.testing.assert_allclose(x.grad.astype("float64").numpy(), want, rtol=1e-5, atol=3e-2 if "16" in dtype else 0)


@pytest.mark.parametrize("op", ["hypot", "power", "special.xlogy", "special.exprel", "logaddexp", "special.i1"])
def test_second_derivatives_where_there_is_no_first(op):
    """Zeros and equal operands: finite, to the second order."""
    f = function(op)
    args = [tt.array([0.0, 0.0, 1.0]), tt.array([0.0, 2.0, 1.0])][: 1 if op in ("special.exprel", "special.i1") else 2]
    for k in range(len(args)):

        def of_one(x, k=k):
            return f(*args[:k], x, *args[k + 1 :]).sum()

        if op == "special.xlogy" and k == 1:
            continue  # infinite in truth
        assert tt.isfinite(tt.grad(lambda x: tt.grad(of_one)(x).sum())(args[k])).all()


@pytest.mark.parametrize("op", ["logaddexp", "logaddexp2"])
def test_sums_of_powers_of_equals(op):
    """Twice differentiable everywhere, also where both operands are the same; infinities have a share, too."""
    x, y = np.array([[1.0], [2.0], [-3.0]]), np.array([1.0, 2.0, 700.0])
    check(function(op), x, y)
    check_second(function(op), x, y)
    for a, b, want in ((np.inf, 1.0, (1, 0)), (np.inf, np.inf, (1, 1)), (-np.inf, 2.0, (0, 1))):
        leaves = tt.array(a).requires_grad_(), tt.array(b).requires_grad_()
        function(op)(*leaves).backward()
        assert tuple(float(g.grad) for g in leaves) == want


def test_gradients_inside_of_gradients_by_names_around():
    f = tt.grad(lambda x: x * tt.grad(lambda y: tt.sin(x * y))(2.0))
    x = 0.3
    want = 2 * x * np.cos(2 * x) - 2 * x * x * np.sin(2 * x)  # of x * x cos(2 x)
    np.testing.assert_allclose(float(f(x)), want, rtol=1e-12)
    assert tt.vjp(lambda x: 3.0, tt.ones(2))[0] == 3.0
