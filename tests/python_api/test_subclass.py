"""Subclasses of ndarray: what NumPy makes of an instance of one, the same class of ours gives here."""

import copy
import pickle

import numpy as np
import pytest
import tutti as tt


def family(base):
    """The same class over either library's arrays."""

    class Named(base):
        def __new__(cls, values, name="none"):
            module = tt if issubclass(base, tt.ndarray) else np
            self = module.asarray(values).view(cls)
            self.name = name
            return self

        def __array_finalize__(self, obj):
            if obj is not None:
                self.name = getattr(obj, "name", "lost")

    return Named


Ours, Theirs = family(tt.ndarray), family(np.ndarray)


class Plain(tt.ndarray):
    pass


class PlainTheirs(np.ndarray):
    pass


def both(values, name="a"):
    return Ours(values, name), Theirs(values, name)


def kind(x):
    if isinstance(x, (tuple, list)):
        return [kind(y) for y in x]
    if not isinstance(x, (tt.ndarray, np.ndarray)):
        return "scalar"
    own = type(x) in (Ours, Theirs)
    return ("own", x.name) if own else "plain" if x.ndim else "scalar"


X = np.arange(12.0).reshape(3, 4) + 1
CALLS = [
    lambda a, m: a,
    lambda a, m: a[1:],
    lambda a, m: a[0],
    lambda a, m: a[0, 0],
    lambda a, m: a[[0, 1]],
    lambda a, m: a[a > 3],
    lambda a, m: a[..., None],
    lambda a, m: a.T,
    lambda a, m: a.mT,
    lambda a, m: a.reshape(2, 6),
    lambda a, m: a.ravel(),
    lambda a, m: a.flatten(),
    lambda a, m: a.copy(),
    lambda a, m: a.astype("f4"),
    lambda a, m: a.astype("f8", copy=False),
    lambda a, m: a + 1,
    lambda a, m: 1 - a,
    lambda a, m: a * a,
    lambda a, m: -a,
    lambda a, m: abs(a),
    lambda a, m: a @ a.T,
    lambda a, m: a == 2,
    lambda a, m: a // 2,
    lambda a, m: m.sin(a),
    lambda a, m: m.add(a, m.asarray(X)),
    lambda a, m: m.maximum(X if m is np else tt.asarray(X), a),
    lambda a, m: a.sum(0),
    lambda a, m: a.mean(1),
    lambda a, m: m.sum(a, 0),
    lambda a, m: a.cumsum(0),
    lambda a, m: m.median(a, 0),
    lambda a, m: a.argmax(0),
    lambda a, m: a.clip(1, 2),
    lambda a, m: a.take([0, 1]),
    lambda a, m: a.swapaxes(0, 1),
    lambda a, m: a.squeeze(),
    lambda a, m: a.transpose(),
    lambda a, m: a.repeat(2),
    lambda a, m: m.concatenate([a, a]),
    lambda a, m: m.stack([a, a]),
    lambda a, m: m.where(a > 2, a, 0),
    lambda a, m: m.asarray(a),
    lambda a, m: m.matmul(m.asarray(X), a.T),
    lambda a, m: m.asarray(X) @ a.T,
    lambda a, m: m.dot(m.asarray(X), a.T),
    lambda a, m: m.atleast_1d(a),
    lambda a, m: m.meshgrid(a[0]),
    lambda a, m: m.heaviside(m.asarray(X), a),
    lambda a, m: m.take(m.asarray(X), a[0].astype(int)),
    lambda a, m: m.asanyarray(a),
    lambda a, m: m.array(a),
    lambda a, m: m.array(a, subok=True),
    lambda a, m: a.view(m.ndarray),
    lambda a, m: a.view(),
    lambda a, m: a.view(type=m.ndarray),
    lambda a, m: a.view("i8"),
    lambda a, m: m.zeros_like(a),
    lambda a, m: m.sort(a),
    lambda a, m: m.flip(a),
    lambda a, m: m.fft.fft(a),
    lambda a, m: m.nonzero(a),
    lambda a, m: m.linalg.inv(a[:, :3] ** 2),
    lambda a, m: m.einsum("ij->ji", a),
    lambda a, m: list(a),
    lambda a, m: m.split(a, 3),
    lambda a, m: a.real,
    lambda a, m: m.sqrt(a, dtype="f4"),
    lambda a, m: copy.copy(a),
    lambda a, m: copy.deepcopy(a),
    lambda a, m: a.diagonal(),
    lambda a, m: m.ones(3),
    lambda a, m: m.cov(a),
    lambda a, m: +a,
    lambda a, m: a.byteswap(),
    lambda a, m: a.compress([True, False, True], 0),
    lambda a, m: m.compress([True, False, True], a, 0),
    lambda a, m: m.astype(a, "f4"),
    lambda a, m: m.broadcast_to(a, (2, 3, 4)),
    lambda a, m: m.broadcast_to(a, a.shape),
    lambda a, m: m.broadcast_to(a, (2, 3, 4), subok=True),
    lambda a, m: m.broadcast_arrays(a, a),
    lambda a, m: m.broadcast_arrays(a, a[0]),
    lambda a, m: m.broadcast_arrays(a, a[0], subok=True),
    lambda a, m: m.extract(X > 3, a),
    lambda a, m: m.polyval([1, 2], a),
    lambda a, m: m.linspace(3, a[0], 5),
    lambda a, m: m.logspace(1, a[0], 5),
    lambda a, m: m.gradient(a),
    lambda a, m: m.gradient(a, axis=1),
    lambda a, m: m.zeros(a[0, :2].astype(int)),
    lambda a, m: m.ones(a[0, :2].astype(int)),
    lambda a, m: m.full(a[0, :2].astype(int), 3.0),
    lambda a, m: m.indices(a[0, :2].astype(int)),
    lambda a, m: m.polyint(a[0], 0),
    lambda a, m: m.polydiv(a[0], a[1][:2]),
    lambda a, m: m.histogram(a, a[0])[1],
    lambda a, m: m.linalg.svd(a),
    lambda a, m: m.linalg.svd(a[:1], compute_uv=False),
    lambda a, m: m.linalg.eigh(a @ a.T),
    lambda a, m: m.linalg.lstsq(a, a[:, 0], rcond=None)[0],
    lambda a, m: m.linalg.vector_norm(a, axis=0),
    lambda a, m: tuple(m.unique_counts(a)),
    lambda a, m: tuple(m.unique_inverse(a)),
]


