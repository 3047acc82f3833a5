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
