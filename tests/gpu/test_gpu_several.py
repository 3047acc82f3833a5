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


def test_the_environment_chooses_what_is_visible():
    code = "import tutti as tt; d = tt.devices()[0]; print(tt.cuda.device_count(), d, d.properties['bus'])"
    last = tt.cuda.device_count() - 1
    bus = tt.cuda.get_device_properties(last).pci_bus_id
    visible = os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",")
    name = visible[last] if len(visible) > last and visible[last] else str(last)
    assert run(code, CUDA_VISIBLE_DEVICES=name) == f"1 cuda:0 {bus}"
    none = "import tutti as tt; print(tt.cuda.device_count(), tt.cuda.why(), tt.ones(3).sum())"
    assert run(none, CUDA_VISIBLE_DEVICES="", TUTTI_DEVICE="auto").startswith("0 ")
