"""Gradients of the functions of networks, first and second."""

import numpy as np
import pytest
import tutti as tt
from differences import backward, check, check_second
from tutti.nn import functional


def make(*shape, seed=3, kind="f"):
    rng = np.random.default_rng(seed)
    a = rng.standard_normal(shape)
    return a + 1j * rng.standard_normal(shape) if kind == "c" else a


CONVOLUTIONS = [
    ((2, 3, 6), (4, 3, 3), {}),
    ((2, 4, 7), (6, 2, 3), dict(stride=2, padding=1, groups=2)),
    ((1, 2, 9), (3, 2, 2), dict(stride=3, dilation=2)),
    ((2, 2, 5), (2, 2, 2), dict(stride=4)),
    ((1, 1, 1), (1, 1, 1), {}),
    ((2, 3, 5, 4), (2, 3, 3, 2), dict(padding=(1, 0))),
    ((1, 4, 5, 6), (4, 1, 3, 3), dict(groups=4, padding="same")),
    ((1, 2, 6, 6), (8, 1, 2, 2), dict(groups=2, stride=2, dilation=3)),
    ((2, 5, 3, 3), (5, 5, 1, 1), {}),
    ((1, 2, 4, 3, 3), (3, 2, 2, 2, 2), dict(stride=(2, 1, 1), padding=1)),
    ((3, 4, 4), (2, 3, 2, 2), {}),
]
TRANSPOSED = [
    ((2, 3, 4), (3, 2, 3), {}),
    ((1, 4, 3), (4, 2, 3), dict(stride=2, padding=1, output_padding=1, groups=2)),
    ((1, 2, 3), (2, 3, 2), dict(stride=3, dilation=2)),
    ((1, 2, 3, 3), (2, 2, 2, 3), dict(stride=(1, 2), padding=(0, 1))),
    ((1, 2, 2, 2, 2), (2, 1, 2, 2, 1), dict(stride=2)),
]
CALLS = [(f"conv{len(w) - 2}d", x, w, w[0], how) for x, w, how in CONVOLUTIONS]
CALLS += [(f"conv_transpose{len(w) - 2}d", x, w, w[1] * how.get("groups", 1), how) for x, w, how in TRANSPOSED]


@pytest.mark.parametrize("name, x, w, outputs, how", CALLS)
def test_convolutions(name, x, w, outputs, how):
    f = getattr(functional, name)
    x, w, b = make(*x), make(*w, seed=4), make(outputs, seed=5)
    check(lambda *a: f(*a, **how), x, w)
    check(lambda *a: f(*a, **how), x, w, b)
    check_second(lambda *a: f(*a, **how) ** 2, x, w, b)


@pytest.mark.parametrize("name, x, w, outputs, how", CALLS[:6:5] + CALLS[-4:-3])
def test_complex_convolutions(name, x, w, outputs, how):
    f = getattr(functional, name)
    check(lambda *a: f(*a, **how), make(*x, kind="c"), make(*w, seed=4, kind="c"), make(outputs, seed=5, kind="c"))


def test_only_what_is_asked():
    x, w = tt.array(make(2, 3, 5, 5)), tt.array(make(4, 3, 3, 3, seed=4))
    w.requires_grad = True
    functional.conv2d(x, w).sum().backward()
    assert x.grad is None
    np.testing.assert_allclose(
        w.grad.numpy(), [[[[x.numpy()[:, c, i : i + 3, j : j + 3].sum() for j in range(3)] for i in range(3)]
                          for c in range(3)]] * 4
    )  # fmt: skip


