"""Elements where programs ask for numbers, and what travels between processes: json, pickles, pools."""

import copy
import json
import math
import pickle
import subprocess
import sys

import numpy as np
import pytest
import tutti as tt

KERNEL = tt.ElementwiseKernel("float32 x, float32 y", "float32 z", "z = (x - y) * (x - y)", "squared_difference")
RAW = tt.RawKernel('extern "C" __global__ void twice(float *x) { x[threadIdx.x] *= 2; }', "twice")
SUM = tt.ReductionKernel("T x", "T y", "x", "a + b", "y = a", "0", "plain_sum")


@pytest.mark.parametrize(
    "f", [tt.sum, tt.sin, tt.linalg.solve, tt.fft.fft, tt.random.default_rng, tt.add, tt.where, tt.array]
)
def test_functions(f):
    assert pickle.loads(pickle.dumps(f)) is f
    assert copy.copy(f) is f and copy.deepcopy(f) is f


@pytest.mark.parametrize("name", sorted(n for n in tt.__all__ if callable(getattr(tt, n))))
def test_every_function(name):
    value = getattr(tt, name)
    assert pickle.loads(pickle.dumps(value)) is value


def test_methods():
    x = tt.arange(4.0)
    assert pickle.loads(pickle.dumps(x.sum))().item() == 6
    assert pickle.loads(pickle.dumps(tt.ndarray.sum))(x).item() == 6
    assert pickle.loads(pickle.dumps(tt.add.reduce))(x).item() == 6


def test_kernels():
    x, y = tt.arange(4, dtype="float32"), tt.ones(4, "float32")
    for back in (pickle.loads(pickle.dumps(KERNEL)), copy.deepcopy(KERNEL)):
        assert back(x, y).tolist() == [1, 0, 1, 4] and back.name == KERNEL.name
    assert pickle.loads(pickle.dumps(SUM))(x).item() == 6
    z = tt.arange(4, dtype="float32")
    pickle.loads(pickle.dumps(RAW))((1,), (4,), (z,))
    assert z.tolist() == [0, 2, 4, 6]


def test_cloudpickle():
    cloudpickle = pytest.importorskip("cloudpickle")
    x = tt.arange(4.0)
    f = cloudpickle.loads(cloudpickle.dumps(lambda v: tt.sum(v * x) + KERNEL(v.astype("f4"), v.astype("f4")).sum()))
    assert f(x).item() == 14


POOL = """
import multiprocessing, sys
import tutti as tt

if __name__ == "__main__":
    arrays = [tt.arange(n + 1.0) for n in range(4)]
    with multiprocessing.get_context(sys.argv[1]).Pool(2) as pool:
        print([x.item() for x in pool.map(tt.sum, arrays)])
        print([x.tolist() for x in pool.starmap(tt.add, [(arrays[1], 1)])])
"""


@pytest.mark.parametrize("method", ["spawn", "fork", "forkserver"])
def test_pool(method, tmp_path):
    """In a process of its own: what else is loaded here may not survive a fork."""
    (tmp_path / "pool.py").write_text(POOL)
    command = [sys.executable, tmp_path / "pool.py", method]
    p = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert p.stdout == "[0.0, 1.0, 3.0, 6.0]\n[[1.0, 2.0]]\n", p.stderr


def test_joblib():
    joblib = pytest.importorskip("joblib")
    x = tt.arange(4.0)
    got = joblib.Parallel(2)(joblib.delayed(tt.sum)(x * k) for k in range(3))
    assert [g.item() for g in got] == [0, 6, 12]
    assert joblib.hash(x) == joblib.hash(tt.arange(4.0)) != joblib.hash(x + 1)


def test_elements_are_numbers():
    import numbers

    x, k, b, z = tt.asarray([1.5])[0], tt.asarray([3])[0], tt.asarray([True])[0], tt.asarray([1j])[0]
    assert isinstance(x, numbers.Real) and isinstance(x, numbers.Number) and not isinstance(x, numbers.Integral)
    assert isinstance(k, numbers.Integral) and isinstance(z, numbers.Complex) and not isinstance(z, numbers.Real)
    assert not isinstance(tt.asarray([1.5]), numbers.Number)
    assert np.isscalar(x) and tt.isscalar(k)
    assert (math.floor(x), math.ceil(x), round(x), math.trunc(x)) == (1, 2, 2, 1)
    assert x.is_integer() is False and x.as_integer_ratio() == (3, 2) and k.bit_count() == 2
    assert (k.numerator, k.denominator) == (3, 1)
    assert z.conjugate() == -1j and math.sqrt(k) == math.sqrt(3) and [10, 20, 30, 40][k] == 40
    assert f"{x:.2f} {k:03d} {b}" == "1.50 003 True" and "%d %.1f" % (k, x) == "3 1.5"  # noqa: UP031
    assert {x: 1}[1.5] == 1 and {3: "a"}[k] == "a" and x in {1.5} and range(5)[k] == 3
    assert int(k) == 3 and float(x) == 1.5 and complex(z) == 1j and bool(b) is True and "ab" * k == "ababab"
    assert not np.iterable(x) and sum([x, x]) == 3 and max(k, 2) == 3 and min(x, 7) == 1.5 and divmod(k, 2) == (1, 1)
    from decimal import Decimal
    from fractions import Fraction

    assert Fraction(int(k), 2) == Fraction(3, 2) and Decimal(float(x)) == Decimal("1.5")
    import datetime
    import random
    import statistics

    assert datetime.timedelta(seconds=float(x)).total_seconds() == 1.5
    assert statistics.mean([1.0, float(x)]) == 1.25
    random.Random(int(k)).random()


def test_json():
    x = tt.asarray([1.5, 2.5])
    with pytest.raises(TypeError, match="JSON"):  # as NumPy's float32 and int64: json asks for Python's own float
        json.dumps(x[0])
    assert json.dumps({"mean": x.mean(), "all": x}, default=lambda v: v.tolist()) == '{"mean": 2.0, "all": [1.5, 2.5]}'
    assert json.dumps([x[0].item(), float(x[1])]) == "[1.5, 2.5]"
    orjson = pytest.importorskip("orjson")
    assert orjson.dumps({"x": x}, default=lambda v: v.tolist()) == b'{"x":[1.5,2.5]}'


def test_programs_that_never_import_numpy():
    program = "import sys, tutti as tt, pickle, copy\npickle.loads(pickle.dumps(tt.sum))\ncopy.copy(tt.sin)\n"
    program += (
        "import numbers; assert isinstance(tt.asarray([1.5])[0], numbers.Real)\nassert 'numpy' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
