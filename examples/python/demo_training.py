"""Training: the small regression that articles about GPU programming in Python end with, a network on real images, and
one that writes letters like this project's documentation.

They are modules as in PyTorch. Gradients come from walking back through what was recorded, an optimiser closes the
step, and forward, backward and update are one evaluation.
"""

import collections
import os
import pathlib
import time

import tutti as tt
from demo_table import progress, write_png
from tutti import nn
from tutti.nn import functional

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"
EPOCHS = 100  # of the regression


def regression(rng):
    """100 points of 10 numbers, a hidden layer of 5: the first and the last loss."""
    x, y = rng.standard_normal((100, 10), dtype="float32"), rng.standard_normal((100, 1), dtype="float32")
    model, far = nn.Sequential(nn.Linear(10, 5), nn.ReLU(), nn.Linear(5, 1)), nn.MSELoss()
    optimizer, losses = tt.optim.SGD(model.parameters(), lr=0.01), []
    for _ in range(EPOCHS):
        optimizer.zero_grad()
        loss = far(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss)
    return float(losses[0]), float(losses[-1]), loss.device


# ---- digits


def images(pixels, labels, rng):
    """In an order by chance, four fifths to learn from."""
    x, y = (tt.array(pixels).astype("float32") / 16).reshape(-1, 1, 8, 8), tt.array(labels)
    order, cut = rng.permutation(len(labels)), len(labels) * 4 // 5
    x, y = x[order], y[order]
    tt.eval(x, y)
    return x[:cut], y[:cut], x[cut:], y[cut:]


