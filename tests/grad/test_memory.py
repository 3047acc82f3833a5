"""What a step of training keeps for its way back: bytes that follow the model, and bits that do not hang on it."""

import os
import subprocess
import sys

import numpy as np
import pytest
import tutti as tt

ROWS, WIDTH = 4096, 32
UNIT = ROWS * WIDTH * 4  # bytes of an activation


def dropped(x):
    return tt.tanh(x) * (tt.random.random(x.shape) < 0.9).astype("float32")


ACTIVATIONS = {
    "tanh": tt.tanh,
    "relu": lambda x: tt.maximum(x, 0),
    "gelu": lambda x: 0.5 * x * (1 + tt.tanh(0.79788456 * (x + 0.044715 * x * x * x))),
    "softplus": lambda x: tt.log(1 + tt.exp(x)),
    "dropout": dropped,
}


def network(depth):
    rng = np.random.default_rng(0)
    p = [(rng.standard_normal((WIDTH, WIDTH)) * 0.2).astype("float32") for _ in range(depth)]
    parameters = [tt.array(a).requires_grad_() for w in p for a in (w, w[0])]
    return parameters, tt.array(rng.standard_normal((ROWS, WIDTH)).astype("float32"))


def step(parameters, x, activation, look=False):
    for w, b in zip(parameters[::2], parameters[1::2], strict=True):
        x = activation(x @ w + b)
    loss = (x**2).mean()
    if look:
        float(loss.detach())
    loss.backward()
    with tt.no_grad():
        for p in parameters:
            p -= 0.01 * p.grad
            p.grad = None
    tt.eval(*parameters)


def peak(depth, activation, look=False, shape=(ROWS, WIDTH)):
    """Activations that a step has in memory at most."""
    parameters, x = network(depth)
    x = x.reshape(shape)
    for _ in range(2):
        step(parameters, x, activation, look)
    before = tt.memory()["allocated"]
    tt.memory_reset_peak()
    step(parameters, x, activation, look)
    return (tt.memory()["max_allocated"] - before) / UNIT


@pytest.fixture
def on_the_host():
    with tt.device("cpu"):
        yield


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_a_step_keeps_one_value_a_layer(on_the_host, name):
    """The operand of each product or what it is computed from; nothing between, no masks, no gradients of before."""
    for depth in (12, 48):
        assert peak(depth, ACTIVATIONS[name]) < depth + 6


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_so_it_does_of_sequences(on_the_host, name):
    """Products take the rows of all of them at once: views are no reason to keep more."""
    assert peak(12, ACTIVATIONS[name], shape=(16, ROWS // 16, WIDTH)) < 12 + 6


def residual_step(depth):
    """{what: of a step} of layers that each add to what all layers before them added."""
    parameters, x = network(depth)
    parameters = parameters[::2]

    def run():
        h = x
        for w in parameters:
            h = h + tt.nn.functional.layer_norm(h, (WIDTH,)) @ w
        (h**2).mean().backward()
        grads = [p.grad for p in parameters]
        for p in parameters:
            p.grad = None
        tt.eval(*grads)

    for _ in range(2):
        run()
    before, held = tt.ledger(), tt.memory()["allocated"]
    tt.memory_reset_peak()
    run()
    now = tt.ledger()
    moved = sum(now[k] - before[k] for k in ("bytes_read", "bytes_written"))
    return moved / UNIT / depth, (tt.memory()["max_allocated"] - held) / UNIT / depth


def test_a_layer_does_not_read_what_all_layers_before_it_added(on_the_host):
    """As many bytes for each layer, however many there are, and two values of each kept for the way back."""
    moved, kept = residual_step(24)
    assert moved < 1.1 * residual_step(12)[0]
    assert kept < 2.5


@pytest.mark.usefixtures("on_the_host")
def test_shares_of_attention_that_are_dropped_are_drawn_again():
    """Neither the matrix of shares nor what says which are dropped lies in memory, forward or backward."""
    length = 2048
    q = tt.ones((1, length, 8), dtype="float32").requires_grad_()

    def run():
        tt.nn.functional.scaled_dot_product_attention(q, q, q, dropout_p=0.1, is_causal=True).sum().backward()
        g, q.grad = q.grad, None
        tt.eval(g)

    threads = tt.get_num_threads()
    tt.set_num_threads(2)  # each has panels of its own
    try:
        run()
        before = tt.memory()["allocated"]
        tt.memory_reset_peak()
        run()
    finally:
        tt.set_num_threads(threads)
    assert tt.memory()["max_allocated"] - before < length * length


def test_a_loss_that_is_looked_at_keeps_no_more_than_its_graph(on_the_host):
    assert peak(12, ACTIVATIONS["tanh"], look=True) < 12 + 6
    assert peak(12, ACTIVATIONS["gelu"], look=True) < 2 * 12 + 4


PROGRAM = """
import sys
sys.path.insert(0, "tests/fuzz")
import gradients, numpy as np, tutti as tt
sys.path.insert(0, "tests/grad")
import test_memory as m
with np.errstate(all="ignore"):
    for seed in range(60):
        p = gradients.Program(seed)
        print(seed, *(v for way in gradients.WAYS for v in gradients.slope(p, way)))
tt.set_eager(0)
for name, activation in m.ACTIVATIONS.items():
    tt.random.seed(7)
    p, x = m.network(3)
    for look in (False, True):
        m.step(p, x, activation, look)
    print(name, *(a.detach().numpy().tobytes().hex() for a in p))
"""


def test_bits_do_not_hang_on_what_is_kept():
    """Everything that is computed twice stored, or as little as can be."""
    told = {}
    for keep in ("all", "none", ""):
        env = {**os.environ, "TUTTI_KEEP": keep}
        done = subprocess.run([sys.executable, "-c", PROGRAM], env=env, capture_output=True, text=True, timeout=600)
        assert done.returncode == 0, done.stderr[-3000:]
        told[keep] = done.stdout.splitlines()
    for keep in ("all", "none"):
        assert [a[:80] for a, b in zip(told[keep], told[""], strict=True) if a != b] == []
