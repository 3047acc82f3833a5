"""pycuda.compiler: SourceModule."""

import tutti as _tt

from . import driver

DEFAULT_NVCC_FLAGS = []


class SourceModule(_tt.SourceModule):
    """CUDA C source, compiled now."""

    def __init__(self, source, *args, **kw):
        try:
            with _tt.device("cpu"):
                super().__init__(source, *args, **kw)
        except _tt.CompileError as e:
            raise driver.CompileError(str(e)) from None

    def get_function(self, name):
        try:
            return driver.Function(self._program, name)
        except ValueError as e:
            raise driver.LogicError(f"cuModuleGetFunction failed: {e}") from None

    def get_global(self, name):
        """(address, bytes); copies to and from the address work."""
        import ctypes

        try:
            address, size = super().get_global(name)
        except ValueError as e:
            raise driver.LogicError(f"cuModuleGetGlobal failed: {e}") from None
        if address not in driver._by_address:
            memory = (ctypes.c_char * size).from_address(address)
            memory._program = self._program
            driver._by_address[address] = memory
            driver.bisect.insort(driver._addresses, address)
        return address, size


DynamicSourceModule = SourceModule
