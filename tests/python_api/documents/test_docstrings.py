"""Every public function, method and class documents itself in numpydoc's form, and its examples print what they say."""

import doctest
import importlib
import inspect
import os
import shutil
import warnings

import pytest
import tutti as tt

MODULES = (
    "tutti linalg fft random emath cuda lib.stride_tricks polynomial polynomial.polyutils polynomial.polynomial "
    "polynomial.chebyshev polynomial.hermite polynomial.hermite_e polynomial.laguerre polynomial.legendre kernel "
    "amp data exceptions safetensors special optim optim.lr_scheduler nn nn.functional nn.init nn.utils "
    "nn.utils.parametrizations nn.utils.parametrize nn.utils.rnn callbacks metrics"
).split()


COMPILER = any(map(shutil.which, ("c++", "g++", "clang++"))) and "none" not in map(
    os.environ.get, ("TUTTI_CC", "TUTTI_CXX")
)


def module(name):
    return tt if name == "tutti" else importlib.import_module("tutti." + name)


def is_documented(value):
    """Callables but types of elements (the type itself has a text) and words of kernels, which no program calls."""
    own = getattr(value, "__module__", "") not in ("builtins", "tutti._jit.cuda_words")  # another name of Python's
    words = type(value).__module__.startswith("tutti._jit")
    own = own and value is not tt.ufunc  # whose __doc__ is that of its instances
    return callable(value) and own and not isinstance(value, tt.dtype) and not words


def members(kind):
    """The methods that a class of ours adds."""
    for name, value in inspect.getmembers(kind):
        if name.startswith("_") or not callable(value) or isinstance(value, type):
            continue
        owner = next((c for c in kind.__mro__ if name in vars(c)), None)
        if owner is not None and owner.__module__.startswith("tutti"):
            yield name, value


def public(name):
    found = module(name)
    names = getattr(found, "__all__", None) or [n for n in dir(found) if not n.startswith("_")]
    for own in names:
        value = getattr(found, own)
        if inspect.ismodule(value) or not is_documented(value):
            continue
        yield f"{name}.{own}", value
        if isinstance(value, type):
            yield from ((f"{name}.{own}.{n}", method) for n, method in members(value))


def parameters(value):
    """The parameters of its signature, self apart."""
    if isinstance(value, type) and issubclass(value, (BaseException, dict)):  # nothing of their own
        return []
    names = list(inspect.signature(value).parameters)
    return [n for n in names if n not in ("self", "cls", "args", "kwargs", "unused")]


def sections(text):
    lines = text.splitlines()
    return {a for a, b in zip(lines, lines[1:]) if a and set(b) == {"-"} and len(b) == len(a)}


def lacking(value):
    text = inspect.getdoc(value) or ""
    found = sections(text)
    is_class = isinstance(value, type)
    wanted = {"Examples"} | ({"Parameters"} if parameters(value) else set()) | (set() if is_class else {"Returns"})
    missing = sorted(wanted - found)
    if not text.partition("\n\n")[0].strip() or text.startswith(("Parameters", "Returns")):
        missing.append("summary")
    return missing


@pytest.mark.parametrize("name", MODULES)
def test_every_section_is_there(name):
    missing = {path: m for path, value in public(name) if (m := lacking(value))}
    assert missing == {}


@pytest.mark.parametrize("name", MODULES)
def test_every_parameter_is_told(name):
    wrong = {}
    for path, value in public(name):
        text = inspect.getdoc(value)
        left = [p for p in parameters(value) if not any(w + p in text for w in ("", "*", "**"))]
        if left:
            wrong[path] = left
    assert wrong == {}


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    seen, runner = set(), doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE, verbose=False)
    parser, said = doctest.DocTestParser(), []
    for path, value in public(name):
        text = inspect.getdoc(value) or ""
        if ">>>" not in text or id(value) in seen or (not COMPILER and ("kernel" in text.lower() or "Module" in path)):
            continue
        seen.add(id(value))
        test = parser.get_doctest(text, {"tt": tt}, path, None, None)
        with warnings.catch_warnings():
            runner.run(test, out=said.append)
    assert runner.failures == 0, "".join(said)[:4000]
