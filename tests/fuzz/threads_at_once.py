"""Random programs that several threads run at once on arrays which they share, against the same by one thread.

    python tests/fuzz/threads_at_once.py FIRST COUNT     each that differs is shown

The shared arrays are looked at in all ways, lie, or are pending when the threads begin, and nobody writes to them; each
thread writes to views of an array of its own and to a row of one that all have.
"""

import random
import sys
import threading
import warnings

import numpy as np
import tutti as tt

warnings.simplefilter("ignore")
THREADS = 4
SHAPES = ((6,), (40,), (3, 5), (17, 33), (4, 3, 8), (70, 50), (20_000,))
KINDS = ("float64", "float32", "int64", "int32", "bool", "complex128")
# {a}, {b}: shared arrays, {o}: an array of the thread's own, {c}: a number. Each gives a value that is looked at.
STATEMENTS = (
    "{a} * {c} + {b}",
    "m.where({a} > {c}, {a}, {b})",
    "{a}.sum() + {b}.sum()",
    "{a}.sum(axis=-1)",
    "{a}[..., ::-1] - {b}",
    "{a}.T.reshape(-1)[::2]",
    "m.sort({a}, axis=-1)",
    "m.cumsum({a}, axis=0)",
    "{a}.max(axis=0)",
    "m.argmax({a})",
    "{a}.astype('float32').mean()",
    "{a}.reshape(-1)[m.asarray([0, -1, 2])]",
    "m.concatenate([{a}, {b}])",
    "m.unique({a})",
    "m.add.accumulate({a}, axis=-1)",
    "m.add.reduceat({a}, [0, 2, 1])",
    "m.dot({a}.reshape(-1), {b}.reshape(-1))",
    "({a} + 1).copy()",
    "m.count_nonzero({a})",
    "{a}.reshape(-1)[{b}.reshape(-1) != 0]",
    "m.einsum('i,i->', {a}.reshape(-1), {b}.reshape(-1))",
    "set_({o}, slice(None, None, 2), {a}.reshape(-1)[0])",
    "set_({o}, slice(1, None), {o}[:-1] + 1)",
    "m.add.at({o}, m.asarray([0, 0, 1]), 2)",
    "{o} * 2",
)


def set_(to, where, what):
    to[where] = what
    return to


class Program:
    """Shared arrays, and for each thread its statements."""

    def __init__(self, seed):
        draw, rng = random.Random(seed), np.random.default_rng(seed)
        shape, kind = draw.choice(SHAPES), draw.choice(KINDS)
        self.start = [rng.integers(-4, 5, shape).astype(kind) for _ in range(3)]
        self.pending = draw.random() < 0.5
        self.text = [
            [
                draw.choice(STATEMENTS).format(
                    a=draw.choice(("s[0]", "s[1]", "s[2]")),
                    b=draw.choice(("s[0]", "s[1]")),
                    c=draw.randrange(1, 4),
                    o="o",
                )
                for _ in range(draw.randrange(2, 7))
            ]
            for _ in range(THREADS)
        ]

    def shared(self):
        a, b, c = map(tt.asarray, self.start)
        if self.pending:
            return [a + b, a * b, c]
        return [tt.asarray((a + b).numpy()), tt.asarray((a * b).numpy()), c]

    def run(self, thread, shared, rows):
        """What thread number `thread` sees."""
        seen, names = [], {"m": tt, "s": shared, "o": tt.zeros(9), "set_": set_}
        for text in self.text[thread]:
            try:
                value = eval(text, names)  # noqa: S307 - texts of ours
                seen.append(np.asarray(value) if value is not None else np.asarray(names["o"]))
            except (TypeError, ValueError, IndexError) as e:
                seen.append(type(e).__name__)
        rows[thread] = thread + 1
        return seen


def same(a, b):
    if isinstance(a, str) or isinstance(b, str):
        return a is b or a == b
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def difference(seed):
    """None, or what one thread saw that is not what it sees alone; all bits count."""
    program = Program(seed)
    alone = [program.run(k, program.shared(), tt.zeros((THREADS, 3))) for k in range(THREADS)]
    shared, rows, seen, begin = program.shared(), tt.zeros((THREADS, 3)), [None] * THREADS, threading.Barrier(THREADS)

    def work(k):
        begin.wait()
        try:
            seen[k] = program.run(k, shared, rows)
        except BaseException as e:  # noqa: BLE001 - shown with the program
            seen[k] = [repr(e)]

    threads = [threading.Thread(target=work, args=(k,)) for k in range(THREADS)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(60)
        if t.is_alive():
            return f"{seed}: a thread does not end: {program.text}"
    for k in range(THREADS):
        if len(seen[k]) != len(alone[k]) or not all(map(same, seen[k], alone[k])):
            at = next((i for i, pair in enumerate(zip(seen[k], alone[k], strict=False)) if not same(*pair)), -1)
            values = f"  together {seen[k][at]}\n  alone    {alone[k][at]}"
            return f"{seed}: thread {k}, statement {at} of {program.text[k]}\n{values}"
    want = np.repeat(np.arange(1.0, THREADS + 1), 3).reshape(THREADS, 3)
    return None if np.array_equal(rows, want) else f"{seed}: rows of all threads {rows}"


def main():
    first, count = map(int, sys.argv[1:])
    found = [d for d in map(difference, range(first, first + count)) if d]
    print(*found, f"{len(found)} of {count} programs differ", sep="\n")
    return len(found) > 0


if __name__ == "__main__":
    sys.exit(main())
