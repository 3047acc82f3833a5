"""ElementwiseKernel and ReductionKernel: kernels given as expressions in CUDA C, in CuPy's forms.

Straight-line text becomes operations of the graph; other text is put into a CUDA C kernel and compiled.
"""

from typing import NamedTuple

from . import _core
from ._jit import dispatch as _dispatch
from ._rebuilt import Rebuilt


class Parameter(NamedTuple):
    """One of "raw T x": `type` is a dtype's name or a placeholder of one letter."""

    name: str
    type: str
    raw: bool


class _Expression(Rebuilt):
    """What both kinds share: what they are asked."""

    def __init__(self, kernel, name, preamble, options, way):
        self._kernel, self.name, self.preamble, self.options, self.way = kernel, name, preamble, options, way
        self.__name__ = name
        if _dispatch.everything is not None:
            _dispatch.everything.append(self)

    def __repr__(self):
        return f"<{type(self).__name__} {self.name}>"

    @property
    def params(self):
        """Its parameters, inputs first."""
        return [Parameter(*p) for p in _core.custom_parameters(self._kernel)]

    in_params = property(lambda self: self.params[: self.nin], doc="Its inputs.")
    out_params = property(lambda self: self.params[self.nin :], doc="Its outputs.")
    nin = property(lambda self: _core.custom_info(self._kernel)[0], doc="How many inputs it has.")
    nout = property(lambda self: _core.custom_info(self._kernel)[1], doc="How many outputs it has.")
    nargs = property(lambda self: self.nin + self.nout, doc="How many parameters it has.")
    launches = property(lambda self: _core.custom_info(self._kernel)[4], doc="How many calls ran compiled code.")

    def explain(self):
        """For each set of types it was called with: the operations it became, or why it was compiled as CUDA C.

        Returns
        -------
        str
            A line for each set of types.

        Examples
        --------
        >>> k = tt.ElementwiseKernel("T x", "T y", "y = x + 1", "more")
        >>> y = k(tt.arange(3.0))
        >>> isinstance(k.explain(), str)
        True
        """
        return _core.custom_explain(self._kernel)

    @property
    def is_graph(self):
        """Whether every call so far became operations of the graph; None before the first."""
        _, _, graph, compiled, _ = _core.custom_info(self._kernel)
        return not compiled if graph or compiled else None

    def inspect_source(self):
        """The texts compiled so far.

        Returns
        -------
        str
            The texts.

        Examples
        --------
        >>> k = tt.ElementwiseKernel("T x", "T y", "y = x + 1", "more")
        >>> isinstance(k.inspect_source(), str)
        True
        """
        return _core.custom_text(self._kernel)


class ElementwiseKernel(_Expression):
    """`ElementwiseKernel("float32 x, T y", "T z", "z = x * y", "name")`: an operation on each element, in CUDA C.

    `raw` parameters are used whole, by `x[i]`; `i` is the index of the element and `_ind.size()` how many there are.
    Called with the inputs, and the outputs if they are to be written into; `size=` when all inputs are raw.

    Parameters
    ----------
    in_params : str
        The inputs: "T x, raw float32 y".
    out_params : str
        The outputs.
    operation : str
        What is done for each element.
    name : str, optional
        The name.
    reduce_dims : bool, optional
        Taken for CuPy's sake.
    preamble : str, optional
        Text before the kernel.
    no_return : bool, optional
        The call gives nothing.
    return_tuple : bool, optional
        A tuple also of one result.
    options : sequence of str, optional
        Options of the compiler.
    loop_prep : str, optional
        Text before the elements of a thread.
    after_loop : str, optional
        Text behind the elements of a thread.
    way : {None, 'graph', 'cuda'}, optional
        How it is run; None: as operations of the graph where that is possible.

    Examples
    --------
    >>> scale = tt.ElementwiseKernel("T x, T y", "T z", "z = 2 * x + y", "scale")
    >>> scale(tt.arange(3.0), 1.0)
    array([1., 3., 5.])
    """

    def __init__(
        self,
        in_params,
        out_params,
        operation,
        name="kernel",
        reduce_dims=True,
        preamble="",
        no_return=False,
        return_tuple=False,
        *,
        options=(),
        loop_prep="",
        after_loop="",
        way=None,
        **unused,
    ):
        options = tuple(options)
        kernel = _core.elementwise(
            in_params, out_params, None, operation, name, preamble, options, way, loop_prep, after_loop
        )
        super().__init__(kernel, name, preamble, options, way)
        self.operation, self.no_return, self.return_tuple = operation, no_return, return_tuple
        self.loop_prep, self.after_loop = loop_prep, after_loop

    def __call__(self, *args, size=None, block_size=None, stream=None):
        out = _core.elementwise_call(self._kernel, args, size)
        if self.no_return:
            return None
        return out if len(out) != 1 or self.return_tuple else out[0]


class ReductionKernel(_Expression):
    """`ReductionKernel("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "norm")`: reduce mapped elements, in CUDA C.

    Called with the inputs; `axis=` as NumPy's. Partial results have one fixed order, whatever the number of threads.

    Parameters
    ----------
    in_params : str
        The inputs: "T x, raw float32 y".
    out_params : str
        The outputs.
    map_expr : str
        What is made of an element.
    reduce_expr : str
        Two partial results, a and b, as one.
    post_map_expr : str
        What is made of the whole, a.
    identity : str
        The partial result of no elements.
    name : str, optional
        The name.
    reduce_type : str, optional
        The type of the partial results.
    reduce_dims : bool, optional
        Taken for CuPy's sake.
    preamble : str, optional
        Text before the kernel.
    options : sequence of str, optional
        Options of the compiler.
    way : {None, 'graph', 'cuda'}, optional
        How it is run; None: as operations of the graph where that is possible.

    Examples
    --------
    >>> norm = tt.ReductionKernel("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "norm")
    >>> norm(tt.array([3.0, 4.0]))
    array(5.)
    """

    def __init__(
        self,
        in_params,
        out_params,
        map_expr,
        reduce_expr,
        post_map_expr,
        identity,
        name="reduce_kernel",
        reduce_type=None,
        reduce_dims=True,
        preamble="",
        options=(),
        *,
        way=None,
    ):
        identity = None if identity is None else str(identity)
        options = tuple(options)
        kernel = _core.reduction(
            in_params, out_params, map_expr, reduce_expr, post_map_expr, identity, name, preamble, options, way,
            reduce_type,
        )  # fmt: skip
        super().__init__(kernel, name, preamble, options, way)
        self.map_expr, self.reduce_expr, self.post_map_expr = map_expr, reduce_expr, post_map_expr
        self.identity, self.reduce_type = identity or None, reduce_type

    def __call__(self, *args, axis=None, keepdims=False, out=None, stream=None):
        return _core.reduction_call(self._kernel, args, axis, keepdims, out)
