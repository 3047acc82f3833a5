"""Every allocation of a compiled function's life is made to fail once: a MemoryError, and the next call works."""

import contextlib
import io

import numpy as np
import pytest
import tutti as tt
from tutti import _core, cuda

pytestmark = pytest.mark.usefixtures("on_the_cpu")


def life():
    @tt.njit(parallel=True)
    def f(a, n):
        s = 0.0
        for i in tt.prange(n):
            s += a[i]
        b = np.zeros(n) + a[:n]
        print("sum", s)
        return b, s

    @cuda.jit
    def k(a):
        s = cuda.shared.array(0, "float64")
        t = cuda.threadIdx.x
        s[t] = a[t]
        cuda.syncthreads()
        a[t] = s[7 - t]

    a = np.arange(8.0)
    b, s = f(a, 4)
    k[1, 8, 0, 64](a)
    return b.tolist(), s, a.tolist()


def test_the_nth_allocation_fails():
    want = life()
    n = failed = 0
    while True:
        _core._test_fail("memory", n, False)
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                got = life()
        except MemoryError:
            got = None
            failed += 1
        _, fired = _core._test_calls("memory")
        _core._test_fail("memory", -1, False)
        assert got in (None, want)
        if got and not fired:
            break
        n += 1
    assert failed > 100
