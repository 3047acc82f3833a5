"""pycuda.tools: pools and contexts, which need nothing here."""

from . import driver


def make_default_context(ctx_maker=None):
    return driver.Context(driver.Device(0))


def get_default_device(default=0):
    return driver.Device(default)


class DeviceMemoryPool:
    def allocate(self, size):
        return driver.mem_alloc(size)

    def free_held(self):
        pass

    def stop_holding(self):
        pass

    held_blocks = active_blocks = 0


class PageLockedMemoryPool(DeviceMemoryPool):
    def allocate(self, shape, dtype, order="C"):
        return driver.pagelocked_empty(shape, dtype, order)


class DeviceData:
    def __init__(self, dev=None):
        self.max_threads, self.warp_size, self.shared_memory, self.registers = 1024, 32, 49152, 65536


def dtype_to_ctype(dtype):
    from tutti import _core

    return _core.dtype_in_c(dtype)


def context_dependent_memoize(f):
    import functools

    return functools.cache(f)
