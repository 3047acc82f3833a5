"""Short forms of functions on a GPU (prelude_f32.h, TT_NEAR_F32): the bits are the CPU's for all operands."""

import numpy as np
import pytest
import tutti as tt

if not tt.cuda.is_available():
    pytest.skip(f"no GPU: {tt.cuda.why()}", allow_module_level=True)

PIECE = 1 << 26


def on(device, work, *operands):
    out = work(*(tt.array(v, device=device) for v in operands))
    tt.eval(*out)
    return [np.asarray(v.to("cpu")) for v in out]


def check(work, *operands):
    for k, (got, want) in enumerate(zip(on("cuda:0", work, *operands), on("cpu", work, *operands), strict=True)):
        wrong = (got.view(np.uint32) != want.view(np.uint32)) & ~(np.isnan(got) & np.isnan(want))
        at = np.flatnonzero(wrong)[:5]
        assert not wrong.any(), f"{k}: {[(hex(v.view(np.uint32)[i]), got[i], want[i]) for i in at for v in operands]}"


def of_one(x):
    return 1 / x, tt.sqrt(x), tt.log(x), tt.exp(x)


def of_two(x, y):
    return x / y, y / x, tt.exp(x)


def bits(start, step, n):
    return (start + step * np.arange(n, dtype=np.uint64)).astype(np.uint32).view(np.float32)


def test_one_operand():
    check(of_one, bits(7, 61, PIECE))


@pytest.mark.slow
def test_one_operand_whatever_it_is():
    for start in range(0, 1 << 32, PIECE):
        check(of_one, bits(start, 1, PIECE))


def test_quotients():
    edges = [0, 1, 2, 0x400000, 0x7FFFFF, 0x7F800000, 0x7F800001, 0x7FC00000]
    exponents = [1, 2, 24, 25, 26, 27, 28, 100, 126, 127, 128, 150, 228, 251, 252, 253, 254]
    edges += [e << 23 | m for e in exponents for m in (0, 1, 0x2AAAAB, 0x7FFFFE, 0x7FFFFF)]
    edges = np.array(edges + [e | 1 << 31 for e in edges], np.uint32).view(np.float32)
    x, y = (np.tile(v.ravel(), 20) for v in np.meshgrid(edges, edges))
    assert x.size > 500_000  # fewer go another way
    check(of_two, x, y)
    rng = np.random.default_rng(5)
    x, y = (rng.integers(0, 1 << 32, PIECE, np.uint32).view(np.float32) for _ in range(2))
    check(of_two, x, y)
    # Few operands that are far among others, and quotients that lie close to the middle of two floats.
    y = rng.uniform(1, 2, PIECE).astype(np.float32)
    x = ((1 + (2 * rng.integers(0, 1 << 23, PIECE) + 1) * 2.0**-24) * y).astype(np.float32)
    x[::1009] = 0
    y[5::3001] = np.inf
    check(of_two, x, y)
