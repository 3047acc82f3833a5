"""Displays of several types, and what makers of overloads are told of what was written."""

import numpy as np
import pytest
import tutti as tt
from tutti.compat.numba import extending, literally, types

pytestmark = [
    pytest.mark.skipif("no C compiler" in tt.info(), reason="no C compiler"),
    pytest.mark.usefixtures("on_the_cpu"),
]


def told(call):
    """The types that a maker is given by a call of bar in a compiled function."""
    seen = []

    def bar(x):
        pass

    @extending.overload(bar)
    def maker(x):
        seen.append(x)
        return lambda x: 1

    tt.njit(call(bar))()
    return seen[-1]


def test_types_of_what_is_written():
    def numbers(bar):
        def f():
            x = [1, 2, 3]
            x.append(4)
            return bar(x)

        return f

    kind = told(numbers)
    assert isinstance(kind, types.List)
    assert kind.initial_value == [1, 2, 3]
    assert str(kind) == "list(int64)<iv=[1, 2, 3]>"

    def several(bar):
        def f():
            inner = [1, 2]
            return bar(["a", 1, 2j, inner, {"k": 1}, {"k": "v", "z": np.zeros(3)}])

        return f

    kind = told(several)
    assert isinstance(kind, types.LiteralList)
    assert not isinstance(kind, types.BaseTuple)
    assert kind.literal_value == [
        types.literal("a"), types.literal(1), types.complex128, types.List(types.int64, initial_value=[1, 2]),
        types.DictType(types.unicode_type, types.int64, initial_value={"k": 1}),
        types.LiteralStrKeyDict({types.literal("k"): types.literal("v"), types.literal("z"): types.float64[::1]}),
    ]  # fmt: skip

    def same(bar):
        return lambda: bar({"a": 1, "b": 2, "a": 7})  # noqa: F601

    assert told(same).initial_value == {"a": 7, "b": 2}


def test_makers_that_ask_for_literals():
    def power(x, n):
        pass

    @extending.overload(power)
    def maker(x, n):
        if not isinstance(n, types.Literal):
            return lambda x, n: literally(n)
        return (lambda x, n: x * x) if n.literal_value == 2 else (lambda x, n: x**n)

    assert tt.njit(lambda x: power(x, 2))(3) == 9
    assert tt.njit(lambda x: power(x, 3))(3) == 27
    with pytest.raises(TypeError, match="write it out"):
        tt.njit(lambda x, n: power(x, n))(3, 2)


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("l = ['a', 1]\n    l.append(2)", "Cannot mutate a literal list"),
        ("l = ['a', 1]\n    l[0] = 'b'", "Cannot mutate a literal list"),
        ("l = ['a', 1]\n    del l[0]", "Cannot mutate a literal list"),
        ("l = ['a', 1]\n    return l[n]", "Cannot __getitem__ on a literal list"),
        ("l = ['a', 1]\n    return l[:1]", "Cannot __getitem__ on a literal list"),
        ("return ['a', 1]", "cannot convert native LiteralList"),
        ("return [['a', 1], ['b', 2]]", "cannot convert native list"),
        ("d = {'a': 1, 'b': 2j}\n    d['a'] = 2", "Cannot mutate a literal dictionary"),
        ("d = {'a': 1, 'b': 2j}\n    d.clear()", "Cannot mutate a literal dictionary"),
        ("d = {'a': 1, 'b': 2j}\n    return d['c']", "Key 'c' is not in dict"),
        ("return {'a': 1, 'b': 2j}", "cannot convert native LiteralStrKey"),
    ],
)
def test_what_is_refused(body, says, tmp_path):
    file = tmp_path / "made.py"
    file.write_text(f"def f(n):\n    {body}\n")
    names = {}
    exec(compile(file.read_text(), str(file), "exec"), names)
    with pytest.raises(TypeError, match=f"(?s){says}.*line"):
        tt.njit(names["f"])(0)


def test_lists_of_strings_are_lists():
    @tt.njit
    def f(n):
        x = ["a", "b"]
        if n:
            x.append("c")
        return x

    assert f(1) == ["a", "b", "c"]
    assert f(0) == ["a", "b"]
    assert tt.njit(lambda: "a\0b")() == "a\0b"
    same = tt.njit(lambda: ({"a": 1, "b": 2j} == {"a": 1, "c": 2j}, {"a": 1, "b": 2j} == {"a": 1, "b": 2j}))
    assert same() == (False, True)
