"""What kernels refuse, in CUDA C and in Python: each with words that say what is wrong, and with nothing lost."""

import linecache
import shutil
import textwrap

import numpy as np
import pytest
import tutti as tt
from interrupt import after_ctrl_c
from tutti import cuda

needs_cxx = pytest.mark.skipif(not (shutil.which("c++") or shutil.which("g++")), reason="no C++ compiler")

SOURCE = """
extern "C" __global__ void scale(float *out, const float *in, int n, float by) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] * by;
}
"""


@cuda.jit
def scale(out, x, by):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] * by


@tt.njit
def total(x):
    acc = 0.0
    for v in x:
        acc += v
    return acc


@pytest.fixture(scope="module")
def in_c():
    return tt.SourceModule(SOURCE).get_function("scale")


@pytest.fixture(params=["CUDA C", "Python"])
def launch(request):
    """launch(grid, block, args, shared): the same kernel from either language; it works before and after."""
    if request.param == "CUDA C":
        if not (shutil.which("c++") or shutil.which("g++")):
            pytest.skip("no C++ compiler")
        f = request.getfixturevalue("in_c")

        def start(grid, block, args, shared=0):
            f(args[0], args[1], len(args[0]), *args[2:], grid=grid, block=block, shared=shared)
    else:

        def start(grid, block, args, shared=0):
            scale[grid, block, 0, shared](*args)

    def works():
        x, out = np.arange(8, dtype="f4"), np.zeros(8, "f4")
        start((2, 1), (4, 1, 1), (out, x, 3.0))
        np.testing.assert_array_equal(out, 3 * x)

    works()
    yield start
    works()


X = np.ones(8, "f4")


@pytest.mark.parametrize(
    "grid, block, words",
    [
        ((1, 1), (2048, 1, 1), "1024"),
        ((1, 1), (32, 64, 1), "2048.*1024|32 x 64 x 1"),
        ((1, 1), (1, 1, 128), "64"),
        ((1, 1), (0, 1, 1), r"\(0,1,1\)|0 x 1 x 1"),
        ((0, 1), (8, 1, 1), r"\(0,1,1\)|0 x 1 x 1"),
        ((1, 70000), (8, 1, 1), "65535"),
        ((-1, 1), (8, 1, 1), "-1"),
    ],
)
def test_shapes_of_launches(launch, grid, block, words):
    with pytest.raises(ValueError, match=words):
        launch(grid, block, (X.copy(), X, 1.0))


def test_axes_of_launches(launch):
    with pytest.raises((ValueError, TypeError), match="1 to 3|one to three"):
        launch((1, 1, 1, 1), (8, 1, 1), (X.copy(), X, 1.0))
    with pytest.raises(TypeError):
        launch((1.5, 1), (8, 1, 1), (X.copy(), X, 1.0))


def test_shared_memory_of_launches(launch):
    for size in (1 << 20, -1):
        with pytest.raises(ValueError, match=f"{size} bytes of shared memory"):
            launch((1, 1), (8, 1, 1), (X.copy(), X, 1.0), size)


def test_numbers_of_arguments(in_c):
    with pytest.raises(TypeError, match=r"kernel scale takes 4 arguments \(3 given\)"):
        in_c(X.copy(), X, 8, block=(8, 1, 1))
    with pytest.raises(TypeError, match=r"takes 4 arguments \(5 given\)"):
        in_c(X.copy(), X, 8, 1.0, 2, block=(8, 1, 1))
    with pytest.raises(TypeError, match="takes 3 arguments but 2 were given"):
        scale[1, 8](X.copy(), X)
    with pytest.raises(TypeError, match="takes 3 arguments but 4 were given"):
        scale[1, 8](X.copy(), X, 1.0, 2)
    with pytest.raises(TypeError, match="keyword"):
        scale[1, 8](X.copy(), X, by=1.0)
    with pytest.raises(TypeError):
        total()
    with pytest.raises(TypeError):
        total(X, X)


@needs_cxx
@pytest.mark.parametrize(
    "args, error, words",
    [
        ((X.copy(), np.ones(8), 8, 1.0), TypeError, r"argument 2 \('in', const float32 \*\).*holds float64"),
        ((X.copy(), X, 8.5, 1.0), TypeError, r"argument 3 \('n', int32\).*floating-point"),
        ((X.copy(), X, 1 << 40, 1.0), OverflowError, "argument 3 .*integer 1099511627776 out of bounds for int32"),
        ((X.copy(), X, (1 << 63) + 5, 1.0), OverflowError, "argument 3 .*integer 9223372036854775813 out of bounds"),
        ((X.copy(), X, X, 1.0), TypeError, r"argument 3 .* is no pointer, and an array is given"),
        ((3.5, X, 8, 1.0), TypeError, r"argument 1 .* needs an array, a number is given"),
        ((123456, X, 8, 1.0), TypeError, r"argument 1 .* needs an array, a number is given"),
        (("out", X, 8, 1.0), TypeError, "argument 1 .*cannot be a <class 'str'>"),
        ((np.broadcast_to(np.float32(1), 8), X, 8, 1.0), ValueError, "read-only|not contiguous"),
        ((np.ones((8, 8), "f4")[:, 0], X, 8, 1.0), ValueError, "not contiguous"),
    ],
)
def test_types_of_arguments_in_c(in_c, args, error, words):
    with pytest.raises(error, match=words):
        in_c(*args, block=(8, 1, 1))


