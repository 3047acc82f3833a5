"""vectorize(target="cuda"): a function of scalars over arrays by a kernel, a thread for each element."""

from .. import _core
from . import cuda_names as device
from .elementwise import Around, Vectorized, _i, _n, _need_numpy


class _Each(Around, device.Kernel):
    """The kernel around a user's function: arrays of one axis, the last of them the result."""

    def __init__(self, fn, params):
        index = f"(set 1 {_n('i')} (call \"cuda.grid\" {_i(1)}))"
        args = " ".join(f"(idx {_n(p)} {_n('i')})" for p in params[:-1])
        store = f"(set 1 (idx {_n(params[-1])} {_n('i')}) (call 1 {args}))"
        size = f'(attr {_n(params[-1])} "size")'
        body = f'{index} (if 1 (cmp "<" {_n("i")} {size}) ({store}) ())'
        super().__init__(fn, device.KERNEL, fn.__name__ + "_each", params, body)

    def _step_function(self):
        fn = self.py_func

        def each(*arrays):
            i = device.grid(1)
            if i < arrays[-1].size:
                arrays[-1][i] = fn(*(a[i] for a in arrays[:-1]))

        return each


class DeviceVectorized(Vectorized):
    """Arrays of the device stay there; arrays of the host are sent and the result comes back."""

    def __init__(self, fn, identity=None, signatures=()):
        super().__init__(fn, identity=identity, signatures=signatures)
        self._each = _Each(fn, [f"a{k}" for k in range(self.nin)] + ["out"])

    def _over(self, args, out):
        np = _need_numpy()
        given = [
            device.as_cuda_array(a)
            if device.is_cuda_array(a)
            else np.asarray(a.numpy() if isinstance(a, _core.ndarray) else a)
            for a in args
        ]
        given, kind = self._typed(np, given)
        shape = np.broadcast_shapes(*(tuple(a.shape) for a in given))
        in_place = isinstance(out, (device.DeviceArray, device.ForeignArray)) and out.is_c_contiguous()
        if out is not None and tuple(out.shape) != shape:
            raise ValueError(f"{self.__name__}(): an array of shape {tuple(out.shape)} cannot hold shape {shape}")
        made = out if in_place else device.device_array(shape, kind)
        self._each.forall(made.size)(*(self._flat(np, a, shape) for a in given), made.ravel())
        if in_place:
            return out
        if out is not None:
            host = made.copy_to_host()
            if hasattr(out, "copy_to_device"):
                out.copy_to_device(host)
            else:
                out[...] = host
            return out
        if any(device.is_cuda_array(a) for a in args):
            return made
        host = made.copy_to_host()
        if any(isinstance(a, _core.ndarray) for a in args):
            return _core.asarray(host)
        return host if shape else host[()]

    @staticmethod
    def _cast(array, kind):
        if device.is_cuda_array(array):
            return device.to_device(array.copy_to_host().astype(kind))
        return array.astype(kind)

    @staticmethod
    def _flat(np, a, shape):
        if device.is_cuda_array(a):
            if tuple(a.shape) == shape and a.is_c_contiguous():
                return a.ravel()
            a = a.copy_to_host()
        return device.to_device(np.ascontiguousarray(np.broadcast_to(a, shape))).ravel()
