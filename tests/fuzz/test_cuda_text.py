"""Random CUDA C texts give what their model in whole numbers gives, however barriers are met and wherever they run."""

import os
import shutil

import numpy as np
import pytest
import tutti as tt
from cuda_text import TYPES, Writer

MANY = int(os.environ.get("TUTTI_FUZZ", "0")) or 3  # texts
KERNELS = 6  # in one text, which is compiled once
WAYS = {"split": {}, "fibers": {"TUTTI_KERNEL_SPLIT": "0"}, "checked": {"TUTTI_CHECK": "1"}}
needs_cxx = pytest.mark.skipif(not (shutil.which("c++") or shutil.which("g++")), reason="no C++ compiler")


def kinds_of(kind):
    bits, is_signed = TYPES[kind]
    return np.dtype(f"{'i' if is_signed else 'u'}{bits // 8}")


def compared(seed, device):
    """Each kernel of a text over some blocks, beside its model."""
    rng = np.random.default_rng(seed)
    kernels = [Writer(seed * 100 + k, f"k{k}") for k in range(KERNELS)]
    with tt.device(device):
        module = tt.SourceModule("\n".join(k.text for k in kernels), no_extern_c=True)
        assert "Without the forms" not in module.inspect_source()
        for k in kernels:
            for block, grid in ((32, 2), (64, 1)):
                kind = kinds_of(k.in_kind)
                ends = np.iinfo(kind)
                a = rng.integers(ends.min, ends.max, 64, dtype=kind, endpoint=True)
                got = np.zeros(64, np.uint64)
                module.get_function(k.name)(got, a, np.int32(5), block=(block, 1, 1), grid=(grid, 1))
                tt.synchronize()
                want = np.array(k.run(a.tolist(), block, grid, 5), np.uint64)
                assert np.array_equal(got, want), f"seed {seed}, block {block}, of {k.name}:\n{k.text}"


@needs_cxx
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("seed", range(MANY))
def test_texts_on_the_processor(seed, way, monkeypatch):
    for name, value in WAYS[way].items():
        monkeypatch.setenv(name, value)
    compared(seed, "cpu")


@pytest.mark.skipif(not tt.cuda.is_available(), reason="no GPU")
@pytest.mark.parametrize("seed", range(MANY))
def test_texts_on_a_gpu(seed):
    compared(seed, "cuda")
