"""Mixed precision with PyTorch's names: products in a narrow type, what would suffer in float32.

import tutti as tt
scaler = tt.amp.GradScaler()
for x, y in batches:
    optimizer.zero_grad()
    with tt.amp.autocast(dtype=tt.float16):
        loss = loss_of(model(x), y)
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()

bfloat16, the default, has float32's range and needs no scaler. What is cast is decided in C where calls enter, by one
list for all devices.
"""

import functools
import math
import warnings

from . import _core, autograd

__all__ = [
    "GradScaler",
    "autocast",
    "custom_bwd",
    "custom_fwd",
    "get_autocast_dtype",
    "is_autocast_available",
    "is_autocast_enabled",
]

_NARROW = (_core.bfloat16, _core.float16)


def is_autocast_enabled(device_type=None):
    """Does this thread cast?

    Parameters
    ----------
    device_type : str, optional
        Taken for PyTorch's sake: what is cast is the same on all devices.

    Returns
    -------
    bool
        Whether it does.

    Examples
    --------
    >>> tt.amp.is_autocast_enabled()
    False
    """
    return _core.autocast_dtype() is not None


def get_autocast_dtype(device_type=None):
    """The narrow type of this thread.

    Parameters
    ----------
    device_type : str, optional
        Taken for PyTorch's sake.

    Returns
    -------
    dtype
        The type; bfloat16 where nothing is cast.

    Examples
    --------
    >>> with tt.amp.autocast(dtype=tt.float16):
    ...     tt.amp.get_autocast_dtype()
    dtype('float16')
    """
    return _core.autocast_dtype() or _core.bfloat16


def is_autocast_available(device_type):
    """Can what lives on a device be computed in narrow types?

    Parameters
    ----------
    device_type : str
        "cpu" or "cuda".

    Returns
    -------
    bool
        Whether it can.

    Examples
    --------
    >>> tt.amp.is_autocast_available("cpu")
    True
    """
    if not isinstance(device_type, str):
        raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
    return device_type.partition(":")[0] in ("cpu", "cuda")


class autocast:
    """Products of float32 in a narrow type, inside of the block; a context manager and a decorator.

    Parameters
    ----------
    device_type : str, optional
        Taken for PyTorch's sake: what is cast is the same on all devices.
    dtype : dtype, optional
        bfloat16, the default, or float16, which is "cuda"'s default in PyTorch and here.
    enabled : bool
        False: nothing is cast inside of the block.
    cache_enabled : bool
        Whether a parameter is cast once for all of its uses.

    Examples
    --------
    >>> x = tt.ones((2, 2), dtype="float32")
    >>> with tt.amp.autocast("cpu"):
    ...     print((x @ x).dtype, tt.exp(x @ x).dtype, (x + x).dtype)
    bfloat16 float32 float32
    """

    def __init__(self, device_type=None, dtype=None, enabled=True, cache_enabled=None):
        if device_type is not None and not is_autocast_available(device_type):
            raise RuntimeError(f"User specified an unsupported autocast device_type '{device_type}'")
        if dtype is None:
            dtype = _core.float16 if str(device_type).startswith("cuda") else _core.bfloat16
        self._dtype, self._caches = _core.dtype(dtype), cache_enabled is None or bool(cache_enabled)
        self._enabled, self._before = bool(enabled), []
        if self._enabled and self._dtype not in _NARROW:
            warnings.warn(
                "In autocast, but the target dtype is not supported. Disabling autocast.\n"
                f"Autocast only supports dtypes of bfloat16, float16 currently, not {self._dtype.name}.",
                stacklevel=2,
            )
            self._enabled = False

    def __enter__(self):
        self._before.append(_core.autocast(self._dtype if self._enabled else None, self._caches))
        return self

    def __exit__(self, *exc):
        _core.autocast(*self._before.pop())

    def __call__(self, function):
        @functools.wraps(function)
        def run(*args, **kwargs):
            with self:
                return function(*args, **kwargs)

        return run


def _cast(value, dtype):
    """Narrow and single floats of nested arguments in a type."""
    if isinstance(value, _core.ndarray):
        return value.astype(dtype) if value.dtype in (*_NARROW, _core.float32) else value
    if isinstance(value, dict):
        return {k: _cast(v, dtype) for k, v in value.items()}
    if isinstance(value, list | tuple):
        items = [_cast(v, dtype) for v in value]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    return value