def digits(pixels, labels, rng, epochs, batch=64):
    """Steps taken, and after each epoch the share of images right that were not learned from."""
    x, y, new, answers = images(pixels, labels, rng)
    model = nn.Sequential(
        nn.Conv2d(1, 32, 3, padding=1), nn.ReLU(), nn.Conv2d(32, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Dropout(0.25), nn.Linear(512, 10),
    )  # fmt: skip
    optimizer, steps, right = tt.optim.Adam(model.parameters()), 0, []
    for epoch in range(epochs):
        model.train()
        optimizer.param_groups[0]["lr"] = 4e-3 * (1 - epoch / epochs)
        for at in range(0, len(x) - batch + 1, batch):
            optimizer.zero_grad()
            loss = functional.cross_entropy(model(x[at : at + batch]), y[at : at + batch])
            loss.backward()
            optimizer.step()
            steps += 1
        model.eval()
        with tt.no_grad():
            right.append(float((model(new).argmax(axis=1) == answers).mean()))
        progress(bar("digits", epoch + 1, epochs, f"{right[-1]:.1%} right"))
    progress("")
    return steps, right, loss.device


# ---- letters


class Letters(nn.Module):
    """Says which letter follows, for each of a line: a transformer of a few layers."""

    def __init__(self, letters, width, layers, heads, length):
        super().__init__()
        self.length = length
        self.letters, self.places = nn.Embedding(letters, width), nn.Embedding(length, width)
        for table in self.letters, self.places:
            nn.init.normal_(table.weight, std=0.02)
        layer = nn.TransformerEncoderLayer(
            width, heads, 4 * width, dropout=0.0, activation="gelu", batch_first=True, norm_first=True
        )
        self.layers = nn.TransformerEncoder(layer, layers, norm=nn.LayerNorm(width))
        self.out = nn.Linear(width, letters)
        self.register_buffer("mask", nn.Transformer.generate_square_subsequent_mask(length), persistent=False)

    def forward(self, x):
        n = x.shape[1]
        seen = self.letters(x) + self.places.weight[:n]
        return self.out(self.layers(seen, self.mask[:n, :n], is_causal=True))


def documentation():
    """The pages of docs/ as numbers of letters, and the letters; those that are rare are left out."""
    text = "".join(path.read_text(encoding="utf-8") for path in sorted(DOCS.glob("*.md")))
    counts = collections.Counter(text)
    letters = sorted(c for c, n in counts.items() if n > 40)
    number = {c: k for k, c in enumerate(letters)}
    return tt.array([number[c] for c in text if c in number]), letters


def letters(rng, steps, width=64, layers=1, heads=4, length=64, batch=16):
    """The network, its losses, the shares of letters that it guessed right, and a line that it wrote."""
    text, known = documentation()
    model, window = Letters(len(known), width, layers, heads, length), tt.arange(length + 1)
    optimizer, losses, right = tt.optim.AdamW(model.parameters(), betas=(0.9, 0.95)), [], []
    for step in range(steps):
        lines = text[rng.integers(0, len(text) - length, batch)[:, None] + window]
        optimizer.param_groups[0]["lr"] = 8e-3 * min(1, (step + 1) / 50) * (1 - step / steps)
        optimizer.zero_grad()
        scores = model(lines[:, :-1])
        loss = functional.cross_entropy(scores.reshape(-1, len(known)), lines[:, 1:].reshape(-1))
        loss.backward()
        optimizer.step()
        if step % 10 == 9 or step + 1 == steps:
            losses.append(float(loss))
            right.append(float((scores.detach().argmax(axis=2) == lines[:, 1:]).mean()))
            progress(bar("letters", step + 1, steps, f"loss {losses[-1]:.2f}, {right[-1]:.0%} right"))
    progress("")
    return losses, right, written(model, known, "The ", rng)


def written(model, known, begin, rng, more=60):
    """A line that begins so, each letter drawn by its chance."""
    line = [known.index(c) for c in begin]
    with tt.no_grad():
        for _ in range(more):
            chances = functional.softmax(model(tt.array([line[-model.length :]]))[0, -1].astype("float64") / 0.5, 0)
            line.append(int(rng.choice(len(known), p=chances)))
    return "".join(known[k] for k in line).replace("\n", " ")


# ---- what is told


def bar(name, done, all_of_it, said, width=24):
    full = width * done // all_of_it
    return f"{name} [{'#' * full}{'.' * (width - full)}] {done} of {all_of_it}, {said}"


def curve(values, top, height=120, width=360):
    """A picture of numbers between 0 and `top`: dark where they are."""
    at = tt.linspace(0, len(values) - 1, width)
    level = (1 - tt.interp(at, tt.arange(len(values)), tt.array(values)) / top) * (height - 3) + 1
    line = abs(tt.arange(height)[:, None] - level) < 1.5
    return tt.where(line, 0, 255).astype(tt.uint8)


def plot(path, losses, right, shares):
    """One below the other: the letters' loss, their share that is right, and that of the digits."""
    parts = [curve(losses, max(losses)), curve(right, 1.0), curve(shares, 1.0)]
    gap = tt.full((4, parts[0].shape[1]), 128, dtype=tt.uint8)
    write_png(path, tt.concatenate([parts[0], gap, parts[1], gap, parts[2]]))


def counted(f):
    """What f gives, the seconds it took, kernels launched, bytes moved, and the most memory that arrays had."""
    tt.memory_reset_peak()
    before, start = tt.ledger(), time.perf_counter()
    result = f()
    seconds, after = time.perf_counter() - start, tt.ledger()
    kernels = sum(after[k] - before[k] for k in ("launches", "library_calls"))
    moved = sum(after[k] - before[k] for k in ("bytes_read", "bytes_written"))
    return result, (seconds, kernels, moved, tt.memory()["max_allocated"])


def line(name, steps, cost, where, said):
    seconds, kernels, moved, peak = cost
    print(
        f"{name:<34} {seconds * 1e3:>6.0f} ms, a step {seconds / steps * 1e6:>6,.0f} us, "
        f"{kernels / steps:>5.1f} kernels, {moved / steps / 1e6:>6.2f} MB; {peak / 1e6:,.0f} MB held  {where} / {said}",
        flush=True,
    )


def show(pixels, labels, quick, folder):
    """The trainings; gives how many failed."""
    tt.random.seed(0)
    print(f"\n{'training':<34} all of it, and a step's share")
    (first, last, where), cost = counted(lambda: regression(tt.random.default_rng(0)))
    line("regression, 100 epochs", EPOCHS, cost, where, f"loss {first:.3f} to {last:.3f}")
    epochs, wanted = (3, 0.8) if quick else (16, 0.98)
    (steps, shares, where), cost = counted(lambda: digits(pixels, labels, tt.random.default_rng(0), epochs))
    name = f"digits by convolution, {epochs} epochs"
    line(name, steps, cost, where, f"{shares[-1]:.1%} of new images right")
    steps, most = (20, 4.5) if quick else (800, 2.2)
    (losses, right, text), cost = counted(lambda: letters(tt.random.default_rng(0), steps))
    said = f"loss {losses[0]:.2f} to {losses[-1]:.2f}, {right[-1]:.0%} of letters right"
    line(f"letters by a transformer, {steps} steps", steps, cost, where, said)
    print(f"{'':<34} it writes: {text}")
    plot(folder / "training.png", losses, right, shares)
    print(f"{'':<34} picture: {os.path.relpath(folder / 'training.png')}")
    return (last >= first) + (shares[-1] < wanted) + (losses[-1] > most)
