"""repr and str against NumPy's, text for text."""

import numpy as np
import pytest
import tutti as tt

SHAPES = [(), (1,), (3,), (10,), (0,), (2, 0), (2, 3), (4, 1, 3), (40,), (1001,), (60, 30), (8, 8, 20), (3, 500)]
TYPES = ["f2", "f4", "f8", "c8", "c16", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "?"]


def floats(rng, shape):
    x = rng.standard_normal(shape)
    kind = rng.integers(7)
    if kind == 1:
        x = x * 10.0 ** rng.integers(-10, 12, shape)
    if kind == 2:
        x = np.round(x, rng.integers(0, 5))
    if kind == 3:
        x = np.where(rng.random(shape) < 0.2, rng.choice([np.nan, np.inf, -np.inf, 0.0, -0.0]), x)
    if kind == 4:
        x = np.round(x * 10)
    if kind == 5:
        x = x * 10.0 ** rng.integers(-300, 300)
    if kind == 6:
        x = np.where(rng.random(shape) < 0.5, np.round(x * 100), x * 10.0 ** rng.integers(-6, 7))
    return np.asarray(x)


def sample(rng):
    shape, name = SHAPES[rng.integers(len(SHAPES))], TYPES[rng.integers(len(TYPES))]
    kind = np.dtype(name).kind
    with np.errstate(all="ignore"):
        if kind == "f":
            return floats(rng, shape).astype(name)
        if kind == "c":
            z = np.empty(shape, "c16")
            z.real, z.imag = floats(rng, shape), floats(rng, shape)
            return z.astype(name)
        if kind == "?":
            return np.asarray(rng.random(shape) < 0.5)
        big = 10 ** int(rng.integers(1, 19))
        return np.asarray(rng.integers(0 if kind == "u" else -big, big, shape)).astype(name)


def assert_same_text(a):
    b = tt.asarray(a)
    assert repr(b) == repr(a)
    assert str(b) == str(a)


@pytest.mark.parametrize("seed", range(20))
def test_random_arrays(seed):
    rng = np.random.default_rng(seed)
    for _ in range(80):
        assert_same_text(sample(rng))


@pytest.mark.parametrize("name", ["f2", "f4", "f8"])
def test_powers_of_two_and_their_neighbours(name):
    # the gap below a power of two is half the gap above: shortest digits differ there
    for k in range(-130, 130):
        with np.errstate(all="ignore"):
            x = np.array([2.0**k], name)
            assert_same_text(np.concatenate([x, np.nextafter(x, np.array(0, name)), x * x.dtype.type(1.5)]))
            assert_same_text(x[0:1].reshape(()))


@pytest.mark.parametrize(
    "options",
    [
        {"precision": 3},
        {"precision": 0},
        {"suppress": True},
        {"linewidth": 40},
        {"threshold": 5, "edgeitems": 2},
        {"sign": "+"},
        {"sign": " "},
        {"floatmode": "fixed", "precision": 4},
        {"floatmode": "unique"},
        {"floatmode": "maxprec_equal", "precision": 5},
        {"nanstr": "missing", "infstr": "huge"},
    ],
    ids=str,
)
def test_options(options):
    rng = np.random.default_rng(5)
    for _ in range(60):
        a = sample(rng)
        with np.printoptions(**options), tt.printoptions(**options):
            assert_same_text(a)


def test_options_end_with_the_block():
    before = tt.get_printoptions()
    with tt.printoptions(precision=2):
        assert tt.get_printoptions()["precision"] == 2
    assert tt.get_printoptions() == before
    with pytest.raises(ValueError, match="floatmode"):
        tt.set_printoptions(floatmode="nonsense")
    assert tt.get_printoptions() == before


def test_bad_block_options_are_undone():
    before = tt.get_printoptions()
    with pytest.raises(ValueError), tt.printoptions(sign="?"):
        pass
    assert tt.get_printoptions() == before


def test_bfloat16():
    assert repr(tt.array([1, 2.5], tt.bfloat16)) == "array([1. , 2.5], dtype=bfloat16)"
    assert repr(tt.array([0.1], tt.bfloat16)) == "array([0.1], dtype=bfloat16)"


def test_format():
    assert f"{tt.array(3.14159):.2f}" == "3.14"
    assert f"{tt.array([1, 2])}" == "[1 2]"
    with pytest.raises(TypeError, match="unsupported format string"):
        format(tt.array([1.0]), ".2f")
