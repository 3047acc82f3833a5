"""The kernels that articles about GPU programming in Python begin with, from CUDA C and from Python.

The same kernels run on the processor's cores and, if there is one, on a GPU. Copies are bytes that went between host
arrays and a device during one run, as tutti's ledger counts them.
"""

import contextlib
import functools
import os
import sys
import tempfile
import time
import warnings

import tutti as tt
from demo_table import np, progress, same, timed
from tutti import cuda

SOURCE = r"""
extern "C" __global__ void add(const float *a, const float *b, float *sum, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) sum[i] = a[i] + b[i];
}

extern "C" __global__ void multiply(float *product, const float *a, const float *b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) product[i] = a[i] * b[i];
}
"""


@functools.cache
def module():
    """Compiled when a kernel is first launched."""
    return tt.SourceModule(SOURCE)


@cuda.jit
def add(a, b, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i] + b[i]


@cuda.jit
def increment(a):
    i = cuda.grid(1)
    if i < a.size:
        a[i] += 1


@cuda.jit
def hello():
    print("thread", cuda.threadIdx.x + cuda.blockIdx.x * cuda.blockDim.x)


@cuda.jit
def hello_guarded(n):
    i = cuda.grid(1)
    if i < n:
        print("element", i)


def blocks(n, threads):
    return (n + threads - 1) // threads


# ---- the programs: what to run, what it gives, what NumPy gives


class Program:
    def __init__(self, run, answer, theirs, agree=same):
        self.run, self.answer, self.theirs, self.agree = run, answer, theirs, agree


def c_program(name, n, theirs):
    """A kernel of SOURCE with two operands, whose array comes where the source puts it."""
    a, b, out = tt.arange(n, dtype=tt.float32), tt.full(n, 1.5, dtype=tt.float32), tt.zeros(n, dtype=tt.float32)
    tt.eval(a, b, out)
    given = (out, a, b) if name == "multiply" else (a, b, out)

    def run():
        module().get_function(name)(*given, n, block=(256, 1, 1), grid=(blocks(n, 256), 1))

    return Program(run, lambda: out, lambda: theirs(np.asarray(a), np.asarray(b)))


def add_from_c(n):
    return c_program("add", n, lambda a, b: a + b)


def multiply_from_c(n):
    return c_program("multiply", n, lambda a, b: a * b)


def add_from_python(n):
    a, b, out = tt.arange(n, dtype=tt.float32), tt.full(n, 1.5, dtype=tt.float32), tt.zeros(n, dtype=tt.float32)
    tt.eval(a, b, out)
    return Program(
        lambda: add[blocks(n, 256), 256](a, b, out), lambda: out, lambda: np.asarray(a) + np.asarray(b)
    )  # fmt: skip


def increment_in_place(n):
    a = tt.arange(n, dtype=tt.float32)
    tt.eval(a)
    return Program(lambda: increment[blocks(n, 128), 128](a), lambda: a, lambda: np.asarray(a) + 1)


def add_host_arrays(n):
    """Without a word about transfers: arrays of the host, which a GPU is sent and sends back."""
    x = np.arange(n).astype(np.int32)
    y, out = 2 * x, np.zeros(n)
    return Program(lambda: add[blocks(n, 1024), 1024](x, y, out), lambda: out, lambda: np.add(x, y))


def add_device_arrays(n):
    """The same arrays, sent before the launch; what is computed stays there until it is asked for."""
    x = np.arange(n).astype(np.int32)
    y, out = cuda.to_device(2 * x), cuda.device_array(n)
    there = cuda.to_device(x)
    return Program(
        lambda: add[blocks(n, 1024), 1024](there, y, out), lambda: out.copy_to_host(), lambda: np.add(x, 2 * x)
    )  # fmt: skip


@contextlib.contextmanager
def caught():
    """What is printed meanwhile, by Python or by a GPU's driver, as a list of lines."""
    lines = []
    sys.stdout.flush()
    kept = os.dup(1)
    with tempfile.TemporaryFile("w+") as file:
        os.dup2(file.fileno(), 1)
        try:
            yield lines
            sys.stdout.flush()
        finally:
            os.dup2(kept, 1)
            os.close(kept)
        file.seek(0)
        lines += file.read().splitlines()


