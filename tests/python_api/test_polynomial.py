"""The six families of polynomials against NumPy's: functions, classes, texts."""

import numpy as np
import pytest
import tutti as tt

FAMILIES = {
    "polynomial": ("poly", "Polynomial"),
    "chebyshev": ("cheb", "Chebyshev"),
    "legendre": ("leg", "Legendre"),
    "hermite": ("herm", "Hermite"),
    "hermite_e": ("herme", "HermiteE"),
    "laguerre": ("lag", "Laguerre"),
}
TYPES = ["float64", "float32", "complex128", "int64", "complex64"]
TOLERANCE = {"float32": 2e-4, "complex64": 2e-4}


def agree(got, want, tolerance=1e-9):
    if isinstance(want, (tuple, list)):
        assert len(got) == len(want)
        for g, w in zip(got, want, strict=True):
            agree(g, w, tolerance)
        return
    want = np.asarray(want)
    assert got.shape == want.shape and str(got.dtype) == str(want.dtype)
    scale = np.abs(want).max(initial=1e-300) or 1.0
    np.testing.assert_allclose(got.numpy() / scale, want / scale, atol=tolerance, rtol=tolerance)


def coefficients(rng, dtype, shape):
    c = rng.integers(-5, 6, shape) if dtype.startswith("int") else rng.standard_normal(shape)
    if dtype.startswith("complex"):
        c = c + 1j * rng.standard_normal(shape)
    return c.astype(dtype)


def calls(p, rng, dtype):
    """(name, arguments) of a family's functions over random series; `np.ndarray` among them become ours."""
    a, b = (coefficients(rng, dtype, rng.integers(1, 7)) for _ in "ab")
    if rng.random() < 0.3:
        a = np.append(a, np.zeros(2, a.dtype))
    x = rng.uniform(-1, 1, (3, 2)).astype(dtype if dtype[0] == "f" else "float64")
    k = int(rng.integers(0, 4))
    wide = coefficients(rng, dtype, (4, 3))
    yield from (
        ("add", (a, b)), ("sub", (a, b)), ("mulx", (a,)), ("mul", (a, b)), ("div", (a, b)), ("pow", (b[:4], k)),
        ("trim", (a, 0.5)), ("val", (x, a)), ("val", (0.25, a)), ("val", (x, wide)), ("val", (x[:, 0], wide, False)),
        ("der", (a, k)), ("der", (wide, 1, 2, 1)), ("int", (a, k, list(range(k)), 0.5, 2)),
        ("int", (wide, 1, [], 0, 1, 1)),
        ("vander", (x, k)), ("vander2d", (x, x, [k, 2])), ("vander3d", (x, x, x, [1, k, 2])),
        ("val2d", (x, x, wide)), ("grid2d", (x[0], x[:, 0], wide)),
        ("val3d", (x, x, x, wide[:, :, None])), ("grid3d", (x[0], x[0], x[:, 0], wide[:, :, None])),
        ("fromroots", (a[:4],)),
    )  # fmt: skip
    if p != "poly":
        yield from ((f"{p}2poly", (a,)), (f"poly2{p}", (a,)))
    if len(np.trim_zeros(a, "b")) > 1 and not dtype.endswith("64") or dtype in ("float64", "int64"):
        if len(np.trim_zeros(a, "b")) > 1:
            yield "companion", (a,)
            yield "roots", (a,)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("family", FAMILIES)
def test_functions(family, dtype):
    p = FAMILIES[family][0]
    ours, theirs = getattr(tt.polynomial, family), getattr(np.polynomial, family)
    rng = np.random.default_rng(7)
    for _ in range(12):
        for name, args in calls(p, rng, dtype):
            name = name if "poly" in name and p != "poly" and "2" in name else p + name
            try:
                want = getattr(theirs, name)(*args)
            except ZeroDivisionError:
                with pytest.raises(ZeroDivisionError):
                    getattr(ours, name)(*args)
                continue
            if name.endswith("roots") and "from" not in name and want.dtype.kind == "c":
                got = getattr(ours, name)(*args)
                assert got.shape == want.shape
                for r in want:
                    assert np.abs(got.numpy() - r).min() < 1e-5 * max(1, abs(r)), (name, args)
                continue
            agree(getattr(ours, name)(*args), want, TOLERANCE.get(dtype, 1e-7 if "roots" in name else 1e-9))


