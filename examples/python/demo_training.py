"""Training: the small regression that articles about GPU programming in Python end with, and a network on real images.

Both are array programs: gradients come from walking back through what was recorded, an optimiser closes the step, and
forward, backward and update are one evaluation.
"""

import time

import tutti as tt
from demo_table import progress
from tutti.nn.functional import conv2d

EPOCHS = 100  # of the regression


def parameters(rng, *shapes):
    """Weights of a spread that fits what goes in, and biases of 0."""
    made = []
    for shape, inputs in shapes:
        weights = rng.standard_normal(shape, dtype="float32") * (2 / inputs) ** 0.5
        made += [
            weights.requires_grad_(),
            tt.zeros(shape[-1] if len(shape) == 2 else shape[0], dtype="float32").requires_grad_(),
        ]
    return made


def regression(rng):
    """100 points of 10 numbers, a hidden layer of 5: the first and the last loss."""
    x, y = rng.standard_normal((100, 10), dtype="float32"), rng.standard_normal((100, 1), dtype="float32")
    w1, b1, w2, b2 = weights = parameters(rng, ((10, 5), 10), ((5, 1), 5))
    optimizer, losses = tt.optim.SGD(weights, lr=0.01), []
    for _ in range(EPOCHS):
        optimizer.zero_grad()
        loss = ((tt.maximum(x @ w1 + b1, 0) @ w2 + b2 - y) ** 2).mean()
        loss.backward()
        optimizer.step()
        losses.append(loss)
    return float(losses[0]), float(losses[-1]), loss.device


def network(weights, x):
    w1, b1, w2, b2, w3, b3 = weights
    h = tt.maximum(conv2d(x, w1, b1), 0)
    h = tt.maximum(conv2d(h, w2, b2), 0)
    return h.reshape(len(x), -1) @ w3 + b3


def images(pixels, labels, rng):
    """In an order by chance, four fifths to learn from."""
    x = (tt.array(pixels).astype("float32") / 16).reshape(-1, 1, 8, 8)
    y = (tt.array(labels)[:, None] == tt.arange(10)).astype("float32")
    order, cut = rng.permutation(len(labels)), len(labels) * 4 // 5
    x, y = x[order], y[order]
    tt.eval(x, y)
    return x[:cut], y[:cut], x[cut:], y[cut:]


def digits(pixels, labels, rng, epochs, batch=64):
    """Steps taken, and the share of images right that were not learned from."""
    x, y, new, answers = images(pixels, labels, rng)
    weights = parameters(rng, ((16, 1, 3, 3), 9), ((32, 16, 3, 3), 144), ((512, 10), 512))
    optimizer, steps = tt.optim.Adam(weights), 0
    for epoch in range(epochs):
        progress(f"training on digits: {epoch + 1} of {epochs}")
        optimizer.param_groups[0]["lr"] = 4e-3 * (1 - epoch / epochs)
        for at in range(0, len(x) - batch + 1, batch):
            optimizer.zero_grad()
            scores = tt.special.log_softmax(network(weights, x[at : at + batch]), axis=1)
            loss = -(y[at : at + batch] * scores).sum() / batch
            loss.backward()
            optimizer.step()
            steps += 1
    with tt.no_grad():
        right = network(weights, new).argmax(axis=1) == answers.argmax(axis=1)
    progress("")
    return steps, float(right.mean()), right.device


def counted(f):
    """What f gives, the seconds it took, kernels launched and bytes moved."""
    before, start = tt.ledger(), time.perf_counter()
    result = f()
    seconds, after = time.perf_counter() - start, tt.ledger()
    kernels = sum(after[k] - before[k] for k in ("launches", "library_calls"))
    return result, seconds, kernels, sum(after[k] - before[k] for k in ("bytes_read", "bytes_written"))


def line(name, seconds, steps, kernels, moved, where, said):
    print(
        f"{name:<34} {seconds * 1e3:>6.0f} ms, a step {seconds / steps * 1e6:>6,.0f} us, "
        f"{kernels / steps:>5.1f} kernels, {moved / steps / 1e6:>6.2f} MB  {where} / {said}",
        flush=True,
    )


def show(pixels, labels, quick):
    """Both trainings; gives how many failed."""
    print(f"\n{'training':<34} all of it, and a step's share")
    (first, last, where), seconds, kernels, moved = counted(lambda: regression(tt.random.default_rng(0)))
    line("regression, 100 epochs", seconds, EPOCHS, kernels, moved, where, f"loss {first:.3f} to {last:.3f}")
    epochs, wanted = (3, 0.8) if quick else (16, 0.97)
    (steps, right, where), seconds, kernels, moved = counted(
        lambda: digits(pixels, labels, tt.random.default_rng(0), epochs)
    )
    line(
        f"digits by convolution, {epochs} epochs",
        seconds,
        steps,
        kernels,
        moved,
        where,
        f"{right:.1%} of new images right",
    )
    return (last >= first) + (right < wanted)
