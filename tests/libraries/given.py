"""Programs of other libraries' users, run with NumPy's arrays and with ours: what comes out is the same.

A case is a function of a bundle of arrays, which it hands to a library as its users do.
"""

import dataclasses
import importlib
from collections.abc import Mapping
from types import SimpleNamespace

import numpy as np
import pytest
import tutti as tt


def arrays(make):
    """The arrays that cases pick from, each made by `make` of a NumPy array."""
    rng = np.random.default_rng(7)
    x = np.linspace(0.1, 6.3, 64)
    numpys = {
        "x": x,
        "y": np.sin(x) + 0.1 * rng.standard_normal(64),
        "f": np.cos(x).astype("f4"),
        "z": np.exp(1j * x),
        "m": rng.standard_normal((12, 4)),
        "n": rng.standard_normal((4, 12)),
        "s": np.eye(4) * 5 + rng.random((4, 4)),
        "k": rng.integers(0, 4, 64),
        "u": rng.integers(0, 255, 64).astype("u1"),
        "b": rng.random(64) > 0.4,
        "image": rng.random((24, 32)),
        "pixels": rng.integers(0, 256, (24, 32, 3)).astype("u1"),
        "cube": rng.random((2, 6, 6, 3)),
        "labels": np.arange(12) % 3,
    }
    return SimpleNamespace(**{name: make(a) for name, a in numpys.items()})


def check(got, want, path="result"):
    """Equal values in equal containers; an array of ours stands where NumPy's does."""
    if isinstance(want, (np.ndarray, np.generic)) or isinstance(got, tt.ndarray):
        got, want = np.asarray(got), np.asarray(want)
        assert got.dtype == want.dtype, f"{path}: {got.dtype}, expected {want.dtype}"
        assert got.shape == want.shape, f"{path}: {got.shape}, expected {want.shape}"
        if want.dtype.kind in "fc":
            np.testing.assert_allclose(got, want, rtol=1e-5 if want.itemsize < 8 else 1e-9, atol=1e-9, err_msg=path)
        else:
            np.testing.assert_array_equal(got, want, err_msg=path)
    elif isinstance(want, Mapping):
        assert set(got) == set(want), path
        for key in want:
            check(got[key], want[key], f"{path}[{key!r}]")
    elif dataclasses.is_dataclass(want) and not isinstance(want, type):
        for field in dataclasses.fields(want):
            check(getattr(got, field.name), getattr(want, field.name), f"{path}.{field.name}")
    elif isinstance(want, (list, tuple)):
        assert len(got) == len(want), path
        for k, (one, other) in enumerate(zip(got, want, strict=True)):
            check(one, other, f"{path}[{k}]")
    elif isinstance(want, float):
        assert got == pytest.approx(want, rel=1e-9, abs=1e-9, nan_ok=True), path
    else:
        assert got == want, path


def cases(library, table):
    """The rows of a table as parameters of a test; without the library they are one that is skipped."""
    try:
        importlib.import_module(library)
    except ImportError:
        mark = pytest.mark.skip(reason=f"needs {library} (make test-libraries): {len(table)} cases")
        return [pytest.param(None, id=library, marks=[mark])]
    return [pytest.param(f, id=f"{library}-{name}") for name, f in table.items()]


def same(f):
    """The case f, both ways."""
    want = f(arrays(np.array))
    check(f(arrays(tt.asarray)), want)
