"""Device arrays of a GPU: shapes, parts and copies, host memory standing in for the GPU's."""

import ctypes

import numpy as np
import pytest
from tutti._jit import cuda_names


class Stand:
    """The extension, but for memory."""

    def __init__(self, core):
        self.core, self.blocks = core, {}

    def __getattr__(self, name):
        return getattr(self.core, name)

    def _memory_take(self, device, size):
        block = ctypes.create_string_buffer(size)
        self.blocks[ctypes.addressof(block)] = block
        return ctypes.addressof(block)

    def _memory_give(self, device, at):
        del self.blocks[at]

    def _memory_copy(self, device, at, buffer, out):
        view = memoryview(buffer)
        there = (ctypes.c_char * view.nbytes).from_address(at)
        if out:
            view[:] = bytes(there)
        else:
            there.raw = bytes(view)


@pytest.fixture
def stand(monkeypatch):
    core = Stand(cuda_names._core)
    monkeypatch.setattr(cuda_names, "_core", core)
    monkeypatch.setattr(cuda_names, "_there", [0x100])
    return core


def test_parts_and_copies(stand):
    host = np.arange(12.0).reshape(3, 4)
    a = cuda_names.to_device(host)
    assert (a.shape, a.ndim, a.nbytes, len(a)) == ((3, 4), 2, 96, 3)
    for index in (1, -1, (1, 2), (-1, -1), (slice(None), slice(None, None, 2)), (Ellipsis, 1), slice(2, 0, -1)):
        got = a[index]
        np.testing.assert_array_equal(got.copy_to_host() if hasattr(got, "copy_to_host") else got, host[index])
    np.testing.assert_array_equal(a.T.copy_to_host(), host.T)
    np.testing.assert_array_equal(a.reshape(2, -1).copy_to_host(), host.reshape(2, -1))
    np.testing.assert_array_equal(a.ravel()[3:5].copy_to_host(), host.ravel()[3:5])
    a[0] = 7
    a[1, 1] = -1
    a[:, 3] = np.arange(3)
    host[0], host[1, 1], host[:, 3] = 7, -1, np.arange(3)
    np.testing.assert_array_equal(np.asarray(a), host)
    b = cuda_names.device_array_like(a)
    b.copy_to_device(a)
    np.testing.assert_array_equal(b.copy_to_host(), host)
    assert cuda_names.device_array((0, 3)).copy_to_host().shape == (0, 3)
    for bad in (5, (0, 9), (0, 0, 0)):
        with pytest.raises(IndexError):
            a[bad]
    with pytest.raises(ValueError):
        a.reshape(5, -1)


def test_memory_is_given_back(stand):
    a = cuda_names.device_array(10)
    part = a[2:5]
    del a
    assert len(stand.blocks) == 1  # the part keeps it
    del part
    assert not stand.blocks
