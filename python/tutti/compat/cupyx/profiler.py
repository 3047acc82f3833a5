"""cupyx.profiler: how long a function takes."""

import time as _time

import numpy as _np

import tutti as _tt


class _Times:
    """Seconds of each run; there is one clock, which waits for the device."""

    def __init__(self, name, seconds):
        self.name = name
        self.cpu_times = _np.array(seconds)
        self.gpu_times = self.cpu_times[None]

    def to_str(self, show_gpu=False):
        us = self.cpu_times * 1e6
        return (
            f"{self.name:<20}: {us.mean():9.3f} us  +/- {us.std():6.3f} (min: {us.min():9.3f} / max: {us.max():9.3f})"
        )

    __str__ = __repr__ = to_str


def benchmark(
    func, args=(), kwargs=None, n_repeat=10_000, *, name=None, n_warmup=10, max_duration=float("inf"), **rest
):
    """Run func(*args) n_repeat times, or for max_duration seconds, after n_warmup runs."""
    seconds, spent = [], 0.0
    for k in range(n_warmup + n_repeat):
        start = _time.perf_counter()
        func(*args, **(kwargs or {}))
        _tt.synchronize()
        took = _time.perf_counter() - start
        if k < n_warmup:
            continue
        seconds.append(took)
        spent += took
        if spent >= max_duration:
            break
    return _Times(name or getattr(func, "__name__", str(func)), seconds)


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(f"tutti.compat.cupyx does not cover cupyx.profiler.{name}")
