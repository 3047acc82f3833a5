"""vectorize and guvectorize with target="cuda": a function of elements, or of rows, by a kernel with a thread for each.

Arrays of the device stay there and so do their results; arrays of the host are sent and the result comes back.
"""

from .. import _core
from .._device import numbered
from . import cuda_memory as memory
from .cuda_kernels import Kernel
from .cuda_place import gpu
from .cuda_words import grid
from .dispatch import KERNEL
from .elementwise import Around, Generalised, Vectorized, _i, _n, _need_numpy


class _Each(Around, Kernel):
    """The kernel around a user's function: arrays of one axis, the last of them the result. `numbers`: the positions of
    parameters that are the same for all elements."""

    def __init__(self, fn, params, numbers=()):
        index = f"(set 1 {_n('i')} (call \"cuda.grid\" {_i(1)}))"
        ways = enumerate(params[:-1])
        args = " ".join(_n(p) if k in numbers else f"(idx {_n(p)} {_n('i')})" for k, p in ways)
        self._numbers = numbers
        store = f"(set 1 (idx {_n(params[-1])} {_n('i')}) (call 1 {args}))"
        size = f'(attr {_n(params[-1])} "size")'
        body = f'{index} (if 1 (cmp "<" {_n("i")} {size}) ({store}) ())'
        super().__init__(fn, KERNEL, fn.__name__ + "_each", params, body)

    def _step_function(self):
        fn, numbers = self.py_func, self._numbers

        def each(*arrays):
            i = grid(1)
            if i < arrays[-1].size:
                arrays[-1][i] = fn(*(a if k in numbers else a[i] for k, a in enumerate(arrays[:-1])))

        return each


def _there(a):
    """An argument where kernels run: an array of ours on a GPU, else NumPy's."""
    np, place = _need_numpy(), gpu()
    inner = getattr(a, "_jit_argument", a)
    if not place:
        return np.asarray(inner.numpy() if isinstance(inner, _core.ndarray) else inner)
    if isinstance(inner, _core.ndarray):
        return inner.to(numbered(place))
    return memory.package().array(inner if memory.is_cuda_array(inner) else np.asarray(inner), device=numbered(place))


def _is_number(np, a):
    """One value of the host's: a kernel takes it as it is."""
    return isinstance(a, (int, float, complex, np.generic)) or (isinstance(a, np.ndarray) and a.shape == ())


def _shown(made):
    """A result there as the device's array."""
    return (memory.GpuArray if isinstance(made, _core.ndarray) else memory.DeviceArray)(made)


def _dense(a, shape):
    """The elements for each place of a shape, side by side, there."""
    xp = memory.package() if isinstance(a, _core.ndarray) else _need_numpy()
    return xp.ascontiguousarray(a if tuple(a.shape) == shape else xp.broadcast_to(a, shape))


def _new(shape, kind):
    return memory.device_array(shape, kind)._jit_argument


def _in_place(out):
    """Can a kernel write into the caller's array itself?"""
    return isinstance(out, memory.DeviceArray) and out.is_c_contiguous()


def _home(made, args, out):
    """What a caller gets of a result there: `out`, what belongs to his arguments, or NumPy's array."""
    if _in_place(out):
        return out
    if out is not None:
        if isinstance(out, _core.ndarray):
            out[...] = made
        elif memory.is_cuda_array(out):
            out.copy_to_device(_shown(made))
        else:
            out[...] = _shown(made).copy_to_host()
        return out
    ours = [isinstance(a, _core.ndarray) for a in args]  # on a GPU they too have the interface of a device's arrays
    if any(memory.is_cuda_array(a) and not o for a, o in zip(args, ours)):
        return _shown(made)
    if any(ours):
        return made if isinstance(made, _core.ndarray) else _core.asarray(made)
    host = _shown(made).copy_to_host()
    return host if host.shape else host[()]


