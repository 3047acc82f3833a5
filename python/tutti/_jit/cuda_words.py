"""The words of kernels: they mean something inside one only (step.py gives them meaning thread by thread)."""

__all__ = [
    "activemask", "all_sync", "any_sync", "atomic", "ballot_sync", "blockDim", "blockIdx", "brev", "cbrt", "cg", "clz",
    "const", "eq_sync", "ffs", "fma", "fp16", "grid", "gridDim", "gridsize", "laneid", "lanemask_lt", "local",
    "match_all_sync", "match_any_sync", "nanosleep", "popc", "selp", "shared", "shfl_down_sync", "shfl_sync",
    "shfl_up_sync", "shfl_xor_sync", "syncthreads", "syncthreads_and", "syncthreads_count", "syncthreads_or",
    "syncwarp", "threadIdx", "threadfence", "threadfence_block", "threadfence_system", "warpsize",
]  # fmt: skip


class Word:
    """A name that compiled kernels know."""

    def __init__(self, name, parts=(), doc=""):
        self._jit_name = name
        self._parts = {p: Word(f"{name}.{p}") for p in parts}
        self.__doc__ = doc

    def __getattr__(self, part):
        if part.startswith("_"):
            raise AttributeError(part)
        parts = self.__dict__.get("_parts", {})
        if part in parts:
            thread = running()
            return parts[part] if thread is None else thread.value(parts[part]._jit_name)
        raise AttributeError(f"{self._jit_name} has no '{part}'")

    def __call__(self, *args, **names):
        thread = running()
        if thread is None:
            raise RuntimeError(f"{self._jit_name}() means something inside a kernel only")
        return thread.call(self._jit_name, args, names)

    def __repr__(self):
        return f"<{self._jit_name}, a word of kernels>"


class _Lane(Word):
    """A word that is a number itself."""

    def _now(self):
        thread = running()
        if thread is None:
            raise RuntimeError(f"{self._jit_name} means something inside a kernel only")
        return thread.do_laneid()

    __index__ = __int__ = lambda self: self._now()
    __hash__ = object.__hash__
    __eq__ = lambda self, x: self._now() == x  # noqa: E731
    __ne__ = lambda self, x: self._now() != x  # noqa: E731
    __lt__ = lambda self, x: self._now() < x  # noqa: E731
    __le__ = lambda self, x: self._now() <= x  # noqa: E731
    __gt__ = lambda self, x: self._now() > x  # noqa: E731
    __ge__ = lambda self, x: self._now() >= x  # noqa: E731
    __add__ = __radd__ = lambda self, x: self._now() + x
    __sub__ = lambda self, x: self._now() - x  # noqa: E731
    __mul__ = __rmul__ = lambda self, x: self._now() * x
    __mod__ = lambda self, x: self._now() % x  # noqa: E731
    __floordiv__ = lambda self, x: self._now() // x  # noqa: E731
    __and__ = lambda self, x: self._now() & x  # noqa: E731
    __xor__ = lambda self, x: self._now() ^ x  # noqa: E731


def running():
    """The kernel's thread that this Python thread runs, in step mode."""
    from . import step

    return step.current()


threadIdx = Word("cuda.threadIdx", "xyz", "the thread's place in its block")
blockIdx = Word("cuda.blockIdx", "xyz", "the block's place in the grid")
blockDim = Word("cuda.blockDim", "xyz", "threads of a block along each axis")
gridDim = Word("cuda.gridDim", "xyz", "blocks of the grid along each axis")
grid = Word("cuda.grid", doc="grid(n): the thread's place in the whole grid, n axes")
gridsize = Word("cuda.gridsize", doc="gridsize(n): threads of the whole grid along each axis")
syncthreads = Word("cuda.syncthreads", doc="wait for all threads of the block")
syncthreads_count = Word("cuda.syncthreads_count", doc="barrier; how many threads gave a true value")
syncthreads_and = Word("cuda.syncthreads_and", doc="barrier; did all threads give a true value?")
syncthreads_or = Word("cuda.syncthreads_or", doc="barrier; did any thread give a true value?")
syncwarp = Word("cuda.syncwarp", doc="wait for the threads of the warp")
shfl_sync = Word("cuda.shfl_sync", doc="shfl_sync(mask, value, lane): that lane's value")
shfl_up_sync = Word("cuda.shfl_up_sync", doc="the value of the lane `delta` below")
shfl_down_sync = Word("cuda.shfl_down_sync", doc="the value of the lane `delta` above")
shfl_xor_sync = Word("cuda.shfl_xor_sync", doc="the value of the lane with these bits turned")
ballot_sync = Word("cuda.ballot_sync", doc="a bit for each lane whose value is true")
any_sync = Word("cuda.any_sync", doc="did any lane give a true value?")
all_sync = Word("cuda.all_sync", doc="did all lanes give a true value?")
eq_sync = Word("cuda.eq_sync", doc="did all lanes give the same truth?")
match_any_sync = Word("cuda.match_any_sync", doc="match_any_sync(mask, value): a bit for each lane with that value")
match_all_sync = Word("cuda.match_all_sync", doc="(bits of the lanes, True) if all have that value, else (0, False)")
activemask = Word("cuda.activemask", doc="a bit for each lane that is here")
lanemask_lt = Word("cuda.lanemask_lt", doc="a bit for each lane below this one")
nanosleep = Word("cuda.nanosleep", doc="a hint that this thread waits for others")
laneid = _Lane("cuda.laneid", doc="the thread's place in its warp")
threadfence = Word("cuda.threadfence", doc="writes before are seen before writes after")
threadfence_block = Word("cuda.threadfence_block", doc=threadfence.__doc__)
threadfence_system = Word("cuda.threadfence_system", doc=threadfence.__doc__)
popc = Word("cuda.popc", doc="how many bits are set")
clz = Word("cuda.clz", doc="how many leading bits are clear")
ffs = Word("cuda.ffs", doc="the place of the lowest set bit, from 1; 0 when none is")
fma = Word("cuda.fma", doc="a * b + c, rounded once")
brev = Word("cuda.brev", doc="the bits in reverse order")
cbrt = Word("cuda.cbrt", doc="the cube root")
selp = Word("cuda.selp", doc="selp(condition, a, b): a where it holds, else b; both are computed")
shared = Word("cuda.shared", ["array"], "shared.array(shape, dtype): memory of the block")
local = Word("cuda.local", ["array"], "local.array(shape, dtype): memory of the thread")
cg = Word("cuda.cg", ["this_grid"], "cg.this_grid().sync(): wait for all threads of the grid")
fp16 = Word(
    "cuda.fp16",
    "hadd hsub hmul hdiv hfma hneg habs hmax hmin heq hne hlt hle hgt hge hsin hcos hlog hlog2 hlog10 hexp hexp2 "
    "hexp10 hsqrt hrsqrt hrcp hceil hfloor htrunc hrint".split(),
    "fp16.hadd(a, b) and its kin: arithmetic of float16 by name",
)
const = Word("cuda.const", ["array_like"], "const.array_like(array): memory that never changes")
atomic = Word(
    "cuda.atomic",
    [
        "add",
        "sub",
        "max",
        "min",
        "nanmax",
        "nanmin",
        "and_",
        "or_",
        "xor",
        "exch",
        "cas",
        "compare_and_swap",
        "inc",
        "dec",
    ],
    "atomic.add(array, index, value) and its kin: undivided; each gives the old value",
)
warpsize = 32