@pytest.mark.parametrize("x, w", [((0, 2, 4), (3, 2, 2)), ((2, 0, 4), (3, 0, 2))])
def test_nothing_to_convolve(x, w):
    for g, a in zip(backward(functional.conv1d, make(*x), make(*w)), (x, w)):
        assert g.shape == a and not g.any()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_types_of_gradients(dtype):
    x, w = (tt.array(make(*shape)).astype(dtype).detach().requires_grad_() for shape in ((2, 3, 8, 8), (4, 3, 3, 3)))
    functional.conv2d(x, w, padding=1).sum().backward()
    assert x.grad.dtype == w.grad.dtype == dtype
    wide = [a.detach().astype("float64").requires_grad_() for a in (x, w)]
    functional.conv2d(*wide, padding=1).sum().backward()
    for a, b in zip((x, w), wide):
        np.testing.assert_allclose(a.grad.astype("float64").numpy(), b.grad.numpy(), rtol=2e-2, atol=0.1)


def test_a_shared_and_a_strided_input():
    x, w = make(3, 8, 8), make(3, 2, 2, 2, seed=4)
    check(lambda x, w: functional.conv2d(x[:2, ::2, ::-1], w) + functional.conv2d(x[1:, 1::2], w), x, w)
    check(lambda x: functional.conv2d(x[None, :2], x[None, :2, :3, :3]), x)


# ---- attention

ATTENTION = [
    ((2, 5, 3), (2, 7, 3), (2, 7, 4)),
    ((3, 2), (3, 2), (3, 2)),
    ((1, 1), (4, 1), (4, 1)),
    ((2, 1, 3, 2), (1, 2, 5, 2), (2, 5, 3)),
    ((7, 3), (4, 3), (4, 2)),
    # scores take more memory than these: by tiles
    ((2, 9, 2), (2, 12, 2), (2, 12, 1)),
    ((6, 1), (5, 1), (5, 1)),
    ((2, 1, 8, 2), (1, 2, 9, 2), (2, 9, 1)),
]


def masks(q, k, kind):
    rng = np.random.default_rng(8)
    shape = (q[-2], k[-2])
    if kind == "bool":
        mask = rng.random(shape) < 0.6
        mask[0] = False
        return tt.array(mask)
    return tt.array(rng.standard_normal(shape[1:] if kind == "row" else shape))


@pytest.mark.parametrize("q, k, v", ATTENTION)
@pytest.mark.parametrize("kind", ["none", "causal", "bool", "added", "row"])
def test_attention(q, k, v, kind):
    how = {"is_causal": True} if kind == "causal" else {}
    if kind in ("bool", "added", "row"):
        how["attn_mask"] = masks(q, k, kind)
    arrays = make(*q), make(*k, seed=4), make(*v, seed=5)
    check(lambda q, k, v: functional.scaled_dot_product_attention(q, k, v, **how), *arrays)
    check_second(lambda q, k, v: functional.scaled_dot_product_attention(q, k, v, scale=0.7, **how) ** 2, *arrays)


@pytest.mark.parametrize("width", [3, 1])  # few scores beside that, and many
@pytest.mark.parametrize("shape", [(5, 7), (7,), (2, 1, 7), (5, 1)])
def test_a_mask_has_a_gradient(shape, width):
    q, k, v = make(2, 5, width), make(2, 7, width, seed=4), make(2, 7, width, seed=5)
    check(functional.scaled_dot_product_attention, q, k, v, make(*shape, seed=6))


def test_attention_larger_than_tiles():
    """Beside the spelled form, in float32: several panels, blocks and parts."""
    for q, k, v, causal in [
        ((2, 300, 40), (2, 500, 40), (2, 500, 64), False),
        ((130, 16), (1000, 16), (1000, 8), False),
        ((3, 260, 64), (3, 260, 64), (3, 260, 50), True),
    ]:
        xs = [make(*s, seed=n).astype("float32") for n, s in enumerate((q, k, v))]
        g = make(*q[:-1], v[-1], seed=9)

        def spelled(q, k, v, causal=causal):
            s = q @ tt.swapaxes(k, -1, -2) / q.shape[-1] ** 0.5
            if causal:
                s = tt.where(tt.tri(*s.shape[-2:], dtype=bool), s, -tt.inf)
            return tt.special.softmax(s, axis=-1) @ v

        wide = [tt.array(x.astype("float64")).requires_grad_() for x in xs]
        spelled(*wide).backward(tt.array(g))
        leaves = [tt.array(x).requires_grad_() for x in xs]
        functional.scaled_dot_product_attention(*leaves, is_causal=causal).backward(tt.array(g.astype("float32")))
        for a, b in zip(leaves, wide):
            want = b.grad.numpy()
            np.testing.assert_allclose(a.grad.numpy(), want, rtol=0, atol=2e-6 * max(1, np.abs(want).max()))