def custom_fwd(fwd=None, *, device_type=None, cast_inputs=None):
    """Decorate the forward of a Function: what custom_bwd decorates casts as this did.

    Parameters
    ----------
    fwd : callable, optional
        The forward.
    device_type : str, optional
        Taken for PyTorch's sake.
    cast_inputs : dtype, optional
        Inside of autocast, floats come in this type and nothing else is cast.

    Returns
    -------
    callable
        The decorated forward, or a decorator.

    Examples
    --------
    >>> class Double(tt.Function):
    ...     @staticmethod
    ...     @tt.amp.custom_fwd(cast_inputs=tt.float32)
    ...     def forward(ctx, x):
    ...         return x * 2
    ...
    ...     @staticmethod
    ...     @tt.amp.custom_bwd
    ...     def backward(ctx, g):
    ...         return g * 2
    >>> with tt.amp.autocast():
    ...     Double.apply(tt.ones(2, dtype="bfloat16")).dtype
    dtype('float32')
    """
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)

    @functools.wraps(fwd)
    def forward(ctx, *args, **kwargs):
        low = _core.autocast_dtype()
        if cast_inputs is None or low is None:
            ctx._autocast = low
            return fwd(ctx, *args, **kwargs)
        ctx._autocast = None
        with autocast(enabled=False):
            return fwd(ctx, *_cast(args, cast_inputs), **_cast(kwargs, cast_inputs))

    return forward


def custom_bwd(bwd=None, *, device_type=None):
    """Decorate the backward of a Function whose forward custom_fwd decorates: it casts as that did.

    Parameters
    ----------
    bwd : callable, optional
        The backward.
    device_type : str, optional
        Taken for PyTorch's sake.

    Returns
    -------
    callable
        The decorated backward, or a decorator.

    Examples
    --------
    >>> @tt.amp.custom_bwd
    ... def backward(ctx, g):
    ...     return g * 2
    """
    if bwd is None:
        return functools.partial(custom_bwd, device_type=device_type)

    @functools.wraps(bwd)
    def backward(ctx, *args, **kwargs):
        low = ctx._autocast
        with autocast(dtype=low, enabled=low is not None):
            return bwd(ctx, *args, **kwargs)

    return backward


_READY, _UNSCALED, _STEPPED = range(3)


class _Optimizer:
    """What a scaler knows of an optimiser until its next update."""

    def __init__(self):
        self.stage, self.found = _READY, None  # found: an array of one truth value, which waits
        self.restore = None


