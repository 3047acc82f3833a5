"""What is read is the version that was meant: programs that once were wrong, and random ones of their kind."""

import sys

import numpy as np
import pytest
import tutti as tt
import versions

SEEDS = 20_000
PIECE = 500
# A value stored by one step and computed again by a later one, when what it is computed from had no other holder.
PROGRAMS = {
    "reversed": ("x = a; y = x + 1; z = x * 3; del x, a; z[:2] = y[2:4]; y[2] = 0", ["z[::-1] + y"]),
    "in place": ("b = a * 3; a *= 3; a[1:] += b[:-1]; b[1:3] = a[0:2]; a[::2] = b[:1]", ["a", "b"]),
    "doubled": ("b = a + a; a *= 3; a[2] = b[0]; b[1:] += b[:-1]; a[:] = a + b[::-1]", ["a", "b"]),
    "fancy": ("b = xp.where(a > 2, a, a); a *= 3; a[[2]] = b[0:1] * 2; a[[0, 3]] = b[[1, 2]]", ["a"]),
    "masked": (
        "b = a + a; c = b + 1; b[1:] += c[:-1]; c[0:2] = b[3:5]; a[c > 3] = 1; b[::2] = 5; b[3:5] += a[0:2]",
        ["b"],
    ),
    "unused sum": ("b = a + ((a > 3).sum() % 7).astype(a.dtype); c = b.imag + a * 1j; a[:2] = 0", ["c"]),
    "unused sums": ("b = (a + a.sum().real.astype(a.dtype)).imag; c = (a.sum().real + a[:1] * 1j).real", ["b", "c"]),
    "halo": ("u = a * 1; del a; v, w = u * 5, u + 1; del u; v[:1] = w[-2:-1]; w[-2] = 0", ["v[::-1] + w"]),
}


def check(program, seed=None):
    what = versions.difference(program)
    assert what is None, f"seed {seed}: {what}"


@pytest.mark.parametrize("together", [False, True])
@pytest.mark.parametrize("n", [5, 1100])
@pytest.mark.parametrize("dtype", ["int64", "float32", "complex128"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name, dtype, n, together, way):
    program = versions.Program(0)
    text, looks = PROGRAMS[name]
    program.text, program.looks = text.split("; "), looks[:]
    program.dtype, program.shape, program.together = dtype, (n,), together
    assert not any(isinstance(seen, str) for seen in versions.run(np, program))
    check(program)


@pytest.mark.parametrize("first", range(0, SEEDS, PIECE))
def test_random_programs(first):
    tt.set_tier(0)
    try:
        for seed in range(first, first + PIECE):
            check(versions.Program(seed), seed)
            if seed % 4 == 0:
                tt.set_fuse(False)
                check(versions.Program(seed), seed)
                tt.set_fuse(True)
    finally:
        tt.set_tier(2)
        tt.set_fuse(True)


def test_looks_by_several_threads():
    """Small values that one thread brings down while another's evaluation runs without the lock."""
    tt.set_tier(0)
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        for seed in range(300):
            program = versions.Program(seed)
            program.threads = versions.THREADS
            check(program, seed)
    finally:
        sys.setswitchinterval(before)
        tt.set_tier(2)


@pytest.mark.parametrize("first", range(0, 60, 20))
def test_random_programs_compiled(first):
    tt.set_tier(1)
    try:
        for seed in range(first, first + 20):
            check(versions.Program(seed), seed)
    finally:
        tt.set_tier(2)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("first", range(0, 1500, 500))
def test_what_a_failure_in_the_middle_leaves(first):
    rng = np.random.default_rng(first)
    tt.set_tier(0)
    try:
        for seed in range(first, first + 500):
            program = versions.Program(seed)
            kind = str(rng.choice(["memory", "device memory", "copy", "launch"]))
            program.threads = 0
            want = versions.run(np, program)
            try:
                got = versions.run_failing(program, kind, int(rng.integers(60 if kind == "memory" else 12)))
            except RuntimeError as e:  # launches that were gathered fail when their results are known already
                assert "lost when a launch failed" in str(e)
                continue
            assert len(got) == len(want) and all(map(versions.same, want, got)), f"seed {seed}, {kind}"
    finally:
        tt.set_tier(2)
