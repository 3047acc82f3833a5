"""Rules of single functions that the generators found to be otherwise than NumPy's: a call a row, made by both."""

import warnings

import numpy as np
import pytest
import tutti as tt

CALLS = """
m.abs(m.array([1 + 1j, 2]), dtype=int)
m.abs(m.array([1 + 1j, 2]), dtype='f4')
m.abs(m.array([1 + 1j, 2]), dtype=int, casting='unsafe')
m.abs(m.array([1 + 1j, 2]), dtype='f4', casting='unsafe')
m.abs(m.array([1 + 1j, 2], dtype='c8'), dtype='f8')
m.array([1 + 1j, 2]).var(dtype='c8')
m.array([1., 2]).std(dtype='c8')
m.nanvar(m.array([1 + 1j, 2]), dtype='c8')
m.array([1 + 1j, 2]).std(dtype='f4')
m.array([1, 8, 4, 0, 7, 3]).var(dtype=int)
m.array([[1, 8], [4, 0]]).std(0, dtype='i1')
m.array([1, 8, 4, 0, 7, 3]).std(dtype='i1')
m.bitwise_count(m.array([1000]), dtype='i1')
m.bitwise_count(m.array([1000]), dtype='u1')
m.frexp(m.array([1.]), dtype='f4')
m.union1d(-1.0, m.array([1, 2], dtype='f4'))
m.union1d(m.array([1], dtype='u8'), -7)
m.union1d(m.array([1], dtype='f4'), [1.5])
m.setxor1d(m.array([1], dtype='f4'), 3.5)
m.setxor1d(m.array([1], dtype='f4'), 3.5, assume_unique=True)
m.concatenate((m.array([1], dtype='u1'), -7, 300), axis=None)
m.concatenate((m.array([1], dtype='u1'), 2.5), axis=None)
m.concatenate((m.array([1], dtype='f4'), 2j), axis=None)
m.concatenate((1, 2), axis=None)
m.concatenate((m.array([1], dtype='u1'), 2.5), axis=None, dtype='i4')
m.array(3).compress([True], 0)
m.compress([], 3, axis=-1)
m.compress([True], 3, axis=1)
m.array([0, 1]).choose(m.array([1, 2]), m.array([3, 4]))
m.array([0, 1]).choose(1, 2, mode='wrap')
m.array([0, 1]).choose([5, 6])
m.array([0, 1]).choose([5, 6], out=m.zeros(2, int))
m.quantile(m.array([1, m.inf]), 1)
m.quantile(m.array([3, 4]), [0, 1])
m.nanquantile(m.array([3, 4]), 1)
m.nanquantile(m.inf, 1)
m.quantile(True, 0)
m.quantile(m.array([3, 4], dtype='f4'), m.array(1))
m.quantile(m.array([3, 4]), 1.0)
m.percentile(m.array([3, 4]), 100)
m.size(m.ones((2, 3)), (0, -1))
m.size(m.ones((2, 3)), (0, 1))
m.size(m.ones((2, 3)), 2)
m.array_split(m.array(2), [5])
m.split(m.array(2), 1)
m.eye(2, order='K')
m.eye(2, 3, 1, order='F')
m.logspace(0, 2, base=m.array([2, 3]), num=3)
m.logspace(m.array([1.]), m.array([2.]), base=m.array([[1., 2], [3, 4]]), num=3, axis=-1)
m.array([1, 2, 3]).item(True)
m.linalg.multi_dot([m.ones((2, 3), dtype='f4'), m.ones((3, 2), dtype='f4')], out=m.ones((2, 2)))
m.linalg.multi_dot([m.ones((2, 3)), m.ones((3, 2))], out=m.ones((2, 2)))
m.fix(m.array([[1.5, 2]]), out=m.zeros((3, 2)))
m.fix(m.array([[1.5, 2]]), out=m.zeros((3, 4)))
m.isposinf(m.inf, m.zeros(1))
m.clip(m.array([[1.5, 2]]), 0, 1, out=m.zeros((3, 2)))
m.clip(m.array([1, 5]), 0, 3, dtype='f4')
m.array([1, 5]).clip(max=m.array([1, 2]), dtype=float, casting='safe')
m.array([1.5, 5]).clip(max=2, dtype=int)
m.array([1.5, 5]).clip(max=2, dtype=int, casting='unsafe')
m.array([1.5, 5]).clip(0, 2, out=m.zeros(2, int))
m.array([1.5, 5]).clip(0, 2, out=m.zeros(2, int), casting='unsafe')
m.array([1, 5]).clip(casting='equiv')
m.histogram([1, 2, 3], 3, (np.float32(0), np.float32(4)))
m.histogram(m.arange(5, dtype='f4'), 3, m.array([0., 4.]))
m.histogram(m.arange(5, dtype='f2'), 3, m.array([0., 4.], dtype='f4'))
m.histogram(m.arange(5), 3, m.array([0., 4.], dtype='f4'))
m.histogram(m.arange(5), 3, m.array([0., 4., 5.]))
m.histogramdd(m.array([True, False]))
m.linalg.tensorsolve(m.arange(16.).reshape(2, 2, 2, 2) + m.eye(4).reshape(2, 2, 2, 2) * 9, m.ones((2, 2)), (0, 0))
m.linalg.tensorsolve(m.sin(m.arange(16.) ** 2).reshape(2, 2, 2, 2), m.ones((2, 2)), (2, 0))
m.linalg.tensorsolve(m.ones(()), m.ones(3), (-2, -1))
m.maximum(m.ones(2), 2, m.ones(2))
m.minimum(m.ones(2), 2, None)
m.add(m.ones(2), 2, m.ones(2))
m.trapezoid(m.array([1., 8, 4]), m.array([[1, 2], [3, 4]]))
m.trapezoid(m.array([1., 8, 4]), m.array([[1, 2, 5], [3, 4, 9]]), axis=0)
m.trapezoid(m.ones((2, 3)), m.array([[1, 2, 5], [3, 4, 9]]), axis=-2)
m.trapezoid(m.ones((2, 3)), m.array([1, 2, 5]))
m.trapezoid(m.ones((2, 3)), m.ones((2, 3, 4)), axis=1)
m.broadcast_to(m.array([1 + 2j, 3]), (3, 2)).byteswap().byteswap()
m.array([[1, 2], [3, 4]]).T.byteswap()
m.logspace(m.array([1.], dtype='f4'), 2, 3, base=m.array([2., 3]))
m.frombuffer(bytearray(16), None)
m.histogram(m.array([1, 8, 4, 0], dtype='f2'), 'auto', (0, 10))
m.histogram(m.array([1, 1, 1, 1, 1, 1, 10.]), 'auto')
m.histogram(m.array([1, 2.]), 'fd', weights=m.ones(2))
m.histogram(m.array([1, 2.]), 'no rule')
m.ravel_multi_index((), ())
m.ravel_multi_index(([0, 1], [1, 2]), (2, 3))
m.tri(-1)
m.repeat([1, 2], m.array(1.5))
m.repeat([1, 2], [1.5, 1])
m.delete(m.arange(9.).reshape(3, 3), [[0], [1]])
m.delete(m.arange(9.), [[2]], 0)
m.real_if_close(m.ones(2), None)
m.real_if_close(m.ones(2) * 1j, None)
m.fft.fftfreq(4, np.float32(1.5))
m.polynomial.polynomial.polymulx(m.inf)
m.indices((2,), None)
m.fromiter(range(3), None)
m.ones(5)[:m.array([2])]
m.fft.fft(m.ones(4), m.array([2]))
m.sum(m.ones((2, 3)), 0, keepdims=True)
m.roll(m.arange(3), 2, ())
m.roll(m.arange(6).reshape(3, 2), (1,), (0, 1))
m.bincount(m.array([], int), m.array([], 'c16'))
m.bincount(m.array([], int), m.array([], 'f4'), 4)
m.ones((2, 3)).item([0])
m.ones((2, 3)).item(range(2))
m.ones((2, 3)).item(m.array([1]))
m.choose(m.array(3), [m.ones(0), m.ones(0)])
m.array_split(m.arange(4), 2.9)
m.array_split(m.arange(4), np.float32(2))
m.array_split(m.arange(4), m.nan)
m.array_split(m.arange(4), m.inf)
m.split(m.arange(4), 2.0)
m.split(m.arange(4), 1.5)
m.split(m.arange(4), 0.0)
m.hsplit(m.arange(4), -2)
m.unravel_index([0], ())
m.unravel_index(0, ())
m.gradient(m.array(1.5), range(3))
m.gradient(m.ones((3, 3)), [1, 2, 3])
m.gradient(m.ones((3, 3)), [1, 2, 3], axis=0)
m.gradient(m.ones((3, 3)), 2)
m.ones(3).std(keepdims=True, mean=m.array([[0, 1, 2], [3, 4, 5]]))
m.ones((2, 3)).std(0, mean=m.array([[[0, 1, 2]], [[3, 4, 5]]]))
m.ones(3, dtype='f2').var(mean=m.array([0., 1, 2]))
m.ones(3, dtype='f4').var(mean=1)
m.ones(3, dtype='f4').var(mean=m.array(1))
m.ones(3, dtype='i1').var(mean=1)
m.array([3, 4, 5]).var(dtype='u1', keepdims=1, mean=m.array([[1, 8, 4], [0, 7, 3]], dtype='i2'))
m.expm1(0, casting='no')
m.sin(1.5, dtype='f4', casting='no')
m.negative(300, dtype='i1')
m.negative(1, casting='no')
m.less(m.array([1], dtype='u8'), m.array([2]), casting='no')
m.equal(m.array([1]), m.array([2], dtype='u8'), casting='equiv')
m.sqrt(m.ones(4, dtype=bool), m.zeros((), dtype=bool))
m.invert(m.ones((2, 1, 3), dtype=int), m.zeros((3, 3), dtype='u1'))
m.add(m.ones(3), m.ones(2, dtype='c8'), m.ones(2))
m.sqrt(m.ones(3), m.broadcast_to(m.array([1]), (3,)))
m.multiply(m.ones(3), 2, m.broadcast_to(m.array([1]), (2,)), casting='no')
m.shares_memory(m.ones(3), m.ones(3), np.int8(3))
m.may_share_memory(m.ones(3), m.ones(3), 1.5)
m.astype([1, 2], 'f4')
m.astype(m.ones(2), 'f4')
m.astype(np.float64(1), 'f4')
m.sum(m.ones(1), where=m.array([True, True]))
m.max(m.array([2, 6], dtype='u1'), initial=1e3)
m.max(m.array([2, 6], dtype='u1'), initial=2.7)
m.min(m.array([2, 6], dtype='i1'), initial=-1.5)
m.prod(m.array([2, 6], dtype='u8'), initial=2.0**63)
m.bincount(m.array([1, 2], dtype='u8'))
m.bincount(m.array([1, 2**63], dtype='u8'))
m.histogram2d(m.array([True, False, True]), m.array([True, False, True]), 3)
m.histogram2d(m.array([1, 2, 5], dtype='u2'), m.array([1.5, 2, 3], dtype='f4'), 3)
m.spacing(m.array([-1, 1, -2, 3, -1.5, 0, 1e-7, 65504], dtype='f2'))
m.spacing(m.array([-1., 1]))
m.round(m.array([True, False]), 1)
m.round(m.array([True, False]), -1)
m.round(m.array([True, False]))
m.select([m.array([True, False])], [-1], m.array([1, 2], dtype='u1'))
m.select([m.array([True, False])], [m.array([1, 2], dtype='u1')], 7)
m.select([m.array([True, False])], [-1], m.array([1, 2], dtype='i1'))
m.select([m.array([True, False])], [2.5], m.array([1, 2], dtype='f4'))
m.insert(m.array([1, 2]), 1, 1j)
m.insert(m.array([1, 2], dtype='u1'), 1, 300)
m.insert(m.array([1, 2], dtype='u1'), [0, 1], -1)
m.insert(m.array([1, 2]), 1, m.nan)
m.insert(m.array([1, 2]), 1, m.array([1.7, 2.5]))
m.put_along_axis(m.array([1, 2], dtype='u2'), m.array([0]), -1, 0)
m.put_along_axis(m.array([1, 2]), m.array([0]), 1j, 0)
m.array([1, 2], dtype='u8').flat.__setitem__(0, -1)
m.array([1, 2]).flat.__setitem__(0, 1j)
m.array([1, 2]).flat.__setitem__(slice(None), 1j)
m.array([1, 2], dtype='u1').flat.__setitem__(slice(None), 300)
m.piecewise(m.ones((2, 2)), [m.ones(2) > 0, m.ones((2, 2)) > 0], [1, 2])
m.average(m.array([1, 2], dtype='i1'), weights=m.array([1, 3], dtype='f4'))
m.average(m.array([True, False]), weights=m.array([1, 3], dtype='c8'))
m.average(m.array([1, 2], dtype='f4'), weights=m.array([1, 3]))
m.convolve(m.array([1.25, m.nan]), [1, 2, 1])
m.convolve(m.array([1., 2]), [1, m.inf, 1], 'same')
m.correlate(m.array([1.25, m.nan, 2, 3]), [1, 0.], 'full')
m.correlate(m.array([1, 2], dtype='f2'), m.array([m.inf, 1, 1], dtype='f2'), 'full')
""".strip().splitlines()