class Elsewhere:
    """An array that says it lies on a GPU."""

    def __init__(self):
        self.memory = np.ones(8, "f4")
        self.__cuda_array_interface__ = {
            "shape": (8,), "typestr": "<f4", "data": (self.memory.ctypes.data, False), "version": 3, "strides": None,
        }  # fmt: skip


@pytest.mark.parametrize(
    "args, words",
    [
        (("out", X, 1.0), "numbers, tuples and arrays, not .*str"),
        ((object(), X, 1.0), "numbers, tuples and arrays, not .*object"),
        ((np.array([None] * 8), X, 1.0), "format 'O'"),
        ((np.broadcast_to(np.float32(1), 8), X, 1.0), "read-only"),
        ((3.5, X, 1.0), "float64 has no attribute 'size': it is a number, not an array(.|\n)*in scale.*line"),
        ((123456, X, 1.0), "int64 has no attribute 'size'.*a number, not an array(.|\n)*in scale.*line"),
        ((X.copy(), 7, 1.0), "int64 has no elements: it is a number, not an array"),
        ((X.copy(), X, X), "cannot store array.* in an element of array(.|\n)*in scale.*line"),
    ],
)
def test_types_of_arguments_in_python(args, words):
    with pytest.raises((TypeError, NotImplementedError, ValueError), match=words):
        scale[1, 8](*args)


@needs_cxx
def test_arrays_on_another_device(in_c):
    if cuda.is_available():
        pytest.skip("the array that says it lies on a GPU would be believed")
    with pytest.raises((TypeError, ValueError), match="GPU|device"):
        scale[1, 8](Elsewhere(), X, 1.0)
    with pytest.raises((TypeError, ValueError), match="GPU|device"):
        total(Elsewhere())
    with pytest.raises(TypeError, match="cannot be a <class .*Elsewhere"):
        in_c(Elsewhere(), X, 8, 1.0, block=(8, 1, 1))


def made(body, decorate=cuda.jit):
    """A kernel of an array `a` with that body, and its file's name."""
    text = f"def k(a):\n{textwrap.indent(body, '    ')}\n"
    name = f"<kernel {len(linecache.cache)} of the tests>"
    linecache.cache[name] = len(text), None, text.splitlines(True), name
    space = {"cuda": cuda, "np": np, "tt": tt}
    exec(compile(text, name, "exec"), space)
    return decorate(space["k"]), name


@pytest.mark.parametrize(
    "body",
    [
        "with a: pass",
        "a[0] = (lambda: 1)()", "import os", "del a", "global q", "x = f'{a}'", "class C: pass",
        "a[0] = open('x')", "a[0] = np.fft.fft(a)", "a.foo()", "b.x = 1",
        "match a[0]:\n    case 1: pass", "print(a, sep='')",
        "a[0] = max(*a)", "async def f(): pass",
        "a[0] = eval('1')", "x = *a, 1", "a[0] = 1 if (y := 2) else 3", "nonexistent(a)",
    ],
)  # fmt: skip
@pytest.mark.parametrize("kind", ["kernel", "function"])
def test_constructs_that_are_not_covered(body, kind):
    k, name = made(body, cuda.jit if kind == "kernel" else tt.njit)
    with pytest.raises((NotImplementedError, NameError, TypeError)) as e:
        k[1, 1](np.zeros(2)) if kind == "kernel" else k(np.zeros(2))
    assert f"in k, {name} line 2" in str(e.value), str(e.value)


@pytest.mark.parametrize(
    "body",
    ["x = {1: 2}", "x = {1, 2}", "x = [i for i in range(3)]", "yield 1", "try:\n    a[0] = 1\nexcept ValueError: pass"],
)
def test_what_only_functions_have(body):
    k, name = made(body, cuda.jit)
    with pytest.raises(NotImplementedError) as e:
        k[1, 1](np.zeros(2))
    assert f"in k, {name} line 2" in str(e.value), str(e.value)


@pytest.mark.parametrize(
    "body, error, words",
    [
        ("return 1", TypeError, "a kernel returns nothing"),
        ("a[0] = undefined", NameError, "'undefined' is not defined"),
        ("a[0] = 'text'", TypeError, "cannot store str"),
        ("a[0, 0] = 1", IndexError, "2 indices for an array of 1 axes"),
        ("a[0] = a[0:1]", TypeError, "in an element of array"),
        (
            "x = 1\nif a[0] > 0:\n    x = (1, 2)\na[0] = x",
            TypeError,
            r"Cannot unify int64 and \(int64, int64\) for 'x'",
        ),
        ("s = cuda.shared.array(a.size, 'f4')\na[0] = s[0]", TypeError, "must be constant"),
        ("s = cuda.shared.array(100000, 'f4')\na[0] = s[0]", ValueError, "400000 bytes of static shared memory"),
        ("s = cuda.local.array(2000000000, 'f4')\na[0] = s[0]", ValueError, "too much local memory"),
        ("a[0] = cuda.grid(4)", ValueError, "1 to 3 axes"),
        ("a[0] = cuda.atomic.add(a, 0)", TypeError, "does not take 2 arguments"),
        ("cuda.atomic.xor(a, 0, 1)", TypeError, "float64"),
        ("a[0] = cuda.shfl_sync(1, a, 0)", TypeError, "array"),
        ("a[0] = cuda.no_such_word()", AttributeError, "no_such_word"),
    ],
)
def test_mistakes_in_kernels(body, error, words):
    k, _ = made(body)
    with pytest.raises(error, match=words):
        k[1, 1](np.zeros(2))


