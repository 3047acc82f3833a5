"""The exceptions that NumPy defines beside Python's own.

Where NumPy is imported already, what is raised is an instance of NumPy's class of the same
name too, so that programs written for either catch it.
"""

import sys as _sys

__all__ = [
    "AxisError", "CompileError", "LinAlgError", "StrictError", "TooHardError", "ComplexWarning", "PerformanceWarning",
    "RankWarning",
]  # fmt: skip


class AxisError(ValueError, IndexError):
    """An axis that the array does not have.

    Parameters
    ----------
    axis : int or str
        The axis, or the whole message.
    ndim : int, optional
        How many axes there are.
    msg_prefix : str, optional
        What stands before the message.

    Examples
    --------
    >>> str(tt.AxisError(2, 1))
    'axis 2 is out of bounds for array of dimension 1'
    """

    def __init__(self, axis, ndim=None, msg_prefix=None):
        if ndim is None and msg_prefix is None:
            text, self.axis, self.ndim = str(axis), None, None
        else:
            text = f"axis {axis} is out of bounds for array of dimension {ndim}"
            if msg_prefix is not None:
                text = f"{msg_prefix}: {text}"
            self.axis, self.ndim = axis, ndim
        self._msg = text  # where NumPy's class of this name looks
        Exception.__init__(self, text)


class LinAlgError(ValueError):
    """A matrix that the algorithm cannot take: singular, not positive definite, not square.

    Examples
    --------
    >>> issubclass(tt.linalg.LinAlgError, ValueError)
    True
    """


class StrictError(RuntimeError):
    """What tutti.strict() forbade would have happened.

    Examples
    --------
    >>> issubclass(tt.exceptions.StrictError, Exception)
    True
    """


class CompileError(RuntimeError):
    """The source of a kernel does not compile, or there is no compiler; the message is the compiler's.

    Examples
    --------
    >>> issubclass(tt.CompileError, RuntimeError)
    True
    """


class TooHardError(RuntimeError):
    """A search that would take too long.

    Examples
    --------
    >>> issubclass(tt.exceptions.TooHardError, RuntimeError)
    True
    """


class ComplexWarning(RuntimeWarning):
    """An imaginary part was dropped.

    Examples
    --------
    >>> issubclass(tt.exceptions.ComplexWarning, RuntimeWarning)
    True
    """


class RankWarning(RuntimeWarning):
    """The polynomial of a fit is not determined by its points.

    Examples
    --------
    >>> issubclass(tt.exceptions.RankWarning, Warning)
    True
    """


class PerformanceWarning(UserWarning):
    """Something is done in a way that costs much more than it must.

    Examples
    --------
    >>> issubclass(tt.exceptions.PerformanceWarning, Warning)
    True
    """


_joined = {}


def _class(name):
    """The class to raise: ours, or one that is NumPy's as well."""
    ours = globals()[name]
    module = _sys.modules.get("numpy.linalg" if name == "LinAlgError" else "numpy.exceptions")
    theirs = getattr(module, name, None)
    if theirs is None:
        return ours
    if name not in _joined:
        _joined[name] = type(name, (ours, theirs), {"__module__": __name__, "__doc__": ours.__doc__})
    return _joined[name]


def _warning(name):
    """The class to warn with: Python's, or as for errors."""
    plain = {w.__name__: w for w in (RuntimeWarning, UserWarning, DeprecationWarning)}
    return plain.get(name) or _class(name)
