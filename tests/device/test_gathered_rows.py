"""Library rows with kernels of ours are gathered with launches: a step that repeats is a graph, over the stand-in for
the driver."""

import os
import pathlib
import subprocess
import sys
import textwrap

import pytest
import tutti as tt

FAKES = pathlib.Path(tt._core.__file__).resolve().parents[2] / "tests"

PROGRAM = """
import tutti as tt
from tutti.nn import functional

tt.set_eager(0)
names = "flushes", "graph_launches", "library_calls"

def leaf(*shape):
    return tt.ones(shape, dtype="float32", device="cuda:0").requires_grad_()

def counted(loss, leaves, turns=6):
    def step():
        loss().backward()
        tt.eval(*(a.grad for a in leaves))
        for a in leaves:
            a.grad = None
    for _ in range(4):
        step()
    before = tt.ledger()
    for _ in range(turns):
        step()
    after = tt.ledger()
    return {k: (after[k] - before[k]) / turns for k in names}
"""

pytestmark = pytest.mark.skipif(not (FAKES / "libfake_cuda.so").exists(), reason="no stand-in for the driver was built")


def run(tmp_path, code):
    texts = tmp_path / "texts"
    texts.mkdir()
    fakes = {
        "TUTTI_CUDA": str(FAKES / "libfake_cuda.so"), "TUTTI_NVRTC": str(FAKES / "libfake_nvrtc.so"),
        "FAKE_NVRTC_TEXTS": str(texts), "TUTTI_NVML": "none", "FAKE_CUDA_VERSION": "13000",
        "TUTTI_CACHE_DIR": str(tmp_path),
    }  # fmt: skip
    env = {k: v for k, v in os.environ.items() if k not in ("TUTTI_NULL_DEVICE", "TUTTI_DEVICE", "TUTTI_POISON")}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM + textwrap.dedent(code)], env=env | fakes, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]


def test_steps_are_graphs(tmp_path):
    run(
        tmp_path,
        """
        q = leaf(2, 3, 32, 16)
        seen = counted(lambda: functional.scaled_dot_product_attention(q, q, q, is_causal=True).sum(), [q])
        assert seen["library_calls"] == 2 and seen["graph_launches"] > 0.5 and not seen["flushes"], seen
        x, w, b = leaf(4, 8, 16, 16), leaf(16, 8, 3, 3), leaf(16)
        seen = counted(lambda: (functional.conv2d(x, w, b, padding=1) ** 2).sum(), [x, w, b])
        assert seen["library_calls"] == 3 and seen["graph_launches"] > 0.5 and not seen["flushes"], seen
        """,
    )
