"""Work in pieces on the simulated device: what comes up, is worked on and goes down at once gives the same bits as the
whole, in whatever order the device runs it, and when a call of it fails."""

import pytest
from null_program import FAILS, run_program

PROGRAM = """
import numpy as np, tutti as tt
from tutti import _core

rng = np.random.default_rng(3)
N = 2_200_017
A = rng.standard_normal(N).astype("f4")
B = rng.standard_normal(N).astype("f4")
M = rng.standard_normal((2201, 1003)).astype("f4")
V = rng.standard_normal(1003).astype("f4")
C = (rng.standard_normal(N // 2) + 1j * rng.standard_normal(N // 2)).astype("c8")

def softmax(x):
    e = tt.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)

PROGRAMS = {
    "chain": (lambda a, b: tt.exp(-a * a) * 2 + b, A, B),
    "types": (lambda a, b: (a > b).astype("i2") + a.astype("f8").astype("i1"), A, B),
    "shifted": (lambda a: a[1:-1] * 2 - a[:-2] - a[2:], A),
    "reversed": (lambda a: a[::-1] * 2 + 1, A),
    "there and back": (lambda a: a[::-1] + a, A),
    "strided": (lambda a: a[5::3] + 1, A),
    "a row for all": (lambda m, v: m * v + m[0, 0], M, V),
    "rows": (lambda m: m.sum(axis=1), M),
    "columns": (lambda m: m.sum(axis=0), M),
    "softmax": (softmax, M),
    "stencil": (lambda m: m[1:-1, 1:-1] + m[:-2, 1:-1] + m[2:, 1:-1] + m[1:-1, :-2], M),
    "transposed": (lambda m: m.T * 2 + 1, M),
    "turned": (lambda m: (m.T * 2 + 1).copy("C"), M),
    "taken": (lambda m: tt.take(m, np.arange(2200, -1, -1) // 2, axis=0) + 1, M),
    "position": (lambda m: m.argmax(axis=1), M),
    "complex": (lambda c: c * c + 1, C),
    "a sum that nobody wants": (lambda c: (c + c.sum().real.astype("c8")).imag + c.imag * 1j, C),
    "several steps": (lambda a: (lambda e: e + e.mean())(tt.exp(a)), A),
    "after a library": (lambda a: tt.sort(a) * 2, A),
    "from nothing": (lambda: tt.arange(N) * 2 + 1,),
}

def compute(name, device=None, owned=False):
    f, *args = PROGRAMS[name]
    y = f(*[(tt.array if owned else tt.asarray)(a) for a in args])
    return y.to(device) if device else y

def check(name, owned=False):
    want = compute(name).numpy()
    y = compute(name, "null", owned)
    got = y.numpy()
    assert got.dtype == want.dtype and got.tobytes() == want.tobytes(), name
    assert ((y + y).numpy() == want + want).all(), name  # the value goes on to be used there
    for a in PROGRAMS[name][1:]:
        assert tt.asarray(a).numpy().tobytes() == a.tobytes(), name
"""
# Which of them come apart along an axis: the others are done whole, or on the host when there is no room for that.
PIECES = {
    "chain": True,
    "types": False,  # little comes back
    "shifted": True,
    "reversed": True,
    "there and back": False,
    "strided": True,
    "a row for all": True,
    "rows": False,  # nothing but the way up takes long
    "columns": False,
    "softmax": True,
    "stencil": True,
    "transposed": True,  # the result lies as its operand does
    "turned": False,
    "taken": False,
    "position": False,
    "complex": True,
}


def run(code, **env):
    return run_program(PROGRAM, FAILS, code, **env)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("memory", [1 << 30, 8 << 20], ids=["room", "windows"])
def test_same_bits(memory, seed):
    """With room for everything, and on a device that is smaller than an operand and a result."""
    out = run(
        """
        for name in PROGRAMS:
            before = tt.ledger()["streamed"]
            check(name, owned=name in "chain rows softmax".split())
            print(name, tt.ledger()["streamed"] - before, sep=":")
        """,
        TUTTI_NULL_MEMORY=str(memory),
        TUTTI_NULL_SEED=str(seed + 1),
    )
    for name, n in (line.split(":") for line in out.splitlines()):
        if name in PIECES and memory > 1 << 29:
            assert (int(n) > 0) == PIECES[name], (name, n)


@pytest.mark.parametrize("memory", [1 << 30, 8 << 20], ids=["room", "windows"])
@pytest.mark.parametrize("kind", ["device memory", "launch", "copy", "memory"])
def test_failing_calls(kind, memory):
    """The n-th call fails: an error, or the work is done another way; the same values come out the next time."""
    run(
        f"""
        want = compute("stencil").numpy()
        calls = [*range(8), *range(8, 120, 13)]
        fails("{kind}", lambda: compute("stencil", "null"), lambda y: np.array_equal(y.numpy(), want), calls)
        """,
        TUTTI_NULL_MEMORY=str(memory),
    )


def test_a_device_lost_on_the_way():
    run(
        """
        want = compute("chain").numpy()
        y = compute("chain", "null")
        _core._test_fail("device loss", 3, False)
        for turn in range(2):
            try:
                y.numpy()
            except RuntimeError as e:
                assert "null:0 is lost" in str(e)
            else:
                raise AssertionError("no error")
        assert np.array_equal(compute("chain").numpy(), want)
        """
    )


def test_other_threads_work_meanwhile():
    run(
        """
        import threading
        failed = []
        def work(k):
            try:
                for turn in range(2):
                    check(["chain", "softmax", "shifted", "rows"][(k + turn) % 4])
            except BaseException as e:
                failed.append(repr(e))
        threads = [threading.Thread(target=work, args=(k,)) for k in range(3)]
        for t in threads: t.start()
        for t in threads: t.join()
        assert not failed, failed
        """,
        TUTTI_NULL_MEMORY=str(60 << 20),
    )


