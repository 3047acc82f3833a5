"""numba.errors: what scripts catch or silence. Compiling raises Python's own errors, which these names stand for."""


class NumbaWarning(Warning):
    """The root of Numba's warnings; tutti gives none of them."""


class NumbaPerformanceWarning(NumbaWarning):
    pass


class NumbaDeprecationWarning(NumbaWarning, DeprecationWarning):
    pass


class NumbaPendingDeprecationWarning(NumbaWarning, PendingDeprecationWarning):
    pass


class NumbaExperimentalFeatureWarning(NumbaWarning):
    pass


NumbaError = Exception
TypingError = NumbaTypeError = TypeError
NumbaValueError = ValueError
NumbaIndexError = IndexError
UnsupportedError = LoweringError = NumbaNotImplementedError = UnsupportedBytecodeError = NotImplementedError

__all__ = [
    "LoweringError", "NumbaDeprecationWarning", "NumbaError", "NumbaExperimentalFeatureWarning", "NumbaIndexError",
    "NumbaNotImplementedError", "NumbaPendingDeprecationWarning", "NumbaPerformanceWarning", "NumbaTypeError",
    "NumbaValueError", "NumbaWarning", "TypingError", "UnsupportedBytecodeError", "UnsupportedError",
]  # fmt: skip


def __getattr__(name):
    raise AttributeError(f"tutti.compat.numba does not cover numba.errors.{name}")
