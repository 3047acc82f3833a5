"""Into and out of other libraries: buffers, interfaces, DLPack, pickles, NumPy's functions."""

import array as pyarray
import copy
import ctypes
import gc
import hashlib
import io
import pickle
import weakref

import numpy as np
import pytest
import tutti as tt

TYPES = ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16"]


def numbers(name, shape=(3, 4)):
    return (np.arange(np.prod(shape)).reshape(shape) % 5).astype(name)


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize("view", [np.s_[:], np.s_[::-1, ::2], np.s_[1], np.s_[1, 2], np.s_[0:0]], ids=str)
def test_numpy_and_back(name, view):
    a = numbers(name)[view]
    t = tt.asarray(a)
    assert t.dtype == a.dtype and t.shape == a.shape
    for back in (np.asarray(t), t.numpy(), np.array(memoryview(t)), np.from_dlpack(t)):
        assert back.dtype == a.dtype
        np.testing.assert_array_equal(back, a)
    assert t.tolist() == a.tolist()
    assert t.tobytes() == a.tobytes()


def test_views_keep_their_strides():
    t = tt.asarray(numbers("f8"))
    for got, want in [(t.T, t.numpy().T), (t[::-1, ::2], t.numpy()[::-1, ::2])]:
        shown = np.asarray(got)
        assert shown.strides == want.strides == got.strides
        np.testing.assert_array_equal(shown, want)


def test_shown_memory_never_changes():
    t = tt.array([1.0, 2.0, 3.0])
    shown, interface = np.asarray(t), np.array(t.__array_interface__["data"])
    held = t.__array_interface__
    t += 10
    t[0] = -1
    np.testing.assert_array_equal(shown, [1, 2, 3])
    assert t.tolist() == [-1, 12, 13]
    assert not shown.flags.writeable
    assert held["data"][1] and interface[0] == held["data"][0]


def test_writable_buffers_are_refused():
    with pytest.raises(TypeError, match="read-write"):
        io.BytesIO(b"12345678").readinto(tt.array([1.0]))
    with pytest.raises(ValueError, match="C-contiguous"):
        hashlib.sha1(tt.array([[1, 2], [3, 4]]).T)  # asks for plain bytes


def test_read_only_sources_are_shared_and_others_copied():
    a = np.arange(4.0)
    t = tt.asarray(a)
    a[0] = 9
    assert t.tolist() == [0, 1, 2, 3]
    b = np.arange(4.0)
    b.flags.writeable = False
    before = tt.ledger()["copies"]
    shared = tt.asarray(b)
    assert tt.ledger()["copies"] == before
    assert np.asarray(shared).ctypes.data == b.ctypes.data
    mine = tt.array(b)
    mine[0] = 5
    assert b[0] == 0


def test_sharing_ends_with_the_last_user():
    class Memory(np.ndarray):
        pass

    a = np.arange(1000.0).view(Memory)
    a.flags.writeable = False
    gone = weakref.ref(a)
    t = tt.asarray(a)
    u = t + 1
    del a
    gc.collect()
    assert gone() is not None
    assert u[999].item() == 1000
    del t, u
    gc.collect()
    tt.array(1)
    assert gone() is None


def test_copy_never():
    with pytest.raises(ValueError, match="Unable to avoid copy"):
        tt.asarray([1, 2], copy=False)
    with pytest.raises(ValueError, match="Unable to avoid copy"):
        tt.asarray(np.ones(2), dtype="f4", copy=False)
    a = np.ones(3)
    assert np.asarray(tt.asarray(a, copy=False)).ctypes.data == a.ctypes.data


@pytest.mark.parametrize("order", [">i4", ">f8", ">c16", ">u2"])
def test_other_byte_order(order):
    a = (
        (np.arange(6).reshape(2, 3) * (1 + 2j)).astype(order)
        if "c" in order
        else np.arange(6).reshape(2, 3).astype(order)
    )
    np.testing.assert_array_equal(tt.asarray(a.T).numpy(), a.T)


@pytest.mark.parametrize(
    "source",
    [np.array(["a"]), np.ones(2, np.longdouble), np.array(["2020-01-01"], "M8[D]"), np.array([object()])],
    ids=lambda a: str(a.dtype),
)
def test_types_without_a_place(source):
    with pytest.raises((TypeError, ValueError)):
        tt.asarray(source)


def test_buffers_of_the_standard_library():
    assert tt.asarray(pyarray.array("f", [1, 2])).dtype == "float32"
    assert tt.asarray(memoryview(b"ab")).tolist() == [97, 98]
    assert tt.array(bytearray(b"ab")).tolist() == [97, 98]
    assert tt.frombuffer(b"\1\0\0\0\2\0\0\0", "i4").tolist() == [1, 2]
    assert tt.frombuffer(b"\0\1\0\2\0", "i2", 2, 1).tolist() == [1, 2]
    with pytest.raises(ValueError, match="multiple of element size"):
        tt.frombuffer(b"123", "i2")
    with pytest.raises(ValueError, match="smaller than requested"):
        tt.frombuffer(b"1234", "i2", 3)