@pytest.mark.parametrize("family", FAMILIES)
def test_values_in_several_variables(family):
    p = FAMILIES[family][0]
    ours, theirs = getattr(tt.polynomial, family), getattr(np.polynomial, family)
    rng = np.random.default_rng(5)
    value, one = getattr(ours, p + "valnd"), getattr(theirs, p + "val")
    for n in range(1, 5):
        pts, c = rng.uniform(-1, 1, (n, 2, 3)), rng.standard_normal((3,) * n + (2,))
        want = one(pts[0], c)
        for x in pts[1:]:
            want = one(x, want, tensor=False)
        agree(value(pts, c), want, 1e-12)
        agree(value(list(pts), c), want, 1e-12)
        if hasattr(theirs, p + "valnd"):  # NumPy 2.5
            agree(value(tuple(pts), c), getattr(theirs, p + "valnd")(tuple(pts), c), 1e-12)
        if n > 1:
            words = {2: "x, y are incompatible", 3: "x, y, z are incompatible"}.get(n, "ordinates are incompatible")
            with pytest.raises(ValueError, match=words):
                value([*pts[1:], pts[0][0]], c)


@pytest.mark.parametrize("family", FAMILIES)
def test_fit(family):
    p = FAMILIES[family][0]
    ours, theirs = getattr(tt.polynomial, family), getattr(np.polynomial, family)
    rng = np.random.default_rng(3)
    x = np.linspace(-1, 1, 40)
    y = rng.standard_normal((40, 2))
    w = rng.uniform(0.5, 2, 40)
    for args, more in (
        ((x, y[:, 0], 3), {}), ((x, y, 4), {"w": w}), ((x, y[:, 1], [0, 2, 5]), {}), ((x, y[:, 1], 3), {"full": True}),
        ((x.astype("f4"), y[:, 0].astype("f4"), 2), {}), ((x, y[:, 0] * 1j, 2), {}), ((x, y, [4]), {}),
    ):  # fmt: skip
        got, want = (getattr(m, p + "fit")(*args, **more) for m in (ours, theirs))
        if "full" in more:
            got, want = (got[0], *got[1][:3:2]), (want[0], *want[1][:3:2])
        agree(got, want, 2e-4 if args[0].dtype == "f4" else 1e-9)
    for bad in (
        (x, y, -1),
        (x, y[:-1], 2),
        (y, y, 2),
        (x[:0], y[:0], 2),
        (x, y, 1.5),
        (x, y[:, :, None], 2),
        (x, y, []),
    ):
        same_error(getattr(ours, p + "fit"), getattr(theirs, p + "fit"), *bad)


def same_error(ours, theirs, *args, **more):
    with pytest.raises(Exception) as want:  # noqa: PT011 (whatever NumPy raises)
        theirs(*args, **more)
    with pytest.raises(Exception) as got:  # noqa: PT011
        ours(*args, **more)
    assert (got.type.__name__, str(got.value)) == (want.type.__name__, str(want.value))


@pytest.mark.parametrize("family", FAMILIES)
def test_errors(family):
    p = FAMILIES[family][0]
    ours, theirs = getattr(tt.polynomial, family), getattr(np.polynomial, family)
    for name, args in (
        ("add", ([], [1])), ("mul", ([[1]], [1])), ("pow", ([1, 2], -1)), ("pow", ([1, 2], 1.5)),
        ("pow", ([1, 2], 5, 4)),
        ("trim", ([1], -1)), ("der", ([1, 2], -1)), ("int", ([1, 2], -1)), ("int", ([1, 2], 1, [1, 2])),
        ("int", ([1, 2], 1, [], [0])), ("int", ([1, 2], 1, [], 0, [1])), ("int", ([],)), ("vander", ([1.0], -1)),
        ("companion", ([1],)), ("companion", ([],)),
        ("val2d", (np.ones(2), np.ones(3), np.ones((2, 2)))),
    ):  # fmt: skip
        same_error(getattr(ours, p + name), getattr(theirs, p + name), *args)


@pytest.mark.parametrize("family", list(FAMILIES)[1:])
def test_quadrature(family):
    p = FAMILIES[family][0]
    ours, theirs = getattr(tt.polynomial, family), getattr(np.polynomial, family)
    for n in (1, 2, 3, 8, 31, 64):
        agree(getattr(ours, p + "gauss")(n), getattr(theirs, p + "gauss")(n), 1e-11)
    x = np.linspace(-0.9, 0.9, 7)
    agree(getattr(ours, p + "weight")(x), getattr(theirs, p + "weight")(x), 1e-14)
    same_error(getattr(ours, p + "gauss"), getattr(theirs, p + "gauss"), 0)


@pytest.mark.parametrize("family", FAMILIES)
def test_constants(family):
    p = FAMILIES[family][0]
    ours, theirs = getattr(tt.polynomial, family), getattr(np.polynomial, family)
    for name in ("zero", "one", "x", "domain"):
        agree(getattr(ours, p + name), getattr(theirs, p + name))
    for args in ((1, 2), (1, 0), (1.5, -2.0)):
        agree(getattr(ours, p + "line")(*args), getattr(theirs, p + "line")(*args))


