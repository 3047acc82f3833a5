"""ndarray.view: of the same type a view, of another one the bytes as they are, read-only."""

import itertools

import numpy as np
import pytest
import tutti as tt

TYPES = [
    "bool",
    "int8",
    "uint8",
    "int16",
    "float16",
    "uint32",
    "float32",
    "int64",
    "float64",
    "complex64",
    "complex128",
]


@pytest.mark.parametrize("a, b", list(itertools.product(TYPES, TYPES)))
def test_every_pair(a, b):
    x = np.random.default_rng(3).integers(0, 2, (3, 16)).astype(a)
    got = tt.asarray(x).view(b)
    want = x.view(b)
    assert got.shape == want.shape and str(got.dtype) == b
    if b == "bool":
        want = x.view("uint8") != 0
    np.testing.assert_array_equal(np.asarray(got).view("uint8"), want.view("uint8"))


def test_same_type_shares():
    a = tt.arange(6).reshape(2, 3)
    for v in (a.view(), a.view("int64"), a.view(tt.int64)):
        v[0, 0] += 5
    assert a[0, 0].item() == 15 and v.flags.writeable


def test_other_types_are_read_only():
    a = tt.ones(4, dtype="float32")
    v = (a * 2).view("uint32")
    assert v.tolist() == [0x40000000] * 4 and not v.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        v[0] = 1
    assert a.view(dtype="complex64").shape == (2,)
    assert tt.asarray(1.0).view("int64").item() == np.float64(1).view("int64")
    assert tt.zeros((0, 4)).view("int8").shape == (0, 32)


@pytest.mark.parametrize(
    "call",
    [
        lambda m: m.ones((4, 4)).T.view("int8"),
        lambda m: m.ones((4, 3), dtype="int16").view("float64"),
        lambda m: m.asarray(1.0).view("int8"),
        lambda m: m.ones(8)[::2].view("float32"),
    ],
)
def test_errors(call):
    with pytest.raises(ValueError) as want:
        call(np)
    with pytest.raises(ValueError) as got:
        call(tt)
    assert str(got.value) == str(want.value)
