"""Moving between the host and a device, streams, events and sharing, with the n-th allocation or copy failing."""

import gc

import numpy as np
import pytest
import tutti as tt

core = tt._core
SOURCE = np.arange(3000.0).reshape(30, 100)


def move():
    x = tt.asarray(SOURCE, device="null")
    y = x.cpu()
    return x.device.type, float(y.numpy().sum()), x[2, 3:5].cpu().tolist()


def move_back():
    x = tt.asarray(SOURCE + 0).to("null")
    return x.to("null").tolist()[29][99], tt.zeros_like(x).device.type


def make():
    with tt.device("null"):
        return tt.array([1.0, 2.0]).tolist(), tt.zeros(3).tolist()


def share():
    x = tt.asarray(SOURCE, device="null")
    return np.from_dlpack(x, device="cpu")[3, 3].item(), np.from_dlpack(x, device="cpu", copy=True)[1, 1].item()


def order():
    s, e = tt.cuda.Stream("null"), tt.cuda.Event(device="null")
    with s:
        x = tt.asarray(SOURCE, device="null")
    e.record(s)
    tt.cuda.Stream("null").wait_event(e)
    e.synchronize()
    s.synchronize()
    return e.query(), x.tolist()[1][1]


def pin():
    p = tt.cuda.pinned_array(500, device="null")
    p[:] = 2
    return float(tt.asarray(p, device="null").cpu().numpy().sum())


PROGRAMS = [move, move_back, make, share, order, pin]


@pytest.fixture(autouse=True)
def null_device(monkeypatch):
    monkeypatch.setenv("TUTTI_NULL_DEVICE", "1")
    yield
    for kind in ("memory", "device memory", "copy"):
        core._test_fail(kind, -1, False)


def live():
    gc.collect()
    tt.device("null").synchronize()
    core._device_trim(tt.device("null")._number)
    tt.memory_trim()
    return core._test_live()


@pytest.mark.parametrize("kind", ["memory", "device memory", "copy"])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_a_failure_is_an_answer(program, kind):
    want = program()
    program()
    base, failed = live(), 0
    for n in range(1000):
        core._test_fail(kind, n, False)
        value = None
        try:
            value = program()
        except (MemoryError, RuntimeError, BufferError):
            failed += 1
        fired = core._test_calls(kind)[1]
        core._test_fail(kind, -1, False)
        assert value is None or value == want, f"wrong value with {kind} {n} failing"
        assert fired or value is not None, f"failed with nothing told to fail, at {n}"
        del value
        now = live()
        assert now <= base, f"{now - base} bytes leaked with {kind} {n} failing"
        if not fired:
            break
    assert program() == want
    assert kind != "memory" or failed > 0