def test_points_of_chebyshev():
    for n in (1, 2, 5, 16):
        agree(tt.polynomial.chebyshev.chebpts1(n), np.polynomial.chebyshev.chebpts1(n), 1e-15)
        agree(tt.polynomial.chebyshev.chebpts2(n + 1), np.polynomial.chebyshev.chebpts2(n + 1), 1e-15)
    got = tt.polynomial.chebyshev.chebinterpolate(lambda x: tt.tanh(x) + 0.5, 8)
    agree(got, np.polynomial.chebyshev.chebinterpolate(lambda x: np.tanh(x) + 0.5, 8), 1e-14)
    same_error(tt.polynomial.chebyshev.chebpts1, np.polynomial.chebyshev.chebpts1, 0)
    same_error(tt.polynomial.chebyshev.chebpts2, np.polynomial.chebyshev.chebpts2, 1)
    same_error(tt.polynomial.chebyshev.chebpts1, np.polynomial.chebyshev.chebpts1, 1.5)


def test_values_by_roots():
    x, r = np.linspace(-2, 2, 6).reshape(2, 3), np.array([[1.0, 2], [3, 4], [0, 1]])
    ours, theirs = tt.polynomial.polynomial.polyvalfromroots, np.polynomial.polynomial.polyvalfromroots
    for args in ((x, r), (x, r[:, 0]), (x[0, :2], r, False), (3.0, r[:, 0])):
        agree(tt.asarray(ours(*args)), np.asarray(theirs(*args)))
    same_error(ours, theirs, x, r[:, 0], False)


def test_shared():
    for x in ([3.0, 1, 2], [1 + 2j, 3 - 1j, 0]):
        agree(tt.polynomial.polyutils.getdomain(x), np.polynomial.polyutils.getdomain(x))
    assert tt.polynomial.polyutils.mapparms((0, 2), (-1, 1)) == np.polynomial.polyutils.mapparms((0, 2), (-1, 1))
    agree(tt.polynomial.polyutils.mapdomain([0, 1.5], [0, 2], [-1, 1]), np.array([-1, 0.5]))
    agree(tt.polynomial.polyutils.as_series([[1, 2, 0], 3j]), np.polynomial.polyutils.as_series([[1, 2, 0], 3j]))
    agree(tt.polynomial.polyutils.trimseq(tt.asarray([1, 0, 0])), np.array([1]))
    for x in (0.1, 1e9, 1e-9, -2.5, 0.0, float("nan"), float("inf"), 3, 2 + 1j, 1 / 3):
        for parens in (False, True):
            got = tt.polynomial.polyutils.format_float(x, parens)
            assert got == np.polynomial.polyutils.format_float(x, parens)


# ---- classes

MAKERS = [
    lambda k: k([1, 2.5, -3, 0.5]),
    lambda k: k([1, 0, -3, 0, 1e-9], domain=[0, 2]),
    lambda k: k([0.5], domain=[-3, 4], window=[0, 1], symbol="t"),
    lambda k: k([1 + 2j, -1j, 3], domain=[0, 3]),
    lambda k: k(list(range(1, 25)), domain=[0, 1e-9]),
    lambda k: k.basis(3),
    lambda k: k.fromroots([1, 2, 3], domain=[0, 4]),
    lambda k: k.fromroots([1, 2, 3], domain=None),
    lambda k: k.identity([0, 5]),
]
METHODS = [
    lambda a: a * a, lambda a: a + a.coef[:1], lambda a: 1 - a, lambda a: a - 3, lambda a: 2 * a, lambda a: a / 2,
    lambda a: a**2, lambda a: a**0, lambda a: -a, lambda a: +a, lambda a: (a * a + 1) // [1, 2],
    lambda a: (a * a + 1) % [1, 2],
    lambda a: divmod(a, 2)[0], lambda a: a.deriv(), lambda a: a.deriv(2), lambda a: a.integ(),
    lambda a: a.integ(2, [1, 2], 0.5),
    lambda a: a.integ(k=3), lambda a: a.copy(), lambda a: a.trim(1.5), lambda a: a.cutdeg(1), lambda a: a.truncate(2),
    lambda a: a.convert(domain=[-1, 2]), lambda a: a(a), lambda a: [1, 2] + a, lambda a: a * [1, 2, 3],
]  # fmt: skip


def same_series(got, want):
    assert type(got).__name__ == type(want).__name__ and got.symbol == want.symbol
    agree(got.domain, want.domain)
    agree(got.window, want.window)
    agree(got.coef, want.coef, 1e-8)


