"""Gradients through views, writes in place, reductions and indices."""

import numpy as np
import pytest
import tutti as tt
from differences import check

rng = np.random.default_rng(5)
A = rng.standard_normal((3, 4))
B = rng.standard_normal((2, 3, 4))

VIEWS = {
    "transpose": lambda x: x.T * 2,
    "reversed": lambda x: x[::-1, ::-1],
    "steps": lambda x: x[::2, 1::2],
    "row": lambda x: x[1],
    "element": lambda x: x[1, 2] * x[0, 0],
    "reshape": lambda x: x.reshape(2, 6)[:, ::-1],
    "broadcast": lambda x: tt.broadcast_to(x, (5, 3, 4)) * 3,
    "newaxis": lambda x: x[:, None] * x[None],
    "diagonal": lambda x: tt.diagonal(x, 1),
    "windows": lambda x: tt.lib.stride_tricks.sliding_window_view(x, (2, 3)),
    "roll": lambda x: tt.roll(x, 1, axis=1) * x,
    "flip": lambda x: tt.flip(x),
    "rot90": lambda x: tt.rot90(x),
    "take": lambda x: x[[0, 2, 0]],
    "take pairs": lambda x: x[[0, 2, 0], [1, 1, 1]],
    "mask": lambda x: x[tt.array(A > 0)],
    "concatenate": lambda x: tt.concatenate([x, x[:1]], axis=0),
    "stack": lambda x: tt.stack([x, x * 2]),
    "repeat": lambda x: tt.repeat(x, 2, axis=1),
    "tile": lambda x: tt.tile(x, (2, 2)),
    "pad": lambda x: tt.pad(x, 1),
    "pad edge": lambda x: tt.pad(x, 2, mode="edge"),
    "tril": lambda x: tt.tril(x),
    "copy": lambda x: x.copy() * x,
    "ravel": lambda x: x.ravel()[2:7],
    "split": lambda x: tt.split(x, 2, axis=1)[1],
    "swapaxes": lambda x: tt.swapaxes(x, 0, 1),
    "squeeze": lambda x: tt.squeeze(x[:1]),
    "empty": lambda x: x[:0],
    "negative zero steps": lambda x: tt.broadcast_to(x[::-1, :1], (3, 4)) * x,
}


@pytest.mark.parametrize("name", VIEWS)
def test_views(name):
    check(VIEWS[name], A)


REDUCTIONS = {
    "sum": lambda x: tt.sum(x),
    "sum axis": lambda x: tt.sum(x, axis=1),
    "sum axes": lambda x: tt.sum(x, axis=(0, 2), keepdims=True) if x.ndim > 2 else tt.sum(x, axis=0, keepdims=True),
    "mean": lambda x: tt.mean(x, axis=0),
    "var": lambda x: tt.var(x, axis=-1),
    "std": lambda x: tt.std(x, ddof=1),
    "prod": lambda x: tt.prod(x, axis=-1),
    "max": lambda x: tt.max(x, axis=-1),
    "min": lambda x: tt.min(x),
    "norm": lambda x: tt.linalg.norm(x),
    "logsumexp": lambda x: tt.special.logsumexp(x, axis=-1),
    "softmax": lambda x: tt.special.softmax(x, axis=-1),
    "log_softmax": lambda x: tt.special.log_softmax(x, axis=0),
    "nansum": lambda x: tt.nansum(x, axis=0),
    "ptp": lambda x: tt.ptp(x, axis=-1),
}


@pytest.mark.parametrize("x", [A, B], ids=["2-d", "3-d"])
@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions(name, x):
    check(REDUCTIONS[name], x)


@pytest.mark.parametrize("zeros", [0, 1, 2])
def test_products_with_zeros(zeros):
    x = np.array([2.0, 3.0, -1.5, 0.5])
    x[:zeros] = 0
    check(lambda x: tt.prod(x), x)


def test_norms_and_spreads_of_nothing():
    """Where they have no slope their gradient is 0."""
    for f in (tt.linalg.norm, tt.std):
        x = tt.full(4, 0.0 if f is tt.linalg.norm else 3.0).requires_grad_()
        f(x).backward()
        assert x.grad.tolist() == [0, 0, 0, 0]


def in_place(f):
    """As a function of a leaf: what is written on is computed from it."""
    return lambda x, *more: f(x * 1.5, *more)


def write_rows(a, b):
    a[1] = b * a[0]
    return a


def write_views(a, b):
    v = a[:, 1:3]
    v *= b[1:3]
    a[::2] += 1
    return a * v[0, 0]


def write_mask(a, b):
    a[a > 0] = 2.0
    return a * b


def write_masked_values(a, b):
    a[tt.array([True, False, True])] = b
    return a


def write_places(a, b):
    a[[0, 1, 0]] = b * tt.array([[1.0], [2.0], [3.0]])
    return a


def add_places(a, b):
    tt.add.at(a, [0, 1, 0], b)
    return a


def old_values(a, b):
    old = a * a
    kept = a[0]
    a[0] = b
    return old + a * kept


def write_all(a, b):
    a[...] = b
    return a * a


def chain(a, b):
    for k in range(3):
        a[k] = a[k - 1] * b + a[k]
    return a


WRITES = [
    write_rows,
    write_views,
    write_mask,
    write_masked_values,
    write_places,
    add_places,
    old_values,
    write_all,
    chain,
]


@pytest.mark.parametrize("f", WRITES, ids=lambda f: f.__name__)
def test_writes_in_place(f):
    check(in_place(f), A, np.array([0.5, -1.0, 2.0, 0.7]))


