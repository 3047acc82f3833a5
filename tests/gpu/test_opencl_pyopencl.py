"""PyOpenCL's names on an OpenCL device, PoCL's where there is no other: both sides see what is new."""

import numpy as np
import pytest
import tutti as tt
import tutti.compat.pyopencl as cl
import tutti.compat.pyopencl.array as cl_array
from tutti.compat.pyopencl import clrandom
from tutti.compat.pyopencl.elementwise import ElementwiseKernel
from tutti.compat.pyopencl.reduction import ReductionKernel
from tutti.compat.pyopencl.scan import InclusiveScanKernel

DEVICES = [d for p in cl.get_platforms() for d in p.get_devices() if d.platform.name != "tutti"]
if not DEVICES:
    pytest.skip("no OpenCL device (on Debian and Ubuntu pocl-opencl-icd makes one of the CPU)", allow_module_level=True)

MF = cl.mem_flags
TEXT = """
__kernel void scale(__global float *x, float f) { x[get_global_id(0)] *= f; }
__kernel void sums(__global const float *a, __global const float *b, __global float *r) {
  int i = get_global_id(0); r[i] = a[i] + b[i];
}
__kernel void tree(__global const float *x, __global float *r, __local float *t) {
  int l = get_local_id(0);
  t[l] = x[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  if (l == 0) { float s = 0; for (int k = 0; k < get_local_size(0); k++) s += t[k]; r[get_group_id(0)] = s; }
}
"""
VALUES = np.arange(64, dtype="f4")


@pytest.fixture(scope="module")
def ctx():
    return cl.Context(DEVICES[:1])


@pytest.fixture(scope="module")
def program(ctx):
    return cl.Program(ctx, TEXT).build()


@pytest.fixture
def queue(ctx):
    return cl.CommandQueue(ctx)