def printing(kernel, arguments, expected):
    """Threads that print: all lines are there; a GPU's blocks may come in any order."""
    seen = []

    def run():
        with caught() as lines:
            kernel[2, 4](*arguments)
            cuda.synchronize()
        seen[:] = lines

    return Program(run, lambda: seen, lambda: expected, lambda ours, want: sorted(ours) == sorted(want))


def print_unguarded(n):
    return printing(hello, (), [f"thread {i}" for i in range(8)])


def print_guarded(n):
    return printing(hello_guarded, (5,), [f"element {i}" for i in range(5)])


# ---- the table


class KernelTable:
    def __init__(self):
        self.failed, self.skipped = 0, {}  # why: names
        print(
            f"\n{'kernel':<42} {'on':<8} {'time':>9} {'first':>9} {'NumPy':>9} {'launches':>9} {'copied':>9}  agrees",
            flush=True,
        )

    def row(self, name, make, n, place):
        """Run a program on a device; what keeps it from running there is told at the end."""
        progress(f"{name} on {place}")
        try:
            with tt.device(place), warnings.catch_warnings():
                warnings.filterwarnings("error", ".*one thread at a time: ", RuntimeWarning)
                self.measure(name, make(n), place)
        except (tt.CompileError, RuntimeWarning) as e:
            progress("")
            self.skip(str(e).splitlines()[0].rpartition("time: ")[2], name)

    def skip(self, why, name):
        self.skipped.setdefault(why, []).append(name)

    def measure(self, name, program, place):
        prints = program.agree is not same
        theirs, want = "-", program.theirs() if np or prints else None
        if np and not prints:
            theirs = f"{timed(program.theirs)[0] * 1e3:.1f} ms"

        def run():
            program.run()
            tt.synchronize()

        before = tt.ledger()
        first = timed(run, 1)[0]
        after = tt.ledger()
        copied = sum(after[k] - before[k] for k in ("copy_bytes", "upload_bytes", "download_bytes"))
        verdict = "-"
        if want is not None:
            ok = program.agree(program.answer(), want)
            self.failed += not ok
            verdict = "yes" if ok else "NO"
        best = timed(run)[0]
        progress("")
        print(
            f"{name:<42} {place!s:<8} {best * 1e3:>6.2f} ms {first * 1e3:>6.1f} ms {theirs:>9} "
            f"{after['launches'] - before['launches']:>9} {copied / 1e6:>6.1f} MB  {verdict}",
            flush=True,
        )
        if prints:
            print(f"{'':<42} said: {', '.join(program.answer())}")


def show(quick):
    """Every program on every place; gives how many answers were wrong."""
    start, small, large = time.perf_counter(), (10_000 if quick else 1_000_000), (10_000 if quick else 20_000_000)
    table, places = KernelTable(), [tt.device("cpu")]
    if cuda.is_available():
        places.append(tt.device("cuda"))
    for name, make, n in (
        (f"add {small:,}, CUDA C", add_from_c, small),
        (f"multiply {small:,}, CUDA C", multiply_from_c, small),
        (f"add {small:,}, Python", add_from_python, small),
        (f"increment {small:,} in place, Python", increment_in_place, small),
        ("8 threads print, Python", print_unguarded, 0),
        ("8 threads print, 5 may, Python", print_guarded, 0),
        (f"add {large:,}, host arrays, Python", add_host_arrays, large),
        (f"add {large:,}, device arrays, Python", add_device_arrays, large),
    ):
        if np is None and make in (add_host_arrays, add_device_arrays):
            table.skip("there is no NumPy, whose arrays these are", name)
            continue
        for place in places:
            table.row(name, make, n, place)
    for why, names in table.skipped.items():
        print(f"skipped, {why}: {'; '.join(names)}")
    if len(places) == 1:
        print(f"no GPU here, {cuda.why().split(' (')[0]}: kernels run on the processor's cores")
    print(f"{'':<42} {time.perf_counter() - start:.1f} s for all of them")
    return table.failed
