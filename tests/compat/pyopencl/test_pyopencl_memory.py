"""Buffers, copies, maps, shared virtual memory, queues and events of tutti.compat.pyopencl."""

import random
import threading

import numpy as np
import pytest
import tutti.compat.pyopencl as cl

MF = cl.mem_flags


@pytest.fixture(scope="module")
def ctx():
    return cl.create_some_context()


@pytest.fixture
def queue(ctx):
    return cl.CommandQueue(ctx)


def buffer(ctx, array):
    return cl.Buffer(ctx, MF.READ_WRITE | MF.COPY_HOST_PTR, hostbuf=array)


def read(queue, buf):
    out = np.empty(buf.size, np.uint8)
    cl.enqueue_copy(queue, out, buf)
    return out


def test_platforms_devices_and_contexts(ctx, monkeypatch):
    platform = next(p for p in cl.get_platforms() if p.name == "tutti")
    (device,) = platform.get_devices()
    assert ctx.devices == [device] and device.platform is platform and platform.name == "tutti"
    assert device.type == cl.device_type.CPU and platform.get_devices(cl.device_type.GPU) == []
    assert device.get_info(cl.device_info.MAX_COMPUTE_UNITS) == device.max_compute_units >= 1
    for name, constant in vars(cl.device_info).items():
        if isinstance(constant, int) and name[0] != "_":
            assert device.get_info(constant) == getattr(device, name.lower())
    monkeypatch.setenv("PYOPENCL_CTX", "0:0")
    assert cl.create_some_context().devices == [device]
    monkeypatch.setenv("PYOPENCL_CTX", "nobody")
    with pytest.raises(cl.Error, match="no platform is called 'nobody'"):
        cl.create_some_context()
    with pytest.raises(cl.RuntimeError, match="DEVICE_NOT_FOUND"):
        cl.Context(dev_type=cl.device_type.GPU)
    for one in (platform, device, ctx):
        assert type(one).from_int_ptr(one.int_ptr) is one


def test_buffers_keep_copies_or_the_hosts_memory(ctx, queue):
    a = np.arange(16, dtype="f4")
    copied = buffer(ctx, a)
    kept = cl.Buffer(ctx, MF.READ_WRITE | MF.USE_HOST_PTR, hostbuf=a)
    a[0] = 7
    assert read(queue, copied).view("f4")[0] == 0 and read(queue, kept).view("f4")[0] == 7
    assert kept.hostbuf is a and kept.size == 64 and kept.get_host_array(16, "f4").base is kept
    part = copied[0:64][0:32]
    assert part.size == 32 and part.associated_memobject.size == 64
    cl.enqueue_copy(queue, part, np.full(8, 3, "f4"))
    assert read(queue, copied).view("f4").tolist() == [3] * 8 + list(range(8, 16))
    with pytest.warns(UserWarning, match="no memory flags"):
        cl.Buffer(ctx, MF.READ_WRITE, 8, hostbuf=a)