# ---- DLPack


@pytest.mark.parametrize("name", TYPES)
def test_dlpack_from_numpy(name):
    a = numbers(name)
    for source in (a, a.T, a[::2]):
        np.testing.assert_array_equal(tt.from_dlpack(source).numpy(), source)
    np.testing.assert_array_equal(tt.from_dlpack(a.__dlpack__()).numpy(), a)  # the unversioned capsule


def test_dlpack_versions_and_flags():
    t = tt.array([1.0, 2.0])
    assert "dltensor_versioned" in repr(t.__dlpack__(max_version=(1, 0)))
    assert '"dltensor"' in repr(t.__dlpack__())
    assert t.__dlpack_device__() == (1, 0)
    assert not np.from_dlpack(t).flags.writeable  # read-only in the versioned form
    assert np.from_dlpack(t, copy=True).flags.writeable
    assert '"dltensor"' in repr(t.__dlpack__(copy=False))  # shared, as was asked for, and writable
    with pytest.raises(BufferError, match="readonly"):
        tt.broadcast_to(t, (2, 2)).__dlpack__(copy=False)
    with pytest.raises(BufferError, match="device"):
        t.__dlpack__(dl_device=(2, 0))
    with pytest.raises(ValueError, match="consumed"):
        capsule = t.__dlpack__()
        tt.from_dlpack(capsule)
        tt.from_dlpack(capsule)
    with pytest.raises(AttributeError, match="__dlpack__"):
        tt.from_dlpack(3)


def test_dlpack_bfloat16_between_ours():
    t = tt.array([1.5, 2], tt.bfloat16)
    assert tt.from_dlpack(t).dtype == tt.bfloat16
    assert tt.from_dlpack(t).tolist() == [1.5, 2]


def test_unused_capsules_leak_nothing():
    t = tt.array(np.arange(1000.0))
    t.__dlpack__(), t.__dlpack__(max_version=(1, 0))
    before = tt._core._test_live()
    for _ in range(10):
        t.__dlpack__(), t.__dlpack__(max_version=(1, 0)), np.from_dlpack(t), memoryview(t)
    assert tt._core._test_live() == before


# ---- pickle and copy


@pytest.mark.parametrize("protocol", range(6))
@pytest.mark.parametrize("name", ["f8", "c8", "?", "u8"])
def test_pickle(protocol, name):
    for a in (numbers(name), numbers(name).T, numbers(name)[1, 2], numbers(name)[0:0]):
        b = pickle.loads(pickle.dumps(tt.asarray(a), protocol))
        assert b.dtype == a.dtype
        np.testing.assert_array_equal(b.numpy(), a)
        if a.ndim and a.size:
            b[0] = 0  # a pickle in one piece is one's own


def test_pickle_out_of_band():
    t, buffers = tt.asarray(np.arange(10000.0)), []
    data = pickle.dumps(t, 5, buffer_callback=buffers.append)
    assert len(data) < 300 and len(buffers) == 1
    assert pickle.loads(data, buffers=buffers).tolist() == t.tolist()
    shared = pickle.loads(data, buffers=[bytearray(buffers[0].raw())])
    assert shared.tolist() == t.tolist()


def test_pickle_bfloat16_and_dtypes():
    t = tt.array([1.5, 2], tt.bfloat16)
    assert pickle.loads(pickle.dumps(t, 5)).tolist() == [1.5, 2]
    assert pickle.loads(pickle.dumps(tt.float32)) is tt.float32


def test_damaged_pickles():
    from tutti._core import _rebuild

    with pytest.raises(ValueError, match="does not fit"):
        _rebuild(b"1234", "float64", (2,))
    with pytest.raises(ValueError):
        _rebuild(b"", "float64", (-1,))
    with pytest.raises(ValueError):
        _rebuild(b"", "float64", (2**62, 2**62))


def test_copy():
    t = tt.array([1, 2, 3])
    for c in (copy.copy(t), copy.deepcopy(t), t.copy()):
        c[0] = 9
        assert t[0].item() == 1


# ---- NumPy's functions on our arrays


def test_ufuncs_come_here():
    t = tt.array([1.0, 4.0])
    for got in (np.sqrt(t), np.add(t, 1), np.add(1, t), np.ones(2) + t, np.float64(2) * t, np.less(t, 2)):
        assert isinstance(got, tt.ndarray)
    assert np.add.reduce(t).item() == 5
    out = np.zeros(2)
    assert np.add(t, t, out=out) is out and out.tolist() == [2, 8]
    out += t
    assert out.tolist() == [3, 12]
    mine = tt.array([0.0, 0.0])
    assert np.add(t, 1, out=mine) is mine and mine.tolist() == [2, 5]


def test_functions_come_here():
    t = tt.array([[1.0, 4.0], [2.0, 3.0]])
    for got in (np.concatenate([t, t]), np.sum(t), np.mean(t, axis=0), np.where(t > 2, t, 0), np.reshape(t, (4,))):
        assert isinstance(got, tt.ndarray)
    assert np.sum(t).item() == 10


