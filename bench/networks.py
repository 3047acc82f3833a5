"""Networks beside JAX (the whole step jitted) and PyTorch (eager): a step of training, with `tt.nn` and `tt.optim`.

A network is written once, over the `nn` that it is given: ours and PyTorch's are the same lines, with the same first
values. For JAX its loss is written as a function of the parameters. Losses after a few steps are compared before
anything is timed.
"""

import argparse
import contextlib
import pathlib
import sys

import harness
import numpy as np
import tutti as tt
from gradients import MISSING, device_of, lstm_of_jax, normal, peer

ROWS = []


def row(goal):
    def keep(fn):
        ROWS.append((fn, goal))
        return fn

    return keep


def classes(n, *shape):
    return np.random.default_rng(3).integers(0, n, shape)


def on_gpu():
    return tt.zeros(1).device.type == "cuda"


def stepper(optimizer, loss, steps, context):
    """Steps of training; gives the last loss."""

    def run():
        for _ in range(steps):
            optimizer.zero_grad()
            with context():
                value = loss()
            value.backward()
            optimizer.step()
        return value

    return run


def ours_of(make, optimizer, loss, data, steps, half):
    tt.random.seed(0)
    module = make(tt.nn)
    first = {k: v.numpy().copy() for k, v in module.state_dict().items()}
    arrays = [tt.array(d) for d in data]
    own = optimizer(tt.optim, module.parameters())
    context = (lambda: tt.amp.autocast("cuda", tt.bfloat16)) if half else contextlib.nullcontext
    run = stepper(own, lambda: loss(tt.nn.functional, module, *arrays), steps, context)

    def mine():
        value = run()
        tt.eval(*module.parameters())
        tt.synchronize()
        return float(value)

    return mine, first


def by_torch(torch, make, optimizer, loss, data, steps, first, half, compiled):
    on = device_of(torch)
    module = make(torch.nn).to(on)
    module.load_state_dict({k: torch.tensor(v) for k, v in first.items()})
    arrays = [torch.tensor(d, device=on) for d in data]
    own = optimizer(torch.optim, module.parameters())
    context = (lambda: torch.autocast(on, torch.bfloat16)) if half else contextlib.nullcontext
    f = lambda *d: loss(torch.nn.functional, module, *d)  # noqa: E731 - the compiler wants a function
    f = torch.compile(f) if compiled else f
    run = stepper(own, lambda: f(*arrays), steps, context)

    def theirs():
        value = run()
        if on == "cuda":
            torch.cuda.synchronize()
        return float(value.detach())

    return theirs


def adam_of_jax(jax, lr=1e-3, b1=0.9, b2=0.999, eps=1e-8):
    def update(p, g, state):
        t, m, v = state
        t = t + 1
        m = [b1 * a + (1 - b1) * b for a, b in zip(m, g)]
        v = [b2 * a + (1 - b2) * b * b for a, b in zip(v, g)]
        size = [jax.numpy.sqrt(a / (1 - b2**t)) + eps for a in v]
        return [a - lr / (1 - b1**t) * b / s for a, b, s in zip(p, m, size)], (t, m, v)

    return update


def sgd_of_jax(lr):
    return lambda p, g, state: ([a - lr * b for a, b in zip(p, g)], state)


def by_jax(jax, first, loss, update, data, steps):
    """`loss(jax, parameters, *data)`; the step is one jitted function."""
    jnp = jax.numpy
    jax.config.update("jax_default_matmul_precision", "highest")
    arrays = [jnp.asarray(d) for d in data]
    p = [jnp.asarray(v) for v in first.values()]
    kept = [p, (0.0, [jnp.zeros_like(a) for a in p], [jnp.zeros_like(a) for a in p])]

    @jax.jit
    def step(p, state, *d):
        value, g = jax.value_and_grad(lambda q: loss(jax, q, *d))(p)
        return value, *update(p, g, state)

    def theirs():
        for _ in range(steps):
            value, kept[0], kept[1] = step(kept[0], kept[1], *arrays)
        jax.block_until_ready(kept[0])
        return float(value)

    return theirs


def contest(make, loss, data, jax_loss=None, steps=None, sgd=None, half=False, compiled=False):
    """{name: f}, each a step of training (or several) of the same network from the same first values.

    half: in bfloat16 by autocast. compiled: PyTorch's compiled loss is a contestant, too. On a GPU several steps are
    one contest, since nobody waits for each.
    """

    def optimizer(module, parameters):
        return module.SGD(parameters, lr=sgd) if sgd else module.Adam(parameters)

    steps = steps or (20 if on_gpu() else 1)
    mine, first = ours_of(make, optimizer, loss, data, steps, half)
    found = {"tutti": mine}
    if jax_loss and (jax := peer("jax")):
        found["jax"] = by_jax(jax, first, jax_loss, sgd_of_jax(sgd) if sgd else adam_of_jax(jax), data, steps)
    if torch := peer("torch"):
        found["torch"] = by_torch(torch, make, optimizer, loss, data, steps, first, half, False)
        if compiled:
            found["torch compiled"] = by_torch(torch, make, optimizer, loss, data, steps, first, half, True)
    losses = {name: [f() for _ in range(3)] for name, f in found.items()}
    for name, values in losses.items():
        rounding = (5e-2 if half else 1e-2 if compiled else 2e-3) * max(values)
        np.testing.assert_allclose(values, losses["tutti"], rtol=0, atol=rounding, err_msg=name)
    return found


