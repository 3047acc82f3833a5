"""Kernels in OpenCL C: a `Program` from its source, its kernels called over a range of work-items.

They run on the CPU with no OpenCL on the machine, compiled by the system's C++ compiler, its cores sharing the
work-groups, and on OpenCL devices ("opencl:0"), whose own compilers build the source: where their arrays lie.
"""

from operator import index as _index

from .. import _core
from .._rebuilt import Rebuilt
from ..exceptions import CompileError

__all__ = ["CompileError", "Kernel", "LocalMemory", "Program"]


class LocalMemory:
    """Memory of a work-group, for a parameter of a kernel that is a pointer to `__local`.

    Parameters
    ----------
    size : int
        Bytes, for each work-group.

    Examples
    --------
    >>> tt.opencl.LocalMemory(256)
    LocalMemory(256)
    """

    def __init__(self, size):
        self._local_bytes = self.size = _index(size)
        if size < 1:
            raise ValueError("local memory has at least one byte")

    def __repr__(self):
        return f"LocalMemory({self.size})"


class Program(Rebuilt):
    """A program in OpenCL C. `build` compiles it; its kernels are attributes.

    Parameters
    ----------
    source : str
        The text of the program.
    name : str, optional
        What the source is called in messages.

    Examples
    --------
    >>> text = "__kernel void twice(__global float *x) { x[get_global_id(0)] *= 2; }"
    >>> program = tt.opencl.Program(text).build()
    >>> x = tt.ones(3, dtype="float32")
    >>> program.twice(3, None, x)
    >>> x
    array([2., 2., 2.], dtype=float32)
    """

    def __init__(self, source, *, name="kernel.cl"):
        if isinstance(source, bytes):
            source = source.decode()
        if not isinstance(source, str):
            raise TypeError(f"the source of a program is a str, not {type(source).__name__}")
        self.source = source
        self._name = name
        self._program = None
        self._options = ""
        self._log = ""
        self._kernels = {}

    def __reduce__(self):
        return _again, (type(self), self.source, self._name, self._options, self._program is not None)

    def build(self, options="", *, device=None):
        """Compile the program; what was built with the same options before is found on disk.

        Parameters
        ----------
        options : str or sequence of str, optional
            Options as clBuildProgram takes them: "-D N=4 -I include".
        device : str or tutti.Device, optional
            Where it is built first, "cpu" or "opencl:0": the OpenCL device that the thread has chosen, else the CPU.
            It is built for others when a kernel is called with arrays that lie there.

        Returns
        -------
        tutti.opencl.Program
            The program itself.

        Examples
        --------
        >>> text = "__kernel void fill(__global int *x) { x[get_global_id(0)] = VALUE; }"
        >>> tt.opencl.Program(text).build("-D VALUE=7").kernels
        ['fill']
        """
        options = options if isinstance(options, str) else " ".join(options)
        try:
            self._program = _core.opencl_program(self.source, options, self._name, device)
        except RuntimeError as e:
            self._log = str(e)
            raise CompileError(self._log) from None
        self._options = options
        self._log = ""
        self._kernels = {}
        return self

    def _built(self):
        if self._program is None:
            self.build()
        return self._program

    @property
    def build_log(self):
        """What the compiler said of the last build: "" where it took the program."""
        return self._log

    @property
    def kernels(self):
        """Names of the kernels, in the order of the source."""
        return _core.program_names(self._built())

    def kernel(self, name):
        """The kernel of that name.

        Parameters
        ----------
        name : str
            The name.

        Returns
        -------
        tutti.opencl.Kernel
            The kernel.

        Examples
        --------
        >>> text = "__kernel void twice(__global float *x) { x[get_global_id(0)] *= 2; }"
        >>> tt.opencl.Program(text).kernel("twice")
        <kernel twice(float32 * x)>
        """
        if name not in self._kernels:
            self._kernels[name] = Kernel(self, name)
        return self._kernels[name]

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self.kernel(name)
        except ValueError as e:
            raise AttributeError(str(e)) from None

    def __repr__(self):
        return f"<program {self._name}{'' if self._program else ', not built'}>"


def _again(cls, source, name, options, built):
    program = cls(source, name=name)
    return program.build(options) if built else program


class Kernel:
    """One kernel of a program: `kernel(global_size, local_size, *args)`.

    Parameters
    ----------
    program : tutti.opencl.Program
        The program, built.
    name : str
        The name.

    Examples
    --------
    >>> text = "__kernel void fill(__global float *x, float v) { x[get_global_id(0)] = v; }"
    >>> fill = tt.opencl.Program(text).build().fill
    >>> x = tt.zeros(4, dtype="float32")
    >>> fill(4, 2, x, 0.5)
    >>> x
    array([0.5, 0.5, 0.5, 0.5], dtype=float32)
    """

    def __init__(self, program, name):
        self._program = program
        self._routine = _core.program_routine(program._built(), name)
        self._args = None
        self.name = name

    def __reduce__(self):
        return type(self), (self._program, self.name)

    @property
    def parameters(self):
        """Name and type of each parameter."""
        return [(name, type_) for name, type_, _ in _core.routine_info(self._routine)[0]]

    @property
    def reqd_work_group_size(self):
        """The local size that the source wants (reqd_work_group_size), or None."""
        return _core.opencl_asked(self._routine)

    def set_args(self, *args):
        """Set the arguments of the next launches, which `enqueue` makes.

        Parameters
        ----------
        *args : array_like
            An argument for each parameter.

        Examples
        --------
        >>> text = "__kernel void fill(__global float *x, float v) { x[get_global_id(0)] = v; }"
        >>> fill = tt.opencl.Program(text).build().fill
        >>> x = tt.zeros(2, dtype="float32")
        >>> fill.set_args(x, 3)
        >>> fill.enqueue(2)
        >>> x
        array([3., 3.], dtype=float32)
        """
        n = len(_core.routine_info(self._routine)[0])
        if len(args) != n:
            raise TypeError(f"kernel {self.name} takes {n} arguments ({len(args)} given)")
        self._args = args

    def enqueue(self, global_size, local_size=None, *, global_offset=None):
        """Launch it with the arguments of `set_args`.

        Parameters
        ----------
        global_size : int or tuple of int
            Work-items along one to three axes.
        local_size : int or tuple of int, optional
            Work-items of a work-group.
        global_offset : int or tuple of int, optional
            What global indices begin at.

        Examples
        --------
        >>> text = "__kernel void count(__global int *x) { x[get_global_id(0)] = get_global_id(0); }"
        >>> count = tt.opencl.Program(text).build().count
        >>> x = tt.zeros(4, dtype="int32")
        >>> count.set_args(x)
        >>> count.enqueue(2, global_offset=2)
        >>> x
        array([0, 0, 2, 3], dtype=int32)
        """
        if self._args is None:
            raise TypeError(f"the arguments of kernel {self.name} are not set: set_args")
        _core.opencl_launch(self._routine, global_size, local_size, global_offset, self._args)

    def __call__(self, global_size, local_size, *args, global_offset=None):
        _core.opencl_launch(self._routine, global_size, local_size, global_offset, args)

    def __repr__(self):
        return f"<kernel {self.name}({', '.join(f'{t} {n}'.strip() for n, t in self.parameters)})>"
