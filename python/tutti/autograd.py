"""Gradients: of arrays that require them, and of functions.

import tutti as tt
w = tt.ones(3).requires_grad_()
(w * w).sum().backward()
print(w.grad)  # [2. 2. 2.]
"""

import functools
import math
import threading

from . import _core

_RETAIN, _CREATE, _UNUSED = 1, 2, 4


# ---- modes


class set_grad_enabled:
    """Follow what is computed or not: from now on, and as a context manager until the block ends.

    Parameters
    ----------
    mode : bool
        Whether gradients can be asked for of what this thread computes.

    Examples
    --------
    >>> x = tt.ones(2).requires_grad_()
    >>> with tt.set_grad_enabled(False):
    ...     y = x * 2
    >>> y.requires_grad
    False
    """

    def __init__(self, mode):
        self._mode = bool(mode)
        self._before = _core.grad_mode(self._mode)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        _core.grad_mode(self._before)


class _Mode(_core.Mode):
    """A context manager and a decorator that sets one mode; it can be entered again.

    Parameters
    ----------
    function : callable, optional
        What is decorated.
    """

    _set, _on = staticmethod(_core.grad_mode), True

    def __new__(cls, function=None):
        self = super().__new__(cls)
        self._before = []
        return self if function is None else self(function)

    def __call__(self, function):
        @functools.wraps(function)
        def inside(*args, **kwargs):
            with type(self)():
                return function(*args, **kwargs)

        return inside


class no_grad(_Mode):
    """Nothing computed inside is followed: a context manager, and a decorator.

    Parameters
    ----------
    function : callable, optional
        What is decorated.

    Examples
    --------
    >>> x = tt.ones(2).requires_grad_()
    >>> with tt.no_grad():
    ...     y = x * 2
    >>> y.requires_grad
    False
    """

    _on = False


class enable_grad(_Mode):
    """What is computed inside is followed, in the middle of no_grad too.

    Parameters
    ----------
    function : callable, optional
        What is decorated.

    Examples
    --------
    >>> x = tt.ones(2).requires_grad_()
    >>> with tt.no_grad(), tt.enable_grad():
    ...     y = x * 2
    >>> y.requires_grad
    True
    """


class detect_anomaly(_Mode):
    """Each gradient computed inside is looked at: where one is NaN the error names the line that recorded it.

    Lines are known under tt.track_lines(True). Looking evaluates every operation by itself: it is slow.

    Parameters
    ----------
    function : callable, optional
        What is decorated.

    Examples
    --------
    >>> x = tt.zeros(1).requires_grad_()
    >>> with tt.detect_anomaly():
    ...     (tt.sqrt(x) * 0).sum().backward()
    Traceback (most recent call last):
    RuntimeError: Function 'sqrt' returned nan values in its 0th output
    """

    _set = staticmethod(_core.detect_anomaly)


def is_grad_enabled():
    """Is what this thread computes followed?

    Returns
    -------
    bool
        Whether it is so.

    Examples
    --------
    >>> tt.is_grad_enabled()
    True
    """
    return _core.is_grad_enabled()


# ---- arrays


def _tuple(x):
    return () if x is None else tuple(x) if isinstance(x, (tuple, list)) else (x,)


def _gradients_for(outputs, gradients):
    given = _tuple(gradients) if gradients is not None else ()
    return given or (None,) * len(outputs)


def _flags(retain, create, unused=False):
    retain = create if retain is None else retain
    return (_RETAIN if retain else 0) | (_CREATE if create else 0) | (_UNUSED if unused else 0)


def backward(tensors, grad_tensors=None, retain_graph=None, create_graph=False, inputs=None):
    """Add the gradients of the sum of arrays to those of the leaves, or of the inputs alone.

    Parameters
    ----------
    tensors : ndarray or sequence of ndarray
        What is differentiated.
    grad_tensors : ndarray or sequence of ndarray, optional
        The cotangent of each, of its shape; None is 1, for an array of one element.
    retain_graph : bool, optional
        Keep what the walk needs, so that it can be repeated. The default is create_graph.
    create_graph : bool
        Follow the gradients themselves, for derivatives of a higher order.
    inputs : ndarray or sequence of ndarray, optional
        The arrays whose `grad` is added to.
    """
    outputs = _tuple(tensors)
    _core.backward(outputs, _gradients_for(outputs, grad_tensors), _tuple(inputs), _flags(retain_graph, create_graph))