# ---- the networks


@row(10.0)
def regression_100_epochs():
    def make(nn):
        return nn.Sequential(nn.Linear(10, 5), nn.ReLU(), nn.Linear(5, 1))

    def of_jax(jax, p, x, y):
        return ((jax.nn.relu(x @ p[0].T + p[1]) @ p[2].T + p[3] - y) ** 2).mean()

    data = [normal(100, 10, seed=1), normal(100, 1, seed=2)]
    return contest(make, lambda F, m, x, y: F.mse_loss(m(x), y), data, of_jax, 100, sgd=0.01)


def entropy_of_jax(jax, scores, y):
    log = jax.nn.log_softmax(scores, axis=-1)
    return -jax.numpy.take_along_axis(log, y[..., None], axis=-1).mean()


@row(1.5)
def mlp_784_512_512_10_batch_256():
    def make(nn):
        return nn.Sequential(
            nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10)
        )  # fmt: skip

    def of_jax(jax, p, x, y):
        h = jax.nn.relu(x @ p[0].T + p[1])
        return entropy_of_jax(jax, jax.nn.relu(h @ p[2].T + p[3]) @ p[4].T + p[5], y)

    return contest(make, lambda F, m, x, y: F.cross_entropy(m(x), y), [normal(256, 784), classes(10, 256)], of_jax)


@row(1.0)
def digits_network_batch_64():
    def make(nn):
        return nn.Sequential(
            nn.Conv2d(1, 16, 3), nn.ReLU(), nn.Conv2d(16, 32, 3), nn.ReLU(), nn.Flatten(), nn.Linear(512, 10)
        )

    def of_jax(jax, p, x, y):
        for k in (0, 2):
            x = jax.lax.conv_general_dilated(x, p[k], (1, 1), "VALID") + p[k + 1][:, None, None]
            x = jax.nn.relu(x)
        return entropy_of_jax(jax, x.reshape(len(x), -1) @ p[4].T + p[5], y)

    return contest(make, lambda F, m, x, y: F.cross_entropy(m(x), y), [normal(64, 1, 8, 8), classes(10, 64)], of_jax)


@row(1.0)
def lstm_2_layers_of_128_batch_32_50_steps():
    def loss(F, m, x, y):
        return ((m(x)[0] - y) ** 2).mean()

    def of_jax(jax, p, x, y):
        return ((lstm_of_jax(jax, p, x) - y) ** 2).mean()

    return contest(lambda nn: nn.LSTM(64, 128, 2), loss, [normal(50, 32, 64), normal(50, 32, 128, seed=1)], of_jax)


LETTERS, WIDTH, LAYERS, HEADS, STEPS, BATCH = 96, 128, 4, 4, 64, 16


def transformer(nn):
    class Letters(nn.Module):
        """Letters by those before them."""

        def __init__(self):
            super().__init__()
            self.letters, self.places = nn.Embedding(LETTERS, WIDTH), nn.Embedding(STEPS, WIDTH)
            layer = nn.TransformerEncoderLayer(
                WIDTH, HEADS, 4 * WIDTH, 0.0, "gelu", batch_first=True, norm_first=True
            )  # fmt: skip
            self.layers = nn.TransformerEncoder(layer, LAYERS, enable_nested_tensor=False)
            self.out = nn.Linear(WIDTH, LETTERS)

        def forward(self, x, mask):
            return self.out(self.layers(self.letters(x) + self.places.weight, mask, is_causal=True))

    return Letters()