def read(queue, buffer):
    out = np.empty(buffer.size // 4, "f4")
    cl.enqueue_copy(queue, out, buffer)
    return out


def filled(ctx):
    return cl.Buffer(ctx, MF.READ_WRITE | MF.COPY_HOST_PTR, hostbuf=VALUES)


def test_devices_say_what_opencl_says(ctx):
    (device,) = ctx.devices
    assert device.platform.name != "tutti" and device in device.platform.get_devices()
    assert device.max_compute_units >= 1 and device.max_work_group_size >= 64 and device.version.startswith("OpenCL ")
    assert len(device.max_work_item_sizes) == 3 and device.local_mem_size >= 1 << 14
    assert device.get_info(cl.device_info.NAME) == device.name and device.image_support == 0
    with tt.device(str(device._own)):
        assert cl.create_some_context().devices == [device]
    assert cl.get_platforms()[0].name == "tutti" or str(tt.device()).startswith("opencl")
    with pytest.raises(cl.LogicError, match="INVALID_DEVICE"):
        cl.Context([p.get_devices()[0] for p in cl.get_platforms()])


def test_kernels_run_on_the_device(ctx, queue, program):
    a, out = filled(ctx), cl.Buffer(ctx, MF.WRITE_ONLY, VALUES.nbytes)
    before = tt.ledger()["device_launches"]
    program.sums(queue, VALUES.shape, None, a, a, out)
    program.scale(queue, VALUES.shape, (16,), out, np.float32(3))
    np.testing.assert_array_equal(read(queue, out), VALUES * 6)
    assert tt.ledger()["device_launches"] >= before + 2
    program.tree(queue, (64,), (16,), a, out, cl.LocalMemory(64))
    np.testing.assert_array_equal(read(queue, out)[:4], VALUES.reshape(4, 16).sum(1))


def test_both_sides_see_what_is_new(ctx, queue, program):
    """A random row of writes by the host, by copies, maps and kernels, beside NumPy's."""
    rng = np.random.default_rng(0)
    buffers, want = [filled(ctx) for _ in range(2)], [VALUES.copy() for _ in range(2)]
    parts = [b.get_sub_region(128, 64) for b in buffers] if ctx.devices[0].mem_base_addr_align <= 1024 else None
    for _ in range(60):
        k, what = int(rng.integers(2)), int(rng.integers(6))
        if what == 0:
            program.scale(queue, (64,), None, buffers[k], np.float32(-1))
            want[k] *= -1
        elif what == 1:
            cl.enqueue_copy(queue, buffers[k], VALUES[:8], dst_offset=40)
            want[k][10:18] = VALUES[:8]
        elif what == 2:
            cl.enqueue_copy(queue, buffers[k], buffers[1 - k], byte_count=100, src_offset=20, dst_offset=60)
            want[k][15:40] = want[1 - k][5:30]
        elif what == 3:
            shown, _ = cl.enqueue_map_buffer(queue, buffers[k], cl.map_flags.WRITE, 0, (64,), "f4")
            shown[3:9] = 7
            want[k][3:9] = 7
            shown.base.release(queue)
        elif what == 4:
            cl.enqueue_fill_buffer(queue, buffers[k], np.float32(2), 16, 32)
            want[k][4:12] = 2
        elif parts:
            program.scale(queue, (16,), None, parts[k], np.float32(2))
            want[k][32:48] *= 2
        if rng.random() < 0.4:
            np.testing.assert_array_equal(read(queue, buffers[k]), want[k])
    for buffer, values in zip(buffers, want, strict=True):
        np.testing.assert_array_equal(read(queue, buffer), values)


def test_mapped_memory_follows_launches(ctx, queue, program):
    buffer = filled(ctx)
    shown, _ = cl.enqueue_map_buffer(queue, buffer, cl.map_flags.READ | cl.map_flags.WRITE, 0, (64,), "f4")
    program.scale(queue, (64,), None, buffer, np.float32(2))
    np.testing.assert_array_equal(shown, VALUES * 2)
    shown[0] = 5
    program.scale(queue, (64,), None, buffer, np.float32(2))
    assert shown[0] == 10


def test_profiles_have_times_of_the_device(ctx, program):
    queue = cl.CommandQueue(ctx, properties=cl.command_queue_properties.PROFILING_ENABLE)
    x = cl.Buffer(ctx, MF.READ_WRITE, 4 << 20)
    events = [program.scale(queue, (1 << 20,), None, x, np.float32(1)) for _ in range(3)]
    cl.wait_for_events(events)
    times = [(e.profile.start, e.profile.end) for e in events]
    assert all(start < end for start, end in times) and times == sorted(times)


def test_errors(ctx, queue, program):
    with pytest.raises(cl.RuntimeError, match=r"kernel.cl:2:.*undeclared identifier 'y'"):
        cl.Program(ctx, "__kernel void f(__global float *x) {\n x[0] = y; }").build()
    with pytest.raises(cl.LogicError, match="INVALID_WORK_GROUP_SIZE"):
        program.scale(queue, (64,), (7,), filled(ctx), np.float32(1))
    with pytest.raises(cl.LogicError, match="INVALID_ARG_SIZE"):
        program.scale(queue, (64,), None, filled(ctx), np.float64(1))
    buffer = filled(ctx)
    program.scale.set_args(buffer, np.float32(1))
    buffer.release()
    with pytest.raises(cl.LogicError, match="INVALID_MEM_OBJECT"):
        program.scale(queue, (64,), None, buffer, np.float32(1))


def test_arrays(ctx, queue):
    x = cl_array.to_device(queue, VALUES)
    y = (x + 1) * x
    assert str(y._value().device) == str(ctx.devices[0]._own)
    np.testing.assert_array_equal(y.get(), (VALUES + 1) * VALUES)
    y[3:7] = -1
    y[::2] += x[::2]
    want = (VALUES + 1) * VALUES
    want[3:7] = -1
    want[::2] += VALUES[::2]
    np.testing.assert_array_equal(y.get(), want)
    assert cl_array.sum(y).get() == want.sum() and cl_array.dot(x, x).get() == VALUES @ VALUES
    assert (clrandom.rand(queue, 100, np.float32).get() < 1).all()


def test_kernels_of_pieces(ctx, queue):
    x = cl_array.to_device(queue, VALUES)
    z = cl_array.empty_like(x)
    ElementwiseKernel(ctx, "float a, float *x, float *z", "z[i] = a * x[i]", "scaled")(3, x, z)
    np.testing.assert_array_equal(z.get(), VALUES * 3)
    dot = ReductionKernel(ctx, np.float32, "0", "a+b", "x[i]*y[i]", "__global float *x, __global float *y")
    assert dot(x[1:], z[1:]).get() == VALUES @ VALUES * 3
    InclusiveScanKernel(ctx, np.float32, "a+b")(z)
    np.testing.assert_array_equal(z.get(), np.cumsum(VALUES * 3))
