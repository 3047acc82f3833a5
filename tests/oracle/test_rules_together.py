"""Rules of several results, parts and keys at once: a call a row, made by both, and what a refused call leaves."""

import warnings

import numpy as np
import pytest
import test_rules_of_calls as rules
import tutti as tt

CALLS = """
m.concatenate([m.zeros((3, 0), order='F'), m.zeros((3, 2), order='F')], 1).strides
m.column_stack([m.zeros((3, 2), order='F'), m.zeros((3, 0), order='F')]).strides
m.concatenate([m.zeros((3, 0), order='F'), m.zeros((3, 1)), m.zeros((3, 2), order='F')], 1).strides
m.concatenate([m.zeros((1, 0), order='F'), m.zeros((1, 3), order='F')], 1).strides
m.dstack([m.zeros((3, 2, 0), order='F'), m.zeros((3, 2, 2), order='F')]).strides
m.lexsort([3, 4], axis=0)
m.lexsort([3, 4], axis=-1)
m.lexsort([3, 4], axis=1)
m.lexsort([[1, 2], [3]], axis=5)
m.lexsort([m.zeros((0, 2)), m.zeros((0, 2))], axis=4)
m.modf(m.array(2.5), out=(m.zeros((2, 3)), None))[1].shape
m.frexp(m.array([2.5]), out=(None, m.zeros((2, 3), dtype='i4')))[0].shape
m.frexp(m.zeros((2, 4, 5)), out=(m.zeros((2, 4, 5)), m.zeros((4, 5), dtype='i4')))
m.divmod(m.array([7, 8]), 3, out=(m.zeros((2, 2), dtype=int), None))
m.modf(m.array([2.5, 1]), out=(None, None), where=m.array([[True], [True]]))
m.modf(m.array([2.5, 1]), out=(None, m.zeros(3)))
m.ldexp(m.array([1.]), m.array([1], dtype='u8'))
m.ldexp(m.array([1]), m.array([1]), casting='no')
m.ldexp(m.array([1j]), 1)
m.ldexp(m.array([1.]), m.array([1], dtype='i2'), casting='no')
m.ldexp(m.array([1.]), m.array([1], dtype='i4'), casting='no')
m.signbit(m.array([1], dtype='u2'), casting='no')
m.signbit(m.array([1.]), casting='no')
m.signbit(m.array([1j]), dtype=bool)
m.cov(m.arange(12).reshape(3, 4) ** 2 % 7)
m.corrcoef(m.arange(12).reshape(3, 4) ** 2 % 7)
m.corrcoef(m.array([[1 + 1j, 2, 3j], [3, 1j, 2 + 2j]]))
""".strip().splitlines()


@pytest.mark.parametrize("text", CALLS)
def test_call(text):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rules.test_call(text)


def test_the_width_of_a_negative_number_is_a_size():
    for m in (np, tt):
        with pytest.raises(MemoryError):
            m.binary_repr(-1, 2**63)


REFUSED = [
    "m.modf(x, out=(a, m.zeros(3, dtype=int)))",
    "m.frexp(x, out=(a, m.zeros(3, dtype='u4')))",
    "m.modf(x, out=(a, m.zeros(2)))",
    "m.modf(x, out=(a, m.broadcast_to(m.zeros(1), (3,))))",
    "m.divmod(x, 2, out=(a, m.zeros(3, dtype=int)), where=x > 2)",
]


@pytest.mark.parametrize("text", REFUSED)
def test_a_refused_call_has_written_none_of_its_results(text):
    for m in (np, tt):
        x, a = m.asarray([1.5, 2.5, 3.5]), m.asarray([7.0, 8.0, 9.0])
        with pytest.raises((TypeError, ValueError)):
            eval(text, {"m": m, "x": x, "a": a})
        assert a.tolist() == [7, 8, 9]


@pytest.mark.parametrize("dtype", ["int64", "int8", "float32"])
def test_covariances_have_numpys_bits_where_sums_are_exact(dtype):
    """The sum is multiplied by the reciprocal, and only rounds there."""
    for seed in range(40):
        rng = np.random.default_rng(seed)
        a = rng.integers(-30, 30, (rng.integers(2, 6), rng.choice([16, 32]))).astype(dtype)
        for name in ("cov", "corrcoef"):
            want, got = getattr(np, name)(a), getattr(tt, name)(tt.asarray(a))
            np.testing.assert_array_equal(got.numpy(), want)


def test_correlations_of_complex_numbers_stay_within_one():
    for seed in range(60):
        rng = np.random.default_rng(seed)
        a = tt.asarray(rng.normal(size=(3, 5)) + 1j * rng.normal(size=(3, 5)))
        c = tt.corrcoef(a).numpy()
        assert (abs(c.real) <= 1).all() and (abs(c.imag) <= 1).all()