def _grad_of_arrays(outputs, inputs, grad_outputs=None, retain_graph=None, create_graph=False, allow_unused=False):
    outputs = _tuple(outputs)
    flags = _flags(retain_graph, create_graph, allow_unused)
    return _core.gradients(outputs, _gradients_for(outputs, grad_outputs), _tuple(inputs), flags)


# ---- trees: nested tuples, lists and dicts of arrays


def _leaves(tree, out):
    if isinstance(tree, dict):
        for key in sorted(tree, key=repr):
            _leaves(tree[key], out)
    elif isinstance(tree, (tuple, list)):
        for item in tree:
            _leaves(item, out)
    elif tree is not None:
        out.append(tree)
    return out


def _rebuilt(tree, values):
    """The same tree with other leaves, taken from an iterator."""
    if isinstance(tree, dict):
        made = {key: _rebuilt(tree[key], values) for key in sorted(tree, key=repr)}
        return type(tree)((key, made[key]) for key in tree)
    if isinstance(tree, tuple) and hasattr(tree, "_fields"):
        return type(tree)(*(_rebuilt(item, values) for item in tree))
    if isinstance(tree, (tuple, list)):
        return type(tree)(_rebuilt(item, values) for item in tree)
    return None if tree is None else next(values)


def _as_leaf(x, create):
    """A value that gradients are asked for: a new leaf, or (for derivatives of derivatives) a view of what it is."""
    a = x if isinstance(x, _core.ndarray) else _core.asarray(x)
    if a.dtype.kind not in "fcV" and a.dtype.name != "bfloat16":
        raise TypeError(f"gradients need floats or complex numbers, not {a.dtype}")
    if create and a.requires_grad:
        return _core.same(a)
    a = _core.detach(a)
    a.requires_grad = True
    return a


_depth = threading.local()  # .n: how many calls are being differentiated around this one


class _Call:
    """One call of a function with some arguments as leaves. Inside of another one gradients are followed, too: they may
    hang on what is around, by its arguments or by names."""

    def __init__(self, fun, argnums, args, kwargs):
        self.nums = argnums if isinstance(argnums, tuple) else (argnums,)
        self.one = not isinstance(argnums, tuple)
        args = list(args)
        self.nested = _core.is_grad_enabled()
        outer = getattr(_depth, "n", 0)
        self.leaves, self.follows = [], self.nested and outer > 0
        with enable_grad():
            for k in self.nums:
                mine = [_as_leaf(x, self.nested) for x in _leaves(args[k], [])]
                self.leaves += mine
                self.follows |= any(leaf.requires_grad and not leaf.is_leaf for leaf in mine)
                args[k] = _rebuilt(args[k], iter(mine))
            self.args = args
            _depth.n = outer + 1
            try:
                self.value = fun(*args, **kwargs)
            finally:
                _depth.n = outer

    def gradients(self, value, gradient=None, create=False, retain=None):
        if not isinstance(value, _core.ndarray) or not value.requires_grad:
            found = [None] * len(self.leaves)
        else:
            flags = _flags(retain, create, True)
            found = _core.gradients((value,), (gradient,), tuple(self.leaves), flags)
        whole = [_zeros_like(x) if g is None else g for g, x in zip(found, self.leaves, strict=True)]
        values = iter(whole)
        out = tuple(_rebuilt(self.args[k], values) for k in self.nums)
        return out[0] if self.one else out


def _as_array(x):
    return x if isinstance(x, _core.ndarray) else _core.asarray(x)


def _detached(x):
    return _core.detach(x) if isinstance(x, _core.ndarray) else x


