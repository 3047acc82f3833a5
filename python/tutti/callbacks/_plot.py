"""Pictures of a training: curves by epoch."""

import math

_WIDTH, _HEIGHT = 60, 12


def plot(curves, filename=None):
    """A picture for each result and its validation, by matplotlib or in text."""
    panels = {}
    for name, values in curves.items():
        panels.setdefault(name.removeprefix("val_"), {})[name] = values
    if not panels:
        raise ValueError("There is nothing to draw: no epoch has ended.")
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return _text(panels, filename)
    return _figure(Figure, panels, filename)


def _figure(kind, panels, filename):
    figure = kind(figsize=(5 * len(panels), 3.5), layout="constrained")
    for axes, (title, curves) in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels.items(), strict=True):
        for name, values in curves.items():
            axes.plot(range(1, len(values) + 1), values, label=name)
        axes.set(title=title, xlabel="epoch")
        axes.legend()
    if filename is not None:
        figure.savefig(filename)
    return figure


def _text(panels, filename):
    text = "\n\n".join(_panel(title, curves) for title, curves in panels.items())
    if filename is None:
        print(text)
    else:
        with open(filename, "w", encoding="utf-8") as file:
            file.write(text + "\n")
    return text


def _panel(title, curves):
    """Rows of characters, the largest value above: o for what is trained, x for the validation."""
    finite = [v for values in curves.values() for v in values if isinstance(v, (int, float)) and math.isfinite(v)]
    low, high = (min(finite), max(finite)) if finite else (0.0, 0.0)
    last = max(map(len, curves.values())) - 1
    rows = [[" "] * _WIDTH for _ in range(_HEIGHT)]
    for name, values in curves.items():
        for epoch, value in enumerate(values):
            if isinstance(value, (int, float)) and math.isfinite(value):
                down = (high - value) / (high - low) if high > low else 0.0
                across = epoch / last if last else 0.0
                mark = "x" if name.startswith("val_") else "o"
                rows[round(down * (_HEIGHT - 1))][round(across * (_WIDTH - 1))] = mark
    labels = [f"{high:.4g}", *[""] * (_HEIGHT - 2), f"{low:.4g}"]
    lines = [f"{label:>10} |{''.join(row)}".rstrip() for label, row in zip(labels, rows, strict=True)]
    marks = "  ".join(f"{'x' if name.startswith('val_') else 'o'} {name}" for name in curves)
    return "\n".join([f"{title} by epoch: {marks}", *lines, f"{'':>11}+{'-' * _WIDTH}", f"{'1':>13}{last + 1:>59}"])