@pytest.mark.parametrize("queries", [4, 40])
def test_only_some_of_attention_is_asked(queries):
    q, k, v = (tt.array(make(queries, 3, seed=n)) for n in range(3))
    whole = [a.detach().requires_grad_() for a in (q, k, v)]
    functional.scaled_dot_product_attention(*whole).sum().backward()
    for n in range(3):
        one = [q, k, v]
        one[n] = one[n].detach().requires_grad_()
        functional.scaled_dot_product_attention(*one).sum().backward()
        assert (one[n].grad.numpy() == whole[n].grad.numpy()).all()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_attention_of_halves(dtype):
    leaves = [tt.array(make(2, 9, 8, seed=n)).astype(dtype).detach().requires_grad_() for n in range(3)]
    wide = [a.detach().astype("float64").requires_grad_() for a in leaves]
    for xs in (leaves, wide):
        functional.scaled_dot_product_attention(*xs).sum().backward()
    for a, b in zip(leaves, wide):
        assert a.grad.dtype == dtype
        np.testing.assert_allclose(a.grad.astype("float64").numpy(), b.grad.numpy(), rtol=0, atol=0.03)


def test_dropped_shares_get_the_same_drops_backward():
    q, k, v = make(2, 6, 3), make(2, 7, 3, seed=4), make(2, 7, 4, seed=5)

    def f(q, k, v):
        tt.random.seed(3)
        return functional.scaled_dot_product_attention(q, k, v, dropout_p=0.4)

    check(f, q, k, v)
    check_second(f, q, k, v)


# ---- pools


@pytest.mark.parametrize("n, shape, how", [
    (1, (2, 3, 9), dict(kernel_size=2)), (1, (2, 7), dict(kernel_size=3, stride=1, padding=1)),
    (2, (1, 2, 6, 5), dict(kernel_size=2, ceil_mode=True)), (2, (1, 2, 6, 5), dict(kernel_size=3, stride=2, padding=1)),
    (3, (1, 1, 4, 4, 3), dict(kernel_size=(2, 1, 2), stride=1)), (1, (1, 1, 40), dict(kernel_size=35, stride=2)),
])  # fmt: skip
def test_pools(n, shape, how):
    for f in (getattr(functional, f"max_pool{n}d"), getattr(functional, f"avg_pool{n}d")):
        check(lambda x, f=f: f(x, **how), make(*shape))
        check_second(lambda x, f=f: f(x, **how) ** 2, make(*shape))


@pytest.mark.parametrize("shape", [(3, 5, 7), (2, 3, 5, 7), (3, 1, 7), (1, 5, 7), (5, 1, 3, 7)])
@pytest.mark.parametrize("columns", [1, 4, 19])
def test_a_weight_has_one_product_over_all_rows(shape, columns):
    rng = np.random.default_rng(len(shape) + columns)
    x, w = rng.standard_normal(shape), rng.standard_normal((columns, shape[-1]))
    a, b = tt.array(x).requires_grad_(), tt.array(w).requires_grad_()
    y = functional.linear(a, b)
    y.sum().backward()
    np.testing.assert_allclose(y.detach().numpy(), x @ w.T, rtol=1e-12)
    np.testing.assert_allclose(b.grad.numpy(), np.tile(x.reshape(-1, shape[-1]).sum(0), (columns, 1)), rtol=1e-10)
    np.testing.assert_allclose(a.grad.numpy(), np.broadcast_to(w.sum(0), shape), rtol=1e-10)


