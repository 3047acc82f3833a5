"""Random sets, orders and workers: batches as plain Python puts them together, and as PyTorch does where it is."""

import collections
import random

import numpy as np
import pytest
import tutti as tt

Point = collections.namedtuple("Point", "x y")
DTYPES = ["bool", "uint8", "int16", "int64", "float32", "float64", "complex64"]
SIZES = [0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33]
pytestmark = pytest.mark.filterwarnings("ignore:This DataLoader will create:UserWarning")


def leaf(rng):
    """(a function of the index: the value as plain Python has it; a function of that: the sample's)."""
    kind = rng.choice(["array", "ours", "int", "float", "bool", "str", "bytes", "scalar"])
    if kind in ("array", "ours"):
        shape = [rng.choice([0, 1, 2, 3, 8]) for _ in range(rng.randint(0 if kind == "array" else 1, 3))]
        dtype = rng.choice(DTYPES)
        values = np.random.default_rng(rng.randrange(99)).integers(0, 2, [40, *shape]).astype(dtype)
        return lambda i: values[i] if kind == "array" else tt.asarray(values[i])
    if kind == "scalar":
        dtype = np.dtype(rng.choice(DTYPES)).type
        return lambda i: dtype(i % 2)
    plain = {"int": int, "float": float, "bool": lambda i: i % 2 == 0, "str": str, "bytes": lambda i: b"%d" % i}
    return plain[kind]


def tree(rng, depth=0):
    """A function of an index that gives a random sample."""
    kind = rng.choice(["leaf", "leaf", "tuple", "list", "dict", "point"]) if depth < 3 else "leaf"
    if kind == "leaf":
        return leaf(rng)
    parts = [tree(rng, depth + 1) for _ in range(2 if kind == "point" else rng.randint(1, 3))]
    if kind == "point":
        return lambda i: Point(*(p(i) for p in parts))
    if kind == "dict":
        return lambda i: {str(k): p(i) for k, p in enumerate(parts)}
    return lambda i: (tuple if kind == "tuple" else list)(p(i) for p in parts)


def collated(batch):
    """What a batch is, by the words of the documentation."""
    first = batch[0]
    if isinstance(first, (str, bytes)):
        return list(batch)
    if isinstance(first, dict):
        return {k: collated([b[k] for b in batch]) for k in first}
    if isinstance(first, Point):
        return Point(*(collated([b[k] for b in batch]) for k in range(2)))
    if isinstance(first, (tuple, list)):
        return [collated([b[k] for b in batch]) for k in range(len(first))]
    return array_of(np.stack([np.asarray(b) for b in batch]))


def array_of(x):
    return str(x.dtype), x.shape, x.tolist()


def read(x):
    """A batch of ours, or PyTorch's, as plain Python."""
    if isinstance(x, tt.ndarray):
        return array_of(x)
    if hasattr(x, "numpy"):
        return array_of(x.numpy())
    if isinstance(x, dict):
        return {k: read(v) for k, v in x.items()}
    if isinstance(x, Point):
        return Point(*map(read, x))
    return [read(v) for v in x] if isinstance(x, (list, tuple)) else x


class Samples:
    def __init__(self, make, n):
        self.make, self.n = make, n

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        return self.make(i)


def program(seed):
    """A random set, and how a loader is asked for it: (make, n, order, batch, drop_last)."""
    rng = random.Random(seed)
    n = rng.choice(SIZES)
    order = [rng.randrange(n) for _ in range(rng.choice([n, 2 * n, n // 2]))] if n else []
    return tree(rng), n, order, rng.choice([1, 2, 3, 8, 16, 64]), rng.random() < 0.5, rng


def expected(make, order, size, drop_last):
    batches = [order[k : k + size] for k in range(0, len(order), size)]
    return [collated([make(i) for i in b]) for b in batches if len(b) == size or not drop_last]


@pytest.mark.parametrize("seed", range(60))
def test_without_workers(seed):
    make, n, order, size, drop_last, _ = program(seed)
    loader = tt.data.DataLoader(Samples(make, n), size, sampler=order, drop_last=drop_last)
    assert [read(b) for b in loader] == expected(make, order, size, drop_last)


@pytest.mark.parametrize("seed", range(24))
def test_with_workers(seed):
    make, n, order, size, drop_last, rng = program(100 + seed)
    how = {"num_workers": rng.randint(1, 4), "prefetch_factor": rng.randint(1, 3), "in_order": rng.random() < 0.7}
    loader = tt.data.DataLoader(Samples(make, n), size, sampler=order, drop_last=drop_last, **how)
    got, wanted = [read(b) for b in loader], expected(make, order, size, drop_last)
    if not how["in_order"]:
        got.sort(key=str), wanted.sort(key=str)
    assert got == wanted


def test_as_pytorch():
    """One test, which is skipped once where PyTorch is not installed."""
    torch = pytest.importorskip("torch")
    for seed in range(40):
        as_pytorch(torch, seed)


def as_pytorch(torch, seed):
    make, n, order, size, drop_last, _ = program(200 + seed)

    def theirs(i):
        def change(x):
            if isinstance(x, tt.ndarray):
                return torch.from_numpy(np.array(x.numpy()))
            return x

        return tt.data._collate.map_leaves(make(i), change, tuple)

    how = {"batch_size": size, "sampler": order, "drop_last": drop_last}
    ours = [read(b) for b in tt.data.DataLoader(Samples(make, n), **how)]
    assert ours == [read(b) for b in torch.utils.data.DataLoader(Samples(theirs, n), **how)], seed


@pytest.mark.parametrize("n", [1, 2, 7, 8, 9, 33])
@pytest.mark.parametrize("workers", [0, 2])
def test_a_loader_that_goes_on_gives_the_same_batches(n, workers):
    data = tt.data.TensorDataset(tt.arange(n), tt.arange(n) * 2.0)

    def epochs(count, skip=0):
        loader = tt.data.DataLoader(data, 4, shuffle=True, num_workers=workers)
        return [[x.tolist() for x, _ in loader] for _ in range(count)][skip:]

    tt.manual_seed(n)
    whole = epochs(3)
    tt.manual_seed(n)
    first, state = epochs(1), tt.random.get_state()
    tt.random.random(100)
    tt.random.set_state(state)
    assert first + epochs(2) == whole