@pytest.mark.parametrize("k", range(len(CALLS)))
def test_results(k):
    ours, theirs = both(X)
    got, want = CALLS[k](ours, tt), CALLS[k](theirs, np)
    assert kind(got) == kind(want)
    if isinstance(want, np.ndarray):
        np.testing.assert_allclose(np.asarray(got), np.asarray(want), rtol=1e-5)


def test_views_are_of_the_base():
    ours, _ = both(X)
    part = ours[1:]
    part[0, 0] = -5
    assert ours[1, 0] == -5 and part.name == "a" and tt.shares_memory(part, ours)
    ours += 1
    assert type(ours) is Ours and ours.name == "a" and ours[0, 0] == 2


def test_made_directly():
    a, b = Plain((2, 3), "f4"), PlainTheirs((2, 3), "f4")
    assert type(a) is Plain and a.shape == b.shape and str(a.dtype) == "float32"
    assert repr(tt.arange(3).view(Plain)) == repr(np.arange(3).view(PlainTheirs)).replace("Theirs", "")
    with pytest.raises(ValueError, match="sub-type of ndarray"):
        tt.arange(3).view(type=int)
    with pytest.raises(ValueError, match="twice"):
        tt.arange(3).view(Plain, Plain)


def test_finalize_sees_where_it_comes_from():
    seen = []

    class Watch(tt.ndarray):
        def __array_finalize__(self, obj):
            seen.append(None if obj is None else type(obj).__name__)

    a = Watch((2,))
    b = tt.arange(3).view(Watch)
    b[1:]
    assert seen == [None, "ndarray", "Watch"] and len(a) == 2

    class Bad(tt.ndarray):
        def __array_finalize__(self, obj):
            raise KeyError("no")

    with pytest.raises(KeyError):
        tt.arange(3).view(Bad)


def test_wrap_and_priority():
    class High(tt.ndarray):
        __array_priority__ = 2000.0

    class Low(tt.ndarray):
        __array_priority__ = 1500.0

    class Wrapped(tt.ndarray):
        def __array_wrap__(self, array, context=None, return_scalar=False):
            return ("wrapped", array.tolist())

    x = tt.arange(2)
    assert type(x.view(Low) + x.view(High)) is High and type(x.view(High) + x.view(Low)) is High
    assert x.view(Wrapped) + 1 == ("wrapped", [1, 2])


def test_the_first_of_equal_priority_is_asked():
    for named, m in ((Theirs, np), (Ours, tt)):

        class Child(named):
            pass

        a, b, c = named([0, 1], "a"), named([2, 3], "b"), Child([4, 5], "c")
        assert [(a + b).name, m.add(b, a).name, m.arctan2(a, b).name, m.multiply(m.arange(2), b).name] == [*"abab"]
        assert [type(x) for x in (m.add(a, c), m.add(c, a), a + c, c + a)] == [named, Child] * 2


def test_ufuncs_overridden():
    class Counted(tt.ndarray):
        calls = 0

        def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
            Counted.calls += 1
            plain = [i.view(tt.ndarray) if isinstance(i, Counted) else i for i in inputs]
            return super().__array_ufunc__(ufunc, method, *plain, **kwargs).view(Counted)

    a = tt.arange(3.0).view(Counted)
    assert type(a + 1) is Counted and (a + 1).tolist() == [1, 2, 3] and Counted.calls == 2
    assert type(tt.sin(a)) is Counted and type(tt.add(a, a, dtype="f4")) is Counted and Counted.calls == 4


class Kept(tt.ndarray):
    pass


def test_pickles():
    a = tt.arange(6.0).reshape(2, 3).view(Kept)
    for protocol in (2, 4, 5):
        b = pickle.loads(pickle.dumps(a, protocol))
        assert type(b) is Kept and (b == a).all()


def test_life():
    """Attributes, weak references and cycles go with the object."""
    import gc
    import weakref

    a, _ = both(X)
    a.self = a
    gone = weakref.ref(a)
    del a
    gc.collect()
    assert gone() is None
    for _ in range(3000):
        Ours([1.0, 2.0])[:1]


def test_slots_and_children():
    class Child(Ours):
        __slots__ = ()

    c = Child([1, 2], "c")
    assert type(c + Ours([1, 2])) is Child and isinstance(c[:1], Child) and c[:1].name == "c"
    assert np.asarray(c).tolist() == [1, 2] and tt.asarray([c, c]).shape == (2, 2)


def test_views_of_plain_arrays_keep_their_base_beside_subclasses():
    class Some(tt.ndarray):
        pass

    a = tt.ones((3, 4))
    assert tt.einsum("ij->ji", a).base is a and type(tt.einsum("ij", a)) is tt.ndarray
