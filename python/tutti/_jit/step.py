"""Kernels in plain Python, one thread of the block at a time, so that a debugger works in them.

TUTTI_KERNEL_STEP=1 asks for it; it also serves where there is no compiler. Every thread of a block is a Python thread
that holds a baton while it runs and hands it on at barriers, so the order is always the same.
"""

import ctypes
import itertools
import os
import threading

_here = threading.local()


def wanted():
    return os.environ.get("TUTTI_KERNEL_STEP", "0") not in ("", "0")


def current():
    """The kernel's thread that runs here, or None."""
    return getattr(_here, "thread", None)


def _triple(x):
    x = tuple(x) if isinstance(x, (tuple, list)) else (x,)
    if not 1 <= len(x) <= 3 or any(int(n) < 1 for n in x):
        raise ValueError(f"a grid or block of {x}")
    return tuple(int(n) for n in x) + (1,) * (3 - len(x))


class _Block:
    """The threads of a block; one has the baton."""

    def __init__(self, place, shape, grid, shared):
        self.place, self.shape, self.grid, self.dynamic = place, shape, grid, shared
        self.shared, self.errors = {}, []
        self.threads = [_Thread(self, (x, y, z)) for z, y, x in itertools.product(*(range(n) for n in reversed(shape)))]

    def run(self, fn, args):
        if len(self.threads) == 1:
            self.threads[0].body(fn, args)
        else:
            for t in self.threads:
                t.start(fn, args)
            try:
                self.take_turns()
            except BaseException:  # Ctrl-C while one of them runs, which may never end by itself
                for t in self.threads:
                    t.break_off()
                raise
            for t in self.threads:
                t.stop()
        if self.errors:
            raise self.errors[0]

    def take_turns(self):
        waiting = list(self.threads)
        while waiting and not self.errors:  # each runs to its next barrier or its end
            for t in waiting:
                t.turn()
                if self.errors:
                    break
            waiting = [t for t in waiting if not t.done]
            for t in waiting:
                t.seen = [(u.lane, u.given) for u in waiting]


class _Grid:
    def __init__(self, thread):
        self.thread = thread

    def sync(self):
        self.thread.meet()


class _Stopped(SystemExit):
    """Ends a kernel's thread without a word, wherever it comes."""


