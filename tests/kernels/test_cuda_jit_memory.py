"""Device arrays of a GPU: shapes, parts and copies, the null device standing in for the GPU."""

import os
import subprocess
import sys

PROGRAM = r"""
import ctypes
import gc

import numpy as np
import pytest
import tutti as tt
from tutti._jit import cuda_names, cuda_place

number = tt.device("null:0")._number
cuda_place._there = [number]


def used():
    gc.collect()
    tt.synchronize()
    return tt._core._device_memory(number)["allocated"]


host = np.arange(12.0).reshape(3, 4)
a = cuda_names.to_device(host)
assert (a.shape, a.ndim, a.nbytes, len(a), a.strides) == ((3, 4), 2, 96, 3, (32, 8))
assert isinstance(a.dtype, np.dtype) and a.is_c_contiguous() and not a.T.is_c_contiguous()
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
into = np.empty((3, 4))
assert a.copy_to_host(into) is into and (into == host).all()
single = np.empty(12, "f4")
a.copy_to_host(single)
np.testing.assert_array_equal(single, host.ravel())
b = cuda_names.device_array_like(a)
b.copy_to_device(a)
np.testing.assert_array_equal(b.copy_to_host(), host)
assert cuda_names.device_array((0, 3)).copy_to_host().shape == (0, 3)
for bad in (5, (0, 9), (0, 0, 0)):
    with pytest.raises(IndexError):
        a[bad]
with pytest.raises(ValueError):
    a.reshape(5, -1)

@tt.cuda.jit
def add(x, y):
    i = tt.cuda.grid(1)
    if i < y.size:
        y[i] += x[i]

add[1, 32](a[1], a[2])
add[1, 32](host[0], a[:, 1])
host[2] += host[1]
host[:, 1] += host[0][:3]
np.testing.assert_array_equal(a.copy_to_host(), host)
whole = np.ones(5)
add[1, 32](b[0], whole[:4])
np.testing.assert_array_equal(whole, np.append(1 + b.copy_to_host()[0], 1))

before = used()
c = cuda_names.device_array(100000)
c[0] = 1
c.copy_to_host()
part = c[2:5]
del c
assert used() > before  # the part keeps it
del part
assert used() == before

theirs = (ctypes.c_double * 6)(*range(6))
desc = {"shape": (2, 3), "typestr": "<f8", "data": (ctypes.addressof(theirs), False), "version": 3}
f = cuda_names.from_cuda_array_interface(desc, theirs)
assert f.owner is theirs and f[1].at == ctypes.addressof(theirs) + 24 and f.T.strides == (8, 24)
assert f.reshape(3, 2).shape == (3, 2) and f.ravel().shape == (6,)
print("fine")
"""


def test_device_arrays(tmp_path):
    env = {**os.environ, "TUTTI_NULL_DEVICE": "1", "TUTTI_CUDA": "none", "TUTTI_DEVICE": "auto"}
    (tmp_path / "p.py").write_text(PROGRAM)
    done = subprocess.run([sys.executable, tmp_path / "p.py"], env=env, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and done.stdout == "fine\n", done.stdout + done.stderr