def _zeros_like(x):
    return _core.functions["zeros"](x.shape, x.dtype)


def value_and_grad(fun, argnums=0, has_aux=False):
    """A function that gives fun's value and its gradients.

    Parameters
    ----------
    fun : callable
        Gives a number (an array of one element), or with has_aux a pair of it and anything else.
    argnums : int or tuple of int
        The arguments that it is differentiated by: arrays, or nested tuples, lists and dicts of arrays.
    has_aux : bool
        Whether fun gives more than its value.

    Returns
    -------
    callable
        With fun's arguments; gives (value, gradients), the gradients shaped as the arguments are.

    Examples
    --------
    >>> tt.value_and_grad(lambda p: (p["w"] ** 2).sum())({"w": tt.array([1.0, 2.0])})
    (array(5.), {'w': array([2., 4.])})
    """

    @functools.wraps(fun)
    def both(*args, **kwargs):
        call = _Call(fun, argnums, args, kwargs)
        value = call.value[0] if has_aux else call.value
        if isinstance(value, _core.ndarray) and math.prod(value.shape) != 1:
            raise TypeError(f"gradient only defined for scalar-output functions. Output had shape: {value.shape}")
        found = call.gradients(value, create=call.follows)
        plain = value if call.follows or not isinstance(value, _core.ndarray) else _core.detach(value)
        return ((plain, call.value[1]) if has_aux else plain), found

    return both


def grad(outputs, inputs=None, *args, **kwargs):
    """The gradient of a function, or of arrays.

    grad(fun, argnums=0, has_aux=False) is a function that gives fun's gradients; see value_and_grad.
    grad(outputs, inputs, grad_outputs=None, retain_graph=None, create_graph=False, allow_unused=False) is a tuple with
    the gradient of the outputs' sum by each of the inputs.

    Parameters
    ----------
    outputs : callable, or ndarray or sequence of ndarray
        What is differentiated.
    inputs : int or tuple of int, or ndarray or sequence of ndarray, optional
        By what: numbers of the function's arguments, or arrays.

    Returns
    -------
    callable or tuple of ndarray
        A function with the same arguments, or the gradients. Those of inputs that were not used are an error, or
        None with allow_unused.

    Examples
    --------
    >>> tt.grad(tt.sin)(0.0)
    array(1.)
    >>> x = tt.array([1.0, 2.0]).requires_grad_()
    >>> tt.grad((x * x).sum(), x)
    (array([2., 4.]),)
    """
    if not callable(outputs):
        return _grad_of_arrays(outputs, inputs, *args, **kwargs)
    if inputs is not None:
        kwargs["argnums"] = inputs
    has_aux = kwargs.get("has_aux", False)
    both = value_and_grad(outputs, *args, **kwargs)

    @functools.wraps(outputs)
    def gradient(*call_args, **call_kwargs):
        value, found = both(*call_args, **call_kwargs)
        return (found, value[1]) if has_aux else found

    return gradient


def vjp(fun, *primals, has_aux=False):
    """A function's value, and the function from cotangents of that value to cotangents of the arguments.

    Parameters
    ----------
    fun : callable
        Gives an array, or nested tuples, lists and dicts of arrays; with has_aux a pair of that and anything else.
    *primals : ndarray, or tuples, lists and dicts
        Its arguments.
    has_aux : bool
        Whether fun gives more than its value.

    Returns
    -------
    tuple
        The value, the function (it gives a tuple, one for each argument), and with has_aux what fun gave besides.

    Examples
    --------
    >>> value, back = tt.vjp(lambda x: x * x, tt.array([1.0, 2.0]))
    >>> back(tt.array([1.0, 10.0]))
    (array([ 2., 40.]),)
    """
    call = _Call(fun, tuple(range(len(primals))), primals, {})
    value = call.value[0] if has_aux else call.value
    outputs = _leaves(value, [])
    followed = [_as_array(o) for o in outputs]

    def back(cotangent):
        given = _leaves(cotangent, [])
        # Where cotangents have a history, that is what somebody differentiates by.
        follows = call.follows or (_core.is_grad_enabled() and any(getattr(g, "requires_grad", False) for g in given))
        flags = _flags(True, follows, True)
        pairs = [(o, _core.asarray(g, o.dtype)) for o, g in zip(followed, given, strict=True) if o.requires_grad]
        found = (None,) * len(call.leaves)
        if pairs:
            found = _core.gradients(tuple(o for o, _ in pairs), tuple(g for _, g in pairs), tuple(call.leaves), flags)
        values = iter([_zeros_like(x) if g is None else g for g, x in zip(found, call.leaves, strict=True)])
        return tuple(_rebuilt(call.args[k], values) for k in call.nums)

    plain = value if call.follows else _rebuilt(value, map(_detached, outputs))
    return (plain, back, call.value[1]) if has_aux else (plain, back)


