"""A sweep of shapes: how fast each form is, as a fraction of the bandwidth of a copy of as many elements.

Every map has the number of elements downwards and the length of a row across; each entry is in percent. A hole is an
entry below 60 % of the median of its neighbours, seen twice: shapes that the choice of a schedule forgot.
"""

import argparse
import json
import math
import pathlib
import statistics
import time

import harness
import numpy as np
import tutti as tt

HOLE = 0.6


def softmax(x, _):
    e = tt.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


# Of a form: what it computes, and how many bytes an element moves at least.
FORMS = {
    "sum": (lambda x, _: x.sum(axis=1), 4),
    "sum0": (lambda x, _: x.sum(axis=0), 4),
    "variance": (lambda x, _: x.var(axis=1), 4),
    "variance0": (lambda x, _: x.var(axis=0), 4),
    "softmax": (softmax, 8),
    "scan": (lambda x, _: tt.cumsum(x, axis=1), 8),
    "sort": (lambda x, _: tt.sort(x, axis=1), 8),
    "transpose": (lambda x, _: tt.ascontiguousarray(x.T), 8),
    "gather": (lambda x, rows: x[rows], 8),
}


def spread(low, high, count):
    """Up to `count` whole numbers from low to high in equal ratios, few of them round."""
    ratio = (high / low) ** (1 / max(count - 1, 1))
    return sorted({round(low * ratio**k) for k in range(count)})


def grid(args):
    """Numbers of elements and lengths of rows; the lengths reach the smallest number."""
    high = min(args.max, most_elements(args.device))
    down = max(2, min(10, round(math.log2(high / 1e4)) + 1))
    totals = spread(10_000, high, down)
    return totals, spread(2, high // 2, max(args.shapes // len(totals), 2))


def most_elements(device):
    """What fits four times into half of the memory: operand, result, copy and work space."""
    if device != "cpu":
        free = tt.cuda.mem_get_info()[0]
    else:
        lines = pathlib.Path("/proc/meminfo").read_text().splitlines()
        free = 1024 * int(next(line for line in lines if line.startswith("MemAvailable")).split()[1])
    return int(free / 2 / 16)


class Sweep:
    def __init__(self, args):
        self.args, self.copies = args, {}
        self.place = "cpu" if args.device == "cpu" else "cuda:0"

    def times(self, work, *arrays):
        """The best of a few times of an evaluation, after the kernel is compiled."""

        def once():
            tt.eval(work(*arrays))
            tt.synchronize()

        for _ in range(3):
            once()
            tt.compile_wait()
        first = harness.once(once)
        inner = max(1, int(0.0005 / max(first, 1e-6)))  # a clock reads little of a few microseconds

        def several():
            for _ in range(inner):
                once()

        return min(harness.once(several) for _ in range(self.args.least)) / inner

    def array(self, shape):
        x = tt.random.default_rng(1).random(shape, dtype=tt.float32).to(self.place)
        tt.eval(x)
        return x

    def copy_rate(self, n):
        """Bytes a second of a copy of n elements (negated, because a copy alone would share its memory)."""
        if n not in self.copies:
            self.copies[n] = 8 * n / self.times(lambda x: -x, self.array((n,)))
        return self.copies[n]

    def fraction(self, form, total, length):
        work, width = FORMS[form]
        shape = (total // length, length)
        x = self.array(shape)
        rows = tt.array(np.random.default_rng(1).integers(0, shape[0], shape[0]), device=self.place)
        tt.eval(rows)
        n = shape[0] * shape[1]
        return width * n / self.times(work, x, rows) / self.copy_rate(total)

    def map(self, form, totals, lengths):
        return [[self.fraction(form, t, m) if 2 * m <= t else None for m in lengths] for t in totals]

    def holes(self, form, table, totals, lengths):
        """Entries far below their neighbours. Both are measured again: others may have used the machine."""
        found = []
        for i, total in enumerate(totals):
            for j, length in enumerate(lengths):
                around = neighbours(table, i, j)
                if not is_hole(table, i, j):
                    continue
                for a, b in [(i, j), *around]:
                    table[a][b] = max(table[a][b], self.fraction(form, totals[a], lengths[b]))
                if is_hole(table, i, j):
                    found.append((total // length, length, table[i][j], level(table, around)))
        return found


def neighbours(table, i, j):
    places = [(i - 1, j), (i + 1, j), (i, j - 1), (i, j + 1)]
    inside = [(a, b) for a, b in places if 0 <= a < len(table) and 0 <= b < len(table[0])]
    return [(a, b) for a, b in inside if table[a][b] is not None]


def level(table, places):
    return statistics.median(table[a][b] for a, b in places)


def is_hole(table, i, j):
    around = neighbours(table, i, j)
    return table[i][j] is not None and bool(around) and table[i][j] < HOLE * level(table, around)


def show(form, table, totals, lengths, holes):
    print(f"\n{form}: percent of the copy's bandwidth")
    print(f"{'elements':>12}" + "".join(f"{short(m):>6}" for m in lengths))
    for total, row in zip(totals, table):
        print(f"{total:>12}" + "".join(f"{'':>6}" if v is None else f"{100 * v:6.0f}" for v in row))
    for rows, length, value, around in holes:
        print(f"  hole: {rows} x {length}: {value:.0%}, its neighbours {around:.0%}")
    if not holes:
        print("  no holes")


def short(n):
    return str(n) if n < 10_000 else f"{n / 1000:.0f}k" if n < 1_000_000 else f"{n / 1e6:.0f}M"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="forms, separated by commas: " + ", ".join(FORMS))
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument(
        "--max", type=lambda v: int(float(v)), default=10**9, help="elements at most; memory limits, too"
    )
    parser.add_argument("--shapes", type=int, default=200, help="shapes of a form at most")
    parser.add_argument("--least", type=int, default=3, help="times at least of each shape")
    parser.add_argument("--out", default=None, help="JSON file (default: bench/results/sweep-DEVICE-DATE.json)")
    args = parser.parse_args()
    sweep, (totals, lengths) = Sweep(args), grid(args)
    maps = {}
    for form in [f for f in args.only.split(",") if f] or FORMS:
        table = sweep.map(form, totals, lengths)
        holes = sweep.holes(form, table, totals, lengths)
        show(form, table, totals, lengths, holes)
        maps[form] = {"percent": [[v and round(100 * v, 1) for v in row] for row in table], "holes": holes}
    name = time.strftime(f"sweep-{args.device}-%Y-%m-%d.json")
    path = pathlib.Path(args.out) if args.out else pathlib.Path(__file__).parent / "results" / name
    machine = [harness.no_folders(line) for line in tt.info().splitlines() if line.startswith("devices")]
    notes = {"date": time.strftime("%Y-%m-%d"), "machine": machine, "elements": totals, "lengths": lengths}
    path.write_text(json.dumps({**notes, "forms": maps}, indent=1) + "\n")
    print("written:", path)


if __name__ == "__main__":
    main()