def test_what_we_lack_numpy_does():
    t = tt.array([1.0, 2.0])
    assert not hasattr(tt, "einsum_path")
    assert np.einsum_path("i,i->", t, t) == np.einsum_path("i,i->", [1.0, 2.0], [1.0, 2.0])
    with tt.strict("fallback"), pytest.raises(tt.exceptions.StrictError, match="einsum_path"):
        np.einsum_path("i,i->", t, t)


def test_array_protocol_of_others():
    class Wrapped:
        def __array__(self, dtype=None, copy=None):
            return np.array([1, 2], "i2")

    class Sequence:
        def __len__(self):
            return 2

        def __getitem__(self, k):
            return [10, 20][k]

    assert tt.asarray(Wrapped()).dtype == "int16"
    assert tt.asarray(Sequence()).tolist() == [10, 20]
    assert (tt.array([1, 2]) + Wrapped()).tolist() == [2, 4]


def test_namespace():
    t = tt.array(1)
    assert t.__array_namespace__() is tt
    for version in ("2021.12", "2024.12", tt.__array_api_version__):
        assert t.__array_namespace__(api_version=version) is tt
    with pytest.raises(ValueError, match="not supported"):
        t.__array_namespace__(api_version="1999.12")
    assert tt.__array_namespace_info__().default_dtypes()["integral"] == tt.int64
    assert set(tt.__array_namespace_info__().dtypes(kind="bool")) == {"bool"}


def test_bfloat16_without_a_numpy_type():
    pytest.importorskip("numpy")
    try:
        import ml_dtypes  # noqa: F401
    except ImportError:
        with pytest.raises(TypeError, match="ml_dtypes"):
            np.asarray(tt.array([1], tt.bfloat16))


class Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", ctypes.c_int32 * 2),
        ("ndim", ctypes.c_int32),
        ("dtype", ctypes.c_uint32),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
    ]


def from_steps(a, shape, steps):
    """Float32 elements from the middle of `a` on, by a DLPack capsule with these steps."""
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    t = Tensor(data=a.ctypes.data + a.nbytes // 2, device=(1, 0), ndim=len(shape), dtype=2 | 32 << 8 | 1 << 16)
    kept = t.shape, t.strides = (ctypes.c_int64 * len(shape))(*shape), (ctypes.c_int64 * len(shape))(*steps)
    return tt.from_dlpack(new(ctypes.addressof(t), b"dltensor", None)).numpy().copy(), kept


def test_steps_backwards_that_lost_their_sign():
    a = np.arange(24, dtype="f4")
    lost = 2**62  # 2^64 bytes: CuPy divides these without a sign
    got, _ = from_steps(a, (3, 2), (lost - 4, 2))
    assert np.array_equal(got, [[12, 14], [8, 10], [4, 6]])
    assert from_steps(a, (0, 2), (lost - 4, 2))[0].shape == (0, 2)
    assert from_steps(a, (3,), (-4,))[0].tolist() == [12, 8, 4]
    bad = [lost, lost + 1, 2 * lost - 1, -2 * lost, lost - a.ctypes.data, lost // 2 + 1]
    for step in bad:  # no step backwards, or one to below address 0
        with pytest.raises(BufferError, match="address space"):
            from_steps(a, (3,), (step,))
    with pytest.raises(BufferError, match="address space"):
        from_steps(a, (2**40,), (lost - 2**30,))


def test_old_capsules_get_memory_of_their_own():
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    t = tt.array([1.0, 2.0, 3.0])
    for own, name, kw in [(True, b"dltensor", {}), (True, None, {"copy": True}), (False, None, {})]:
        kw = kw if name else {"max_version": (1, 0), **kw}
        capsule = t.__dlpack__(**kw)
        start = pointer(capsule, name or b"dltensor_versioned")
        data = ctypes.c_void_p.from_address(start + (0 if name else 32)).value
        assert (data != t.__array_interface__["data"][0]) == own
        assert (ctypes.c_double * 3).from_address(data)[:] == [1, 2, 3]


def test_results_do_not_land_in_borrowed_memory():
    a, b = np.arange(1000, dtype=np.int32), np.ones(1000, np.int32)
    keep = a.copy()
    got = np.asarray(tt.asarray(a, copy=False) + tt.asarray(b, copy=False))  # operands that die with the operation
    assert np.array_equal(a, keep) and np.array_equal(got, keep + 1)


def test_ufunc_at_writes_our_array():
    x, a = np.array([1.0, 3.0, 2.0]), tt.array([1.0, 3.0, 2.0])
    view, before = a[1:], a + 0
    for y in (x, a):
        assert np.add.at(y, [0, 1, 1], 1) is None
        np.negative.at(y, [2])
    assert a.tolist() == x.tolist() and view.tolist() == x[1:].tolist() and before.tolist() == [1, 3, 2]
    fixed = tt.asarray(np.ones(2))[:]
    fixed.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        np.add.at(fixed, [0], 1)
