"""Two simulated devices: arrays on each, copies between them, and faults of one that leave the other alone."""

import pytest
from null_program import run_program

PROGRAM = """
import numpy as np, tutti as tt
from tutti import _core

rng = np.random.default_rng(0)
A = rng.random((300, 401))

def text_of(error, f):
    try:
        f()
    except error as e:
        return str(e)
    raise AssertionError("no error")

def memory(k):
    return _core._device_memory(tt.device(f"null:{k}")._number)
"""


def run(code, **env):
    return run_program(PROGRAM, code, devices=2, **env)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_copies(seed):
    """Whole arrays, views of them and work that is not done yet."""
    run(
        """
        x = tt.asarray(A, device="null:0")
        y = x.to("null:1")
        assert (x.device, y.device) == ("null:0", "null:1")
        x += 1
        assert np.array_equal(y.numpy(), A) and np.array_equal(x.numpy(), A + 1)
        assert float(y[7, 9].to("null:0")) == A[7, 9]
        views = {"rows": lambda a: a[3:50], "columns": lambda a: a[:, ::-3], "turned": lambda a: a.T}
        for name, view in views.items():
            assert np.array_equal(view(y).to("null:0").numpy(), view(A)), name
        want = A
        for k in range(20):
            y = (y * 2 - 1).to(f"null:{k % 2}")
            want = want * 2 - 1
        assert y.device == "null:1" and np.array_equal(y.numpy(), want)
        assert tt.ledger()["peer_copies"] >= 20
        """,
        TUTTI_NULL_SEED=str(seed),
    )


def test_two_devices_in_one_operation_are_an_error():
    run(
        """
        x, y = tt.ones(3, device="null:0"), tt.ones(3, device="null:1")
        for f in (lambda: x + y, lambda: tt.where(x > 0, x, y), lambda: tt.concatenate([x, y]), lambda: x @ y):
            text = text_of(ValueError, lambda: tt.eval(f()))
            assert "null:0" in text and "null:1" in text, text
        x += 1
        assert x.numpy().sum() == 6 and float((x + y.to("null:0")).sum()) == 9
        """
    )


def test_memory_is_counted_and_limited_for_each():
    run(
        """
        before = [memory(k)["allocated"] for k in (0, 1)]
        x = tt.asarray(np.ones(1 << 20), device="null:1")
        assert memory(1)["allocated"] - before[1] >= 8 << 20 and memory(0)["allocated"] == before[0]
        _core._device_set_limit(tt.device("null:1")._number, 12 << 20)
        z = tt.asarray(np.ones(1 << 20), device="null:1")  # x has to make room
        assert tt.ledger()["evictions"] == 1 and memory(0)["limit"] == 0
        w = tt.asarray(np.ones(1 << 21), device="null:0")
        assert float(x.sum() + z.sum()) == 1 << 21 and float(w.sum()) == 1 << 21
        """
    )


def test_a_copy_that_fails():
    run(
        """
        x = tt.asarray(A, device="null:0")
        x.eval()
        for n in range(4):
            _core._test_fail("copy", n, False)
            try:
                y = x.to("null:1").numpy()
            except RuntimeError as e:
                assert "told to fail" in str(e)
            finally:
                _core._test_fail("copy", -1, False)
            assert np.array_equal(x.to("null:1").numpy(), A) and np.array_equal(x.numpy(), A)
        """
    )


def test_one_is_lost_and_the_other_goes_on():
    run(
        """
        x, y = tt.asarray(A, device="null:0"), tt.asarray(A, device="null:1")
        tt.eval(x, y)
        _core._test_fail("device loss", 0, False)
        text = text_of(RuntimeError, (x * 2).numpy)
        _core._test_fail("device loss", -1, False)
        assert "null:0 is lost" in text
        assert text_of(RuntimeError, lambda: x.to("null:1").numpy()) == text
        assert np.array_equal((y * 2).numpy(), A * 2)
        """
    )


def test_streams_and_events_of_each():
    run(
        """
        streams = [tt.cuda.Stream(f"null:{k}") for k in (0, 1)]
        results = []
        for k, s in enumerate(streams):
            with s:
                x = tt.asarray(A, device=f"null:{k}")
                results.append(tt.sqrt(x) + k)
                tt.eval(results[-1])
        for k, r in enumerate(results):
            assert np.array_equal(r.to(f"null:{1 - k}").numpy(), np.sqrt(A) + k)
        """
    )


def test_fortran_order_is_kept_on_the_way():
    out = run_program("""
    import tutti as tt
    with tt.device("null:0"):
        arrays = [tt.zeros((2, 3), order="F"), tt.full((2, 3), [1, 2, 3], order="F"), tt.ones((2, 3))]
    arrays.append(tt.empty((2, 3), order="F", device="null:0"))
    arrays.append(tt.asarray(tt.ones((2, 3)), order="F", device="null:0"))
    print([(str(a.device), a.strides) for a in arrays], arrays[1].tolist())
    """)
    f, c = ("null:0", (8, 16)), ("null:0", (24, 8))
    assert out == f"{[f, f, c, f, f]} [[1, 2, 3], [1, 2, 3]]\n"