def test_words_of_kernels_mean_nothing_outside():
    with pytest.raises(RuntimeError, match="inside a kernel only"):
        cuda.grid(1)
    with pytest.raises(RuntimeError, match="inside a kernel only"):
        cuda.syncthreads()
    with pytest.raises(AttributeError, match="has no 'w'"):
        cuda.threadIdx.w  # noqa: B018

    @tt.njit
    def f(x):
        return cuda.grid(1) + x

    with pytest.raises(TypeError, match="inside kernels only"):
        f(1)


@needs_cxx
def test_source_that_does_not_compile():
    with pytest.raises(tt.CompileError, match=r"(?s)kernel.cu(:2:|\(2\)).*nothing"):
        tt.SourceModule("__global__ void f(float *a) {\n  a[0] = nothing;\n}")
    with pytest.raises(tt.CompileError, match=r"kernel.cu(:1:|\(1\))"):
        tt.SourceModule("this is no C")
    with pytest.raises(TypeError, match="is a str, not NoneType"):
        tt.SourceModule(None)
    with pytest.raises(ValueError, match="no kernel 'g'; it has f"):
        tt.RawKernel('extern "C" __global__ void f(float *a) { a[0] = 1; }', "g")((1,), (1,), (X.copy(),))
    with pytest.raises(ValueError, match="it has none"):
        tt.SourceModule("").get_function("f")


ENDLESS = {
    "CUDA C": """
        k = tt.SourceModule(
            "__global__ void k(volatile int *a) { while (a[0] == 0) a[1]++; }").get_function("k")
        again = lambda: k(np.ones(2, np.int32), block=(32, 1, 1), grid=(64, 1))
        start = lambda: k(np.zeros(2, np.int32), block=(32, 1, 1), grid=(64, 1))
    """,
    "CUDA C with barriers": """
        k = tt.SourceModule(
            "__global__ void k(volatile int *a) { while (a[0] == 0) { a[1]++; __syncthreads(); } }").get_function("k")
        again = lambda: k(np.ones(2, np.int32), block=(32, 1, 1), grid=(64, 1))
        start = lambda: k(np.zeros(2, np.int32), block=(32, 1, 1), grid=(64, 1))
    """,
    "Python": """
        @cuda.jit
        def k(a):
            while a[0] == 0:
                a[1] += 1
        again, start = lambda: k[64, 32](np.ones(2)), lambda: k[64, 32](np.zeros(2))
    """,
    "Python with barriers": """
        @cuda.jit
        def k(a):
            while a[0] == 0:
                cuda.syncthreads()
                a[1] += 1
        again, start = lambda: k[64, 32](np.ones(2)), lambda: k[64, 32](np.zeros(2))
    """,
    "one thread at a time": """
        os.environ["TUTTI_KERNEL_STEP"] = "1"
        @cuda.jit
        def k(a):
            while a[0] == 0:
                cuda.syncthreads()
                a[1] += 1
        again, start = lambda: k[1, 4](np.ones(2)), lambda: k[1, 4](np.zeros(2))
    """,
    "a function": """
        @tt.njit
        def k(a):
            while a[0] == 0:
                a[1] += 1
            return a[1]
        again, start = lambda: k(np.ones(2)), lambda: k(np.zeros(2))
    """,
    "a parallel function": """
        @tt.njit(parallel=True)
        def k(a):
            n = 0
            for i in tt.prange(1000):
                while a[0] == 0:
                    n += 1
            return n
        again, start = lambda: k(np.ones(2)), lambda: k(np.zeros(2))
    """,
}


@pytest.mark.parametrize("kind", ENDLESS)
def test_endless_loops_end_by_ctrl_c(kind, tmp_path):
    if kind.startswith("CUDA C") and not (shutil.which("c++") or shutil.which("g++")):
        pytest.skip("no C++ compiler")
    script = tmp_path / "endless.py"
    script.write_text(
        "import os\nimport numpy as np\nimport tutti as tt\nfrom tutti import cuda\n"
        + textwrap.dedent(ENDLESS[kind])
        + textwrap.dedent("""
        again()
        print("begin", flush=True)
        try:
            start()
        except KeyboardInterrupt:
            again()
            print("interrupted, and goes on", flush=True)
        """)
    )
    assert after_ctrl_c(script, TUTTI_DEVICE="cpu") == ("interrupted, and goes on\n", 0)
