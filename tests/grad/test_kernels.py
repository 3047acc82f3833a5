"""Kernels of users inside of functions with a derivative of their own: in CUDA C, as expressions and in Python."""

import os

import numpy as np
import pytest
import tutti as tt
from differences import check, check_second
from tutti import cuda

SOURCE = r"""
extern "C" __global__ void wave(const double *x, const double *w, double *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = sin(w[i] * x[i]);
}
extern "C" __global__ void slopes(const double *x, const double *w, const double *g, double *gx, double *gw, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double c = cos(w[i] * x[i]) * g[i];
  gx[i] = w[i] * c;
  gw[i] = x[i] * c;
}
"""
module = tt.RawModule(code=SOURCE)
wave, slopes = module.get_function("wave"), module.get_function("slopes")


def launch(kernel, n, *arrays):
    kernel(((n + 127) // 128,), (128,), (*arrays, np.int32(n)))


class InCudaC(tt.Function):
    @staticmethod
    def forward(ctx, x, w):
        ctx.save_for_backward(x, w)
        y = tt.empty(x.shape)
        launch(wave, x.size, x, w, y)
        return y

    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        return SlopesInCudaC.apply(x, w, g)


class SlopesInCudaC(tt.Function):
    """The first derivatives by a kernel, whose own are spelled."""

    @staticmethod
    def forward(ctx, x, w, g):
        ctx.save_for_backward(x, w, g)
        gx, gw = tt.empty(x.shape), tt.empty(x.shape)
        launch(slopes, x.size, x, w, g, gx, gw)
        return gx, gw

    @staticmethod
    def backward(ctx, a, b):
        x, w, g = ctx.saved_tensors
        s, c = tt.sin(w * x) * g, tt.cos(w * x)
        both = a * w + b * x
        return -both * w * s + b * c * g, -both * x * s + a * c * g, both * c


@cuda.jit
def cubes(x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = x[i] * x[i] * x[i]


@cuda.jit
def cube_slopes(x, g, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = 3 * x[i] * x[i] * g[i]


class InPython(tt.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        y = tt.empty(x.shape)
        cubes[(x.size + 63) // 64, 64](x, y)
        return y

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        out = tt.empty(x.shape)
        cube_slopes[(x.size + 63) // 64, 64](x, tt.ascontiguousarray(g), out)
        return out


hyperbola = tt.ElementwiseKernel("float64 x", "float64 y", "y = 1 / (1 + x * x)", "hyperbola")


class AsExpression(tt.Function):
    @staticmethod
    def forward(ctx, x):
        y = hyperbola(x)
        ctx.save_for_backward(x, y)
        return y

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return -2 * x * y * y * g


def values(n, seed=3):
    return np.random.default_rng(seed).standard_normal(n)


@pytest.mark.parametrize("n", [1, 127, 128, 129])
def test_first_derivatives(n):
    few = slice(0, 3)
    check(lambda x, w: InCudaC.apply(tt.tile(x, n), w[:1] * tt.ones(3 * n))[: 3 * n] * 2, values(3), values(2, 4))
    check(lambda x: InPython.apply(x * 2) + x, values(n)[few])
    check(lambda x: AsExpression.apply(tt.sin(x)), values(n)[few])


def test_second_derivatives():
    check_second(lambda x, w: InCudaC.apply(x * w, w), values(4), values(4, 5))
    check_second(lambda x: AsExpression.apply(x), values(5))


def test_larger_arrays_and_steps():
    x = tt.array(values(5000)).requires_grad_()
    w = tt.array(values(5000, 4)).requires_grad_()
    for _ in range(3):
        x.grad = w.grad = None
        (InCudaC.apply(x, w) * InPython.apply(w)).sum().backward()
        a, b = x.numpy(), w.numpy()
        np.testing.assert_allclose(x.grad.numpy(), b**4 * np.cos(a * b), rtol=1e-12, atol=1e-14)
        want = a * b**3 * np.cos(a * b) + 3 * b**2 * np.sin(a * b)
        np.testing.assert_allclose(w.grad.numpy(), want, rtol=1e-11, atol=1e-13)
        with tt.no_grad():
            x -= 0.1 * x.grad
            w -= 0.1 * w.grad


def by_wave(x):
    y = tt.empty(5)
    launch(wave, 5, x, x * 1, y)
    return y


def by_cubes(x):
    y = tt.empty(5)
    cubes[1, 64](x * 1, y)
    return y


@pytest.mark.parametrize("run", [by_wave, by_cubes])
def test_kernels_without_a_function_say_so(run):
    x = tt.array(values(5)).requires_grad_()
    y = run(x).sum()
    if run is by_cubes and os.environ.get("TUTTI_CC") == "none":  # as Python it is followed, element by element
        y.backward()
        np.testing.assert_allclose(x.grad.numpy(), 3 * x.numpy() ** 2)
        return
    with pytest.raises(NotImplementedError, match="derivative"):
        y.backward()


def test_expressions_have_derivatives_by_themselves():
    check(hyperbola, values(5))
    check_second(hyperbola, values(5))
