"""Gradients beside JAX (jitted) and PyTorch: training steps written with arrays, and gradients of functions.

Values and gradients are compared with JAX's before they are timed.
"""

import argparse
import math
import pathlib
import sys

import harness
import numpy as np
import tutti as tt
from tutti.nn import functional

ROWS = []


def row(goal):
    def keep(fn):
        ROWS.append((fn, goal))
        return fn

    return keep


def normal(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype("float32")


def trained(m, parameters, step_of, steps):
    """Steps of plain gradient descent with tutti: leaves, walks back, updates in place."""
    for p in parameters:
        p.grad = None
    for _ in range(steps):
        loss = step_of(parameters)
        loss.backward()
        with tt.no_grad():
            for p in parameters:
                p -= 0.01 * p.grad
                p.grad = None
    tt.eval(*parameters)
    tt.synchronize()


def training(loss, parameters, data, steps=1):
    """Contestants for steps of training: {name: f}."""
    leaves = [tt.array(p).requires_grad_() for p in parameters]
    ours = [tt.array(d) for d in data]
    found = {"tutti": lambda: trained(tt, leaves, lambda p: loss(tt, p, *ours), steps)}
    if jax := peer("jax"):
        jnp = jax.numpy

        @jax.jit
        def update(p, *d):
            grads = jax.grad(lambda q: loss(jnp, q, *d))(p)
            return [a - 0.01 * g for a, g in zip(p, grads)]

        theirs, kept = [jnp.asarray(d) for d in data], [[jnp.asarray(p) for p in parameters]]

        def run():
            for _ in range(steps):
                kept[0] = update(kept[0], *theirs)
            jax.block_until_ready(kept[0])

        found["jax"] = run
    if torch := peer("torch"):
        found["torch"] = trained_by_torch(torch, loss, parameters, data, steps)
    return found


class LikeNumPy:
    """The few functions that the losses call, from PyTorch."""

    def __init__(self, torch):
        self.exp, self.log = torch.exp, torch.log
        self.maximum = lambda x, least: torch.clamp(x, min=least)
        self.max = lambda x, axis, keepdims: torch.amax(x, dim=axis, keepdim=keepdims)


def trained_by_torch(torch, loss, parameters, data, steps):
    """PyTorch as it is mostly used: each operation when it is written."""
    on = device_of(torch)
    leaves = [torch.tensor(p, device=on, requires_grad=True) for p in parameters]
    theirs, m = [torch.tensor(d, device=on) for d in data], LikeNumPy(torch)

    def run():
        for _ in range(steps):
            loss(m, leaves, *theirs).backward()
            with torch.no_grad():
                for p in leaves:
                    p -= 0.01 * p.grad
                    p.grad = None
        if on == "cuda":
            torch.cuda.synchronize()

    return run


def gradient(f, *data):
    """Contestants for one gradient by the first argument."""
    ours = [tt.array(d) for d in data]
    of = tt.grad(lambda x: f(tt, x, *ours[1:]))

    def mine():
        g = of(ours[0])
        tt.eval(g)
        tt.synchronize()
        return g

    found = {"tutti": mine}
    if jax := peer("jax"):
        theirs = [jax.numpy.asarray(d) for d in data]
        jitted = jax.jit(jax.grad(lambda x, *more: f(jax.numpy, x, *more)))
        found["jax"] = lambda: jax.block_until_ready(jitted(*theirs))
        np.testing.assert_allclose(np.asarray(mine()), np.asarray(found["jax"]()), rtol=2e-3, atol=2e-3)
    return found


def networks(f, by_jax, by_torch, *data, half=False):
    """Contestants for a function of networks, forward and backward: the gradients by all arguments."""
    ours = [tt.array(d, dtype=tt.bfloat16 if half else tt.float32) for d in data]
    of = tt.grad(lambda *x: (f(*x) ** 2).mean(), tuple(range(len(data))))

    def mine():
        g = of(*ours)
        tt.eval(*g)
        tt.synchronize()
        return g

    found = {"tutti": mine}
    if by_jax and (jax := peer("jax")):
        arrays = [jax.numpy.asarray(d, dtype="bfloat16" if half else "float32") for d in data]
        jitted = jax.jit(jax.grad(lambda *x: (by_jax(jax, *x) ** 2).mean(), tuple(range(len(data)))))
        found["jax"] = lambda: jax.block_until_ready(jitted(*arrays))
    if torch := peer("torch"):
        torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = False
        leaves = [
            torch.tensor(d, dtype=torch.bfloat16 if half else torch.float32, device=device_of(torch)) for d in data
        ]
        found["torch"] = lambda: gradients_by_torch(torch, lambda *x: by_torch(torch.nn.functional, *x), leaves)
    for name, other in found.items():
        for a, b in zip(mine(), other()):
            b = np.asarray(b.float().cpu() if name == "torch" else b).astype("float32")
            worst = (5e-2 if half else 1e-4) * np.abs(b).max()
            np.testing.assert_allclose(np.asarray(a).astype("float32"), b, rtol=0, atol=worst)
    return found


def device_of(torch):
    return "cuda" if tt.zeros(1).device.type == "cuda" and torch.cuda.is_available() else "cpu"


def gradients_by_torch(torch, f, leaves):
    for x in leaves:
        x.requires_grad_(True)
    g = torch.autograd.grad((f(*leaves) ** 2).mean(), leaves)
    if leaves[0].device.type == "cuda":
        torch.cuda.synchronize()
    return g


def peer(name):
    try:
        found = __import__(name)
        if name == "jax":  # its own choice on GPUs is to multiply float32 with a third of its digits
            found.config.update("jax_default_matmul_precision", "highest")
        return found
    except ImportError:
        MISSING.add(name)
        return None


MISSING = set()


# ---- training


def relu(m, x):
    return m.maximum(x, 0)


def cross_entropy(m, scores, y):
    scores = scores - m.max(scores, axis=1, keepdims=True)
    return -(y * (scores - m.log(m.exp(scores).sum(axis=1, keepdims=True)))).sum() / len(y)


def regression(m, p, x, y):
    return ((relu(m, x @ p[0] + p[1]) @ p[2] + p[3] - y) ** 2).mean()


def perceptron(m, p, x, y):
    return cross_entropy(m, relu(m, relu(m, x @ p[0] + p[1]) @ p[2] + p[3]) @ p[4] + p[5], y)


@row(2.0)
def regression_100_epochs():
    p = [normal(10, 5) * 0.3, normal(5) * 0, normal(5, 1) * 0.3, normal(1) * 0]
    return training(regression, p, [normal(100, 10, seed=1), normal(100, 1, seed=2)], 100)


def mlp(batch, *sizes):
    p = []
    for a, b in zip(sizes, sizes[1:]):
        p += [normal(a, b, seed=a) * (2 / a) ** 0.5, np.zeros(b, "float32")]
    y = np.eye(sizes[-1], dtype="float32")[np.random.default_rng(3).integers(0, sizes[-1], batch)]
    return training(perceptron, p, [normal(batch, sizes[0]), y])


@row(1.5)
def mlp_784_512_512_10():
    return mlp(256, 784, 512, 512, 10)


@row(1.0)
def mlp_64_64_64_10():
    return mlp(64, 64, 64, 64, 10)


def windows(m, x, k):
    """Patches of k x k, as one writes them without a library of networks."""
    n = x.shape[-1] - k + 1
    return m.stack([x[..., i : i + n, j : j + n] for i in range(k) for j in range(k)])


def lstm_of_jax(jax, p, x):
    """The states of the last layer; p has four weights a layer, as `nn.LSTM`."""
    for w_ih, w_hh, b_ih, b_hh in zip(*(p[k::4] for k in range(4))):

        def step(state, sums, w_hh=w_hh):
            h, c = state
            i, f, g, o = jax.numpy.split(sums + h @ w_hh.T, 4, axis=-1)
            c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jax.numpy.tanh(g)
            h = jax.nn.sigmoid(o) * jax.numpy.tanh(c)
            return (h, c), h

        zeros = jax.numpy.zeros((x.shape[1], w_hh.shape[1]))
        _, x = jax.lax.scan(step, (zeros, zeros), x @ w_ih.T + (b_ih + b_hh))
    return x


@row(1.5)
def lstm_2_layers_of_64_batch_16_50_steps():
    x, ours = normal(50, 16, 32), tt.nn.LSTM(32, 64, 2)
    leaves, steps = list(ours.parameters()), tt.array(x)
    start = [p.detach().numpy().copy() for p in leaves]
    found = {"tutti": lambda: trained(tt, leaves, lambda p: (ours(steps)[0] ** 2).mean(), 1)}
    if jax := peer("jax"):
        given = jax.numpy.asarray(x)
        slopes = jax.grad(lambda p: (lstm_of_jax(jax, p, given) ** 2).mean())
        update = jax.jit(lambda p: [a - 0.01 * g for a, g in zip(p, slopes(p))])
        kept = [[jax.numpy.asarray(p) for p in start]]
        found["tutti"]()
        for a, b in zip(leaves, update(kept[0]), strict=True):
            np.testing.assert_allclose(a.detach().numpy(), np.asarray(b), rtol=0, atol=1e-6)

        def run():
            kept[0] = update(kept[0])
            jax.block_until_ready(kept[0])

        found["jax"] = run
    if torch := peer("torch"):
        theirs = torch.nn.LSTM(32, 64, 2).to(device_of(torch))
        there = torch.tensor(x, device=device_of(torch))
        found["torch"] = lambda: lstm_of_torch(torch, theirs, there)
    return found


def lstm_of_torch(torch, module, x):
    (module(x)[0] ** 2).mean().backward()
    with torch.no_grad():
        for p in module.parameters():
            p -= 0.01 * p.grad
            p.grad = None
    if x.device.type == "cuda":
        torch.cuda.synchronize()


@row(1.0)
def convolution_by_slices_64_64():
    w, x = normal(16, 9, 8) * 0.1, normal(64, 8, 16, 16)
    return gradient(lambda m, w, x: m.tanh(m.einsum("okc,knchw->nohw", w, windows(m, x, 3))).sum(), w, x)


@row(1.0)
def attention_4_heads_256_64():
    q, k, v = (normal(4, 256, 64, seed=s) for s in range(3))

    def f(m, q, k, v):
        s = q @ m.swapaxes(k, 1, 2) / 8
        e = m.exp(s - s.max(axis=-1, keepdims=True))
        return ((e / e.sum(axis=-1, keepdims=True)) @ v).sum()

    return gradient(f, q, k, v)


# ---- functions of networks

# images, channels, lengths; outputs, kernel; what else
CONVOLUTIONS = {
    "3x3, 64 to 128, 32x32, 64 images": ((64, 64, 32, 32), (128, 64, 3, 3), {"padding": 1}),
    "3x3, 16 to 32, 6x6, 64 images": ((64, 16, 6, 6), (32, 16, 3, 3), {}),
    "3x3, 512 to 512, 7x7, 16 images": ((16, 512, 7, 7), (512, 512, 3, 3), {"padding": 1}),
    "3x3 stride 2, 64 to 128, 56x56, 4 images": ((4, 64, 56, 56), (128, 64, 3, 3), {"stride": 2, "padding": 1}),
    "1x1, 256 to 64, 28x28, 8 images": ((8, 256, 28, 28), (64, 256, 1, 1), {}),
    "7x7 stride 2, 3 to 64, 224x224, 2 images": ((2, 3, 224, 224), (64, 3, 7, 7), {"stride": 2, "padding": 3}),
    "depthwise 3x3, 128, 56x56, 4 images": ((4, 128, 56, 56), (128, 1, 3, 3), {"padding": 1, "groups": 128}),
    "3x3 of 4 groups, 64 to 64, 28x28, 8 images": ((8, 64, 28, 28), (64, 16, 3, 3), {"padding": 1, "groups": 4}),
    "9, 64 to 64, 16000, 1 signal": ((1, 64, 16000), (64, 64, 9), {"padding": 4}),
    "3x3x3, 16 to 32, 16x16x16, 4 volumes": ((4, 16, 16, 16, 16), (32, 16, 3, 3, 3), {"padding": 1}),
}
# batches, queries, keys, width; causal
ATTENTION = {
    "8 x 12 x 512 x 64": ((8, 12), 512, 512, 64, False),
    "8 x 12 x 512 x 64, causal": ((8, 12), 512, 512, 64, True),
    "1 x 4096 x 64": ((1,), 4096, 4096, 64, False),
    "2 x 8 x 1024 x 128": ((2, 8), 1024, 1024, 128, False),
    "4 x 256 x 64": ((4,), 256, 256, 64, False),
    "64 x 8 x 32 x 32": ((64, 8), 32, 32, 32, False),
    "8 x 8 x 1 query of 1000 x 64": ((8, 8), 1, 1000, 64, False),
}


def of_convolution(name, x, w, how, half=False):
    n, p, s = len(w) - 2, how.get("padding", 0), how.get("stride", 1)

    def theirs(jax, x, w):
        groups = how.get("groups", 1)
        return jax.lax.conv_general_dilated(x, w, (s,) * n, [(p, p)] * n, feature_group_count=groups)

    def make():
        f = getattr(functional, f"conv{n}d")
        return networks(
            lambda x, w: f(x, w, **how),
            theirs,
            lambda m, x, w: getattr(m, f"conv{n}d")(x, w, **how),
            normal(*x),
            normal(*w, seed=1),
            half=half,
        )

    make.__name__ = f"convolution {name}"
    row(1.0)(make)


def of_attention(name, batch, queries, keys, width, causal, half=False):
    def theirs(jax, q, k, v):
        s = q @ jax.numpy.swapaxes(k, -1, -2) / width**0.5
        if causal:
            s = jax.numpy.where(jax.numpy.tri(queries, keys, dtype=bool), s, -jax.numpy.inf)
        return jax.nn.softmax(s, axis=-1) @ v

    large = math.prod(batch) * queries * keys > 2**30  # what JAX would store whole

    def make():
        data = [normal(*batch, n, width, seed=i) for i, n in enumerate((queries, keys, keys))]
        return networks(
            lambda *x: functional.scaled_dot_product_attention(*x, is_causal=causal),
            None if large else theirs,
            lambda m, *x: m.scaled_dot_product_attention(*x, is_causal=causal),
            *data,
            half=half,
        )

    make.__name__ = f"attention {name}"
    row(1.0)(make)


for _name, _case in CONVOLUTIONS.items():
    of_convolution(_name, *_case)
for _name, _case in ATTENTION.items():
    of_attention(_name, *_case)
# What fills a GPU; not for a CPU.
LARGE = {
    "bfloat16 8 x 32 x 4096 x 128": ((8, 32), 4096, 4096, 128, False),
    "bfloat16 8 x 32 x 4096 x 128, causal": ((8, 32), 4096, 4096, 128, True),
}
if tt.zeros(1).device.type == "cuda":
    for _name, _case in LARGE.items():
        of_attention(_name, *_case, half=True)
    for _name in ("3x3, 64 to 128, 32x32, 64 images", "depthwise 3x3, 128, 56x56, 4 images"):
        of_convolution(f"bfloat16 {_name}", *CONVOLUTIONS[_name], half=True)


# ---- gradients of functions


def standardised(m, x):
    return (x - x.mean(axis=1, keepdims=True)) / m.sqrt(x.var(axis=1, keepdims=True) + 1e-5)


def five_points(x):
    return 4 * x[1:-1, 1:-1] - x[:-2, 1:-1] - x[2:, 1:-1] - x[1:-1, :-2] - x[1:-1, 2:]


FUNCTIONS = {
    "chain": lambda m, x: (m.sin(x) * m.exp(-x * x) + m.tanh(x) ** 2).sum(),
    "softmax rows": lambda m, x: (m.exp(x) / m.exp(x).sum(axis=1, keepdims=True) * m.cos(x)).sum(),
    "layer norm": lambda m, x: (m.cos(standardised(m, x)) ** 2).sum(),
    "log sum exp": lambda m, x: m.log(m.exp(x - x.max(axis=1, keepdims=True)).sum(axis=1)).sum(),
    "five points": lambda m, x: (five_points(x) ** 2).sum(),
    "running sums": lambda m, x: (m.cumsum(x, axis=1) ** 2).mean(),
    "sorted rows": lambda m, x: (m.sort(x, axis=1) * m.arange(x.shape[1])).sum() / x.shape[1],
    "largest": lambda m, x: (x.max(axis=1) ** 2).sum(),
    "norms": lambda m, x: m.sqrt((x * x).sum(axis=0)).sum(),
    "products": lambda m, x: m.tanh(x @ x.T / 30).sum(),
    "transposed": lambda m, x: (x.T[::-1] * m.sin(x.T)).sum(),
    "gathered rows": lambda m, x: (m.take(x, m.arange(0, x.shape[0], 3), axis=0) ** 3).sum(),
    "clipped": lambda m, x: (m.clip(x, -1, 1) * m.where(x > 0, x, 0.1 * x)).sum(),
    "distances": lambda m, x: m.sqrt(((x[:200, None, :40] - x[None, :200, :40]) ** 2).sum(axis=-1) + 1e-3).sum(),
    "polynomial": lambda m, x: (((0.1 * x + 0.2) * x - 0.3) * x + 1).sum(),
}  # fmt: skip


def of_function(name, f, n):
    def make():
        return gradient(f, normal(n, n))

    make.__name__ = f"gradient of {name}, {n} x {n}"
    row(1.0)(make)


for _name, _f in FUNCTIONS.items():
    for _n in (256, 1500):
        of_function(_name, _f, _n)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="names that hold one of these texts, separated by commas")
    parser.add_argument("--seconds", type=float, default=0.5, help="for each contestant of a row")
    parser.add_argument("--json", type=pathlib.Path)
    harness.add_arguments(parser)
    args = parser.parse_args()
    pick, notes = harness.chosen(args)
    rows = []
    for make, goal in ROWS:
        if not any(text in make.__name__ for text in args.only.split(",")):
            continue
        one = harness.Row(make.__name__.replace("_", " "), goal, None)
        harness.measure(one, make(), args.seconds, pick=pick)
        rows.append(one)
        harness.save_beside(rows, args, tt, notes)
        s = one.seconds
        ratio = "".join(
            f" {s[name] / s['tutti']:6.2f}x of {name} {harness.pretty(s[name])}"
            for name in ("jax", "torch")
            if name in s
        )
        print(
            f"{one.name:<44} {harness.pretty(s['tutti']) if 'tutti' in s else one.error:>10} {ratio}  {goal}",
            flush=True,
        )
    ratios = [r.seconds["jax"] / r.seconds["tutti"] for r in rows if {"jax", "tutti"} <= set(r.seconds)]
    if ratios:
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        print(f"{len(ratios)} rows beside JAX: geometric mean {mean:.2f}x, {sum(x < 0.95 for x in ratios)} below 0.95x")
    if MISSING:
        print(f"not here: {', '.join(sorted(MISSING))}", file=sys.stderr)


if __name__ == "__main__":
    main()
