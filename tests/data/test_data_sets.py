"""Data sets, samplers and batches without workers: what they give, and the words of what they refuse."""

import collections
import warnings

import numpy as np
import pytest
import tutti as tt

D = tt.data


class Count(D.IterableDataset):
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        return iter(range(self.n))

    def __len__(self):
        return self.n


def lists(batches):
    return [x.tolist() for x in batches]


def test_sets():
    a, b = np.arange(12.0).reshape(4, 3), np.arange(4)
    data = D.TensorDataset(a, b)
    assert len(data) == 4 and data[2][0].tolist() == [6, 7, 8] and data[-1][1] == 3
    with pytest.raises(AssertionError, match="Size mismatch between tensors"):
        D.TensorDataset(a, np.arange(3))
    both = data + D.Subset(data, [3, 0])
    assert isinstance(both, D.ConcatDataset) and len(both) == 6 and both[4][1] == 3 and both[-1][1] == 0
    with pytest.raises(ValueError, match="absolute value of index should not exceed dataset length"):
        both[-7]
    with pytest.raises(IndexError):
        both[6]
    chain = Count(2) + Count(3)
    assert list(chain) == [0, 1, 0, 1, 2] and len(chain) == 5
    for wrong in (
        lambda: D.ConcatDataset([]),
        lambda: D.ConcatDataset([Count(1)]),
        lambda: list(D.ChainDataset([[1]])),
    ):
        with pytest.raises(AssertionError):
            wrong()
    with pytest.raises(NotImplementedError, match="Subclasses of Dataset should implement __getitem__"):
        D.Dataset()[0]


def test_sets_that_are_asked_for_whole_batches():
    class Whole(D.Dataset):
        def __getitems__(self, indices):
            return [i * 10 for i in indices]

        def __len__(self):
            return 5

    assert lists(D.DataLoader(Whole(), 3)) == [[0, 10, 20], [30, 40]]
    assert lists(D.DataLoader(D.Subset(Whole(), [4, 0]), 2)) == [[40, 0]]
    stacked = D.StackDataset(x=Whole(), y=range(5))
    assert next(iter(D.DataLoader(stacked, 2)))["x"].tolist() == [0, 10]
    short = D.StackDataset(Whole(), [1] * 5)
    Whole.__getitems__ = lambda self, indices: [0]
    with pytest.raises(ValueError, match="Nested dataset's output size mismatch. Expected 2, got 1"):
        next(iter(D.DataLoader(short, 2)))

    class Mine(D.Subset):
        def __getitem__(self, i):
            return -1

    with pytest.raises(NotImplementedError, match="Mine overrides __getitem__ but not __getitems__"):
        Mine(range(3), [0])


def test_a_split_has_each_sample_once():
    parts = D.random_split(range(10), [0.5, 0.25, 0.25], generator=tt.random.default_rng(3))
    assert [len(p) for p in parts] == [6, 2, 2] and sorted(x for p in parts for x in p) == list(range(10))
    again = D.random_split(range(10), [6, 2, 2], generator=tt.random.default_rng(3))
    assert [list(p) for p in again] == [list(p) for p in parts]
    with pytest.raises(ValueError, match="Sum of input lengths does not equal"):
        D.random_split(range(10), [5, 4])
    with pytest.raises(ValueError, match="Fraction at index 0 is not between 0 and 1"):
        D.random_split(range(10), [-0.5, 1.5])
    with pytest.warns(UserWarning, match="Length of split at index 1 is 0"):
        D.random_split(range(1), [0.5, 0.5])


def test_samplers():
    tt.manual_seed(1)
    orders = [list(D.RandomSampler(range(50))) for _ in range(2)]
    assert orders[0] != orders[1] and sorted(orders[0]) == list(range(50))
    tt.manual_seed(1)
    assert list(D.RandomSampler(range(50))) == orders[0]
    more = list(D.RandomSampler(range(4), num_samples=10))
    assert len(more) == 10 and sorted(more[:4]) == sorted(more[4:8]) == [0, 1, 2, 3]
    drawn = list(D.RandomSampler(range(3), replacement=True, num_samples=100, generator=tt.random.default_rng(0)))
    assert len(drawn) == 100 and set(drawn) == {0, 1, 2}
    assert sorted(D.SubsetRandomSampler([3, 5, 7])) == [3, 5, 7]
    weighted = D.WeightedRandomSampler([0.0, 1.0, 3.0], 400, generator=tt.random.default_rng(0))
    counts = collections.Counter(weighted)
    assert counts[0] == 0 and 60 < counts[1] < 140 and len(weighted) == 400
    assert sorted(D.WeightedRandomSampler([1, 2, 0, 3], 3, replacement=False)) == [0, 1, 3]
    assert list(D.BatchSampler(range(5), 2, True)) == [[0, 1], [2, 3]] and len(D.BatchSampler(range(5), 2, True)) == 2