def jvp(fun, primals, tangents):
    """A function's value and its derivative in a direction: the gradient of a gradient by its cotangent.

    Parameters
    ----------
    fun : callable
        Gives an array, or nested tuples, lists and dicts of arrays.
    primals : sequence
        Its arguments.
    tangents : sequence
        The direction: for each argument one of its shape.

    Returns
    -------
    tuple
        The value, and the derivative, shaped as the value is.

    Examples
    --------
    >>> tt.jvp(lambda x: x * x, (tt.array([1.0, 2.0]),), (tt.array([1.0, 10.0]),))
    (array([1., 4.]), array([ 2., 40.]))
    """
    call = _Call(fun, tuple(range(len(primals))), primals, {})
    outputs = [_as_array(o) for o in _leaves(call.value, [])]
    seeds = [_core.functions["zeros"](o.shape, o.dtype) for o in outputs]
    for s in seeds:
        s.requires_grad = True
    directions = _leaves(tuple(tangents), [])
    with enable_grad():
        pairs = [(o, s) for o, s in zip(outputs, seeds, strict=True) if o.requires_grad]
        found = (None,) * len(call.leaves)
        if pairs:
            found = _core.gradients(
                tuple(o for o, _ in pairs), tuple(s for _, s in pairs), tuple(call.leaves), _flags(True, True, True)
            )
    known = [
        (g, _core.asarray(t, g.dtype))
        for g, t in zip(found, directions, strict=True)
        if g is not None and g.requires_grad
    ]
    result = (None,) * len(seeds)
    if known:
        result = _core.gradients(
            tuple(g for g, _ in known), tuple(t for _, t in known), tuple(seeds), _flags(True, call.follows, True)
        )
    values = iter([_zeros_like(s) if r is None else r for r, s in zip(result, seeds, strict=True)])
    plain = call.value if call.follows else _rebuilt(call.value, map(_detached, _leaves(call.value, [])))
    return plain, _rebuilt(call.value, values)


def jacobian(fun, argnums=0):
    """A function that gives the derivative of each element of fun's value by each of the argument's.

    Parameters
    ----------
    fun : callable
        Gives an array.
    argnums : int or tuple of int
        The arguments that it is differentiated by.

    Returns
    -------
    callable
        With fun's arguments; gives an array of the shape of the value and that of the argument behind it.

    Examples
    --------
    >>> tt.jacobian(lambda x: x * x)(tt.array([1.0, 2.0]))
    array([[2., 0.],
           [0., 4.]])
    """

    @functools.wraps(fun)
    def matrix(*args, **kwargs):
        call = _Call(fun, argnums, args, kwargs)
        value, stack = call.value, _core.functions["stack"]
        rows = []
        for k in range(math.prod(value.shape)):
            seed = _core.functions["zeros"](math.prod(value.shape), value.dtype)
            seed[k] = 1
            found = call.gradients(value, seed.reshape(value.shape), create=call.follows, retain=True)
            rows.append(_leaves(found, []))
        shape = value.shape
        whole = iter([stack([r[i] for r in rows]).reshape((*shape, *leaf.shape)) for i, leaf in enumerate(call.leaves)])
        out = tuple(_rebuilt(call.args[k], whole) for k in call.nums)
        return out[0] if call.one else out

    return matrix


