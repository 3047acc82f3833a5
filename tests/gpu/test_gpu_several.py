"""Several GPUs: each one's arrays, copies between them, and which of them a process sees."""

import os
import subprocess
import sys

import numpy as np
import pytest
import tutti as tt

if not tt.cuda.is_available():
    pytest.skip(f"no GPU: {tt.cuda.why()}", allow_module_level=True)
two = pytest.mark.skipif(tt.cuda.device_count() < 2, reason="one GPU only")
A = np.random.default_rng(0).random((1000, 1001))


def run(code, **env):
    done = subprocess.run([sys.executable, "-c", code], env={**os.environ, **env}, capture_output=True, text=True)
    return done.stdout.strip() or done.stderr


@two
def test_copies_between_gpus():
    x = tt.asarray(A, device="cuda:0")
    there = x.to("cuda:1")
    assert there.device == "cuda:1" and x.device == "cuda:0"
    np.testing.assert_array_equal(there.numpy(), A)
    back = (there * 2).to("cuda:0")
    np.testing.assert_array_equal((back - x).numpy(), 2 * A - A)
    x += 1
    np.testing.assert_array_equal(there.numpy(), A)


@two
def test_unfinished_work_is_waited_for():
    x = tt.asarray(A, device="cuda:0")
    y = x
    for _ in range(20):
        y = tt.sin(y) + 1
        y = y.to("cuda:1" if y.device == "cuda:0" else "cuda:0")
    want = A
    for _ in range(20):
        want = np.sin(want) + 1
    np.testing.assert_allclose(y.numpy(), want, rtol=1e-12)


@two
def test_each_gpu_does_its_own_work():
    results = []
    for k in range(tt.cuda.device_count()):
        with tt.cuda.device(k):
            x = tt.asarray(A)
            results.append((x @ x.T).sum(axis=0))
            assert results[-1].device == f"cuda:{k}"
    for r in results[1:]:
        np.testing.assert_array_equal(r.numpy(), results[0].numpy())


@two
def test_two_gpus_in_one_operation_are_an_error():
    with pytest.raises(ValueError, match="cuda:0 and cuda:1"):
        (tt.ones(3, device="cuda:0") + tt.ones(3, device="cuda:1")).eval()


@two
def test_memory_is_counted_for_each():
    before = [tt.cuda.memory_allocated(k) for k in (0, 1)]
    x = tt.asarray(A, device="cuda:1")
    assert tt.cuda.memory_allocated(1) >= before[1] + A.nbytes and tt.cuda.memory_allocated(0) == before[0]
    del x


@two
@pytest.mark.parametrize("view", [lambda a: a[3:50], lambda a: a[:, ::-3], lambda a: a.T, lambda a: a[7, 9]])
def test_views_are_copied_as_they_look(view):
    there = view(tt.asarray(A, device="cuda:1")).to("cuda:0")
    assert there.device == "cuda:0"
    np.testing.assert_array_equal(there.numpy(), view(A))


@two
def test_a_full_gpu_leaves_the_other_alone():
    other = tt.asarray(A, device="cuda:0")
    used = tt.cuda.memory_allocated(0)
    tt.cuda.set_memory_limit(tt.cuda.memory_reserved(1) + (64 << 20), 1)
    try:
        kept = [tt.asarray(np.full(4 << 20, float(k)), device="cuda:1") for k in range(6)]  # three times the limit
        assert tt.cuda.memory_allocated(0) == used
        for k, x in enumerate(kept):
            assert float(x[k]) == k
        with pytest.raises(RuntimeError, match="cuda:1"), tt.strict("fallback"):
            tt.eval(tt.sort(tt.asarray(np.ones(64 << 20), device="cuda:1")))
    finally:
        tt.cuda.set_memory_limit(0, 1)
    np.testing.assert_array_equal((other + 1).numpy(), A + 1)


@two
def test_streams_and_events_of_each():
    streams = [tt.cuda.Stream(k) for k in (0, 1)]
    results, events = [], []
    for k, s in enumerate(streams):
        with tt.cuda.device(k), s:
            x = tt.asarray(A)
            y = tt.sin(x) + k
            tt.eval(y)
            results.append(y)
            events.append(s.record())
    for k in (0, 1):
        events[k].synchronize()
        assert events[k].query() and streams[k].query()
        there = results[k].to(f"cuda:{1 - k}")
        np.testing.assert_array_equal(there.numpy(), results[k].numpy())
    assert tt.cuda.current_stream(0) == tt.cuda.default_stream(0) != tt.cuda.current_stream(1)


@two
def test_the_current_gpu_is_a_context():
    assert tt.cuda.current_device() == 0
    with tt.cuda.device(1):
        assert tt.cuda.current_device() == 1
        x = tt.ones(10)
        with tt.cuda.device(0):
            assert tt.zeros(10).device == "cuda:0"
        assert tt.zeros(10).device == "cuda:1"
    assert tt.cuda.current_device() == 0 and x.device == "cuda:1"
    assert (x * 2).device == "cuda:1" and float((x * 2).sum()) == 20


@two
def test_a_users_kernel_runs_where_its_arrays_are():
    text = 'extern "C" __global__ void twice(double *x, int n) { int i = threadIdx.x; if (i < n) x[i] *= 2; }'
    twice = tt.RawKernel(text, "twice")
    for k in (1, 0):
        with tt.cuda.device(k):
            x = tt.arange(32.0, device=f"cuda:{k}")
            tt.eval(x)
            twice((1,), (32,), (x, 32))
            np.testing.assert_array_equal(x.numpy(), 2 * np.arange(32.0))


@two
def test_dlpack_of_the_second_gpu():
    x = tt.asarray(A, device="cuda:1")
    assert x.__dlpack_device__() == (2, 1)
    assert tt.from_dlpack(x).device == "cuda:1"
    torch = pytest.importorskip("torch")
    t = torch.from_dlpack(x)
    assert t.device.index == 1
    np.testing.assert_array_equal((t * 2).cpu().numpy(), A * 2)
    with torch.cuda.device(1):  # PyTorch exports tensors of its current device alone
        back = tt.from_dlpack(t + 1)
    assert back.device == "cuda:1"
    np.testing.assert_array_equal((back + 0).numpy(), A + 1)


@two
def test_copies_overtake_nothing():
    """A copy sees what was asked for before it, and what is asked for later does not reach it."""
    big = np.random.default_rng(1).random(8 << 20)
    for turn in range(5):
        x = tt.asarray(big, device="cuda:0")
        y = x * turn
        there = y.to("cuda:1")
        y += 1
        z = there + 1
        np.testing.assert_array_equal(z.numpy(), big * turn + 1)
        np.testing.assert_array_equal(y.numpy(), big * turn + 1)
        np.testing.assert_array_equal(there.numpy(), big * turn)


def test_the_environment_chooses_what_is_visible():
    code = "import tutti as tt; d = tt.devices()[0]; print(tt.cuda.device_count(), d, d.properties['bus'])"
    last = tt.cuda.device_count() - 1
    bus = tt.cuda.get_device_properties(last).pci_bus_id
    visible = os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",")
    name = visible[last] if len(visible) > last and visible[last] else str(last)
    assert run(code, CUDA_VISIBLE_DEVICES=name) == f"1 cuda:0 {bus}"
    none = "import tutti as tt; print(tt.cuda.device_count(), tt.cuda.why(), tt.ones(3).sum())"
    assert run(none, CUDA_VISIBLE_DEVICES="", TUTTI_DEVICE="auto").startswith("0 ")
