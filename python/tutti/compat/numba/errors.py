"""numba.errors: what scripts catch or silence. Compiling raises Python's own errors, which these names stand for."""

from ..._jit.settings import NumbaPerformanceWarning, NumbaWarning


class NumbaDeprecationWarning(NumbaWarning, DeprecationWarning):
    pass


class NumbaPendingDeprecationWarning(NumbaWarning, PendingDeprecationWarning):
    pass


class NumbaExperimentalFeatureWarning(NumbaWarning):
    pass


class NumbaInvalidConfigWarning(NumbaWarning):
    pass


class NumbaDebugInfoWarning(NumbaWarning):
    pass


NumbaError = Exception
TypingError = NumbaTypeError = TypeError
NumbaValueError = ValueError
NumbaIndexError = IndexError
NumbaRuntimeError = InternalError = RuntimeError
RequireLiteralValue = ForceLiteralArg = TypeError
UnsupportedError = LoweringError = NumbaNotImplementedError = UnsupportedBytecodeError = NotImplementedError
CompilerError = UnsupportedRewriteError = UnsupportedParforsError = NotImplementedError

__all__ = [
    "CompilerError", "ForceLiteralArg", "InternalError", "LoweringError", "NumbaDebugInfoWarning",
    "NumbaDeprecationWarning", "NumbaError", "NumbaExperimentalFeatureWarning", "NumbaIndexError",
    "NumbaInvalidConfigWarning", "NumbaNotImplementedError", "NumbaPendingDeprecationWarning",
    "NumbaPerformanceWarning", "NumbaRuntimeError", "NumbaTypeError", "NumbaValueError", "NumbaWarning",
    "RequireLiteralValue", "TypingError", "UnsupportedBytecodeError", "UnsupportedError", "UnsupportedParforsError",
    "UnsupportedRewriteError",
]  # fmt: skip


def __getattr__(name):
    raise AttributeError(f"tutti.compat.numba does not cover numba.errors.{name}")