def outcome(m, text):
    """(results as (type, shape, values), categories of warnings) or the name of an error that both have."""
    with warnings.catch_warnings(record=True) as caught, np.errstate(all="ignore"):
        warnings.simplefilter("always")
        try:
            made = eval(text, {"m": m, "np": np})
        except (ArithmeticError, TypeError, ValueError, IndexError) as e:
            return next(t.__name__ for t in type(e).__mro__ if t.__module__ == "builtins")
    flat = []
    for x in made if isinstance(made, tuple) else (made,):
        flat += x if isinstance(x, list) else [x]
    seen = [(str(x.dtype), x.shape, np.asarray(x)) if hasattr(x, "dtype") else (x,) for x in flat]
    return seen, sorted(w.category.__name__ for w in caught)


@pytest.mark.parametrize("text", CALLS)
def test_call(text):
    want, got = outcome(np, text), outcome(tt, text)
    if isinstance(want, str) or isinstance(got, str):
        assert want == got
        return
    assert want[1] == got[1] and len(want[0]) == len(got[0])
    for a, b in zip(want[0], got[0]):
        assert a[:-1] == b[:-1]
        np.testing.assert_allclose(b[-1], a[-1], rtol=1e-6)
        assert (np.isnan(np.imag(a[-1])) == np.isnan(np.imag(b[-1]))).all()