@pytest.mark.parametrize("name", [n for _, n in FAMILIES.values()])
def test_series(name):
    ours, theirs = getattr(tt.polynomial, name), getattr(np.polynomial, name)
    for make in MAKERS:
        got, want = make(ours), make(theirs)
        same_series(got, want)
        assert len(got) == len(want) and got.degree() == want.degree()
        if len(want) > 10 and "aguerre" not in name:
            continue
        assert (repr(got), str(got), format(got, "ascii")) == (repr(want), str(want), format(want, "ascii"))
        assert got._repr_latex_() == want._repr_latex_()
        assert got == got.copy() and not got != got.copy() and got != 3 and got != got + 1
        assert list(map(complex, got)) == pytest.approx(list(map(complex, want)))
        if len(want) > 10:
            continue
        for method in METHODS:
            same_series(method(got), method(want))
        agree(got(np.linspace(-1, 1, 5)), want(np.linspace(-1, 1, 5)))
        agree(tt.asarray(got(0.5)), np.asarray(want(0.5)))
        agree(got.linspace(7), want.linspace(7))
        assert got.mapparms() == want.mapparms()
        for kind in ("Polynomial", "Chebyshev", "Laguerre"):
            same_series(got.convert(kind=getattr(tt.polynomial, kind)), want.convert(kind=getattr(np.polynomial, kind)))
            same_series(getattr(tt.polynomial, kind).cast(got), getattr(np.polynomial, kind).cast(want))


@pytest.mark.parametrize("name", [n for _, n in FAMILIES.values()])
def test_fit_of_a_series(name):
    ours, theirs = getattr(tt.polynomial, name), getattr(np.polynomial, name)
    x = np.linspace(3, 9, 30)
    y = np.sin(x)
    for more in ({}, {"domain": [0, 10]}, {"domain": []}, {"w": x}, {"window": [0, 3]}, {"symbol": "z"}):
        if more.get("domain") == []:
            continue
        got, want = ours.fit(x, y, 4, **more), theirs.fit(x, y, 4, **more)
        same_series(got, want)
        np.testing.assert_allclose(np.sort_complex(got.roots().numpy()), np.sort_complex(want.roots()), rtol=1e-6)
    series, report = ours.fit(x, y, 4, full=True)
    same_series(series, theirs.fit(x, y, 4))
    assert len(report) == 4


def test_poor_fits_warn():
    for m, kind in ((tt, tt.exceptions.RankWarning), (np, np.exceptions.RankWarning)):
        with pytest.warns(kind, match="The fit may be poorly conditioned"):
            m.polynomial.legendre.legfit([1.0, 1, 1], [1.0, 2, 3], 2)


def test_series_that_do_not_fit():
    for m in (tt.polynomial, np.polynomial):
        a = m.Polynomial([1, 2])
        for other, error in (
            (m.Chebyshev([1]), TypeError), (m.Polynomial([1], domain=[0, 1]), TypeError),
            (m.Polynomial([1], window=[0, 1]), TypeError), (m.Polynomial([1], symbol="t"), ValueError),
        ):  # fmt: skip
            with pytest.raises(error):
                a + other
        with pytest.raises(TypeError):
            a / a
        with pytest.raises(TypeError):
            a + "x"
        with pytest.raises(TypeError):
            hash(a)
        with pytest.raises(ZeroDivisionError):
            a // 0
        with pytest.raises(ValueError, match="Domain has wrong number"):
            m.Polynomial([1], domain=[0])
        with pytest.raises(ValueError, match="identifier"):
            m.Polynomial([1], symbol="2x")
        with pytest.raises(TypeError, match="non-empty string"):
            m.Polynomial([1], symbol=3)


def test_of_arrays():
    """An array is an operand, whichever side it stands on, and pickles come back."""
    import pickle

    p = tt.polynomial.Polynomial([1, 2])
    same_series(tt.asarray([1, 1]) * p, np.array([1, 1]) * np.polynomial.Polynomial([1, 2]))
    same_series(np.array([1, 1]) * p, np.array([1, 1]) * np.polynomial.Polynomial([1, 2]))
    assert pickle.loads(pickle.dumps(p)) == p


def test_printstyle():
    for style in ("ascii", "unicode"):
        tt.polynomial.set_default_printstyle(style)
        np.polynomial.set_default_printstyle(style)
        assert str(tt.polynomial.Hermite([1, 2, 3])) == str(np.polynomial.Hermite([1, 2, 3]))
    with pytest.raises(ValueError, match="Unsupported format string"):
        tt.polynomial.set_default_printstyle("x")
    with pytest.raises(ValueError, match="Unsupported format string"):
        format(tt.polynomial.Hermite([1]), "x")