def transformer_of_jax(jax, p, x, y, mask):
    jnp = jax.numpy

    def norm(h, w, b):
        h = h - h.mean(axis=-1, keepdims=True)
        return h / jnp.sqrt((h * h).mean(axis=-1, keepdims=True) + 1e-5) * w + b

    h = p[0][x] + p[1]
    for k in range(2, 2 + 12 * LAYERS, 12):
        w_in, b_in, w_out, b_out, w1, b1, w2, b2, g1, c1, g2, c2 = p[k : k + 12]
        q, key, v = jnp.split(norm(h, g1, c1) @ w_in.T + b_in, 3, axis=-1)
        q, key, v = (a.reshape(*a.shape[:2], HEADS, -1).swapaxes(1, 2) for a in (q, key, v))
        scores = q @ key.swapaxes(-1, -2) / (WIDTH // HEADS) ** 0.5 + mask
        a = (jax.nn.softmax(scores, axis=-1) @ v).swapaxes(1, 2).reshape(h.shape)
        h = h + a @ w_out.T + b_out
        h = h + jax.nn.gelu(norm(h, g2, c2) @ w1.T + b1, approximate=False) @ w2.T + b2
    return entropy_of_jax(jax, h @ p[-2].T + p[-1], y)


@row(1.0)
def transformer_4_layers_of_128_batch_16_64_steps():
    def loss(F, m, x, y, mask):
        return F.cross_entropy(m(x, mask).reshape(-1, LETTERS), y.reshape(-1))

    mask = np.triu(np.full((STEPS, STEPS), -np.inf, "float32"), 1)
    data = [classes(LETTERS, BATCH, STEPS), classes(LETTERS, BATCH, STEPS)[::-1].copy(), mask]
    return contest(transformer, loss, data, transformer_of_jax)


# ---- optimisers and functions alone


def waited(module, result=None):
    """The result, when a GPU has it."""
    if module is tt:
        tt.synchronize()
    elif device_of(module) == "cuda":
        module.cuda.synchronize()
    return result


@row(1.0)
def adam_over_100_parameters():
    shapes = [(64, 64), (64,)] * 50
    found = {}
    for name in "tutti", "torch", "torch fused":
        module = tt if name == "tutti" else peer("torch")
        if module is None:
            continue
        on = {} if module is tt else {"device": device_of(module)}
        make = tt.array if module is tt else module.tensor
        leaves = [make(normal(*s, seed=k), **on).requires_grad_() for k, s in enumerate(shapes)]
        for k, p in enumerate(leaves):
            p.grad = make(normal(*shapes[k], seed=k + 1000), **on)
        how = {"foreach": True} if name == "torch" else {"fused": True} if name == "torch fused" else {}
        optimizer = module.optim.Adam(leaves, **how)

        def step(optimizer=optimizer, leaves=leaves, module=module):
            optimizer.step()
            if module is tt:
                tt.eval(*leaves)
            waited(module)

        found[name] = step
    return found


def of_function(name, f, x):
    """A function of networks and its gradient."""

    def make():
        ours = tt.array(x)
        of = tt.grad(lambda a: (f(tt.nn.functional, a) ** 2).mean())

        def mine():
            g = of(ours)
            tt.eval(g)
            return waited(tt, g)

        found = {"tutti": mine}
        if torch := peer("torch"):
            leaf = torch.tensor(x, requires_grad=True, device=device_of(torch))
            found["torch"] = lambda: waited(
                torch, torch.autograd.grad((f(torch.nn.functional, leaf) ** 2).mean(), leaf)[0]
            )
            np.testing.assert_allclose(mine().numpy(), found["torch"]().cpu().numpy(), rtol=1e-3, atol=1e-9)
        return found

    make.__name__ = f"{name}, forward and backward"
    row(1.0)(make)


def of_function_forward(name, f, x):
    def make():
        ours = tt.array(x)

        def mine():
            y = f(tt.nn.functional, ours)
            tt.eval(y)
            return waited(tt, y)

        found = {"tutti": mine}
        if torch := peer("torch"):
            there = torch.tensor(x, device=device_of(torch))
            found["torch"] = lambda: waited(torch, f(torch.nn.functional, there))
        return found

    make.__name__ = f"{name}, forward"
    row(1.0)(make)


for _of in of_function_forward, of_function:
    _of("softmax 512 x 1000", lambda F, x: F.softmax(x, -1), normal(512, 1000))
    _of("layer norm 512 x 1000", lambda F, x: F.layer_norm(x, (1000,)), normal(512, 1000))
    _of("rms norm 512 x 1000", lambda F, x: F.rms_norm(x, (1000,)), normal(512, 1000))
    _of("batch norm 64 x 32 x 16 x 16", lambda F, x: F.batch_norm(x, None, None, training=True), normal(64, 32, 16, 16))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="names that hold one of these texts, separated by commas")
    parser.add_argument("--seconds", type=float, default=1.0, help="for each contestant of a row")
    parser.add_argument("--json", type=pathlib.Path)
    harness.add_arguments(parser)
    args = parser.parse_args()
    pick, notes = harness.chosen(args)
    rows = []
    for make, goal in ROWS:
        name = make.__name__.replace("_", " ")
        if not any(text in name for text in args.only.split(",")):
            continue
        try:
            rows.append(harness.measure(harness.Row(name, goal, None), make(), args.seconds, pick=pick))
        except Exception as e:  # noqa: BLE001 - the other rows are worth having
            print(f"{name}: {type(e).__name__}: {str(e)[:600]}", flush=True)
            continue
        harness.save_beside(rows, args, tt, notes)
        s = rows[-1].seconds
        others = (f" {s[k] / s['tutti']:6.2f}x of {k} {harness.pretty(s[k])}" for k in s if k != "tutti")
        print(f"{name:<46} {harness.pretty(s['tutti']):>10} {''.join(others)}  {goal}", flush=True)
    if MISSING:
        print(f"not here: {', '.join(sorted(MISSING))}", file=sys.stderr)


if __name__ == "__main__":
    main()