@pytest.mark.parametrize(
    "call, kind, words",
    [
        (lambda c, q, b: cl.Buffer(c, MF.READ_WRITE, 0), cl.LogicError, "INVALID_BUFFER_SIZE"),
        (lambda c, q, b: cl.Buffer(c, MF.COPY_HOST_PTR, 8), cl.LogicError, "INVALID_HOST_PTR"),
        (lambda c, q, b: cl.Buffer(c, MF.READ_WRITE, 1 << 60), cl.MemoryError, "MEM_OBJECT_ALLOCATION_FAILURE"),
        (lambda c, q, b: b.get_sub_region(3, 5), cl.RuntimeError, "MISALIGNED_SUB_BUFFER_OFFSET"),
        (lambda c, q, b: b.get_sub_region(0, 500), cl.LogicError, "INVALID_VALUE"),
        (lambda c, q, b: b[0:10:2], cl.LogicError, "stride 1"),
        (lambda c, q, b: cl.enqueue_copy(q, np.zeros(90, "u1"), b), cl.LogicError, "INVALID_VALUE"),
        (lambda c, q, b: cl.enqueue_copy(q, b, np.zeros(90, "u1")), cl.LogicError, "INVALID_VALUE"),
        (lambda c, q, b: cl.enqueue_copy(q, b, np.zeros((4, 4), "u1")[::2]), ValueError, "not contiguous"),
        (lambda c, q, b: cl.enqueue_copy(q, np.zeros(2), np.zeros(2)), TypeError, "host-to-host"),
        (lambda c, q, b: cl.enqueue_copy(q, b, b), cl.RuntimeError, "MEM_COPY_OVERLAP"),
        (lambda c, q, b: cl.enqueue_copy(q, b, np.zeros(4), nothing=1), TypeError, "nothing"),
        (lambda c, q, b: cl.enqueue_fill_buffer(q, b, np.float32(1), 0, 39), cl.LogicError, "INVALID_VALUE"),
        (lambda c, q, b: cl.enqueue_map_buffer(q, b, 1, 0, (99,), "f4"), cl.LogicError, "INVALID_VALUE"),
        (lambda c, q, b: cl.enqueue_marker(q).profile.start, cl.RuntimeError, "PROFILING_INFO_NOT_AVAILABLE"),
        (lambda c, q, b: cl.Image(c, 1, None), cl.LogicError, "images and samplers are not covered"),
        (lambda c, q, b: cl.get_gl_context, AttributeError, "does not cover pyopencl.get_gl_context"),
    ],
)
def test_bad_calls_say_what_is_wrong(ctx, queue, call, kind, words):
    buf = cl.Buffer(ctx, MF.READ_WRITE, 40)
    with pytest.raises(kind, match=words):
        call(ctx, queue, buf)


def test_released_memory_says_so(ctx, queue):
    buf = cl.Buffer(ctx, MF.READ_WRITE, 40)
    buf.release()
    for call in (buf.release, lambda: read(queue, buf)):
        with pytest.raises(cl.LogicError, match="INVALID_MEM_OBJECT"):
            call()


def box(rng, sizes):
    """(origin, pitches, bytes of the whole memory) that hold a box of these sizes."""
    origin = [rng.randrange(4) for _ in sizes]
    row = origin[0] + sizes[0] + rng.randrange(5)
    plane = row * (origin[1] + sizes[1] + rng.randrange(3))
    return origin, (row, plane), plane * (origin[2] + sizes[2]) + row


def in_box(memory, origin, sizes, pitches):
    """The oracle: each byte of a box by its place."""
    row, plane = pitches
    return [
        (origin[2] + z) * plane + (origin[1] + y) * row + origin[0] + x
        for z in range(sizes[2]) for y in range(sizes[1]) for x in range(sizes[0])
    ]  # fmt: skip


@pytest.mark.parametrize("seed", range(30))
def test_boxes_of_bytes(ctx, queue, seed):
    rng = random.Random(seed)
    sizes = [rng.randrange(1, 6) for _ in range(3)]
    ends = [box(rng, sizes) for _ in range(2)]
    source, target = (np.random.default_rng(seed).integers(0, 255, end[2], dtype=np.uint8) for end in ends)
    wanted = target.copy()
    wanted[in_box(target, ends[1][0], sizes, ends[1][1])] = source[in_box(source, ends[0][0], sizes, ends[0][1])]
    words = {"region": sizes}
    kind = seed % 3
    names = [("src", "dst"), ("host", "buffer"), ("buffer", "host")][kind]
    for name, (origin, pitches, _) in zip(names, ends, strict=True):
        words |= {f"{name}_origin": origin, f"{name}_pitches": pitches}
    given = source if kind == 1 else buffer(ctx, source)
    got = target if kind == 2 else buffer(ctx, target)
    cl.enqueue_copy(queue, got, given, **words)
    assert np.array_equal(got if kind == 2 else read(queue, got), wanted)


