"""What functions are called, where they are written, and what their arguments are."""

import inspect
import os


def get_func_code(func):
    """The text of a function, the file it is in, and its first line; -1 where nobody knows."""
    code = getattr(func, "__code__", None)
    try:
        lines, first = inspect.getsourcelines(func)
        return "".join(lines), inspect.getsourcefile(func), max(first, 1)
    except (OSError, TypeError, IndexError):
        if code is None:
            return repr(func), None, -1
        return str(code.co_code) + repr(code.co_consts), code.co_filename, -1


def get_func_name(func, resolv_alias=True, win_characters=True):
    """The parts of a function's module, and its name."""
    if hasattr(func, "func") and not hasattr(func, "__name__"):  # a partial
        return get_func_name(func.func)
    module = getattr(func, "__module__", None) or getattr(type(func), "__module__", None) or "unknown"
    name = getattr(func, "__qualname__", getattr(func, "__name__", type(func).__qualname__))
    name = name.replace(".<locals>", "").rpartition(".")[2] if "<lambda>" not in name else "<lambda>"
    if module == "__main__":
        file = getattr(getattr(func, "__code__", None), "co_filename", "")
        cell = file.strip("<>").split("-")
        if cell[:2] == ["ipython", "input"]:  # its number is another one in the next session
            file = "-".join(cell[:2] + cell[3:])
        elif file and not file.startswith("<"):
            file = os.path.splitext(os.path.abspath(file))[0]
        module = "__main__-" + "-".join(file.split(os.sep)).strip("<>") if file else module
        return [module.replace(".", "_")], name
    owner = getattr(func, "__self__", None)
    if owner is not None and not inspect.ismodule(owner):
        module += "." + (owner if isinstance(owner, type) else type(owner)).__name__
    return module.split("."), name


def filter_args(func, ignore_lst, args=(), kwargs=None):
    """The arguments of a call by name, without those that are ignored; '*' and '**' are those without a name.

    Raises
    ------
    ValueError
        The call does not fit the function, or a name to ignore is no argument of it.
    """
    kwargs = kwargs or {}
    if isinstance(ignore_lst, str):
        raise ValueError(f"Ignore list argument must be a list, {ignore_lst!r} (type str) was given")
    try:
        signature = inspect.signature(func)
    except (TypeError, ValueError):
        if ignore_lst:
            raise ValueError(f"Cannot retrieve the arguments of {func}: ignore={ignore_lst}") from None
        return {"*": list(args), "**": kwargs}
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError as error:
        raise ValueError(
            f"{'Too many' if str(error).startswith('too many') else 'Wrong number of'} arguments for {func}: {error}"
        ) from None
    bound.apply_defaults()
    named = {}
    for name, value in bound.arguments.items():
        kind = signature.parameters[name].kind
        if kind is inspect.Parameter.VAR_POSITIONAL:
            named["*"] = list(value)
        elif kind is inspect.Parameter.VAR_KEYWORD:
            named["**"] = dict(value)
        else:
            named[name] = value
    for name in ignore_lst:
        if name in named:
            del named[name]
        elif name in named.get("**", {}):
            del named["**"][name]
        elif name not in ("*", "**"):
            raise ValueError(f"Ignore list: argument '{name}' is not defined for function {func}")
    return named


def format_signature(func, *args, **kwargs):
    """The module of a function, and a call of it as text."""
    module, name = get_func_name(func)
    path = ".".join([*module, name])
    shown = [_short(arg) for arg in args] + [f"{k}={_short(v)}" for k, v in kwargs.items()]
    return path, f"{name}({', '.join(shown)})"


def _short(arg):
    text = repr(arg)
    return text if len(text) <= 1500 else f"{text[:700]}...{text[-700:]}"