class GradScaler:
    """Scale losses, so that gradients of float16 do not vanish, and skip steps whose gradients are infinite.

    A step is one evaluation with the gradients, their unscaling and the look whether they are finite: where they are
    not, the parameters get the values that they had.

    Parameters
    ----------
    device : str
        Taken for PyTorch's sake.
    init_scale : float
        The factor at first.
    growth_factor : float
        What it is multiplied with after steps that all were finite.
    backoff_factor : float
        What it is multiplied with after one that was not.
    growth_interval : int
        How many finite steps in a row make it grow.
    enabled : bool
        False: nothing is scaled, and step is the optimiser's.

    Examples
    --------
    >>> w = tt.ones(2).requires_grad_()
    >>> optimizer, scaler = tt.optim.SGD([w], lr=0.5), tt.amp.GradScaler()
    >>> scaler.scale((w * 3).sum()).backward()
    >>> scaler.step(optimizer)
    >>> scaler.update()
    >>> w
    array([-0.5, -0.5])
    """

    def __init__(
        self,
        device="cuda",
        init_scale=2.0**16,
        growth_factor=2.0,
        backoff_factor=0.5,
        growth_interval=2000,
        enabled=True,
    ):
        self._enabled = bool(enabled)
        if self._enabled:
            assert growth_factor > 1.0, "The growth factor must be > 1.0."
            assert backoff_factor < 1.0, "The backoff factor must be < 1.0."
        self._init_scale, self._growth_factor, self._backoff_factor = init_scale, growth_factor, backoff_factor
        self._growth_interval, self._growth_tracker = growth_interval, 0
        self._scale, self._optimizers = None, {}

    def _state(self, optimizer):
        return self._optimizers.setdefault(id(optimizer), _Optimizer())

    def _check_scale(self, function):
        fix = "This may indicate your script did not use scaler.scale(loss or outputs) earlier in the iteration."
        assert self._scale is not None, f"Attempted {function} but _scale is None.  {fix}"

    def scale(self, outputs):
        """Losses times the scale.

        Parameters
        ----------
        outputs : ndarray or iterable of ndarray
            The losses.

        Returns
        -------
        ndarray or list of ndarray
            What backward is to be called of.

        Examples
        --------
        >>> tt.amp.GradScaler(init_scale=4.0).scale(tt.array(2.0))
        array(8.)
        """
        if not self._enabled:
            return outputs
        if self._scale is None:
            self._scale = float(self._init_scale)
        if isinstance(outputs, _core.ndarray):
            return outputs * _core.array(self._scale, dtype=_core.float32)
        if isinstance(outputs, list | tuple):
            return type(outputs)(self.scale(o) for o in outputs)
        if hasattr(outputs, "__iter__"):
            return map(self.scale, outputs)
        raise ValueError("outputs must be a Tensor or an iterable of Tensors")

    def unscale_(self, optimizer):
        """Divide the gradients of an optimiser by the scale, for who looks at them or clips them before the step.

        Parameters
        ----------
        optimizer : Optimizer
            The optimiser.

        Returns
        -------
        None

        Examples
        --------
        >>> w = tt.ones(2).requires_grad_()
        >>> optimizer, scaler = tt.optim.SGD([w], lr=0.5), tt.amp.GradScaler()
        >>> scaler.scale((w * 3).sum()).backward()
        >>> scaler.unscale_(optimizer)
        >>> w.grad
        array([3., 3.])
        """
        if not self._enabled:
            return
        self._check_scale("unscale_")
        state = self._state(optimizer)
        if state.stage == _UNSCALED:
            raise RuntimeError("unscale_() has already been called on this optimizer since the last update().")
        if state.stage == _STEPPED:
            raise RuntimeError("unscale_() is being called after step().")
        state.found = self._unscale(optimizer)
        state.stage = _UNSCALED

    def _unscale(self, optimizer):
        """Divide the gradients; whether one is not finite, as an array that waits. None: there are no gradients."""
        params = [p for group in optimizer.param_groups for p in group["params"] if p.grad is not None]
        if any(p.grad.dtype == _core.float16 for p in params):
            raise ValueError("Attempting to unscale FP16 gradients.")
        if not params:
            return None
        largest = _core.functions["nn.utils.get_total_norm"]([p.grad for p in params], math.inf)
        with autograd.no_grad():
            for p in params:
                p.grad *= 1.0 / self._scale
        return _core.ops["logical_not"](_core.ops["isfinite"](largest))

    def step(self, optimizer, *args, **kwargs):
        """The optimiser's step, or nothing where a gradient is not finite.

        Parameters
        ----------
        optimizer : Optimizer
            The optimiser. Gradients that were not unscaled yet are.
        *args : object
            The step's.
        **kwargs : object
            The step's.

        Returns
        -------
        object
            What the step gave.

        Examples
        --------
        >>> w = tt.ones(2).requires_grad_()
        >>> optimizer, scaler = tt.optim.SGD([w], lr=0.5), tt.amp.GradScaler()
        >>> scaler.scale((w * float("inf")).sum()).backward()
        >>> scaler.step(optimizer)
        >>> w
        array([1., 1.])
        """
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise RuntimeError("Closure use is not currently supported if GradScaler is enabled.")
        self._check_scale("step")
        state = self._state(optimizer)
        if state.stage == _STEPPED:
            raise RuntimeError("step() has already been called since the last update().")
        if state.stage == _READY:
            self.unscale_(optimizer)
        assert state.found is not None, "No inf checks were recorded for this optimizer."
        state.stage = _STEPPED
        if type(optimizer).step is not _plain_step():
            return None if state.found.item() else optimizer.step(*args, **kwargs)
        state.restore = optimizer._counts_now()
        _core.steps_skip(state.found)
        try:
            return optimizer.step(*args, **kwargs)
        finally:
            _core.steps_skip(None)

    def update(self, new_scale=None):
        """Change the scale by what was found since the last update.

        Parameters
        ----------
        new_scale : float or ndarray, optional
            The scale from now on.

        Returns
        -------
        None

        Examples
        --------
        >>> w = tt.ones(2).requires_grad_()
        >>> optimizer, scaler = tt.optim.SGD([w], lr=0.5), tt.amp.GradScaler(init_scale=8.0)
        >>> scaler.scale((w * float("inf")).sum()).backward()
        >>> scaler.step(optimizer)
        >>> scaler.update()
        >>> scaler.get_scale()
        4.0
        """
        if not self._enabled:
            return
        self._check_scale("update")
        if new_scale is not None:
            self._scale = float(new_scale)
        else:
            states = [s for s in self._optimizers.values() if s.found is not None]
            assert states, "No inf checks were recorded prior to update."
            self._grow(any([self._settle(state) for state in states]))
        self._optimizers = {}

    def _settle(self, state):
        """Was a gradient of the optimiser not finite? Then its step was none, and is not counted."""
        found = bool(state.found.item())
        if found and state.restore is not None:
            state.restore()
        return found

    def _grow(self, found):
        if found:
            self._scale, self._growth_tracker = self._scale * self._backoff_factor, 0
            return
        self._growth_tracker += 1
        if self._growth_tracker == self._growth_interval:
            grown = self._scale * self._growth_factor
            self._scale = grown if grown <= 3.4028234663852886e38 else self._scale
            self._growth_tracker = 0

    def get_scale(self):
        """The scale.

        Returns
        -------
        float
            The factor; 1 where nothing is scaled.

        Examples
        --------
        >>> tt.amp.GradScaler().get_scale()
        65536.0
        """
        if not self._enabled:
            return 1.0
        return self._init_scale if self._scale is None else self._scale

    def get_growth_factor(self):
        """What the scale is multiplied with when it grows.

        Returns
        -------
        float
            The factor.

        Examples
        --------
        >>> tt.amp.GradScaler().get_growth_factor()
        2.0
        """
        return self._growth_factor

    def set_growth_factor(self, new_factor):
        """Set what the scale is multiplied with when it grows.

        Parameters
        ----------
        new_factor : float
            The factor.

        Returns
        -------
        None

        Examples
        --------
        >>> scaler = tt.amp.GradScaler()
        >>> scaler.set_growth_factor(4.0)
        >>> scaler.get_growth_factor()
        4.0
        """
        self._growth_factor = new_factor

    def get_backoff_factor(self):
        """What the scale is multiplied with when it falls.

        Returns
        -------
        float
            The factor.

        Examples
        --------
        >>> tt.amp.GradScaler().get_backoff_factor()
        0.5
        """
        return self._backoff_factor

    def set_backoff_factor(self, new_factor):
        """Set what the scale is multiplied with when it falls.

        Parameters
        ----------
        new_factor : float
            The factor.

        Returns
        -------
        None

        Examples
        --------
        >>> scaler = tt.amp.GradScaler()
        >>> scaler.set_backoff_factor(0.25)
        >>> scaler.get_backoff_factor()
        0.25
        """
        self._backoff_factor = new_factor

    def get_growth_interval(self):
        """How many finite steps in a row make the scale grow.

        Returns
        -------
        int
            The number.

        Examples
        --------
        >>> tt.amp.GradScaler().get_growth_interval()
        2000
        """
        return self._growth_interval

    def set_growth_interval(self, new_interval):
        """Set how many finite steps in a row make the scale grow.

        Parameters
        ----------
        new_interval : int
            The number.

        Returns
        -------
        None

        Examples
        --------
        >>> scaler = tt.amp.GradScaler()
        >>> scaler.set_growth_interval(10)
        >>> scaler.get_growth_interval()
        10
        """
        self._growth_interval = new_interval

    def is_enabled(self):
        """Is anything scaled?

        Returns
        -------
        bool
            Whether it is.

        Examples
        --------
        >>> tt.amp.GradScaler(enabled=False).is_enabled()
        False
        """
        return self._enabled

    def state_dict(self):
        """Its numbers in PyTorch's form, to be kept.

        Returns
        -------
        dict
            The numbers by their names; nothing where nothing is scaled.

        Examples
        --------
        >>> tt.amp.GradScaler(enabled=False).state_dict()
        {}
        """
        if not self._enabled:
            return {}
        return {
            "scale": self.get_scale(),
            "growth_factor": self._growth_factor,
            "backoff_factor": self._backoff_factor,
            "growth_interval": self._growth_interval,
            "_growth_tracker": self._growth_tracker,
        }

    def load_state_dict(self, state_dict):
        """Go on from what state_dict gave, here or in PyTorch.

        Parameters
        ----------
        state_dict : dict
            The numbers.

        Returns
        -------
        None

        Examples
        --------
        >>> scaler = tt.amp.GradScaler()
        >>> scaler.load_state_dict(tt.amp.GradScaler(init_scale=4.0).state_dict())
        >>> scaler.get_scale()
        4.0
        """
        if not self._enabled:
            return
        if not state_dict:
            raise RuntimeError(
                "The source state dict is empty, possibly because it was saved from a disabled instance of GradScaler."
            )
        self._init_scale = self._scale = float(state_dict["scale"])
        self._growth_factor = state_dict["growth_factor"]
        self._backoff_factor = state_dict["backoff_factor"]
        self._growth_interval = state_dict["growth_interval"]
        self._growth_tracker = int(state_dict["_growth_tracker"])


def _plain_step():
    """The step of optimisers that the library records as one; others are asked before whether they are to be done."""
    from .optim import Optimizer

    return Optimizer.step
