"""cupyx.profiler: how long a function takes."""

import time

import numpy as _np

import tutti as _tt


class Times:
    """Seconds of each run: until the call returned, and until its work was done."""

    def __init__(self, name, cpu, whole):
        self.name, self.cpu_times, self.gpu_times = name, _np.array(cpu), _np.array([whole])

    def __repr__(self):
        rows = (("CPU", self.cpu_times), ("GPU-0", self.gpu_times[0]))
        texts = (f"{k}: {t.mean() * 1e6:9.3f} us +/- {t.std() * 1e6:.3f} (min: {t.min() * 1e6:.3f})" for k, t in rows)
        return f"{self.name:20s}: " + "   ".join(texts)


def benchmark(
    func, args=(), kwargs=None, n_repeat=10000, *, name=None, n_warmup=10, max_duration=float("inf"), devices=None
):
    """Run it n_repeat times, or for max_duration seconds; arrays that it gives are computed within the time."""
    cpu, whole, begun = [], [], time.perf_counter()
    for k in range(n_warmup + n_repeat):
        start = time.perf_counter()
        result = func(*args, **(kwargs or {}))
        returned = time.perf_counter()
        if isinstance(result, _tt.ndarray):
            _tt.eval(result)
        _tt.synchronize()
        end = time.perf_counter()
        if k < n_warmup:
            continue
        cpu.append(returned - start)
        whole.append(end - start)
        if end - begun > max_duration:
            break
    return Times(name or getattr(func, "__name__", "function"), cpu, whole)


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(f"tutti.compat.cupyx does not cover cupyx.profiler.{name}")