@pytest.mark.parametrize("n", [1, 2, 5, 8])
@pytest.mark.parametrize("drop_last", [False, True])
def test_processes_share_all_indices(n, drop_last):
    parts = [D.DistributedSampler(range(n), 3, rank, drop_last=drop_last, seed=4) for rank in range(3)]
    drawn = [list(p) for p in parts]
    assert [len(d) for d in drawn] == [len(p) for p in parts] == [n // 3 if drop_last else -(-n // 3)] * 3
    assert len({i for d in drawn for i in d}) == (n // 3 * 3 if drop_last else n)
    parts[0].set_epoch(1)
    with pytest.raises(ValueError, match=r"Invalid rank 3, rank should be in the interval \[0, 2\]"):
        D.DistributedSampler(range(n), 3, 3)


WRONG_SAMPLERS = [
    (lambda: D.RandomSampler(range(3), replacement=1), TypeError, "replacement should be a boolean value"),
    (lambda: D.RandomSampler([]), ValueError, "num_samples should be a positive integer value, but got num_samples=0"),
    (lambda: D.WeightedRandomSampler([1], True), ValueError, "but got num_samples=True"),
    (lambda: D.WeightedRandomSampler([[1]], 1), ValueError, "weights should be a 1d sequence"),
    (lambda: list(D.WeightedRandomSampler([0, 0], 1)), RuntimeError, "invalid multinomial distribution"),
    (lambda: list(D.WeightedRandomSampler([1, -1], 1)), RuntimeError, "element < 0"),
    (lambda: list(D.WeightedRandomSampler([1, 1], 3, False)), RuntimeError, "cannot sample n_sample"),
    (lambda: list(D.WeightedRandomSampler([1, 0], 2, False)), RuntimeError, "not enough non-negative category"),
    (lambda: D.BatchSampler(range(3), 0, False), ValueError, "batch_size should be a positive integer value"),
    (lambda: D.BatchSampler(range(3), 1, 0), ValueError, "drop_last should be a boolean value"),
]


@pytest.mark.parametrize("call, kind, words", WRONG_SAMPLERS, ids=lambda x: str(x)[:40] if isinstance(x, str) else "")
def test_what_samplers_refuse(call, kind, words):
    with pytest.raises(kind, match=words):
        call()


Point = collections.namedtuple("Point", "x y")


def test_batches_keep_the_shape_of_samples():
    got = D.default_collate([Point(1, "a"), Point(2, "b")])
    assert isinstance(got, Point) and got.x.tolist() == [1, 2] and got.y == ("a", "b")
    got = D.default_collate([{"a": [1.5, (True, b"x")], "b": 1}] * 2)
    assert got["a"][0].dtype == "float64" and got["a"][1][0].tolist() == [True, True]
    assert got["a"][1][1] == (b"x", b"x") and got["b"].dtype == "int64"
    got = D.default_collate([np.float32(1), np.float32(2)])
    assert got.dtype == "float32" and D.default_collate([np.ones((2, 0), "f2")] * 3).shape == (3, 2, 0)
    ordered = D.default_collate([collections.OrderedDict(a=1), collections.OrderedDict(a=2)])
    assert isinstance(ordered, collections.OrderedDict) and ordered["a"].tolist() == [1, 2]
    x = tt.ones(3).requires_grad_()
    (D.default_collate([x * 2, x]).sum()).backward()
    assert x.grad.tolist() == [3, 3, 3]


def test_what_batches_refuse():
    with pytest.raises(RuntimeError, match=r"but got \[3\] at entry 0 and \[4\] at entry 1"):
        D.default_collate([np.ones(3), np.ones(4)])
    with pytest.raises(RuntimeError, match="each element in list of batch should be of equal size"):
        D.default_collate([[1, 2], [1]])
    with pytest.raises(TypeError, match="default_collate: batch must contain tensors.*found <class 'NoneType'>"):
        D.default_collate([None, None])
    with pytest.raises(TypeError, match="found <U1"):
        D.default_collate([np.array(["a"])])


def test_samples_alone_are_converted():
    got = D.default_convert(Point((np.arange(2), "a"), {"k": [np.float32(3), None]}))
    assert isinstance(got.x[0], tt.ndarray) and got.x[1] == "a" and isinstance(got.y["k"][0], tt.ndarray)
    text = np.array(["a"])
    assert D.default_convert(text) is text and isinstance(got.x, list)


def test_a_loader_without_workers():
    data = D.TensorDataset(np.arange(7), np.arange(7.0))
    loader = D.DataLoader(data, batch_size=3)
    assert len(loader) == 3 and lists(x for x, _ in loader) == [[0, 1, 2], [3, 4, 5], [6]]
    assert len(D.DataLoader(data, 3, drop_last=True)) == 2
    tt.manual_seed(5)
    shuffled = [lists(x for x, _ in D.DataLoader(data, 3, shuffle=True)) for _ in range(2)]
    tt.manual_seed(5)
    assert lists(x for x, _ in D.DataLoader(data, 3, shuffle=True)) == shuffled[0] != shuffled[1]
    assert lists(x for x, _ in D.DataLoader(data, batch_sampler=[[6, 0], [1]])) == [[6, 0], [1]]
    assert [x for (x,) in D.DataLoader(D.TensorDataset(np.arange(3)), None)] == [0, 1, 2]
    assert lists(D.DataLoader(Count(5), 2)) == [[0, 1], [2, 3], [4]]
    assert lists(D.DataLoader(Count(5), 2, drop_last=True)) == [[0, 1], [2, 3]]
    assert list(D.DataLoader(Count(3), None)) == [0, 1, 2] and len(D.DataLoader(Count(5), 2)) == 3
    batch = next(iter(loader))[0]
    batch += 100
    assert data.tensors[0][0] == 0, "a batch is not memory of the set"


def test_lengths_that_are_not_true_are_told():
    class Liar(Count):
        def __len__(self):
            return 1

    loader = D.DataLoader(Liar(2), 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        list(loader)
    len(loader)
    with pytest.warns(UserWarning, match=r"was reported to be 1\(when accessing len\(dataloader\)\), but 2 samples"):
        list(loader)


WRONG_LOADERS = [
    ({"num_workers": -1}, "num_workers option should be non-negative"),
    ({"timeout": -1}, "timeout option should be non-negative"),
    ({"prefetch_factor": 2}, "prefetch_factor option could only be specified in multiprocessing"),
    ({"prefetch_factor": -1, "num_workers": 1}, "prefetch_factor option should be non-negative"),
    ({"persistent_workers": True}, "persistent_workers option needs num_workers > 0"),
    ({"sampler": [0], "shuffle": True}, "sampler option is mutually exclusive with shuffle"),
    ({"batch_sampler": [[0]], "batch_size": 2}, "batch_sampler option is mutually exclusive"),
    ({"batch_size": None, "drop_last": True}, "batch_size=None option disables auto-batching"),
    ({"multiprocessing_context": "fork"}, "can only be used with multi-process loading"),
    ({"multiprocessing_context": "threads", "num_workers": 1}, "should specify a valid start method"),
    ({"batch_size": 0}, "batch_size should be a positive integer value"),
]


@pytest.mark.parametrize("how, words", WRONG_LOADERS, ids=lambda x: x[:40] if isinstance(x, str) else "")
def test_what_a_loader_refuses(how, words):
    with pytest.raises(ValueError, match=words):
        D.DataLoader([1, 2, 3], **how)


def test_what_a_loader_of_an_iterable_set_refuses():
    for how in ({"shuffle": True}, {"sampler": [0]}, {"batch_sampler": [[0]]}):
        with pytest.raises(ValueError, match="DataLoader with IterableDataset: expected unspecified"):
            D.DataLoader(Count(3), **how)
    with pytest.raises(TypeError, match="should be a valid context object or a string"):
        D.DataLoader([1], num_workers=1, multiprocessing_context=3)
    loader = D.DataLoader([1])
    with pytest.raises(ValueError, match="batch_size attribute should not be set after DataLoader is initialized"):
        loader.batch_size = 3


def test_one_seed_for_all_that_draws():
    def draws():
        tt.manual_seed(-3)
        layer = tt.nn.Linear(3, 2)
        mask = tt.nn.functional.dropout(tt.ones(50), 0.5)
        split = [list(p) for p in D.random_split(range(9), [4, 5])]
        return layer.weight.tolist(), mask.tolist(), split, float(tt.random.normal())

    assert draws() == draws()
    with pytest.raises(ValueError, match="Overflow when unpacking long long"):
        tt.manual_seed(1 << 64)
    with pytest.raises(TypeError):
        tt.manual_seed(1.5)
