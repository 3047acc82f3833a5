"""python -m tutti check: a device beside the CPU, and the report."""

import os
import subprocess
import sys

import numpy as np
from tutti import _check


def run(*arguments, **env):
    return subprocess.run(
        [sys.executable, "-m", "tutti", "check", *arguments],
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_the_simulated_device_has_the_same_bits():
    done = run("--device", "null:0", "--minutes", "0.05", TUTTI_NULL_DEVICE="1", TUTTI_CC="none")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "null:0: simulated device" in done.stdout and "the same bits as the CPU" in done.stdout
    assert "together: 12 compared, 0 differ" in done.stdout


def test_a_device_that_is_not_there():
    done = run("--device", "opencl:99")
    assert done.returncode == 1 and "python -m tutti check: no such device 'opencl:99'" in done.stderr


def test_what_differs_is_told(monkeypatch):
    true = _check._outcome
    lines, turn = [], []

    def off_by_one(call, arrays, device):
        got = true(call, arrays, "cpu")
        turn.append(device)
        return np.logical_not(got) if device == "the device" and isinstance(got, np.ndarray) else got

    monkeypatch.setattr(_check, "_outcome", off_by_one)
    monkeypatch.setattr(_check.tt, "device", lambda name, device=_check.tt.device: device("cpu"))
    differing = _check.check("the device", 0.02, lines.append)
    assert "the device" in turn and differing >= 12
    assert any(line.startswith("  differs: chain float32[1]") for line in lines)
    assert lines[-1] == f"{differing} differ: please send this report"


def test_signs_of_nan_do_not_count_and_all_else_does():
    nan, zero = np.array([np.nan, 1]), np.array([0.0])
    assert _check._same(nan, -nan) is False and _check._same(nan, np.array([-np.nan, 1]))
    assert not _check._same(zero, -zero) and not _check._same(zero, zero.astype("float32"))
