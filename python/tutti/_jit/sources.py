"""The Python source of functions, and how it travels with a function that another process cannot name."""

import ast
import contextlib
import functools
import inspect
import linecache
import sys
import textwrap
import types

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
    if fn.__code__.co_filename == "<string>" and _is_of_command(fn.__code__):
        text = _command()
        linecache.cache["<string>"] = len(text), None, text.splitlines(True), "<string>"
    try:
        return inspect.getsourcelines(fn)
    except (OSError, TypeError) as e:
        raise OSError(_NO_SOURCE.format(fn.__name__)) from e


def _command():
    """The program of `python -c program`."""
    given = sys.orig_argv
    at = next((k for k, word in enumerate(given) if word == "-c"), len(given))
    return textwrap.dedent(given[at + 1]) if at + 1 < len(given) else ""


def _is_of_command(code):
    """Is it the code of a function of that program? Others are made of texts that nobody keeps."""
    rest = [compile(_command(), "<string>", "exec", dont_inherit=True)]
    for one in rest:
        rest += [part for part in one.co_consts if isinstance(part, types.CodeType)]
    return any(one == code and one.co_firstlineno == code.co_firstlineno for one in rest)


def carry(fn):
    """Let a function carry its source, for a process that has not its file."""
    if inspect.isfunction(fn):
        with contextlib.suppress(OSError):
            setattr(fn, _CARRIED, lines_of(fn))


def source_of(fn):
    """The function's own node and the number of the line before its source."""
    found = _lambda_at(fn) if fn.__name__ == "<lambda>" else None
    if found is not None:
        return found, 0
    lines, first = lines_of(fn)
    text = textwrap.dedent("".join(lines))
    if fn.__name__ == "<lambda>":
        return _lambda_in(text, fn), first - 1
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef) and node.name == fn.__code__.co_name:  # its name may be another now
            return node, first - 1
    raise OSError(_NO_SOURCE.format(fn.__name__))


@functools.lru_cache(4)
def _lambdas(text):
    """The lambdas of a file: where the body begins and ends, and the node."""
    nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Lambda)]
    return [
        ((n.body.lineno, n.body.col_offset), (n.body.end_lineno, n.body.end_col_offset), n) for n in nodes
    ]  # fmt: skip


def _lambda_at(fn):
    """The innermost lambda of the function's file around all that its instructions come from; None: nobody can tell."""
    if hasattr(fn, _CARRIED):
        return None
    places = [p for p in fn.__code__.co_positions() if None not in p and p[3] > 0]  # those of some are line 0 to 0
    try:
        all_of_them = _lambdas("".join(linecache.getlines(fn.__code__.co_filename)))
    except SyntaxError:
        return None
    around = [
        (first, node)
        for first, last, node in all_of_them
        if places and first <= min((p[0], p[2]) for p in places) and max((p[1], p[3]) for p in places) <= last
    ]
    return max(around, key=lambda found: found[0])[1] if around else None


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