def test_a_weight_has_one_product_and_nothing_to_add(recorded):
    x, w = tt.ones((16, 8, 32), dtype="float32"), tt.ones((24, 32), dtype="float32").requires_grad_()
    functional.linear(x * 2, w).sum().backward()
    plan = tt.explain(w.grad)
    assert plan.count("library matmul") == 1 and "rows folded" not in plan, plan
    assert "gives float32[24, 32]" in plan and "gives float32[32, 24]" not in plan, plan


def test_heads_take_images_first_without_moving_them(recorded):
    layer = tt.nn.MultiheadAttention(16, 2, batch_first=True)
    x = tt.ones((6, 5, 16), dtype="float32") * 2
    y = layer(x, x, x, need_weights=False)[0]
    assert "gives float32[6, 5, 48]" in tt.explain(y) and "gives float32[5, 6" not in tt.explain(y)
    assert y.strides == (5 * 16 * 4, 16 * 4, 4)


def test_what_the_way_back_computes_again_is_computed_once_a_kernel(recorded):
    """gelu's derivative has its distribution function; the next weight's gradient reads gelu."""
    x, w = tt.ones((64, 32), dtype="float32"), [tt.ones((32, 32), dtype="float32").requires_grad_() for _ in range(2)]
    functional.linear(functional.gelu(functional.linear(x, w[0])), w[1]).sum().backward()
    kernels = [line.split() for line in tt.explain(w[0].grad, w[1].grad).splitlines() if "computes:" in line]
    assert [k.count("ndtr") for k in kernels if "exp" in k] == [1]


def test_a_product_reads_a_weight_where_it_lies_in_a_vector(recorded):
    """So optimisers that see all parameters as one vector leave them."""
    w = tt.ones((4, 3), dtype="float32").requires_grad_()
    rows = np.random.default_rng(0).standard_normal((5, 3)).astype("float32")
    x = tt.array(rows)
    vector = tt.arange(40, dtype="float32") * 2
    with tt.no_grad():
        w[...] = vector[7:19].reshape(4, 3)
    y = functional.linear(x, w) + functional.linear(x + 1, w)
    assert "gives float32[3, 4]" not in tt.explain(y), tt.explain(y)
    other = np.arange(14, 38, 2, dtype="float32").reshape(4, 3)
    np.testing.assert_allclose(y.detach().numpy(), rows @ other.T + (rows + 1) @ other.T, rtol=1e-5)


def layer_and_loss(eager, rows, n_in, n_out, bias, form):
    """A layer, its loss twice, and both gradients."""
    tt.set_eager(eager)
    x = tt.array(make(*((n_in, rows) if form == "turned" else (rows, n_in))).astype("float32"))
    x = (x.T if form == "turned" else x).requires_grad_(form != "constant")
    leaves = [x] if form != "constant" else []
    leaves += [tt.array(make(n_out, n_in, seed=4).astype("float32")).requires_grad_()]
    leaves += [tt.array(make(n_out, seed=5).astype("float32")).requires_grad_()] if bias else []
    y = tt.array(make(rows, n_out, seed=6).astype("float32"))
    said = functional.linear(x, *leaves[form != "constant" :])
    loss = functional.mse_loss(said, y) + functional.mse_loss(y, said) * 3 + (leaves[-1] ** 2).sum()
    first = tt.autograd.grad(loss, leaves, create_graph=True)
    second = tt.autograd.grad(sum((g * g).sum() for g in first), leaves)
    return [a.numpy().tobytes() for a in (loss, said, *first, *second)]


@pytest.mark.parametrize("form", ["constant", "followed", "turned"])
@pytest.mark.parametrize("rows", [1, 2, 64, 100])
def test_a_layer_at_hand_has_the_bits_of_a_recorded_one(rows, form):
    for n_in in 1, 2, 10:
        for n_out in 1, 2, 9:
            for bias in False, True:
                shape = rows, n_in, n_out, bias, form
                assert layer_and_loss(-1, *shape) == layer_and_loss(0, *shape), shape
