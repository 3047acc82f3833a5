"""Numbers as text against NumPy's: random floats of every width under random options, integers in other bases."""

import itertools

import numpy as np
import pytest
import tutti as tt

TYPES = ["float16", "float32", "float64"]


def floats(rng, dtype):
    bits = rng.integers(
        0, 2 ** (8 * np.dtype(dtype).itemsize), 60, dtype=f"u{np.dtype(dtype).itemsize}", endpoint=False
    )
    plain = np.array([0, -0.0, 1, -1.5, 0.1, 1e5, 123456, 9.5, 10.5, 99.5, 0.05, np.nan, np.inf, -np.inf, 2 / 3])
    with np.errstate(over="ignore"):
        return np.concatenate([bits.view(dtype), plain.astype(dtype), rng.uniform(-99, 99, 40).astype(dtype)])


def text(f, x, options):
    try:
        return f(x, **options)
    except Exception as e:
        return type(e).__name__


@pytest.mark.parametrize("name", ["format_float_positional", "format_float_scientific"])
@pytest.mark.parametrize("dtype", TYPES)
def test_floats(name, dtype):
    rng = np.random.default_rng(5)
    ours, theirs = getattr(tt, name), getattr(np, name)
    for x in floats(rng, dtype):
        for _ in range(12):
            options = {
                "precision": rng.choice([None, 0, 1, 3, 8]), "unique": bool(rng.integers(2)),
                "trim": rng.choice(list("k.0-")),
                "sign": bool(rng.integers(2)), "pad_left": rng.choice([None, 1, 8]),
                "min_digits": rng.choice([None, 0, 2, 5]),
            }  # fmt: skip
            if name.endswith("positional"):
                options |= {"fractional": bool(rng.integers(2)), "pad_right": rng.choice([None, 1, 6])}
            else:
                options["exp_digits"] = rng.choice([None, 1, 4])
            options = {k: v for k, v in options.items() if v is not None}
            if name.endswith("scientific") and options["trim"] == "-":  # NumPy leaves a point where it took zeros away
                continue
            if not options["unique"] and options.get("precision") is None:
                continue
            want, got = text(theirs, x, options), text(ours, tt.asarray(x), options)
            assert got == want, (x, options)


def test_floats_are_checked():
    for options in ({"trim": "x"}, {"unique": False}, {"precision": 2, "min_digits": 3}):
        assert text(tt.format_float_positional, 1.5, options) == text(np.format_float_positional, 1.5, options)
    assert tt.format_float_positional(np.float32(0.1)) == "0.1"
    assert tt.format_float_scientific(1.0001, precision=3, trim="-") == "1e+00"
    assert tt.format_float_positional(3) == np.format_float_positional(3)


def test_bases():
    for n, base, padding in itertools.product([0, 1, -1, 5, -37, 2**70, -(2**70)], [2, 3, 10, 36], [0, 3]):
        assert tt.base_repr(n, base, padding) == np.base_repr(n, base, padding)
    for base in (1, 37):
        assert text(lambda b: tt.base_repr(3, b), base, {}) == "ValueError"


def test_bits():
    for n, width in itertools.product([*range(-18, 19), 2**70, -(2**70)], [None, 0, 1, 4, 5, 6, 80]):
        assert text(tt.binary_repr, n, {"width": width}) == text(np.binary_repr, n, {"width": width}), (n, width)
    assert tt.binary_repr(tt.asarray(5)[()]) == "101" and text(tt.binary_repr, 2.5, {}) == "TypeError"
