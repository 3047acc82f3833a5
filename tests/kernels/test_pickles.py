"""What is compiled travels between processes: by name where it has one, else as the text it was made of."""

import functools
import os
import pickle
import shutil
import subprocess
import sys
import types

import pytest
import tutti as tt

HAS_ONE = any(map(shutil.which, ("c++", "g++", "clang++"))) and os.environ.get("TUTTI_CC") != "none"
pytestmark = pytest.mark.skipif(not HAS_ONE, reason="no compiler")

TEXT = r"""extern "C" __global__ void twice(float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= FACTOR;
}
__device__ float factor;
"""
OPTIONS = ("-DFACTOR=2",)


@tt.cuda.jit
def increment(a):
    i = tt.cuda.grid(1)
    if i < a.size:
        a[i] += 1


@tt.jit
def half(x):
    return x / 2


@tt.vectorize
def plus(x, y):
    return x + y


@tt.guvectorize(["void(float64[:], float64[:])"], "(n)->(n)")
def doubled(x, out):
    for i in range(x.shape[0]):
        out[i] = 2 * x[i]


@tt.stencil
def sides(a):
    return a[-1] + a[1]


class Held:
    @tt.jit
    def third(x):
        return x / 3


def again(it):
    return pickle.loads(pickle.dumps(it))


@pytest.mark.parametrize("it", [increment, half, plus, doubled, sides, Held.third], ids=lambda f: f.__name__)
def test_decorated_functions_go_by_name(it):
    assert again(it) is it


def test_decorated_functions_without_a_name_go_by_value():
    def plain(x):
        return x + 1

    with pytest.raises((pickle.PicklingError, AttributeError)):
        pickle.dumps(tt.jit(plain))
    cloudpickle = pytest.importorskip("cloudpickle")
    assert pickle.loads(cloudpickle.dumps(tt.jit(plain)))(1.0) == 2.0
    assert pickle.loads(cloudpickle.dumps(tt.vectorize(plain)))(tt.ones(2)).tolist() == [2.0, 2.0]


def _elsewhere(fn):
    """The function as it is on another machine: its file is not there, and newer cloudpickle drops the name too."""
    code = fn.__code__.replace(co_filename="<dynamic-code>")
    out = types.FunctionType(code, fn.__globals__, fn.__name__, fn.__defaults__, fn.__closure__)
    out.__dict__.update(fn.__dict__)
    return out


def test_functions_by_value_carry_their_source():
    def plain(x):
        return x * 3.0

    remake, parts = tt.jit(plain)._by_value()
    moved = [_elsewhere(part) if part is plain else part for part in parts]
    assert remake(*moved)(2.0) == 6.0


def test_launch():
    launch = again(increment[4, 64])
    a = tt.zeros(200)
    launch(a)
    again(increment.forall(200))(a)
    assert a.tolist() == [2.0] * 200


@pytest.mark.parametrize(
    "function",
    [
        lambda: tt.SourceModule(TEXT, options=OPTIONS).get_function("twice"),
        lambda: tt.RawModule(code=TEXT, options=OPTIONS).get_function("twice").kernel,
        lambda: tt.RawKernel(TEXT, "twice", OPTIONS).kernel,
    ],
    ids=["SourceModule", "RawModule", "RawKernel"],
)
def test_functions_of_programs(function):
    f = again(function())
    x = tt.arange(4, dtype="float32")
    f(x, 4, block=(4, 1, 1))
    assert x.tolist() == [0.0, 2.0, 4.0, 6.0]


def test_memory_of_variables_is_not_silently_another():
    for variable in (tt.SourceModule(TEXT, options=OPTIONS).variable("factor"),):
        with pytest.raises(TypeError, match="factor"):
            pickle.dumps(variable)


POOL = """
import functools, multiprocessing, sys
import tutti as tt

def run(f, x):
    f(x, x.size, block=(32, 1, 1))
    return x

@tt.jit
def half(x):
    return x / 2

@tt.vectorize
def more(x):
    return x + 1

@tt.cuda.jit
def increment(a):
    i = tt.cuda.grid(1)
    if i < a.size:
        a[i] += 1

def launched(f, a):
    f(a)
    return a

if __name__ == "__main__":
    text = sys.argv[2]
    f = tt.SourceModule(text, options=("-DFACTOR=2",)).get_function("twice")
    scale = tt.ElementwiseKernel("T x", "T y", "y = 3 * x", "scale")
    norm = tt.ReductionKernel("T x", "T y", "x * x", "a + b", "y = a", "0", "norm")
    x = tt.arange(3, dtype="float32")
    with multiprocessing.get_context(sys.argv[1]).Pool(1) as pool:
        for g in (functools.partial(run, f), functools.partial(launched, increment[1, 32]), scale, norm, more, tt.sum):
            print(pool.map(g, [x.copy()])[0].tolist())
        print(pool.map(half, [1.0]))
"""


@pytest.mark.parametrize("way", ["fork", "spawn"])
def test_pools_of_processes(way, tmp_path):
    program = tmp_path / "program.py"
    program.write_text(POOL)
    p = subprocess.run([sys.executable, program, way, TEXT], capture_output=True, text=True, timeout=120)
    assert p.returncode == 0, p.stderr
    want = [[0.0, 2.0, 4.0], [1.0, 2.0, 3.0], [0.0, 3.0, 6.0], 5.0, [1.0, 2.0, 3.0], 3.0, [0.5]]
    assert p.stdout.splitlines() == [str(w) for w in want]


@pytest.mark.parametrize(
    "make",
    [
        lambda: tt.sum,
        lambda: tt.linalg.svd,
        lambda: tt.add,
        lambda: tt.ndarray.sum,
        lambda: functools.partial(tt.full, (2,), 3.0),
        lambda: tt.random.rand,
        lambda: tt.polynomial.chebyshev.chebadd,
        lambda: tt.random.Generator,
        lambda: tt.float32,
    ],
)
def test_names_stay_what_they_are(make):
    it = make()
    if isinstance(it, functools.partial):
        assert again(it)().tolist() == it().tolist()
    else:
        assert again(it) is it or again(it) == it


@pytest.mark.parametrize("make", [lambda: tt.random.default_rng(1), lambda: tt.random.RandomState(1)])
def test_generators_go_on_where_they_were(make):
    rng = make()
    rng.normal(size=3)
    other = again(rng)
    assert other.normal(size=5).tolist() == rng.normal(size=5).tolist()


def test_values():
    for it in (tt.poly1d([1, 2, 3]), tt.polynomial.Legendre([1, 2], domain=[0, 2])):
        assert type(again(it)) is type(it) and again(it)(0.5) == it(0.5)
    for it in (tt.finfo("float32"), tt.iinfo("int8"), tt.device("cpu")):
        assert repr(again(it)) == repr(it)
