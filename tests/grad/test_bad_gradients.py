"""What programs get wrong: PyTorch's words, nothing lost, the next call works."""

import signal
import threading

import numpy as np
import pytest
import tutti as tt


def leaf(*values):
    return tt.array([float(v) for v in values]).requires_grad_()


def function(forward, backward):
    return type("Own", (tt.Function,), {"forward": staticmethod(forward), "backward": staticmethod(backward)})


def doubled(ctx, x):
    return x * 2


def gives(value):
    return function(doubled, lambda ctx, g: value(g))


class Half(tt.Function):
    forward = staticmethod(doubled)


def second_walk(x):
    y = tt.exp(x).sum()
    y.backward()
    y.backward()


def endless(x):
    return tt.checkpoint(endless, x)


def hooked(x, hook):
    y = x * 2
    y.register_hook(hook)
    y.sum().backward()


CASES = {
    "twice": (second_walk, RuntimeError, "Trying to backward through the graph a second time"),
    "not a number": (lambda x: (x * 2).backward(), RuntimeError,
                     "grad can be implicitly created only for scalar outputs"),
    "a complex number": (lambda x: (x * 1j).sum().backward(), RuntimeError,
                         "grad can be implicitly created only for real scalar outputs but got complex128"),
    "no history": (lambda x: tt.ones(1).backward(), RuntimeError, "element 0 of tensors does not require grad"),
    "whole numbers": (lambda x: tt.arange(3).requires_grad_(), RuntimeError,
                      "only Tensors of floating point and complex dtype can require gradients"),
    "whole numbers, functions": (lambda x: tt.grad(lambda x: x * 2)(3), TypeError, "not int64"),
    "given shape": (lambda x: (x * 2).backward(tt.ones((2, 1))), RuntimeError, "Mismatch in shape: grad_output"),
    "given words": (lambda x: (x * 2).backward("a"), TypeError,
                    "gradients can be either Tensors or None, but got str"),
    "unused": (lambda x: tt.grad(x.sum(), leaf(1)), RuntimeError, "not have been used in the graph"),
    "input without": (lambda x: tt.grad(x.sum(), tt.ones(1)), RuntimeError, "does not require grad"),
    "leaf +=": (lambda x: x.__iadd__(1), RuntimeError, "a leaf Variable that requires grad is being used in an in-pl"),
    "leaf, elements": (lambda x: x.__setitem__(0, 1), RuntimeError, "in-place operation"),
    "leaf, a view": (lambda x: x[1:].__setitem__(0, 1), RuntimeError, "in-place operation"),
    "leaf, out": (lambda x: tt.add(x, 1, out=x), RuntimeError, "in-place operation"),
    "leaf, sorted": (lambda x: x.sort(), RuntimeError, "in-place operation"),
    "leaf, another size": (lambda x: x.resize(3), RuntimeError, "cannot resize variables that require grad"),
    "grad of another shape": (lambda x: setattr(x, "grad", tt.ones(3)), RuntimeError, "different size"),
    "grad of another type": (lambda x: setattr(x, "grad", tt.ones(2, "float32")), RuntimeError, "different type"),
    "too few": (lambda x: function(lambda ctx, x, y: x * y, lambda ctx, g: g).apply(x, x).sum().backward(),
                RuntimeError, r"function OwnBackward returned an incorrect number of gradients \(expected 2, got 1\)"),
    "nothing at all": (lambda x: function(lambda ctx, x, y: x * y, lambda ctx, g: None).apply(x, x).sum().backward(),
                       RuntimeError, r"incorrect number of gradients \(expected 2, got 1\)"),
    "another shape": (lambda x: gives(lambda g: g[:1]).apply(x).sum().backward(), RuntimeError,
                      r"an invalid gradient at index 0 - got \(1,\) but expected shape compatible with \(2,\)"),
    "a word": (lambda x: gives(lambda g: "a").apply(x).sum().backward(), TypeError,
               r"expected Variable or None \(got str\)"),
    "an error": (lambda x: gives(lambda g: 1 / 0).apply(x).sum().backward(), ZeroDivisionError, "division by zero"),
    "no forward": (lambda x: tt.Function.apply(x), NotImplementedError, "You must implement the forward function"),
    "no backward": (lambda x: Half.apply(x).sum().backward(), NotImplementedError,
                    "You must implement the backward function"),
    "checkpoints without end": (endless, RecursionError, "maximum recursion depth"),
    "an error in a checkpoint": (lambda x: tt.checkpoint(lambda x: 1 / 0, x), ZeroDivisionError, "division by zero"),
    "a hook's shape": (lambda x: hooked(x, lambda g: g[:1]), RuntimeError, "a hook has changed the size of value"),
    "a hook's error": (lambda x: hooked(x, lambda g: 1 / 0), ZeroDivisionError, "division by zero"),
    "a hook that is none": (lambda x: hooked(x, 3), TypeError, "callable"),
    "a hook of nothing": (lambda x: tt.ones(2).register_hook(print), RuntimeError, "doesn't require gradient"),
    "interrupted": (lambda x: hooked(x, interrupt), KeyboardInterrupt, None),
}  # fmt: skip


def interrupt(g):
    raise KeyboardInterrupt


@pytest.mark.parametrize("name", CASES)
def test_errors_lose_nothing(name):
    wrong, kind, words = CASES[name]
    x = leaf(1, 2)
    kept = tt.exp(x).sum()
    with pytest.raises(kind, match=words):
        wrong(x)
    x.grad = None
    assert tt.is_grad_enabled() and x.is_leaf and x.tolist() == [1, 2]
    kept.backward()  # recorded before
    np.testing.assert_allclose(x.grad.numpy(), np.exp([1, 2]))
    x.grad = None
    (x * x).sum().backward()
    assert x.grad.tolist() == [2, 4]


def test_nested_checkpoints():
    def deeper(x, n=3):
        return tt.checkpoint(lambda x: deeper(x, n - 1) if n else tt.exp(x * x), x)

    x = leaf(0.5, 1)
    deeper(x).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), 2 * x.numpy() * np.exp(x.numpy() ** 2))


@pytest.fixture
def hears_interrupts():
    """Who runs in the background may have SIGINT ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_interrupts_in_the_middle_of_steps(hears_interrupts):
    """Ctrl-C at odd moments: all parameters are those before the step or those after it, and training goes on."""
    rng = np.random.default_rng(0)
    data, target = tt.array(rng.standard_normal((64, 50))), tt.array(rng.standard_normal((64, 3)))
    params = [tt.array(rng.standard_normal(s)).requires_grad_() for s in ((50, 80), (80, 3))]
    opt = tt.optim.Adam(params, lr=0.1)

    def step():
        opt.zero_grad()
        ((tt.tanh(data @ params[0]) @ params[1] - target) ** 2).mean().backward()
        opt.step()
        return [p.detach().numpy().copy() for p in params]

    now, stopped = step(), 0
    main = threading.main_thread().ident
    for k in range(40):
        before = [p.detach().numpy().copy() for p in params]
        press = threading.Timer(1e-4 * (k % 13), signal.pthread_kill, [main, signal.SIGINT])
        try:
            press.start()
            try:
                step()
            finally:
                press.join()
        except KeyboardInterrupt:
            stopped += 1
        press.join()
        now = [p.detach().numpy().copy() for p in params]
        changed = [not np.array_equal(a, b) for a, b in zip(before, now)]
        assert all(changed) or not any(changed)
        assert all(np.isfinite(a).all() for a in now) and tt.is_grad_enabled()
    assert stopped
    assert any(not np.array_equal(a, b) for a, b in zip(now, step()))
