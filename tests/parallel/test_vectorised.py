"""Functions of numbers over many: every way gives the loop's numbers, and what cannot be is refused with its reason."""

import math
import random

import pytest
import tutti as tt
from tutti.parallel._vectorised import Report, vectorised


def smooth(x):
    return x * x * 0.5 + 3.0 * x - 1.0


def branching(x):
    return x * 2.0 if x > 0.5 else x - 1.0


def of_math(x):
    return math.sin(x) + math.sqrt(x)


def two(x, y):
    return x * y + x


def words(x):
    return f"{x:.1f}"


def collapsing(x):
    return x.sum() if hasattr(x, "sum") else x


NUMBERS = [random.Random(1).random() for _ in range(5000)]


@pytest.mark.parametrize("how", ["best", "arrays", "jit", "map"])
@pytest.mark.parametrize("n", [1, 31, 5000])
def test_every_way_is_the_loop(how, n):
    f = vectorised(smooth, how=how)
    got = f(NUMBERS[:n]).tolist()
    assert got == pytest.approx([smooth(x) for x in NUMBERS[:n]], rel=1e-12)
    assert isinstance(f.report, Report) and f.report.chosen in ("arrays", "jit", "map")
    assert how in ("best", f.report.chosen) and "<- chosen" in str(f.report)


def test_what_is_cheapest_is_chosen():
    f = vectorised(smooth)
    f(tt.array(NUMBERS * 40))
    expected = f.report.expected
    assert f.report.chosen == min(expected, key=expected.get) != "map"


def test_branches_and_math_are_refused_over_arrays():
    for f in (branching, of_math, collapsing):
        made = vectorised(f)
        assert made(NUMBERS).tolist() == pytest.approx([f(x) for x in NUMBERS], rel=1e-12)
        assert "arrays" in made.report.refused and "arrays" not in made.report.expected
        with pytest.raises(ValueError, match="cannot be computed by how='arrays'"):
            vectorised(f, how="arrays")(NUMBERS)


def test_two_sequences_and_no_numbers():
    assert vectorised(two)(NUMBERS, NUMBERS[::-1]).tolist() == pytest.approx(
        [two(x, y) for x, y in zip(NUMBERS, NUMBERS[::-1])]
    )
    made = vectorised(words)
    assert made(NUMBERS[:100]) == [words(x) for x in NUMBERS[:100]]
    assert set(made.report.refused) == {"arrays", "jit"}


def test_results_that_differ_are_refused():
    def sided(x):
        return x * 2 if isinstance(x, float) else x * 3

    made = vectorised(sided)
    assert made(NUMBERS[:100]).tolist() == [x * 2 for x in NUMBERS[:100]]
    assert "differ from the function's by 0.33" in made.report.refused["arrays"]


def test_bad_input():
    with pytest.raises(ValueError, match="how is"):
        vectorised(smooth, how="fast")
    with pytest.raises(TypeError, match="not callable"):
        vectorised(3)
    with pytest.raises(ValueError, match="of one length"):
        vectorised(two)([1.0], [1.0, 2.0])
    with pytest.raises(ZeroDivisionError):
        vectorised(lambda x: 1 / x)([0.0])
