#!/usr/bin/env python3
"""Write src/launch/python/letter_tables.inc: what letters are and become, as this Python's own strings say it."""

import pathlib
import sys
import unicodedata

MOST = 0x110000
WIDTH = 118


def flags(c):
    """The bits of a code point, in the order of letters.h."""
    s = chr(c)
    if 0xD800 <= c < 0xE000:
        s_lower = s
        after = False
    else:
        s_lower = ("A" + s + "\u03a3").lower()
        after = s_lower.endswith("\u03c2")
    alone = not 0xD800 <= c < 0xE000 and (s + "\u03a3").lower().endswith("\u03c2")
    cased = not 0xD800 <= c < 0xE000 and (s + "A").title().endswith("a")
    tests = [
        s.isalpha(), s.isdecimal(), s.isdigit(), s.isnumeric(), s.isspace(), s.islower(), s.isupper(),
        unicodedata.category(s) == "Lt", s.isprintable(), s.isidentifier(), ("a" + s).isidentifier(), cased,
        not alone if cased else after,
    ]  # fmt: skip
    return sum(1 << k for k, one in enumerate(tests) if one)


def runs_of(values):
    """[(how many, value)] of values that stand one behind the other."""
    out = []
    for value in values:
        if out and out[-1][1] == value:
            out[-1][0] += 1
        else:
            out.append([1, value])
    return out


def mapping(what):
    """(runs, special): (first, how many, stride, what is added); (code, its letters)."""
    single, special = [], []
    for c in range(MOST):
        made = what(chr(c))
        if len(made) > 1:
            special.append((c, [*map(ord, made), 0, 0][:3]))
        elif made != chr(c):
            single.append((c, ord(made) - c))
    runs, at = [], 0
    while at < len(single):
        c, by = single[at]
        best = (1, 1)
        for stride in (1, 2):
            n = 1
            while at + n < len(single) and single[at + n] == (c + n * stride, by):
                n += 1
            best = max(best, (n, stride), key=lambda one: one[0])
        runs.append((c, best[0], best[1] if best[0] > 1 else 1, by))
        at += best[0]
    return runs, special


def lines(numbers):
    """Rows of a table, as long as lines may be."""
    row, out = "   ", []
    for text in numbers:
        if len(row) + len(text) + 2 > WIDTH:
            out.append(row)
            row = "   "
        row += f" {text},"
    return "\n".join([*out, row])


def main():
    kinds = runs_of(map(flags, range(MOST)))
    distinct = sorted({value for _, value in kinds})
    parts = [
        "/* Written by tools/letter_tables.py, of Unicode " + unicodedata.unidata_version + ". */",
        "/* clang-format off */",
        "static const uint16_t letter_kinds[] = {\n" + lines(map(str, distinct)) + "\n};",
        "/* How many code points, and which kind. */",
        "static const uint32_t letter_runs[] = {\n"
        + lines(str(n << 8 | distinct.index(value)) for n, value in kinds)
        + "\n};",
    ]
    for name, what in (("lower", str.lower), ("upper", str.upper), ("title", str.title), ("fold", str.casefold)):
        runs, special = mapping(what)
        parts.append(
            f"static const letter_run {name}_runs[] = {{\n"
            + lines(f"{{{c}, {n}, {stride}, {by}}}" for c, n, stride, by in runs)
            + "\n};"
        )
        parts.append(
            f"static const letter_special {name}_special[] = {{\n"
            + lines(f"{{{c}, {{{', '.join(map(str, made))}}}}}" for c, made in special)
            + "\n};"
        )
    path = pathlib.Path(__file__).parent.parent / "src/launch/python/letter_tables.inc"
    path.write_text("\n".join(parts) + "\n")


if __name__ == "__main__":
    sys.exit(main())
