"""Attention beside softmax of the whole matrix of scores in float64."""

import random

import numpy as np
import pytest
import references
import tutti as tt
from tutti.nn import functional

attention = functional.scaled_dot_product_attention
TOLERANCES = {"float64": 1e-13, "float32": 3e-6, "float16": 3e-3, "bfloat16": 2e-2}


def make(shape, dtype="float64", seed=1):
    return tt.array(np.random.default_rng(seed).standard_normal(shape)).astype(dtype)


def plain(a):
    return (a.astype("float64") if a.dtype == "bfloat16" else a).numpy()


def check(q, k, v, mask=None, causal=False, scale=None):
    want = references.attention(*map(plain, (q, k, v)), None if mask is None else plain(mask), causal, scale)
    size = max(1, np.abs(want).max(initial=0))
    for first in (q, q.detach().requires_grad_()):  # with a history few scores are products
        got = attention(first, k, v, mask, is_causal=causal, scale=scale)
        assert got.shape == want.shape and got.dtype == q.dtype
        np.testing.assert_allclose(plain(got.detach()), want, rtol=0, atol=TOLERANCES[str(q.dtype)] * size)


@pytest.mark.parametrize("seed", range(60))
def test_shapes_by_chance(seed):
    r = random.Random(seed)
    dtype = r.choice(["float32", "float32", "float64", "float16", "bfloat16"])
    queries, keys = r.choice([1, 2, 8, 47, 48, 49, 100, 400]), r.choice([1, 3, 8, 127, 128, 129, 300])
    width, deep = r.choice([1, 3, 8, 24, 64]), r.choice([1, 5, 8, 50, 64])
    batch = [r.choice([1, 2, 3]) for _ in range(r.choice([0, 1, 2, 3]))]
    some = [[1 if r.random() < 0.2 else n for n in batch][r.choice([0, 0, 1]) :] for _ in range(3)]
    q, k, v = make((*some[0], queries, width), dtype), make((*some[1], keys, width), dtype, 2), None
    v = make((*some[2], keys, deep), dtype, 3)
    mask, causal, rng = None, False, np.random.default_rng(seed)
    kind = r.choice(["none", "causal", "bool", "added"])
    if kind == "causal":
        causal = True
    elif kind == "bool":
        mask = tt.array(rng.random(r.choice([(queries, keys), (keys,), (queries, 1)])) < 0.5)
    elif kind == "added":
        mask = tt.array(rng.standard_normal(r.choice([(queries, keys), (1, keys)]))).astype(dtype)
    check(q, k, v, mask, causal, r.choice([None, None, 0.3]))


@pytest.mark.parametrize("q, k, v", [
    ((0, 3), (4, 3), (4, 2)), ((3, 2), (0, 2), (0, 4)), ((3, 2), (4, 2), (4, 0)), ((0, 3, 2), (0, 4, 2), (0, 4, 2)),
    ((1, 1), (1, 1), (1, 1)),
])  # fmt: skip
def test_sizes_of_nothing(q, k, v):
    for causal in (False, True):
        check(make(q), make(k, seed=2), make(v, seed=3), causal=causal)
    check(make(q), make(k), make(v), tt.array(np.ones((q[-2], k[-2]), bool)))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_views(dtype):
    a = make((9, 3, 2, 40), dtype)
    q, k, v = (a[::-1, n].transpose(1, 0, 2) for n in range(3))
    check(q, k, v)
    check(q[..., ::2], k[..., ::-2], v[..., 1:7])
    check(tt.broadcast_to(q[:, :1], q.shape), k, tt.broadcast_to(v[..., :1], v.shape))
    windows = tt.lib.stride_tricks.sliding_window_view(a[0, 0, 0], 7)
    check(windows, windows[::-1], windows)


def test_queries_without_a_key_get_zeros():
    q, k, v = make((4, 3)), make((5, 3)), make((5, 2))
    mask = np.ones((4, 5), bool)
    mask[1] = False
    assert attention(q, k, v, tt.array(mask)).numpy()[1].tolist() == [0, 0]
    added = np.where(mask, 0.0, -np.inf)
    assert attention(q, k, v, tt.array(added)).numpy()[1].tolist() == [0, 0]


def test_scores_far_from_each_other():
    q = make((6, 4)) * 1e4
    check(q, make((300, 4), seed=2), make((300, 3), seed=3))
    k = tt.array(np.array([[1000.0], [0.0]]))
    assert attention(tt.ones((1, 1)), k, tt.array([[1.0], [2.0]])).tolist() == [[1.0]]


def test_what_is_no_number_stays_so():
    q, k, v = (make((4, 3), seed=n) for n in range(3))
    k[2, 1] = tt.nan
    assert tt.isnan(attention(q, k, v)).all()
    got = attention(q, k, v, is_causal=True).numpy()
    assert not np.isnan(got[:2]).any() and np.isnan(got[2:]).all()


def test_threads_change_no_bits():
    q, k, v = (make((2, 300, 32), "float32", n) for n in range(3))
    threads = tt.get_num_threads()
    seen = []
    try:
        for n in (1, 2, 5):
            tt.set_num_threads(n)
            leaves = [a.detach().requires_grad_() for a in (q, k, v)]
            o = attention(*leaves)
            o.sum().backward()
            seen.append([o.detach().numpy(), *(a.grad.numpy() for a in leaves)])
    finally:
        tt.set_num_threads(threads)
    for other in seen[1:]:
        assert all((a == b).all() for a, b in zip(seen[0], other))