def test_fills_and_maps(ctx, queue):
    buf = cl.Buffer(ctx, MF.READ_WRITE, 48)
    cl.enqueue_fill_buffer(queue, buf, np.int32(5), 0, 48)
    cl.enqueue_fill_buffer(queue, buf, np.float64(1.5), 8, 16)
    array, event = cl.enqueue_map_buffer(queue, buf, cl.map_flags.WRITE, 8, (2, 2), "f8")
    event.wait()
    assert buf.map_count == 1 and array.base._of is buf
    assert array[0].tolist() == [1.5, 1.5]
    array[1] = 2
    array.base.release()
    assert buf.map_count == 0 and read(queue, buf)[24:40].view("f8").tolist() == [2, 2]
    with pytest.raises(cl.LogicError, match="released already"):
        array.base.release()


def test_shared_virtual_memory(ctx, queue):
    svm = cl.SVM(cl.csvm_empty(ctx, (3, 4), np.int32))
    cl.enqueue_svm_memfill(queue, svm, np.int32(4))
    with svm.map_rw(queue) as array:
        assert array is svm.mem and isinstance(array.base, cl.SVMAllocation) and (array == 4).all()
        array[1] = 9
    out = np.zeros((3, 4), np.int32)
    cl.enqueue_copy(queue, out, svm)
    assert out[1].tolist() == [9] * 4
    cl.enqueue_copy(queue, svm, out + 1)
    assert svm.mem[1, 1] == 10 and svm.as_buffer(ctx).size == 48
    empty = cl.SVMAllocation(ctx, 0, 0, cl.svm_mem_flags.READ_WRITE)
    empty.release()


def test_commands_wait_for_events_of_programs_in_order(ctx, queue):
    buf, seen = buffer(ctx, np.zeros(4, "u1")), []
    go = cl.UserEvent(ctx)
    first = cl.enqueue_copy(queue, buf, np.full(4, 1, "u1"), wait_for=[go], is_blocking=False)
    second = cl.enqueue_fill_buffer(queue, buf, np.uint8(2), 0, 2)
    second.set_callback(cl.command_execution_status.COMPLETE, seen.append)
    assert first.command_execution_status != cl.command_execution_status.COMPLETE and not seen
    threading.Timer(0.05, go.set_status, [cl.command_execution_status.COMPLETE]).start()
    queue.finish()
    assert seen == [0] and buf._bytes.tolist() == [2, 2, 1, 1]
    cl.wait_for_events([first, second, go])
    with pytest.raises(cl.LogicError, match="INVALID_OPERATION"):
        go.set_status(0)


def test_commands_behind_a_failed_event_fail(ctx, queue):
    buf, bad = buffer(ctx, np.zeros(4, "u1")), cl.UserEvent(ctx)
    after = cl.enqueue_fill_buffer(queue, buf, np.uint8(1), 0, 4, wait_for=[bad])
    bad.set_status(-5)
    with pytest.raises(cl.RuntimeError, match="EXEC_STATUS_ERROR"):
        after.wait()
    with pytest.raises(cl.RuntimeError, match="EXEC_STATUS_ERROR"):
        cl.enqueue_marker(queue, wait_for=[bad])
    assert not buf._bytes.any()


def test_times_of_commands(ctx):
    queue = cl.CommandQueue(ctx, properties=cl.command_queue_properties.PROFILING_ENABLE)
    profile = cl.enqueue_marker(queue).profile
    assert 0 < profile.queued <= profile.submit <= profile.start <= profile.end
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        profile.nothing  # noqa: B018


def test_a_queue_that_was_left_warns(ctx):
    with cl.CommandQueue(ctx) as queue:
        cl.enqueue_marker(queue)
    with pytest.warns(cl.CommandQueueUsedAfterExit):
        queue.flush()