def test_operands_of_ours_stay():
    """A loop moves each input once; memory that its owner may change does not stay."""
    out = run(
        """
        x = tt.array(A)
        for k in range(3):
            (x * k).to("null").numpy()
        print(tt.ledger()["uploads"], tt.ledger()["streamed"])
        y = tt.asarray(A, copy=False)
        for k in range(3):
            A[7] = k
            assert float((y + 1).to("null").numpy()[7]) == k + 1
        print(tt.ledger()["uploads"])
        """
    )
    assert out.split() == ["1", "1", "4"]


def test_what_is_said_of_it():
    out = run(
        """
        for name in PROGRAMS:  # also where a step reads what an earlier one gives
            tt.explain(compute(name, "null"))
        y = compute("chain", "null")
        print(tt.explain(y))
        with tt.profile() as p:
            y.numpy()
        print(p)
        """
    )
    assert "in 8 pieces when the result is asked for on the host" in out
    assert ", in 8 pieces " in out.split("step ")[-1]


def test_a_step_that_takes_no_room_for_long():
    """Windows: the device never holds more than some pieces."""
    out = run(
        """
        y = compute("chain", "null")
        y.numpy()
        print(tt.ledger()["fallbacks"], _core._device_memory(tt.device("null")._number)["max_allocated"])
        """,
        TUTTI_NULL_MEMORY=str(8 << 20),
    )
    fallbacks, most = map(int, out.split())
    assert fallbacks == 0 and most < 7 << 20


FOLDS = """
import numpy as np, tutti as tt
from tutti import _core

rng = np.random.default_rng(0)
M = rng.standard_normal((50_001, 60)).astype("f4")
A = rng.standard_normal(LENGTH).astype("f4")
C = (rng.standard_normal((30_000, 40)) + 1j).astype("c8")
I = rng.integers(-100, 100, (50_001, 60)).astype("i4")
shared = tt.asarray
FOLDS = {
    "sum": lambda: shared(M).sum(axis=0),
    "of an expression": lambda: tt.exp(shared(M) * 2).sum(axis=0),
    "largest": lambda: shared(M).max(axis=0),
    "of everything": lambda: tt.sin(shared(A)).sum(),
    "least": lambda: shared(A).min(),
    "reversed": lambda: (shared(A)[::-1] * 2).sum(),
    "complex": lambda: shared(C).sum(axis=0),
    "any": lambda: (shared(M) > 3).any(axis=0),
    "all": lambda: (shared(A) < 100).all(),
    "whole numbers": lambda: shared(I).sum(axis=0),
    "product": lambda: (shared(M) * 0.01 + 1).prod(axis=0),
    "transposed": lambda: shared(M).T.sum(axis=1),
    "lines": lambda: shared(M)[:, ::2].sum(),
    "a row for all": lambda: (shared(M) * tt.arange(60, dtype="f4")).sum(axis=0),
    "with places": lambda: (shared(A) * tt.arange(LENGTH, dtype="f4")).sum(),
    "two at once": lambda: tt.stack([shared(M).max(axis=0), shared(M).min(axis=0)]),
}
"""


@pytest.mark.parametrize("memory, length", [(10 << 20, 9_000_001), (112 << 20, 31_000_003)], ids=["chunks", "groups"])
def test_reductions_along_the_row(memory, length):
    """Cut along the reduced axis it has the whole's bits: pieces are chunks of its arithmetic, or groups of them."""
    out = run_program(
        f"LENGTH = {length}\n" + FOLDS,
        """
        for name, f in FOLDS.items():
            want = f().numpy()
            before = tt.ledger()
            got = f().to("null").numpy()
            after = tt.ledger()
            assert got.dtype == want.dtype and got.tobytes() == want.tobytes(), name
            print(name, *(after[k] - before[k] for k in ("streamed", "pieces", "fallbacks")), sep=":")
            assert _core._device_memory(tt.device("null")._number)["max_allocated"] <= LIMIT
        """.replace("LIMIT", str(memory)),
        TUTTI_NULL_MEMORY=str(memory),
    )
    seen = {line.split(":")[0]: [int(n) for n in line.split(":")[1:]] for line in out.splitlines()}
    small = memory < 64 << 20
    for name, (streamed, pieces, fallbacks) in seen.items():
        whole = not small and name not in ("of everything", "least", "reversed", "all", "with places")
        assert fallbacks == 0 or name == "two at once", name
        assert whole or name == "two at once" or (streamed == 1 and pieces > 1), (name, streamed, pieces)
    assert seen["of everything"][1] == -(-length // (65536 * (1 if small else 64)))


@pytest.mark.parametrize("kind", ["device memory", "launch", "copy", "memory"])
def test_failing_calls_of_folds(kind):
    run_program(
        "LENGTH = 1_500_000\n" + FOLDS,
        f"""
        for name in ("of everything", "sum"):
            want = FOLDS[name]().numpy()
            for n in [*range(8), *range(8, 200, 17)]:
                y = FOLDS[name]().to("null")
                _core._test_fail("{kind}", n, False)
                try:
                    assert np.array_equal(y.numpy(), want), n
                except (MemoryError, RuntimeError):
                    assert "{kind}" != "device memory"
                finally:
                    _core._test_fail("{kind}", -1, False)
                assert np.array_equal(y.numpy(), want), n
        """,
        TUTTI_NULL_MEMORY=str(5 << 20),
    )
