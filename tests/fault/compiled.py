"""Fail the n-th call on the road to compiled code. A program of its own: it wants an empty kernel cache, or a
filled one, and a compiler that has not been given up.

compiled.py KIND...: every kind's n-th call fails while a kernel is compiled, kept on disk or fetched from there.
"""

import gc
import os
import sys

import tutti as tt

core = tt._core
tt.set_eager(0)  # kernels are what this is about
OPS = [tt.negative, tt.abs, tt.sqrt, tt.square, tt.floor, tt.ceil]
KINDS = ["compile", "spawn", "write", "read", "load", "memory"]
LENGTH = 5


def expression(k):
    """Kernel k of a family: different text, equal size."""
    a = tt.arange(1.0, 33.0)
    for _ in range(LENGTH):
        a = OPS[k % len(OPS)](a) + 0.5
        k //= len(OPS)
    return repr(a.tolist())


def live():
    gc.collect()
    tt.compile_wait()
    tt.memory_trim()
    return core._test_live(), len(os.listdir("/proc/self/fd"))


def growth(k):
    before, _ = live()
    expression(k)
    return live()[0] - before


def interpreted(k):
    tt.set_tier(0)
    try:
        return expression(k)
    finally:
        tt.set_tier(1)


def run_kind(kind, first):
    """Calls of this kind that were made to fail."""
    clean = max(growth(first), growth(first + 1), growth(first + 2))  # a kernel that stays
    n = failed = 0
    while True:
        k = first + 3 + 2 * n
        want = interpreted(k)
        before, files = live()
        core._test_fail(kind, n, False)
        try:
            got = expression(k)
        except MemoryError:
            assert kind == "memory", f"{kind} {n}: MemoryError"
            got = None
        fired = core._test_calls(kind)[1]
        core._test_fail(kind, -1, False)
        assert got is None or got == want, f"{kind} {n}: wrong value"
        after, now_open = live()
        assert after - before <= clean + 4096, f"{kind} {n}: {after - before} bytes more, {clean} without a fault"
        assert now_open <= files + 1, f"{kind} {n}: {now_open - files} files left open"
        assert expression(k) == want, f"{kind} {n}: wrong value afterwards"
        if not fired:
            return failed
        failed += 1
        expression(k + 1)  # a success in between: a compiler that fails three times in a row is given up
        n += 1 + n // 3


def main():
    tt.set_tier(1)
    expression(0)
    failed = {kind: run_kind(kind, 100 + 1000 * KINDS.index(kind)) for kind in sys.argv[1:]}
    compiled, hits = tt.ledger()["compiles"], tt.ledger()["cache_hits"]
    print(failed, "compiled", compiled, "from disk", hits)
    scratch = [f for f in os.listdir(os.environ["TMPDIR"]) for f in os.listdir(os.path.join(os.environ["TMPDIR"], f))]
    assert not scratch, f"left behind: {scratch}"


main()
