"""Functions and classes by value: bytes that another process, without our modules, makes the same thing of."""

import abc
import collections
import dataclasses
import functools
import os
import pickle
import struct
import subprocess
import sys
import textwrap
import threading
import types

import pytest
import tutti
from tutti.parallel import _code

OTHER = """
import sys, struct, pickle
sys.path[:0] = [{path!r}]
from tutti.parallel import _code
get, put = sys.stdin.buffer, sys.stdout.buffer
sys.stdout = sys.stderr
while head := get.read(8):
    try:
        f, args = _code.loads(get.read(struct.unpack("q", head)[0]))
        answer = True, f(*args)
        data = bytes(_code.dumps(answer))
    except BaseException as error:
        data = bytes(_code.dumps((False, error)))
    put.write(struct.pack("q", len(data)) + data)
    put.flush()
"""


class Other:
    """Another process that calls what it is sent."""

    def __init__(self):
        path = os.path.dirname(os.path.dirname(os.path.abspath(tutti.__file__)))
        self.process = subprocess.Popen(
            [sys.executable, "-c", OTHER.format(path=path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd="/"
        )

    def __call__(self, f, *args, scope=None):
        data = bytes(_code.dumps((f, args), scope=scope))
        self.process.stdin.write(struct.pack("q", len(data)) + data)
        self.process.stdin.flush()
        (n,) = struct.unpack("q", self.process.stdout.read(8))
        good, value = _code.loads(self.process.stdout.read(n))
        if not good:
            raise value
        return value


@pytest.fixture(scope="module")
def other():
    other = Other()
    yield other
    other.process.stdin.close()
    other.process.stdout.close()
    assert other.process.wait(20) == 0


def program(text, name="__main__"):
    """The names that a program binds, as if it were the process's main one."""
    names = {"__name__": name}
    exec(compile(text, "<program>", "exec"), names)
    return types.SimpleNamespace(**{k: v for k, v in names.items() if not k.startswith("__")})


def test_lambda(other):
    assert other(lambda x, y=3, *, z=4: (x, y, z), 1) == (1, 3, 4)


def test_closure_shares_cells(other):
    def make():
        count = 0

        def up():
            nonlocal count
            count += 1

        def get():
            return count

        return up, get

    def use(pair):
        up, get = pair
        up()
        up()
        return get()

    assert other(use, make()) == 2


def test_recursive_closure(other):
    def fact(n):
        return n * fact(n - 1) if n else 1

    assert other(fact, 10) == 3628800


def test_mutually_recursive(other):
    p = program("def even(n): return n == 0 or odd(n - 1)\n" "def odd(n): return n != 0 and even(n - 1)\n")
    assert other(p.even, 10) is True and other(p.odd, 10) is False


def test_globals_that_are_used_and_no_others(other):
    p = program(
        "import threading\nk = 5\nlock = threading.Lock()\nclass A: lock = 3\ndef f(x): return x + k + A().lock\n"
    )
    assert other(p.f, 1) == 9  # the attribute's name is no global


def test_functions_share_globals(other):
    p = program("n = 0\ndef up():\n    global n\n    n += 1\n    return n\ndef two():\n    up()\n    return up() + n\n")
    assert other(p.two) == 4
    assert other(p.two) == 4  # anew for each call


def test_a_scope_keeps_what_the_worker_binds(other):
    p = program(
        "model = None\nk = 1\ndef begin(m):\n    global model\n    model = m\ndef task(x): return model * x + k\n"
    )
    other(p.begin, 7, scope="a")
    assert other(p.task, 2, scope="a") == 15
    assert other(p.task, 3, scope="a") == 22
    with pytest.raises(TypeError):
        other(p.task, 2, scope="b")
    p.task.__globals__["k"] = 2  # what the program changes arrives
    assert other(p.task, 2, scope="a") == 16


def test_nested_code_and_class_bodies_look_globals_up(other):
    p = program("a, b = 1, 2\ndef f():\n    class C:\n        v = b\n    return [a + C.v for _ in range(2)]\n")
    assert other(p.f) == [3, 3]


def test_more_than_256_names(other):
    text = "\n".join(f"name_{i} = {i}" for i in range(600))
    p = program(text + "\ndef f(): return " + " + ".join(f"name_{i}" for i in range(600)))
    assert other(p.f) == sum(range(600))


def test_submodules(other):
    p = program("import xml.etree.ElementTree\ndef f(): return xml.etree.ElementTree.fromstring('<a>7</a>').text\n")
    assert other(p.f) == "7"


def test_methods_and_partials(other):
    p = program(
        "class A:\n    def __init__(self, k): self.__k = k\n    def __own(self, x): return self.__k * x\n"
        "    def bound(self): return self.__own\n    @classmethod\n    def c(cls, x): return cls(x).bound()(2)\n"
        "    @staticmethod\n    def s(x): return -x\n    @property\n    def k(self): return self.__k\n"
    )
    assert other(p.A(3).bound(), 5) == 15
    assert other(p.A.c, 4) == 8
    assert other(p.A.s, 4) == -4
    assert other(functools.partial(lambda x, y: x - y, y=2), 5) == 3
    assert other(lambda a: a.k, p.A(3)) == 3
    assert other(functools.partial(p.A(6).bound(), 7)) == 42


def test_builtin_and_module_functions_go_by_name(other):
    assert other(len, "abc") == 3
    assert len(_code.dumps(os.path.join)) < 60
    assert other(collections.OrderedDict.fromkeys, "ab") == {"a": None, "b": None}


def test_super_and_class_attributes(other):
    p = program(
        "class A:\n    def f(self): return 1\nclass B(A):\n    n = 4\n    def f(self): return super().f() + self.n\n"
    )
    assert other(lambda b: b.f(), p.B()) == 5


def test_an_instance_comes_back_as_its_own_class(other):
    p = program(
        "class A:\n    def __init__(self, x): self.x = x\n"
        "    def __eq__(self, o): return type(o) is A and o.x == self.x\n"
    )
    assert other(lambda a: a, p.A(3)) == p.A(3)
    assert isinstance(other(p.A, 5), p.A)
    assert other(lambda a, b: type(a) is type(b), p.A(1), p.A(2))


def test_one_class_over_several_calls(other):
    p = program(
        "class A: pass\nkeep = []\ndef f(a):\n    keep.append(a)\n    return len({type(k) for k in keep}), len(keep)\n"
    )
    other(p.f, p.A(), scope="classes")
    assert other(p.f, p.A(), scope="classes") == (1, 2)


def test_slots_abc_and_generic(other):
    p = program(
        "import abc\nclass S:\n    __slots__ = ('a', '__b')\n    def __init__(self): self.a, self.__b = 1, 2\n"
        "    def t(self): return self.a + self.__b\n"
        "class I(abc.ABC):\n    @abc.abstractmethod\n    def f(self): ...\nclass J(I):\n    def f(self): return 6\n"
        "import typing\nT = typing.TypeVar('T')\nclass G(typing.Generic[T]):\n    def g(self, x: T) -> T: return x\n"
    )
    assert other(lambda s: s.t(), p.S()) == 3
    assert other(lambda j: j.f(), p.J()) == 6
    with pytest.raises(TypeError, match="abstract"):
        other(p.I)
    assert other(lambda g: g.g(3), p.G()) == 3
    assert other(lambda g: g[int]().g(4), p.G) == 4
    assert other(lambda cls: issubclass(cls, abc.ABC), p.J)


def test_metaclass_keeps_what_it_made(other):
    p = program(
        "class M(type):\n    def __new__(m, name, bases, d):\n"
        "        return super().__new__(m, name, bases, {**d, 'tag': name})\n"
        "    def __len__(cls): return 9\nclass A(metaclass=M): pass\n"
    )
    assert other(lambda c: (c.tag, len(c)), p.A) == ("A", 9)


def test_dataclass_enum_and_named_tuple(other):
    p = program(
        "import dataclasses, enum, typing, collections\n@dataclasses.dataclass(order=True)\n"
        "class D:\n    a: int\n    b: list = dataclasses.field(default_factory=list)\n"
        "class E(enum.Enum):\n    X = 1\n    Y = 2\n    Z = 1\n    def twice(self): return self.value * 2\n"
        "class F(enum.IntFlag):\n    A = 1\n    B = 2\n"
        "class Planet(enum.Enum):\n    EARTH = (1.0, 2.0)\n    def __init__(self, m, r): self.m, self.r = m, r\n"
        "class N(typing.NamedTuple):\n    a: int\n    b: int = 2\nC = collections.namedtuple('C', 'x y')\n"
    )
    assert other(lambda d, R=dataclasses.replace: R(d, a=d.a + 1), p.D(1)) == p.D(2)
    assert other(lambda d, f=dataclasses.fields: [x.name for x in f(d)], p.D) == ["a", "b"]
    assert other(lambda e: e, p.E.X) is p.E.X
    assert other(lambda e: (e.twice(), e.name), p.E.Z) == (2, "X")
    assert other(lambda a, b: a | b, p.F.A, p.F.B) == 3
    assert other(lambda e: e.r, p.Planet.EARTH) == 2.0
    assert other(lambda n: n._replace(a=5), p.N(1)) == (5, 2)
    assert other(lambda c: c.x + c.y, p.C(1, 2)) == 3
    assert isinstance(other(p.C, 1, 2), p.C)


def test_exceptions_of_the_program(other):
    p = program(
        "class Bad(Exception):\n    def __init__(self, code): super().__init__(code); self.code = code\n"
        "def f(): raise Bad(7)\n"
    )
    with pytest.raises(p.Bad) as caught:
        other(p.f)
    assert caught.value.code == 7


def test_caches_generators_and_coroutines(other):
    p = program(
        "import functools\n@functools.lru_cache(maxsize=None)\n"
        "def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)\n"
        "def gen(n):\n    yield from range(n)\ndef use(n): return list(gen(n)), fib(80)\n"
        "import asyncio\nasync def co(): return 5\ndef run(): return asyncio.run(co())\n"
    )
    assert other(p.use, 3) == ([0, 1, 2], 23416728348467685)
    assert other(p.run) == 5


def test_attributes_of_functions(other):
    def f(x: int) -> "str":
        "says"
        return f.k

    f.k = 8
    assert other(f, 1) == 8
    back = other(lambda g: g, f)
    assert (back.__doc__, back.__annotations__, back.k, back.__qualname__) == (
        "says",
        {"x": int, "return": "str"},
        8,
        f.__qualname__,
    )


def test_wrapped_functions(other):
    def trace(f):
        @functools.wraps(f)
        def inner(*args):
            return [f(*args)]

        return inner

    assert other(trace(trace(lambda x: x)), 3) == [[3]]


def test_modules_made_by_hand(other):
    module = types.ModuleType("by_hand")
    exec("k = 3\ndef f(): return k", module.__dict__)
    assert other(lambda: module.f()) == 3
    assert other(module.f) == 3


def test_small_kinds(other):
    assert other(lambda *v: v[0]["a"], types.MappingProxyType({"a": 1})) == 1
    assert bytes(other(lambda m: m, memoryview(b"abc"))) == b"abc"
    assert other(lambda: sys.stderr.fileno()) == 2
    assert other(lambda t: t, types.FunctionType) is types.FunctionType
    assert other(lambda c: eval(c), compile("1 + 2", "c", "eval")) == 3


def test_proxies_of_pythons_managers(other):
    import multiprocessing

    with multiprocessing.get_context("spawn").Manager() as manager:
        items, waiting = manager.list([1]), manager.Queue()
        other(lambda a, q: (a.append(2), q.put(3)), items, waiting)
        assert list(items) == [1, 2] and waiting.get(timeout=20) == 3


def test_buffers_go_beside():
    big, beside = bytearray(1 << 20), []
    data = _code.dumps({"a": [pickle.PickleBuffer(big)]}, beside.append)
    assert len(data) < 200 and len(beside) == 1
    assert len(_code.loads(data, buffers=[big])["a"][0]) == 1 << 20


CASES = [
    (lambda: (lambda lock: lambda: lock)(threading.Lock()), "closure variable 'lock'.*_thread.lock.*one process"),
    (lambda: {"a": [1, (x for x in ())]}, r"\['a'\] -> \[1\] is of type generator"),
    (
        lambda: program("import threading\nlock = {'x': threading.Lock()}\ndef f(): return lock\n").f,
        "global 'lock' of 'f' -> \\['x'\\]",
    ),
    (lambda: functools.partial(print, file=open(os.devnull)), r"\.keywords -> \['file'\].*open file"),
    (lambda: types.SimpleNamespace(deep=types.SimpleNamespace(x=threading.Lock())), r"\.deep -> \.x"),
    (lambda: threading.Lock(), "the value itself"),
    (lambda: type("A", (), {"held": threading.Lock()})(), "class A -> attribute held of class A"),
    (
        lambda: type("A", (), {"f": lambda self: 1, "__init__": lambda self: setattr(self, "s", threading.Lock())})().f,
        r"object of method.* -> \.s",
    ),
]


@pytest.mark.parametrize("make, words", CASES)
def test_what_cannot_be_taken_is_said_with_its_place(make, words, monkeypatch):
    monkeypatch.delitem(sys.modules, "cloudpickle", raising=False)  # it takes what an open file holds
    with pytest.raises(pickle.PicklingError, match=words):
        _code.dumps(make())


def test_values_as_random_trees(other):
    """Trees of every kind of container, function and object, beside themselves after the way there and back."""
    import random

    p = program("import dataclasses\n@dataclasses.dataclass\nclass Node:\n    a: object\n    b: object\n")
    rng = random.Random(5)

    def tree(depth):
        if depth == 0:
            return rng.choice([None, True, 3, 2.5, "a", b"b", 1 << 80, (), frozenset({1})])
        kids = [tree(depth - 1) for _ in range(rng.randrange(3))]
        kind = rng.randrange(6)
        if kind == 0:
            return kids
        if kind == 1:
            return tuple(kids)
        if kind == 2:
            return {f"k{i}": k for i, k in enumerate(kids)}
        if kind == 3:
            return p.Node(kids, kids)
        held = kids
        return (lambda: held) if kind == 4 else functools.partial(lambda k: k, held)

    def shown(v):
        if isinstance(v, dict):
            return {k: shown(x) for k, x in v.items()}
        if isinstance(v, p.Node):
            return "Node", shown(v.a), v.a is v.b
        if callable(v):
            return "call", shown(v())
        return type(v)(map(shown, v)) if isinstance(v, (list, tuple)) else v

    for _ in range(60):
        value = tree(4)
        assert shown(other(lambda v: v, value)) == shown(value)


class Stand:
    """cloudpickle's names, as far as they are asked for."""

    def __init__(self, told=()):
        self.told, self.taken = told, []

    def dump(self, value, file, protocol):
        self.taken.append(type(value))
        file.write(pickle.dumps("taken"))

    def list_registry_pickle_by_value(self):
        return self.told


def test_cloudpickle_is_asked_for_what_is_left(monkeypatch):
    stand = Stand()
    monkeypatch.setitem(sys.modules, "cloudpickle", stand)
    assert _code.loads(_code.dumps([1])) == [1] and stand.taken == []
    lock = threading.Lock()
    assert _code.loads(_code.dumps(lambda: lock)) == "taken"


def test_what_cloudpickle_was_told_goes_by_value(monkeypatch):
    by_name = len(_code.dumps(textwrap.dedent))
    monkeypatch.setitem(sys.modules, "cloudpickle", Stand({"textwrap"}))
    data = _code.dumps(textwrap.dedent)
    assert len(data) > 5 * by_name and _code.loads(data)("  a") == "a"
