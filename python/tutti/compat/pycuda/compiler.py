"""pycuda.compiler: SourceModule."""

import tutti as _tt
from tutti import _core
from tutti._device import numbered

from . import _place, driver

DEFAULT_NVCC_FLAGS = []


class SourceModule(_tt.SourceModule):
    """CUDA C source, compiled now."""

    def __init__(self, source, *args, **kw):
        try:
            with numbered(_place.here()):
                super().__init__(source, *args, **kw)
        except _tt.CompileError as e:
            raise driver.CompileError(str(e)) from None

    def get_function(self, name):
        try:
            return driver.Function(self._program, name, self._text)
        except ValueError as e:
            raise driver.LogicError(f"cuModuleGetFunction failed: {e}") from None

    def get_global(self, name):
        """(address, bytes); copies to and from the address work."""
        try:
            address, size, device = _core.program_variable(self._program, name)
        except ValueError as e:
            raise driver.LogicError(f"cuModuleGetGlobal failed: {e}") from None
        _core.raw_note(device, address, size)
        _known.append(self._program)
        return address, size


_known = []  # programs whose variables have addresses that others may hold
DynamicSourceModule = SourceModule
