"""Work that has no room on a GPU: products in tiles, sorts in runs, picks in pieces, with the limit of its memory set
low. Each program is a process of its own, for the limit and the ledger are the process's."""

import os
import subprocess
import sys
import textwrap

import pytest
import tutti as tt

if not tt.cuda.is_available():
    pytest.skip(f"no GPU: {tt.cuda.why()}", allow_module_level=True)

SETUP = """
import numpy as np, tutti as tt
tt.cuda.set_memory_limit(192 << 20)
rng = np.random.default_rng(5)

def whole(*shape, dtype="f4"):  # sums of whole numbers are exact in any order
    return rng.integers(-3, 4, shape, dtype="i1").astype(dtype)

def streamed(f):
    before = tt.ledger()
    y = f()
    after = tt.ledger()
    assert after["streamed"] > before["streamed"] and after["fallbacks"] == before["fallbacks"], f
    return y
"""


def run(code):
    env = {**os.environ, "TUTTI_POISON": "1", "TUTTI_DEVICE": "cuda"}
    code = SETUP + textwrap.dedent(code)
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]


def test_products():
    run(
        """
        cases = {
            "plain": (whole(7001, 5003), whole(5003, 6001)),
            "turned": (whole(5003, 7001).T, whole(6001, 5003).T),
            "a long sum": (whole(50, 1_000_000), whole(1_000_000, 60)),
            "of itself": (whole(2_000_000, 40).T, None),
            "batch": (whole(300, 400, 500), whole(300, 500, 300)),
            "one for all": (whole(300, 400, 500), whole(500, 700)),
            "double": (whole(4001, 3003, dtype="f8"), whole(3003, 4100, dtype="f8")),
            "half": (whole(60, 2_000_000, dtype="f2"), (rng.random((2_000_000, 10)) < 0.001).astype("f2")),
            "complex": (whole(3001, 3003) + 1j * whole(3001, 3003), whole(3003, 4100).astype("c8")),
            "int8": (whole(2000, 100_000, dtype="i1"), whole(100_000, 300, dtype="i1")),
            "int32": (whole(5001, 5003, dtype="i4"), whole(5003, 5004, dtype="i4")),
            "bool": (rng.random((150, 1_000_000)) < 1e-3, rng.random((1_000_000, 70)) < 1e-3),
        }
        for name, (a, b) in cases.items():
            b = a.T if b is None else b
            got = streamed(lambda: (tt.asarray(a, copy=False) @ tt.asarray(b, copy=False)).numpy())
            some = slice(None, None, max(1, a.shape[-2] // 7))
            b8 = b.astype("c16" if b.dtype.kind == "c" else "f8")
            want = np.matmul(a[..., some, :].astype(b8.dtype), b8)
            want = (want > 0) if a.dtype == bool else want.astype("i8").astype(a.dtype) if a.dtype.kind == "i" else want
            assert got.dtype == a.dtype and np.array_equal(got[..., some, :], want.astype(a.dtype)), name
        """
    )


def test_what_follows_a_product():
    run(
        """
        A, B, V, W = whole(20_000, 500), whole(500, 6000), whole(6000), whole(20_000, 6000)
        there = lambda a: tt.asarray(a, copy=False)
        gelu = lambda y, xp: 0.5 * y * (1 + xp.tanh(0.7978845608 * (y + 0.044715 * y * y * y)))
        cases = {
            "bias": lambda t, xp: t(A) @ t(B) + t(V),
            "bias, relu": lambda t, xp: xp.maximum(t(A) @ t(B) + t(V), 0),
            "gelu": lambda t, xp: gelu(t(A) @ t(B) * 1, xp),
            "sum": lambda t, xp: t(A) @ t(B) + t(W),
            "sum of halves": lambda t, xp: t(A).astype("f2") @ t(B).astype("f2") + t(W).astype("f2"),
        }
        some = slice(None, None, 1000)
        C = A[some] @ B
        for name, f in cases.items():
            got = streamed(lambda: f(there, tt).numpy())[some]
            want = C + V if "bias" in name else C + W[some] if "sum" in name else gelu(C, np)
            want = np.maximum(want, 0) if "relu" in name else want
            close = 1e-2 if got.dtype == "f2" else 1e-3
            assert np.allclose(got, want, rtol=close, atol=close), name
        """
    )


def test_sorts():
    run(
        """
        a = rng.random(80_000_001, dtype="f4")
        a[::1000] = np.nan
        a[1::1000], a[2::1000] = -0.0, 0.0
        for x in (a, a[:60_000_000].view("i8"), (a * 100).astype("i2"), a[:80_000_000].reshape(800, 100_000)):
            for f in (tt.sort, tt.argsort):
                got = streamed(lambda: f(tt.asarray(x, copy=False)).numpy())
                want = f(tt.asarray(x, copy=False).to("cpu")).numpy()
                assert got.dtype == want.dtype and got.tobytes() == want.tobytes()
        """
    )


def test_picks():
    run(
        """
        n = 60_000_001
        x = rng.random(n, dtype="f4")
        i = rng.integers(0, 5000, n)
        m = rng.random(n, dtype="f4") < 0.2
        there = lambda a: tt.array(a, device="cuda")
        assert np.array_equal(streamed(lambda: there(x)[there(m)].numpy()), x[m])
        assert np.array_equal(streamed(lambda: (lambda y: y[y > 0.9])(there(x)).numpy()), x[x > 0.9])
        assert np.array_equal(streamed(lambda: tt.flatnonzero(there(m.astype("i8"))).numpy()), np.flatnonzero(m))
        assert np.array_equal(streamed(lambda: tt.bincount(there(i)).numpy()), np.bincount(i))
        assert np.array_equal(streamed(lambda: tt.unique(there(i)).numpy()), np.unique(i))
        assert np.array_equal(tt.unique(there(x)).numpy(), np.unique(x))
        """
    )