class DeviceVectorized(Vectorized):
    """A function of scalars over arrays, with broadcasting, by a kernel."""

    def __init__(self, fn, identity=None, signatures=()):
        super().__init__(fn, identity=identity, signatures=signatures)
        self._each = {}  # by the positions of numbers among the arguments
        self._fold = None

    def __call__(self, *args, out=None, stream=0):
        """The function of each element. `stream`: taken for Numba's sake, work stays in order."""
        return super().__call__(*args, out=out)

    def _over(self, args, out):
        np = _need_numpy()
        given, kind = self._typed(np, [np.asarray(a) if _is_number(np, a) else _there(a) for a in args], args)
        numbers = tuple(k for k, a in enumerate(given) if _is_number(np, a))
        if numbers not in self._each:
            self._each[numbers] = _Each(self.py_func, [f"a{k}" for k in range(self.nin)] + ["out"], numbers)
        shape = np.broadcast_shapes(*(tuple(a.shape) for a in given))
        if out is not None and tuple(out.shape) != shape:
            raise ValueError(f"{self.__name__}(): an array of shape {tuple(out.shape)} cannot hold shape {shape}")
        made = out._jit_argument if _in_place(out) else _new(shape, kind)
        values = [a[()] if k in numbers else _dense(a, shape).reshape(made.size) for k, a in enumerate(given)]
        self._each[numbers].forall(made.size)(*values, made.reshape(made.size))
        return _home(made, args, out)

    @staticmethod
    def _takes(value, kind, want):
        """Numba's ufuncs of the device: arrays as they are, numbers by any cast."""
        return kind.name == want or getattr(value, "shape", ()) == ()

    def reduce(self, array, axis=0, initial=None, stream=0):
        """Fold the function along an axis; one of one axis in the order of cuda.reduce."""
        if len(array.shape) != 1 or not array.shape[0]:
            return super().reduce(array, axis, initial)
        from .device_reduce import Fold, sent

        if self._fold is None:
            self._fold = Fold(self.py_func)
        return self._fold(sent(array), initial, stream).copy_to_host()[0]


class _EachRow(Around, Kernel):
    """The kernel around a user's function of rows: arrays whose first axis counts the calls."""

    def __init__(self, fn, params):
        index = f"(set 1 {_n('i')} (call \"cuda.grid\" {_i(1)}))"
        args = " ".join(f"(idx {_n(p)} {_n('i')})" for p in params)
        count = f'(idx (attr {_n(params[-1])} "shape") {_i(0)})'
        body = f'{index} (if 1 (cmp "<" {_n("i")} {count}) ((expr 1 (call 1 {args}))) ())'
        super().__init__(fn, KERNEL, fn.__name__ + "_rows", params, body)

    def _step_function(self):
        fn = self.py_func

        def each(*arrays):
            i = grid(1)
            if i < arrays[-1].shape[0]:
                fn(*(a[i] for a in arrays))

        return each


class DeviceGeneralised(Generalised):
    """A function of small arrays over the axes in front, by a kernel."""

    @staticmethod
    def _takes(value, kind, want):
        """Numba's generalised ufuncs of the device: also narrower types of the same kind."""
        return _need_numpy().can_cast(want, kind, "safe")

    def __init__(self, fn, layout, signatures=()):
        super().__init__(fn, layout, signatures=signatures)
        self._each = _EachRow(fn, [f"a{k}" for k in range(len(self.cores))])

    def __call__(self, *args, out=None, stream=0):
        """The function of each row. `stream`: taken for Numba's sake, work stays in order."""
        return super().__call__(*args, out=out)

    def _run(self, given, args):
        np = _need_numpy()
        there, kinds = self._typed(np, [_there(a) for a in given[: self.nin]], given)
        sizes, front = self._sizes(np, there)
        cores = [tuple(sizes[d] for d in core) for core in self.cores]
        outs = given[self.nin :]
        kinds = [np.dtype(o.dtype.name) for o in outs] or kinds
        calls = int(np.prod(front, dtype=np.int64))
        made = []
        for k, (core, its) in enumerate(zip(cores[self.nin :], kinds)):
            if outs and tuple(outs[k].shape) != front + core:
                raise ValueError(
                    f"{self.__name__}(): an array of shape {tuple(outs[k].shape)} cannot hold shape {front + core}"
                )
            if outs:  # what a function does not write stays what it was
                made.append(outs[k]._jit_argument if _in_place(outs[k]) else _dense(_there(outs[k]), front + core))
            else:
                made.append(_new(front + core, its))
        rows = [
            _dense(a, front + core).reshape((calls, *(core or ((1,) if k in self.boxed else ()))))
            for k, (a, core) in enumerate(zip(there, cores))
        ]
        # a core without axes is a number on its way in and an array of one element on its way out
        rows += [m.reshape((calls, *(core or (1,)))) for m, core in zip(made, cores[self.nin :])]
        if calls:
            self._each.forall(calls)(*rows)
        result = [_home(m, args, o) for m, o in zip(made, outs or [None] * len(made))]
        return result[0] if len(result) == 1 else tuple(result)
