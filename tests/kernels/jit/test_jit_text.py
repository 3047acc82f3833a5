"""Strings in compiled functions: Python's results, for random strings too."""

import random
import unicodedata

import pytest
import tutti as tt
from tutti.compat.numba import types
from tutti.compat.numba.typed import Dict, List

pytestmark = pytest.mark.skipif("no C compiler" in tt.info(), reason="no C compiler")


@tt.njit
def looked_at(s, p, i, j):
    whole = s + p
    hits = 0
    for c in whole:
        if c in p:
            hits += ord(c)
    return (len(whole), whole[i:j], whole[::-1], whole[i:], s == p, s < p, s >= p, p in s, hits, bool(s), s * 3, p * -1)


@tt.njit
def searched(s, p, i, j):
    return (
        s.find(p, i, j),
        s.rfind(p, i, j),
        s.count(p, i, j),
        s.startswith(p),
        s.endswith(p),
        s.replace(p, "<>"),
        s.replace(p, "", 1),
        s.strip(p),
        s.lstrip(p),
        s.rstrip(),
        s.split(),
        s.split("a"),
        s.split("ab", 1),
        s.zfill(9),
        s.ljust(7, "."),
        s.rjust(7),
        s.center(8, "*"),
        "-".join(s.split("b")),
        "+".join(s),
    )


@tt.njit
def written(n, x, s):
    return f"n={n} {x} {s}", str(n > 1), str(x) + str(n), chr(97 + n % 26), "" + s


@tt.njit
def counted(s):
    seen = {}
    for word in s.split(" "):
        if word in seen:
            seen[word] += 1
        else:
            seen[word] = 1
    return seen, [word for word in seen], seen.get("a", 0)


@pytest.mark.parametrize("seed", range(40))
def test_random_strings(seed):
    r = random.Random(seed)
    s = "".join(r.choice("aab bé\U0001f600 ") for _ in range(r.randrange(12)))
    p = "".join(r.choice("ab ") for _ in range(r.randrange(3)))
    i, j = r.randrange(-8, 9), r.randrange(-8, 9)
    for f, args in ((looked_at, (s, p, i, j)), (searched, (s, p, i, j)), (counted, (s,))):
        assert f(*args) == f.py_func(*args), (f.__name__, args)
    args = r.randrange(-9, 9), r.choice([0.1, -2.5, 1e22, float("nan"), 3.0]), s
    assert written(*args) == written.py_func(*args)


def test_branches_and_results():
    @tt.njit
    def f(x, s):
        y = "yes" if x else "no"
        return y, (s, x), [s, y], max(len(s), 1), s

    text = "keep me"
    assert f(1, text) == f.py_func(1, text)
    assert f(0, text)[4] is text


def test_in_containers():
    d = Dict.empty(types.unicode_type, types.float64)
    d["a"] = 1.5
    words = List(["x", "yz"])

    @tt.njit
    def f(d, words, key):
        d[key] = 2.0
        words.append(key + "!")
        return d["a"] + d[key], len(d), words[-1], "yz" in words

    assert f(d, words, "new") == (3.5, 2, "new!", True)
    assert dict(d) == {"a": 1.5, "new": 2.0} and list(words) == ["x", "yz", "new!"]


def test_what_fails():
    def beyond(s):
        return s[len(s)]

    def changed(s):
        s[0] = "x"

    def formatted(s):
        return s.format(1)

    def added(s):
        return s + 1

    for f, kind, says in [
        (beyond, IndexError, "string index out of range"),
        (changed, TypeError, "item assignment"),
        (formatted, NotImplementedError, "method 'format'"),
        (added, TypeError, "str and int64"),
    ]:
        with pytest.raises(kind, match=f"(?s){says}.*line"):
            tt.njit(f)("ab")


def test_cases_and_kinds_of_letters():
    @tt.njit
    def cases(s):
        return s.lower(), s.upper(), s.title(), s.casefold(), s.capitalize(), s.swapcase()

    @tt.njit
    def kinds(s):
        return (
            s.isalpha(), s.isdecimal(), s.isdigit(), s.isnumeric(), s.isalnum(), s.isspace(), s.isprintable(),
            s.islower(), s.isupper(), s.isascii(), s.istitle(), s.isidentifier(),
        )  # fmt: skip

    letters = [chr(c) for c in range(0x110000) if not 0xD800 <= c < 0xE000]
    if unicodedata.unidata_version != "14.0.0":  # what the library's tables say of: of letters that are older, the same
        letters = [c for c in letters if unicodedata.ucd_3_2_0.category(c) != "Cn"]
    odd = [c for c in letters if len(c.upper()) > 1 or len(c.casefold()) > 1 or c.title() != c.upper()]
    texts = ["", "don't STOP", "A\u03a3", "\u03a3b", "a\u03a3.", "ab1", "_x9", "9x", "Aa Bb", "\ufeffx", *odd]
    for text in [*texts, *letters[:700], *letters[::997]]:
        assert cases(text) == cases.py_func(text) and kinds(text) == kinds.py_func(text), ascii(text)


def test_parts_of_strings():
    @tt.njit
    def parts(s):
        return (
            s.rsplit(), s.rsplit("a", 1), s.partition("a"), s.rpartition("a"), s.splitlines(), s.splitlines(True),
            s.expandtabs(), s.expandtabs(3), s.startswith(("x", "b")), s.endswith("a", 0, 2), s.startswith("a", 1),
            s.rsplit(None, 1),
        )  # fmt: skip

    for text in ["", "banana", "  a b\tc\n d\r\ne ", "aXa\ta", "x\n\n", "a", "\u2028a\x85"]:
        assert parts(text) == parts.py_func(text), ascii(text)