def test_dropped_shares():
    q, k, v = make((3, 50, 8)), make((3, 60, 8), seed=2), tt.array(np.tile(np.eye(60), (3, 1, 1)))
    shares = attention(q, k, v).numpy()
    tt.random.seed(5)
    dropped = attention(q, k, v, dropout_p=0.25).numpy()
    stays = dropped != 0
    assert 0.7 < stays.mean() < 0.8
    np.testing.assert_allclose(dropped[stays], (shares / 0.75)[stays], rtol=1e-12)
    tt.random.seed(5)
    assert (attention(q, k, v, dropout_p=0.25).numpy() == dropped).all()
    assert not attention(q, k, v, dropout_p=1.0).numpy().any()


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
@pytest.mark.parametrize("queries, keys, causal", [
    (1, 1, False), (3, 37, False), (4, 16, True), (7, 5, True), (50, 131, False), (200, 200, True), (97, 300, False),
])  # fmt: skip
def test_the_same_shares_are_dropped_tile_by_tile(dtype, queries, keys, causal):
    """Beside a mask they are spelled, with the matrix of shares; drops hang on generator and place alone."""
    shapes = (queries, 8), (keys, 8), (keys, 6)
    got, want = [], []
    for out in (got, want):
        leaves = [make((2, 3, *s), dtype, n).requires_grad_() for n, s in enumerate(shapes)]
        seen = tt.tri(queries, keys, dtype=bool) if causal else tt.ones((queries, keys), dtype=bool)
        tt.random.seed(7)
        how = {"attn_mask": seen} if out is want else {"is_causal": causal}
        o = attention(*leaves, dropout_p=0.3, **how)
        (o * make(o.shape, dtype, 9)).sum().backward()
        out += [plain(o.detach()), *(plain(a.grad) for a in leaves)]
    assert np.abs(want[0]).max() > 0
    for a, b in zip(got, want, strict=True):
        np.testing.assert_allclose(a, b, rtol=0, atol=4 * TOLERANCES[dtype] * max(1, np.abs(b).max()))


@pytest.mark.parametrize("heads", [(6, 2, 2), (6, 3, 3), (6, 1, 1), (6, 2, 3), (6, 6, 1), (4, 4, 4)])
@pytest.mark.parametrize("lead", [(), (2,), (2, 1)])
def test_heads_that_share_keys(heads, lead):
    """Each head of keys stands for as many neighbours among the queries' heads."""
    q, k, v = (make((*lead, h, n, 5), seed=n) for h, n in zip(heads, (7, 9, 9), strict=True))
    every = [tt.repeat(a, heads[0] // h, axis=-3) for a, h in zip((k, v), heads[1:], strict=True)]
    for how in ({}, {"is_causal": True}, {"attn_mask": make((heads[0], 7, 9), seed=5)}):
        got = attention(q, k, v, enable_gqa=True, **how)
        assert (got.numpy() == attention(q, *every, **how).numpy()).all()
    k.requires_grad_()
    whole = every[0].detach().requires_grad_()
    attention(q, k, v, enable_gqa=True).sum().backward()
    attention(q, whole, every[1]).sum().backward()
    want = whole.grad.numpy().reshape(*lead, heads[1], -1, 9, 5).sum(axis=-3)
    np.testing.assert_allclose(k.grad.numpy(), want, rtol=0, atol=1e-12)


def test_types():
    a = make((3, 2), "float32")
    assert attention(a, a, a.astype("float64")).dtype == "float64"
    whole = tt.array([[1, 2]])
    assert attention(whole, whole, whole).tolist() == [[1.0, 2.0]]


@pytest.mark.parametrize("call, kind, words", [
    (lambda q, m: attention(q[0], q, q), ValueError,
     "Expected query, key, and value to all be  at least 2 dimensional, but got query.dim: 1, key.dim: 2"),
    (lambda q, m: attention(q, q, q, m, is_causal=True), ValueError,
     "_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True"),
    (lambda q, m: attention(q, q, q, dropout_p=1.5), ValueError, "has to be between 0 and 1, but got 1.5"),
    (lambda q, m: attention(q, q[:, :2], q), ValueError, "the same last dimension, but got 3 and 2"),
    (lambda q, m: attention(q, q, q[:2]), ValueError, "the same sequence length, but got 4 and 2"),
    (lambda q, m: attention(q, q, q, m.astype(int)), TypeError, "Expected attn_mask dtype to be bool or float"),
    (lambda q, m: attention(q, q, q, m[:3]), ValueError, "broadcast"),
    (lambda q, m: attention(q * 1j, q, q), TypeError, "complex"),
    (lambda q, m: attention(q, q, q, enable_gqa=True), IndexError, "Dimension out of range .* but got -3"),
    (lambda q, m: attention(*(tt.ones((h, 4, 3)) for h in (6, 4, 6)), enable_gqa=True), ValueError,
     "Number of heads in key and value must divide the number of heads in query"),
    (lambda q, m: attention(*(tt.ones((h, 4, 3)) for h in (6, 3, 0)), enable_gqa=True), ValueError, "must divide"),
])  # fmt: skip
def test_what_is_wrong_is_said(call, kind, words):
    with pytest.raises(kind, match=words):
        call(make((4, 3)), tt.array(np.ones((4, 4), bool)))
