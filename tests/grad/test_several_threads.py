"""Several threads differentiate at once, calling back into Python in the middle."""

import threading

import numpy as np
import pytest
import tutti as tt


class Cube(tt.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x * x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * 3 * x * x


def work(seed, n, out):
    try:
        x0 = np.random.default_rng(seed).uniform(0.5, 1.5, n)
        x = tt.array(x0).requires_grad_()
        seen = []
        for _ in range(20):
            x.grad = None
            y = Cube.apply(x)
            y.register_hook(lambda g: seen.append(float(g[0])))
            tt.checkpoint(lambda y: tt.sin(y) * y, y).sum().backward()
            with tt.no_grad():
                x -= 0.0 * x.grad
        c = x0**3
        want = (np.cos(c) * c + np.sin(c)) * 3 * x0**2
        np.testing.assert_allclose(x.grad.numpy(), want, rtol=1e-10)
        assert len(seen) == 20
        out[seed] = tt.is_grad_enabled()
    except BaseException as e:  # noqa: BLE001 - the test's thread looks at it
        out[seed] = e


@pytest.mark.parametrize("n", [5, 3000])
def test_threads(n):
    out = {}
    threads = [threading.Thread(target=work, args=(k, n, out), daemon=True) for k in range(4)]
    with tt.no_grad():  # a mode is a thread's own
        for t in threads:
            t.start()
        for t in threads:
            t.join(60)
    assert out == dict.fromkeys(range(4), True)


def test_modes_of_a_thread_end_with_it():
    seen = []

    def run():
        tt.autograd.set_grad_enabled(False)
        seen.append(tt.is_grad_enabled())

    t = threading.Thread(target=run)
    t.start()
    t.join()
    assert seen == [False] and tt.is_grad_enabled()