NONE = ["m.array([1, None], dtype='f4')", "m.array([[None], [2]], dtype='c8')", "m.array([None, 1.5], dtype=bool)",
        "m.array([None], dtype=int)", "m.asarray(None, dtype=float)", "m.asarray((None, 2**70), dtype='f8')",
        "m.array([None, [1]], dtype=float)"]  # fmt: skip


@pytest.mark.parametrize("text", NONE)
def test_none_among_numbers(text):
    test_call(text)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float16", "float32", "float64", "complex64"])
@pytest.mark.parametrize("index", [0, (1, 1), ..., [0, 1], (slice(None), 0), None])
def test_none_is_stored(dtype, index):
    stored = []
    for m in (np, tt):
        a = m.ones((2, 2), dtype=dtype)
        for store in (lambda a=a: a.__setitem__(index, None), lambda a=a: a.fill(None)):
            try:
                store()
            except TypeError as e:
                stored.append(str(e).split(" arg")[0])
            stored.append(np.array(a))
    for a, b in zip(stored[: len(stored) // 2], stored[len(stored) // 2 :]):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("rule", ["auto", "doane", "fd", "rice", "scott", "sqrt", "stone", "sturges"])
@pytest.mark.parametrize("limits", [None, (-1, 1.5), (7, 8), (0, 0)])
def test_rules_of_bins(rule, limits):
    rng = np.random.default_rng(len(rule))
    for a in (rng.normal(size=1), rng.normal(size=2), rng.normal(size=1000), rng.exponential(size=77), np.ones(9),
              rng.integers(-3, 30, 200), np.array([]), np.array([0.5, np.nan])):  # fmt: skip
        if limits or not np.isnan(a).any():
            for f in ("histogram_bin_edges", "histogram"):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    want, got = getattr(np, f)(a, rule, limits), getattr(tt, f)(tt.asarray(a), rule, limits)
                for x, y in zip(want, got) if f == "histogram" else [(want, got)]:
                    np.testing.assert_allclose(np.array(y), x, rtol=1e-12, atol=1e-12)
