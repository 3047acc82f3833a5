from typing import Any

import tutti as tt

x = tt.zeros((2, 3))
total: tt.ndarray = x.sum(axis=0)
mean: tt.ndarray = tt.mean(x, axis=1, keepdims=True)
shape: tuple[int, ...] = x.T.shape
number: float = float(x[0, 0])
listed: Any = x.tolist()
found: tuple[tt.ndarray, ...] = tt.where(x > 0)
chosen: tt.ndarray = tt.where(x > 0, x, 0)
parts: list[tt.ndarray] = tt.split(x, 2)
kinds: tt.ndarray = tt.unique(x)
solved: tt.ndarray = tt.linalg.solve(x @ x.T, x)
drawn = tt.random.default_rng(0).random(3)
add = tt.ElementwiseKernel("T x, T y", "T z", "z = x + y", "add")
z = add(x, x)
raw = tt.RawKernel('extern "C" __global__ void f(float *x) {}', "f")
raw((1,), (1,), (x,))
grown: tt.ndarray = 2 * x + [1, 2, 3]

# What arguments decide.
counted: tuple[tt.ndarray, ...] = tt.unique(x, return_counts=True)
values, step = tt.linspace(0, 1, 5, retstep=True)
spaced: tt.ndarray = tt.linspace(0, 1, num=5)
u: tt.ndarray = tt.linalg.svd(x).U
only: tt.ndarray = tt.linalg.svd(x, compute_uv=False)
mean_of, sums = tt.average(x, weights=x, returned=True)
fitted: tt.ndarray = tt.polyfit(x[0], x[1], 1)
everything = tt.polyfit(x[0], x[1], 1, full=True)

# Random numbers: one is Python's, several are an array.
rng: tt.random.Generator = tt.random.default_rng(0)
one: float = rng.normal()
several: tt.ndarray = rng.normal(0.0, 1.0, size=(2, 3))
of_arrays: tt.ndarray = rng.normal(x, 1.0)
whole: int = rng.integers(10)
wholes: tt.ndarray = rng.integers(0, 10, size=5)
legacy: float = tt.random.RandomState(1).rand()
drawn_legacy: tt.ndarray = tt.random.RandomState(1).rand(3, 2)
uniform: tt.ndarray = tt.random.uniform(0, 1, 10)
other_rng = tt.random.default_rng(tt.random.PCG64(1))
tt.random.seed(3)

# Kernels are called, ufuncs have methods.
module = tt.SourceModule("__global__ void f(float *x) {}")
module.get_function("f")(x, block=(1, 1, 1), grid=(1, 1))
norm = tt.ReductionKernel("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "norm")
length = norm(x, axis=1)


@tt.cuda.jit
def kernel(a: Any) -> None:
    a[0] = 1


kernel[1, 1](x)


@tt.jit
def twice(a: float) -> float:
    return 2 * a


twice(3.0)
reduced: tt.ndarray = tt.add.reduce(x, axis=0)
quotient, remainder = tt.divmod(x, 2)
moved: tt.ndarray = x.transpose(1, 0).reshape(-1)
dotted: tt.ndarray = tt.tensordot(x, x, axes=2)
text: str = tt.base_repr(3)
same: bool = tt.allclose(x, x)