def hessian(fun, argnums=0):
    """A function that gives the second derivatives of fun's value: the jacobian of its gradient.

    Parameters
    ----------
    fun : callable
        Gives a number (an array of one element).
    argnums : int or tuple of int
        The arguments that it is differentiated by.

    Returns
    -------
    callable
        With fun's arguments; gives an array of the shape of the argument twice.

    Examples
    --------
    >>> tt.hessian(lambda x: x[0] * x[1])(tt.array([1.0, 2.0]))
    array([[0., 1.],
           [1., 0.]])
    """
    return jacobian(grad(fun, argnums), argnums)


# ---- functions with a derivative of their own


class FunctionCtx:
    """What forward keeps for backward."""

    needs_input_grad = ()
    _saved, _plain, _materialize = (), frozenset(), True
    _followed = None  # inside of a backward that is followed in turn: the results with their history, by their id

    def save_for_backward(self, *arrays):
        """Keep arrays; backward reads them as saved_tensors."""
        self._saved = arrays

    @property
    def saved_tensors(self):
        """What was kept. Results have their history where backward is differentiated in turn."""
        known = self._followed() if self._followed else {}
        return tuple(known.get(id(a), a) for a in self._saved)

    def mark_non_differentiable(self, *arrays):
        """These results have no gradient."""
        self._plain = {id(a) for a in arrays}

    def set_materialize_grads(self, value):
        """Whether the gradients of results that nobody used are zeros in backward, or None."""
        self._materialize = bool(value)


class Function:
    """A function with a derivative of its own: static methods forward(ctx, *args) and backward(ctx, *gradients).

    backward gives a gradient, or None, for each argument of forward. Call it by apply(*args). With a third static
    method, setup_context(ctx, inputs, output), forward takes the arguments alone.

    Examples
    --------
    >>> class Twice(tt.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         return x * 2
    ...
    ...     @staticmethod
    ...     def backward(ctx, g):
    ...         return g * 2
    >>> x = tt.ones(2).requires_grad_()
    >>> Twice.apply(x).sum().backward()
    >>> x.grad
    array([2., 2.])
    """

    @staticmethod
    def forward(ctx, *args, **kwargs):
        """The results, from arguments; nothing in it is followed.

        Parameters
        ----------
        ctx : FunctionCtx
            Keeps what backward needs.
        *args, **kwargs
            As apply was called.

        Returns
        -------
        ndarray or tuple of ndarray
            The results.

        Examples
        --------
        >>> tt.Function.forward(None)
        Traceback (most recent call last):
        NotImplementedError: You must implement the forward function for custom autograd.Function.
        """
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def backward(ctx, *grad_outputs):
        """The gradients by the arguments, from those by the results.

        Parameters
        ----------
        ctx : FunctionCtx
            What forward kept.
        *grad_outputs : ndarray
            One for each result.

        Returns
        -------
        ndarray or None, or a tuple of them
            One for each argument.

        Examples
        --------
        >>> tt.Function.backward(None)
        Traceback (most recent call last):
        NotImplementedError: You must implement the backward function for your custom autograd.Function.
        """
        raise NotImplementedError("You must implement the backward function for your custom autograd.Function.")

    @classmethod
    def _forward(cls, ctx, args, kwargs):
        setup = getattr(cls, "setup_context", None)
        if setup is None:
            return cls.forward(ctx, *args, **kwargs)
        result = cls.forward(*args, **kwargs)
        setup(ctx, args, result)
        return result

    @classmethod
    def apply(cls, *args, **kwargs):
        """The results of forward, with backward as their history.

        Parameters
        ----------
        *args, **kwargs
            forward's, but for its ctx.

        Returns
        -------
        ndarray or tuple of ndarray
            The results.

        Examples
        --------
        >>> class Same(tt.Function):
        ...     forward = staticmethod(lambda ctx, x: x * 1)
        ...     backward = staticmethod(lambda ctx, g: g)
        >>> Same.apply(tt.ones(1).requires_grad_()).requires_grad
        True
        """
        ctx = FunctionCtx()
        places = [k for k, a in enumerate(args) if isinstance(a, _core.ndarray)]
        ctx.needs_input_grad = tuple(isinstance(a, _core.ndarray) and a.requires_grad for a in args)
        with no_grad():
            result = cls._forward(ctx, args, kwargs)
        if not any(ctx.needs_input_grad) or not _core.is_grad_enabled():
            return result
        many = isinstance(result, (tuple, list))
        results = tuple(result) if many else (result,)
        followed = [k for k, r in enumerate(results) if isinstance(r, _core.ndarray) and id(r) not in ctx._plain]

        inputs, outputs = tuple(args[k] for k in places), tuple(results[k] for k in followed)

        def with_history():
            """The results again: who holds those that were given holds this function as their history."""
            again = _core.custom_gradient(inputs, outputs, back)
            return {id(a): b for a, b in zip(outputs, again, strict=True)}

        def back(*gradients):
            all_of = [None] * len(results)
            for k, g in zip(followed, gradients, strict=True):
                all_of[k] = _zeros_like(results[k]) if g is None and ctx._materialize else g
            ctx._followed = with_history if _core.is_grad_enabled() else None
            try:
                found = cls.backward(ctx, *all_of)
            finally:
                ctx._followed = None
            found = found if isinstance(found, (tuple, list)) else (found,)
            if len(found) != len(args):
                raise RuntimeError(
                    f"function {cls.__name__}Backward returned an incorrect number of gradients "
                    f"(expected {len(args)}, got {len(found)})"
                )
            return tuple(found[k] for k in places)

        made = _core.custom_gradient(inputs, outputs, back)
        out = list(results)
        for k, a in zip(followed, made, strict=True):
            out[k] = a
        return tuple(out) if many else out[0]