class _Thread:
    def __init__(self, block, place):
        self.block, self.place, self.done = block, place, False
        bx, by, _ = block.shape
        self.lane = place[0] + bx * (place[1] + by * place[2])
        self.go, self.back = threading.Semaphore(0), threading.Semaphore(0)
        self.thread, self.given, self.seen, self.stopping = None, None, [], False
        self.declared = 0

    # ---- turns

    def start(self, fn, args):
        self.thread = threading.Thread(target=self.wait_and_run, args=(fn, args), daemon=True)
        self.thread.start()

    def wait_and_run(self, fn, args):
        self.go.acquire()
        if not self.stopping:
            self.body(fn, args)
        self.done = True
        self.back.release()

    def body(self, fn, args):
        _here.thread = self
        try:
            fn(*args)
        except _Stopped:
            pass
        except BaseException as e:  # every kind: it is raised where the kernel was launched
            self.block.errors.append(e)
        finally:
            _here.thread = None

    def turn(self):
        self.go.release()
        while not self.back.acquire(timeout=0.2):
            pass  # a signal may have come to another thread: this one sees it between two waits

    def break_off(self):
        self.stopping = True
        self.go.release()  # where it waits; where it runs, an exception comes between two of its steps
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(self.thread.ident), ctypes.py_object(_Stopped))

    def stop(self):
        if not self.done:
            self.stopping = True
            self.turn()
        self.thread.join()

    def meet(self, value=None):
        """Let all threads come here; gives [(lane, value)]."""
        self.given = value
        if self.thread is None:
            return [(self.lane, value)]
        self.back.release()
        self.go.acquire()
        if self.stopping:
            raise _Stopped
        return self.seen

    # ---- what words mean

    def value(self, name):
        head, axis = name.rsplit(".", 1)
        b = self.block
        if axis in "xyz":
            rows = {"threadIdx": self.place, "blockIdx": b.place, "blockDim": b.shape, "gridDim": b.grid}
            return rows[head.split(".")[1]]["xyz".index(axis)]
        return lambda *args, **names: self.call(name, args, names)

    def call(self, name, args, names):
        word = name.split(".", 1)[1]
        if word.startswith("atomic."):
            return _atomic(word[7:], *args)
        if word.startswith("fp16."):
            return _half(word[5:], *args)
        return getattr(self, "do_" + word.replace(".", "_"))(*args, **names)

    def along(self, k):
        return self.block.place[k] * self.block.shape[k] + self.place[k]

    def do_grid(self, n):
        return self.along(0) if n == 1 else tuple(self.along(k) for k in range(n))

    def do_gridsize(self, n):
        sizes = [g * b for g, b in zip(self.block.grid, self.block.shape)]
        return sizes[0] if n == 1 else tuple(sizes[:n])

    def do_shared_array(self, shape, dtype):
        import numpy as np

        key = self.declared
        self.declared += 1
        if key not in self.block.shared:
            kind = np.dtype(getattr(dtype, "name", dtype))
            shape = self.block.dynamic // kind.itemsize if shape == 0 else shape
            self.block.shared[key] = np.empty(shape, kind)
        return self.block.shared[key]

    def do_local_array(self, shape, dtype):
        import numpy as np

        return np.empty(shape, np.dtype(getattr(dtype, "name", dtype)))

    def do_const_array_like(self, array):
        return array

    def do_cg_this_grid(self):
        if self.block.grid != (1, 1, 1):
            raise NotImplementedError("a barrier of the whole grid in step mode: launch one block")
        return _Grid(self)

    def do_laneid(self):
        return self.lane % 32

    def do_syncthreads(self):
        self.meet()

    def do_syncwarp(self, mask=None):
        self.meet()

    def do_threadfence(self):
        pass

    do_threadfence_block = do_threadfence_system = do_threadfence

    def do_syncthreads_count(self, x):
        return sum(bool(v) for _, v in self.meet(x))

    def do_syncthreads_and(self, x):
        return all(v for _, v in self.meet(x))

    def do_syncthreads_or(self, x):
        return any(v for _, v in self.meet(x))

    def warp(self, x):
        return {k: v for k, v in self.meet(x) if k // 32 == self.lane // 32}

    def do_shfl_sync(self, mask, x, lane, width=32):
        return self.warp(x).get(self.lane // width * width + lane % width, x)

    def do_shfl_up_sync(self, mask, x, by, width=32):
        values = self.warp(x)
        return values.get(self.lane - by, x) if self.lane % width >= by else x

    def do_shfl_down_sync(self, mask, x, by, width=32):
        values = self.warp(x)
        return values.get(self.lane + by, x) if self.lane % width + by < width else x

    def do_shfl_xor_sync(self, mask, x, by, width=32):
        values, other = self.warp(x), self.lane ^ by
        return values.get(other, x) if other <= self.lane | (width - 1) else x

    def do_ballot_sync(self, mask, x):
        return sum(1 << k % 32 for k, v in self.warp(x).items() if v)

    def do_any_sync(self, mask, x):
        return any(self.warp(x).values())

    def do_all_sync(self, mask, x):
        return all(self.warp(x).values())

    def do_eq_sync(self, mask, x):
        return len({bool(v) for v in self.warp(x).values()}) == 1

    def do_match_any_sync(self, mask, x):
        return sum(1 << k % 32 for k, v in self.warp(x).items() if v == x)

    def do_match_all_sync(self, mask, x):
        values = self.warp(x)
        agree = all(v == x for v in values.values())
        return (sum(1 << k % 32 for k in values) if agree else 0), agree

    def do_activemask(self):
        return self.do_ballot_sync(0xFFFFFFFF, True)

    def do_lanemask_lt(self):
        return (1 << self.lane % 32) - 1

    def do_nanosleep(self, ns):
        pass

    def do_popc(self, x):
        return _bits(x)[0].bit_count()

    def do_clz(self, x):
        bits, size = _bits(x)
        return size - bits.bit_length()

    def do_ffs(self, x):
        bits = _bits(x)[0]
        return (bits & -bits).bit_length()

    def do_brev(self, x):
        bits, size = _bits(x)
        return int(f"{bits:0{size}b}"[::-1], 2)

    def do_fma(self, a, b, c):
        return _fused(a, b, c)

    def do_cbrt(self, x):
        import numpy as np

        return np.cbrt(x)

    def do_selp(self, condition, a, b):
        return a if condition else b


def _bits(x):
    """A whole number's bits and how many it has: 64 of Python's own, 32 of NumPy's small ones."""
    size = 64 if getattr(x, "itemsize", 8) == 8 else 32
    return int(x) & ((1 << size) - 1), size


def _half(word, *args):
    """What CUDA's functions of 16-bit floats give."""
    import operator

    import numpy as np

    half = [np.float16(x) for x in args]
    if word == "hfma":
        return np.float16(_fused(*map(float, half)))
    if hasattr(operator, word[1:]) and len(half) == 2 and word[1:] in ("eq", "ne", "lt", "le", "gt", "ge"):
        return bool(getattr(operator, word[1:])(*half))
    wide, one = [np.float32(x) for x in half], np.float32(1)
    means = {
        "hadd": np.add, "hsub": np.subtract, "hmul": np.multiply, "hdiv": np.divide, "hmax": np.fmax, "hmin": np.fmin,
        "hneg": np.negative, "habs": np.abs, "hexp10": lambda x: np.float32(10) ** x,
        "hrsqrt": lambda x: one / np.sqrt(x), "hrcp": lambda x: one / x,
    }  # fmt: skip
    with np.errstate(all="ignore"):
        return np.float16((means.get(word) or getattr(np, word[1:]))(*wide))


def _fused(a, b, c):
    """a * b + c, rounded once."""
    import math
    from fractions import Fraction

    if not all(math.isfinite(v) for v in (a, b, c)):
        return a * b + c
    exact = Fraction(a.item() if hasattr(a, "item") else a) * Fraction(b.item() if hasattr(b, "item") else b)
    return type(a * b + c)(float(exact + Fraction(c.item() if hasattr(c, "item") else c)))


def _atomic(word, array, index, *values):
    if word == "compare_and_swap":
        index, values = (0,) * array.ndim, (index, *values)
    old = array[index]
    new = {
        "add": lambda v: old + v,
        "sub": lambda v: old - v,
        "max": lambda v: max(old, v),
        "min": lambda v: min(old, v),
        "nanmax": lambda v: old if v != v else max(old, v),
        "nanmin": lambda v: old if v != v else min(old, v),
        "and_": lambda v: old & v,
        "or_": lambda v: old | v,
        "xor": lambda v: old ^ v,
        "exch": lambda v: v,
        "cas": lambda want, v: v if old == want else old,
        "compare_and_swap": lambda want, v: v if old == want else old,
        "inc": lambda v: 0 if old >= v else old + 1,
        "dec": lambda v: v if old == 0 or old > v else old - 1,
    }[word](*values)
    array[index] = new
    return old


def launch(fn, grid, block, shared, args):
    """Run a kernel: block after block, each thread in Python."""
    grid, block = _triple(grid), _triple(block)
    if block[0] * block[1] * block[2] > 1024:
        raise ValueError(f"a block of {block[0] * block[1] * block[2]} threads: it has at most 1024")
    args = tuple(getattr(a, "_jit_argument", a) for a in args)
    for z, y, x in itertools.product(*(range(n) for n in reversed(grid))):
        _Block((x, y, z), block, grid, shared).run(fn, args)
