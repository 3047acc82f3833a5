"""Long programs: what a loop of many turns leaves pending, run as it is recorded and turn by turn.

As a script: `long.py NAME TURNS`, or `long.py SEED TURNS` for a body of random statements. Prints one line of JSON.
"""

import json
import random
import resource
import sys
import time

import tutti as tt

N = 4096


def grid(dtype="float32"):
    return (tt.arange(N, dtype="float64") / N).astype(dtype)


def same_function(s, k):
    s["a"] = tt.sin(s["a"])


def complex_function(s, k):
    s["z"] = tt.sin(s["z"]) * 0.5


def mixed(s, k):
    a = s["a"]
    a = tt.sqrt(abs(a) + 1.5) * 0.5
    a = tt.where(a > 1, a - 1, a) + s["b"] * 0.25
    s["a"] = tt.tanh(a)


def scalars(s, k):
    s["a"] = s["a"] * (1 + 0.001 * k) - 0.001 * k


def wide(s, k):
    s["total"] = s["total"] + s["b"] * float(k) + tt.exp(-s["a"] * k)


def wide_arrays(s, k):
    s["total"] = s["total"] + s["many"][k % 64]


def reduced(s, k):
    s["a"] = s["a"] - s["a"].mean() + 0.5 * s["a"].max()


def stores(s, k):
    s["a"][k % 7 :: 7] = tt.sin(s["a"][k % 7 :: 7]) + 0.25


def in_place(s, k):
    s["a"] += s["b"] * 0.001
    s["a"] *= 0.999


def choices(s, k):
    s["a"] = tt.where(s["b"] > 0.001 * (k % 100), s["a"] + 0.5, s["a"] * 0.5)


def shared(s, k):
    a = s["a"]
    s["a"] = (a + tt.cos(a)) * 0.5 + a * a * 0.25


def several(s, k):
    s["a"], s["b"] = s["b"] * 0.5 + s["a"], s["a"] - s["b"] * 0.25
    s["c"] = s["c"] + tt.exp(-s["a"] * s["a"])


def stencil(s, k):
    a = s["m"]
    s["m"] = 0.25 * (a + tt.roll(a, 1, 0) + tt.roll(a, -1, 1) + tt.roll(a, 1, 1))


def halves(s, k):
    s["h"] = tt.tanh(s["h"] * 0.5 + 0.25)


def softmax(s, k):
    e = tt.exp(s["m"] - s["m"].max(axis=1, keepdims=True))
    s["m"] = e / e.sum(axis=1, keepdims=True)


def history(s, k):
    s["kept"].append(tt.sin(s["a"] * float(k)))


NAMED = [same_function, complex_function, mixed, scalars, wide, wide_arrays, reduced, stores, in_place, choices, shared]
NAMED += [several, stencil, halves, softmax, history]


def random_body(seed):
    """A few random statements over a few arrays, the same in each turn."""
    r = random.Random(seed)
    names = ["a", "b", "c"]
    one = [tt.sin, tt.cos, tt.tanh, tt.sqrt, tt.negative, abs, tt.arctan, tt.square]

    def term():
        v = r.choice(names)
        kind = r.randrange(7)
        f, w, x = r.choice(one), r.choice(names), r.random()
        if kind == 0:
            return lambda s, k: f(abs(s[v]))
        if kind == 1:
            return lambda s, k: s[v] * x + s[w] * (1 - x)
        if kind == 2:
            return lambda s, k: tt.where(s[v] > x, s[v] - x, s[w])
        if kind == 3:
            return lambda s, k: s[v] - s[w].mean()
        if kind == 4:
            return lambda s, k: s[v] * (0.5 + 0.001 * (k % 50))
        if kind == 5:
            return lambda s, k: s[v][::-1] + x
        return lambda s, k: f(abs(s[v] + s[w])) * x

    def statement():
        t, f = r.choice(names), term()
        kind = r.randrange(4)
        lo = r.randrange(8)

        def assign(s, k):
            s[t] = tt.clip(f(s, k), -2, 2)

        def add(s, k):
            s[t] += f(s, k) * 0.01

        def part(s, k):
            s[t][lo:-8] = f(s, k)[lo:-8]

        return [assign, assign, add, part][kind]

    body = [statement() for _ in range(r.randrange(1, 6))]

    def run(s, k):
        for f in body:
            f(s, k)

    return run


def start():
    s = {"a": grid(), "b": grid()[::-1] + 0.5, "c": tt.ones(N, dtype="float32"), "total": tt.zeros(N, dtype="float32")}
    s |= {"z": grid("complex64"), "h": grid("float16"), "m": grid().reshape(64, 64)}
    s |= {"many": [grid() * float(k) for k in range(64)], "kept": []}
    tt.eval(*[v for v in s.values() if isinstance(v, tt.ndarray)], *s["many"])
    return s


def finish(s):
    tt.eval(*[v for v in s.values() if isinstance(v, tt.ndarray)], *s["kept"])
    tt.synchronize()
    return sum(float(v.astype("float64").real.sum()) for v in s.values() if isinstance(v, tt.ndarray))


def run(body, turns, each):
    s = start()
    begin = time.perf_counter()
    for k in range(turns):
        body(s, k)
        if each:
            tt.eval(*[v for v in s.values() if isinstance(v, tt.ndarray)])
    value = finish(s)
    return time.perf_counter() - begin, value


def most_mb():
    """The most memory that this program had. What getrusage says holds the process, too, that started it."""
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) // 1024 for line in status if line.startswith("VmHWM"))


def main():
    which, turns = sys.argv[1], int(sys.argv[2])
    bodies = {f.__name__: f for f in NAMED}
    body = bodies.get(which) or random_body(int(which))
    pending, value = run(body, turns, False)
    made = tt.ledger()["kernels_made"]
    begin = time.perf_counter()
    tt.compile_wait()
    compiled = time.perf_counter() - begin
    apart, expected = run(body, turns, True)
    child = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(
        json.dumps(
            {
                "pending": pending,
                "apart": apart,
                "same": value == expected or (value != value and expected != expected),
                "kernels": made,
                "compiling": compiled,
                "child_mb": child.ru_maxrss // 1024,
                "mb": most_mb(),
            }
        )
    )


if __name__ == "__main__":
    main()