def test_elements_do_not_slip_past():
    x = tt.array([1.0, 2.0, 3.0]).requires_grad_()
    total = 0
    for k in range(3):
        total = total + x[k] * x[k]
    total.backward()
    assert x.grad.tolist() == [2, 4, 6]
    y = tt.zeros(3)
    y[0] = x[1] * 2
    y[1] += x[2]
    y.sum().backward()
    assert x.grad.tolist() == [2, 6, 7]


@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 7, 8, 9, 1023, 1024, 1025, 5000])
def test_sizes(n):
    x = tt.linspace(0.1, 2.0, n).copy().requires_grad_()
    (tt.exp(x[::-1]) * x).sum().backward()
    v = np.linspace(0.1, 2.0, n)
    np.testing.assert_allclose(
        x.grad.numpy(), (np.exp(v) * v)[::-1] * 0 + np.exp(v) * v[::-1] + np.exp(v[::-1]), rtol=1e-12
    )


def test_wide_broadcasts_take_no_memory():
    x = tt.array(3.0).requires_grad_()
    tt.broadcast_to(x, (1 << 33,)).sum().backward()
    assert float(x.grad) == 1 << 33


# Whole rows, rows of several axes, and places that look like rows of the array and are none.
PICKED = {
    "rows": ((9, 17), lambda m: (m.array([3, 1, 3]),)),
    "rows of two axes": ((9, 4, 5), lambda m: (m.array([[3, 1], [3, 8]]),)),
    "one row": ((9, 4, 5), lambda m: (m.array(3),)),
    "from the end": ((9, 17), lambda m: (m.array([-1, 8, -1]),)),
    "columns": ((9, 9), lambda m: (slice(None), m.array([4, 4, 1, 0, 8, 8, 2, 3, 5]))),
    "columns of rows": ((5, 9, 9), lambda m: (m.array([0, 4])[:, None], m.array([2, 2, 5, 0, 1, 8, 8, 7, 3]))),
    "elements": ((9, 17), lambda m: (m.array([3, 3]), m.array([16, 16]))),
    "all": ((9,), lambda m: (m.arange(9),)),
}


@pytest.mark.parametrize("name", PICKED)
def test_gradients_of_picked_elements_are_added_up(recorded, name):
    shape, index = PICKED[name]
    x = tt.array(rng.standard_normal(shape).astype("f4")).requires_grad_()
    y = x[index(tt)]
    w = rng.standard_normal(y.shape).astype("f4")
    (y * tt.array(w)).sum().backward()
    want = np.zeros(shape, "f4")
    np.add.at(want, index(np), w)
    np.testing.assert_array_equal(x.grad.numpy(), want)


@pytest.mark.parametrize("again", [lambda d: d[0], lambda d: d.reshape(3, 4), lambda d: tt.sum(d, 0)])
def test_a_view_of_what_was_detached_has_no_history(again):
    w = tt.ones((3, 4)).requires_grad_()
    view = tt.expand_dims(tt.tanh(w) * w, 0)
    assert not again(view.detach()).requires_grad


def test_gradients_of_leaves_are_one_evaluation_wherever_they_lie(recorded):
    """One of them is of constants alone."""
    x, b = (tt.ones(shape, device="cpu").requires_grad_() for shape in ((40, 50), 50))
    ((x * x + b) * 3).sum().backward()
    before = tt.ledger()["evaluations"]
    tt.eval(x.grad, b.grad)
    assert tt.ledger()["evaluations"] == before + 1


def test_parts_that_do_not_meet_are_written_where_they_belong(recorded):
    """Queries, keys and values of one projection: nobody reads the zeros that their cotangents go into."""
    x = tt.array(np.arange(24, dtype="float32").reshape(2, 12)).requires_grad_()
    parts = [x[:, 4 * k : 4 * k + 4] for k in range(3)]
    sum((k + 2) * p.sum() for k, p in enumerate(parts)).backward()
    assert "add" not in str(tt.explain(x.grad)) and ", 1 operands" not in str(tt.explain(x.grad))
    np.testing.assert_array_equal(x.grad.numpy(), np.tile(np.repeat([2, 3, 4], 4), (2, 1)))


def test_parts_that_meet_are_added():
    x = tt.array(np.zeros(12, "float32")).requires_grad_()
    (x[:6].sum() + 2 * x[3:9].sum() + 4 * x[::2].sum() + 8 * x[1::2].sum()).backward()
    np.testing.assert_array_equal(x.grad.numpy(), [5, 9, 5, 11, 7, 11, 6, 10, 6, 8, 4, 8])


@pytest.mark.parametrize("shape, index, known", [((7, 5), (3, 4), True), ((4, 2, 3), (6,), True), ((9,), (20,), False)])
def test_rows_of_a_table_are_added_where_they_begin(recorded, shape, index, known):
    """Nobody has to look whether the places are rows, which on a device would be waited for."""
    rng = np.random.default_rng(4)
    table = tt.array(rng.standard_normal(shape)).requires_grad_()
    place, g = rng.integers(0, shape[0], index), rng.standard_normal(index + shape[1:])
    (table[tt.array(place)] * tt.array(g)).sum().backward()
    want = np.zeros(shape)
    np.add.at(want, place, g)
    assert ("sums_at_rows" in str(tt.explain(table.grad))) == known
    np.testing.assert_allclose(table.grad.numpy(), want, rtol=1e-12)
