"""cmath in compiled functions and kernels, against Python's."""

import cmath
import math

import numpy as np
import pytest
import tutti as tt
from tutti import cuda

ONE = ["exp", "log", "log10", "sqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh", "asin", "acos", "atan", "asinh",
       "acosh", "atanh", "phase", "isfinite", "isinf", "isnan"]  # fmt: skip
VALUES = [0.5 + 0.25j, -1.5 + 2j, 2 - 0.75j, -0.3 - 0.4j, complex(math.inf, 1), complex(1, math.nan)]


@pytest.mark.parametrize("name", ONE)
def test_of_one_number(name):
    f = getattr(cmath, name)
    compiled = tt.jit(lambda z: f(z))
    for z in VALUES if name.startswith("is") else VALUES[:4]:
        np.testing.assert_allclose(compiled(z), f(z), rtol=1e-14)
        assert type(compiled(z)) is type(f(z))


def test_real_numbers_are_complex_ones_here():
    assert tt.jit(lambda x: cmath.sqrt(x))(-4.0) == 2j
    assert tt.jit(lambda x: cmath.log(x))(-1) == cmath.log(-1)
    assert tt.jit(lambda x: cmath.isnan(x))(1.0) is False


def test_forms_of_two_numbers():
    to_base = tt.jit(lambda z, b: cmath.log(z, b))
    polar, rect = tt.jit(lambda z: cmath.polar(z)), tt.jit(lambda r, phi: cmath.rect(r, phi))
    for z in VALUES[:4]:
        np.testing.assert_allclose(to_base(z, 3), cmath.log(z, 3), rtol=1e-14)
        np.testing.assert_allclose(polar(z), cmath.polar(z), rtol=1e-15)
        np.testing.assert_allclose(rect(*cmath.polar(z)), z, rtol=1e-15)
    with pytest.raises(NotImplementedError, match=r"cmath.log\(\) with 3 arguments"):
        tt.jit(lambda z: cmath.log(z, z, z))(1j)


def test_in_a_kernel_of_complex64():
    @cuda.jit
    def kernel(z, out, size):
        t = cuda.threadIdx.x
        r, phi = cmath.polar(z[t])
        out[t] = cmath.rect(r, phi) + cmath.sqrt(z[t])
        size[t] = cmath.phase(z[t]) + cmath.isfinite(z[t])

    z, size = np.array(VALUES[:4], np.complex64), np.zeros(4, np.float32)
    out = np.zeros_like(z)
    kernel[1, 4](z, out, size)
    np.testing.assert_allclose(out, z + np.sqrt(z), rtol=1e-6)
    np.testing.assert_allclose(size, np.angle(z) + 1, rtol=1e-6)