class _Checkpoint(Function):
    @staticmethod
    def forward(ctx, function, kwargs, *args):
        ctx.function, ctx.kwargs, ctx.args = function, kwargs, args
        ctx.autocast = _core.autocast_dtype()
        return function(*args, **kwargs)

    @staticmethod
    def backward(ctx, *gradients):
        args = [_core.detach(a) if isinstance(a, _core.ndarray) else a for a in ctx.args]
        leaves = [a for a, need in zip(args, ctx.needs_input_grad[2:], strict=True) if need]
        for a in leaves:
            a.requires_grad = True
        before = _core.autocast(ctx.autocast, True)
        try:
            with enable_grad():
                results = _tuple(ctx.function(*args, **ctx.kwargs))
        finally:
            _core.autocast(*before)
        pairs = [(r, g) for r, g in zip(results, gradients, strict=True) if g is not None and r.requires_grad]
        flags = _flags(False, False, True)
        found = _core.gradients(tuple(r for r, _ in pairs), tuple(g for _, g in pairs), tuple(leaves), flags)
        values = iter(found)
        return None, None, *(next(values) if need else None for need in ctx.needs_input_grad[2:])


def checkpoint(function, *args, **kwargs):
    """Call a function of which nothing is kept for the way back: it is computed again there.

    Parameters
    ----------
    function : callable
        Gives an array, or a tuple of arrays.
    *args, **kwargs
        Its arguments; gradients flow to the positional ones that are arrays.

    Returns
    -------
    ndarray or tuple of ndarray
        What it gives.

    Examples
    --------
    >>> x = tt.ones(2).requires_grad_()
    >>> tt.checkpoint(lambda x: tt.exp(x) * x, x).requires_grad
    True
    """
    return _Checkpoint.apply(function, kwargs, *args)


class RemovableHandle:
    """What register_hook gives."""

    def __init__(self, array, number):
        self._array, self._number = array, number

    def remove(self):
        """The hook is not called any more."""
        _core.remove_hook(self._array, self._number)
