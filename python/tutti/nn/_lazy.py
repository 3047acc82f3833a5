"""Layers that learn from their first input how many channels it has; then they are those of `_weighted`."""

import inspect

from .. import _core
from . import _weighted
from ._calls import Hooks
from ._module import UninitializedParameter

_WORDS = """A {base} that learns from its first input how many {what} there are; then it is one.

Parameters
----------
{parameters}

Examples
--------
>>> layer = tt.nn.{name}({given})
>>> layer
{printed}
>>> layer(tt.ones({shape}, dtype="float32")).shape
{result}
"""


class _Lazy(_core.Module):  # of the layout of what it becomes
    """What a lazy layer has before it is its base: parameters that nobody may use, and its constructor's arguments."""

    _base, _counted, _n = None, "", None

    def _wait(self, arguments):
        self._base.__init__(self, arguments.get("groups", 1), **arguments)
        object.__setattr__(self, "_arguments", arguments)
        setattr(self, self._counted, 0)
        for name, p in self._parameters.items():
            if p is not None:
                self._parameters[name] = UninitializedParameter(p)

    def has_uninitialized_params(self):
        """Has no input been seen yet?

        Returns
        -------
        bool
            True; its base has no such function.

        Examples
        --------
        >>> tt.nn.LazyLinear(3).has_uninitialized_params()
        True
        """
        return True

    def initialize_parameters(self, input):
        """Become the base, with as many channels as an input has.

        Parameters
        ----------
        input : ndarray
            The input.

        Returns
        -------
        None

        Examples
        --------
        >>> layer = tt.nn.LazyLinear(3)
        >>> layer.initialize_parameters(tt.ones((4, 2)))
        >>> layer
        Linear(in_features=2, out_features=3, bias=True)
        """
        shape = input.shape
        if issubclass(self._base, _weighted._Conv):
            if len(shape) not in (self._n + 1, self._n + 2):
                raise ValueError(
                    f"Expected {self._n + 1}D (unbatched) or {self._n + 2}D (batched) input to "
                    f"{type(self).__name__}, but got input of size: {list(shape)}"
                )
            return self._become(shape[-self._n - 1])
        return self._become(shape[-1] if issubclass(self._base, _weighted.Linear) else shape[1])

    def _become(self, n):
        kept = {name: self.__dict__[name] for name in (*Hooks.KINDS, "_hook_options", "training")}
        arguments, held = (
            self._arguments,
            [a for a in (*self._parameters.values(), *self._buffers.values()) if a is not None],
        )
        if held:
            arguments = {**arguments, "device": held[0].device, "dtype": held[0].dtype}
        del self.__dict__["_arguments"]
        self.__class__ = self._base
        self.__init__(n, **arguments)
        for name, value in kept.items():
            object.__setattr__(self, name, value)

    def _before_loading(self, path, state):
        """A state says by its shapes how many channels there are."""
        name = "weight" if path + "weight" in state else "running_mean"
        if path + name not in state:
            return
        shape = state[path + name].shape
        if issubclass(self._base, _weighted._Conv):
            groups = self._arguments.get("groups", 1)
            self._become(shape[0] if self._base._transposed else shape[1] * groups)
        else:
            self._become(shape[-1])

    def __call__(self, *args, **kwargs):
        self.initialize_parameters(*args, **kwargs)
        return self(*args, **kwargs)


_DOCUMENTED = {
    "Linear": ("in_features", "3", "LazyLinear(in_features=0, out_features=3, bias=True)", (4, 2), (4, 3)),
    "Conv": ("in_channels", "4, 3", "{name}(0, 4, kernel_size={k}, stride={s})", (1, 2), (1, 4)),
    "BatchNorm": (
        "num_features",
        "",
        "{name}(0, eps=1e-05, momentum=0.1, affine=True, bias=True, track_running_stats=True)",
        (4, 2),
        (4, 2),
    ),
    "InstanceNorm": (
        "num_features",
        "",
        "{name}(0, eps=1e-05, momentum=0.1, affine=True, bias=True, track_running_stats=True)",
        (4, 2),
        (4, 2),
    ),
}


def _words(name, base, n):
    kind = name.removeprefix("Lazy").rstrip("123d").removesuffix("Transpose")
    what, given, printed, shape, result = _DOCUMENTED[kind]
    if n:
        shape += (5,) * n
        longer = 7 if "Transpose" in name else 3 if kind == "Conv" else 5
        result += (longer,) * n
    head, _, rest = base.__doc__.partition("----------\n")
    lines = rest.partition("\n\nExamples")[0].split("\n")
    return _WORDS.format(
        base=base.__name__,
        what=what,
        parameters="\n".join(lines[2:]),  # without the first
        name=name,
        given=given,
        printed=printed.format(name=name, k=(3,) * (n or 0), s=(1,) * (n or 0)),
        shape=shape,
        result=result,
    )


def _lazy(base, n=None):
    name = "Lazy" + base.__name__
    first, *rest = list(inspect.signature(base.__init__).parameters.values())[1:]
    if base.__name__.startswith("InstanceNorm"):  # PyTorch's lazy ones have both
        rest = [p.replace(default=True) if p.name in ("affine", "track_running_stats") else p for p in rest]
    told = str(inspect.Signature(rest))[1:-1]
    passed = ", ".join(f"{p.name!r}: {p.name}" for p in rest)
    made = {}
    exec(f"def __init__(self, {told}):\n    self._wait({{{passed}}})", made)  # noqa: S102 (of the base's parameters)
    members = {"__doc__": _words(name, base, n), "__module__": "tutti.nn", "__init__": made["__init__"]}
    return type(name, (_Lazy, base), {**members, "_base": base, "_counted": first.name, "_n": n})


LazyLinear = _lazy(_weighted.Linear)
LazyConv1d, LazyConv2d, LazyConv3d = (_lazy(getattr(_weighted, f"Conv{n}d"), n) for n in (1, 2, 3))
LazyConvTranspose1d, LazyConvTranspose2d, LazyConvTranspose3d = (
    _lazy(getattr(_weighted, f"ConvTranspose{n}d"), n) for n in (1, 2, 3)
)
LazyBatchNorm1d, LazyBatchNorm2d, LazyBatchNorm3d = (_lazy(getattr(_weighted, f"BatchNorm{n}d"), n) for n in (1, 2, 3))
LazyInstanceNorm1d, LazyInstanceNorm2d, LazyInstanceNorm3d = (
    _lazy(getattr(_weighted, f"InstanceNorm{n}d"), n) for n in (1, 2, 3)
)
