"""The Python source of functions, and how it travels with a function that another process cannot name."""

import ast
import contextlib
import inspect
import textwrap

_NO_SOURCE = (
    "the source of {} is needed to compile it, and is not there: put the function into a file (IPython and notebooks "
    "keep what is typed, Python's own prompt does so from 3.13 on)"
)
_CARRIED = "__tutti_source__"  # of a function: its lines and the first one's number


def lines_of(fn):
    """A function's source lines and the number of the first: those it carries, else those of its file."""
    carried = getattr(fn, _CARRIED, None)
    if carried is not None:
        return carried
    try:
        return inspect.getsourcelines(fn)
    except (OSError, TypeError) as e:
        raise OSError(_NO_SOURCE.format(fn.__name__)) from e


def carry(fn):
    """Let a function carry its source, for a process that has not its file."""
    if inspect.isfunction(fn):
        with contextlib.suppress(OSError):
            setattr(fn, _CARRIED, lines_of(fn))


def source_of(fn):
    """The function's own node and the number of the line before its source."""
    lines, first = lines_of(fn)
    text = textwrap.dedent("".join(lines))
    if fn.__name__ == "<lambda>":
        return _lambda_in(text, fn), first - 1
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef) and node.name == fn.__name__:
            return node, first - 1
    raise OSError(_NO_SOURCE.format(fn.__name__))


def _lambda_in(text, fn):
    """The lambda whose code this is, somewhere in a line of source."""
    at = text.find("lambda")
    while at >= 0:
        for end in range(len(text), at, -1):
            try:
                node = ast.parse(text[at:end].rstrip(), mode="eval").body
            except SyntaxError:
                continue
            if isinstance(node, ast.Lambda):
                code = compile(ast.Expression(node), "?", "eval").co_consts[0]
                if code.co_code == fn.__code__.co_code and code.co_consts == fn.__code__.co_consts:
                    return node
        at = text.find("lambda", at + 1)
    raise OSError("the source of a lambda is needed to compile it, and cannot be told")
