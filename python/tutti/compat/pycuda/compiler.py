"""pycuda.compiler: SourceModule."""

import tutti as _tt
from tutti import _core
from tutti._device import numbered

from . import _place, driver

DEFAULT_NVCC_FLAGS = []


class SourceModule(_tt.SourceModule):
    """CUDA C source, compiled now; anything that is a text when it is asked for one (templates) is taken."""

    def __init__(self, source, *args, **kw):
        try:
            with numbered(_place.here()):
                super().__init__(str(source), *args, **kw)
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


class DynamicModule:
    """Several texts as one: what `add_source` was given is compiled together by `link`."""

    def __init__(self, nvcc="nvcc", link_options=None, keep=False, no_extern_c=False, **others):
        self._texts, self._no_extern_c, self._module = [], no_extern_c, None

    def add_source(self, source, nvcc_options=None, name="kernel.ptx"):
        """One text more."""
        self._texts.append(str(source))
        return self

    def add_data(self, data, input_type, name="unknown"):
        raise NotImplementedError("DynamicModule.add_data: compiled code is not covered: give the source")

    def add_file(self, filename, input_type):
        raise NotImplementedError("DynamicModule.add_file: compiled code is not covered: give the source")

    def add_stdlib(self, libname):
        """Nothing to add: what kernels may call is there."""
        return self

    def link(self):
        """Compile the texts."""
        self._module = SourceModule("\n".join(self._texts), no_extern_c=self._no_extern_c)
        return self

    def _linked(self):
        if self._module is None:
            raise driver.LogicError("link() the module first")
        return self._module

    def get_function(self, name):
        return self._linked().get_function(name)

    def get_global(self, name):
        return self._linked().get_global(name)


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(f"tutti.compat.pycuda does not cover pycuda.compiler.{name}")
