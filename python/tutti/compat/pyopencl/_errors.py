"""PyOpenCL's errors: each knows OpenCL's code, the routine that failed and what it said."""

from ._constants import CLASSES

_STATUS = CLASSES["status_code"]


class Error(Exception):
    """The root of PyOpenCL's errors."""

    def __init__(self, what="", code=0, routine=""):
        super().__init__(what)
        self.what, self.code, self.routine = what, code, routine

    def __str__(self):
        name = _STATUS.to_string(self.code, "<unknown error %d>") if self.code else ""
        head = f"{self.routine} failed: {name}" if self.routine and name else self.routine
        return " - ".join(part for part in (head, str(self.what)) if part)


class LogicError(Error):
    """A call that means nothing."""


class MemoryError(Error):  # noqa: A001 (PyOpenCL's name)
    """There is not that much memory."""


class RuntimeError(Error):  # noqa: A001 (PyOpenCL's name)
    """Something else failed."""


class CompilerWarning(UserWarning):
    """What a compiler said of a program that it compiled."""


class CommandQueueUsedAfterExit(UserWarning):
    """A queue is used after the with statement that it was made for."""


class RepeatedKernelRetrieval(UserWarning):
    """A kernel is made again and again: prg.kernel makes a new one each time."""


def failure(code, routine, what=""):
    """The error of a code that is given by its name: of the class that PyOpenCL chooses by the code."""
    number = getattr(_STATUS, code)
    if code == "MEM_OBJECT_ALLOCATION_FAILURE":
        return MemoryError(what, number, routine)
    return (LogicError if number <= _STATUS.INVALID_VALUE else RuntimeError)(what, number, routine)
