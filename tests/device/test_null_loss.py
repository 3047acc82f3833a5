"""A device that is lost: the first cause is told with the launches that may have been it, later calls fail at once with
the same text, the CPU goes on."""

from null_program import run_program

PROGRAM = """
import numpy as np, tutti as tt
from tutti import _core

a = np.arange(1000.0)
x = tt.asarray(a, device="null")
x.eval()

def text_of(f):
    try:
        f()
    except RuntimeError as e:
        return str(e)
    raise AssertionError("no error")
"""


def run(code, **env):
    return run_program(PROGRAM, code, devices=2, **env)


def test_the_launches_that_may_have_been_it():
    out = run(
        """
        done = tt.exp(x) * 2
        assert done.numpy()[0] == 2  # waited for: not among them
        y = tt.sqrt(x)
        tt.eval(y)
        _core._test_fail("device loss", 0, False)
        z = y * y - x
        tt.eval(z)
        _core._test_fail("device loss", -1, False)
        w = tt.sin(z)
        tt.eval(w)
        first = text_of(w.numpy)
        assert all(text_of(f) == first for f in (z.numpy, (x + 1).numpy, lambda: tt.ones(3, device="null:0").numpy()))
        print(first)
        assert np.array_equal((tt.asarray(a, device="cpu") * 2).numpy(), a * 2)
        other = tt.asarray(a, device="null:1") + 1
        assert np.array_equal(other.numpy(), a + 1)
        """
    )
    assert "null:0 is lost" in out and "not known to be done" in out
    told = [out.index(w) for w in ("'sqrt of float64[1000]'", "'mul sub of float64[1000]'", "'sin of float64[1000]'")]
    assert told == sorted(told)
    assert "exp" not in out


def test_many_launches():
    """Only the last ones are known; a graph is told as one."""
    out = run(
        """
        _core._test_fail("device loss", 30, False)
        for k in range(40):
            y = x * k
            tt.eval(y)
        print(text_of(y.numpy))
        """
    )
    assert out.count("'mul of float64[1000]'") == 4 and "others, of which the first are not known any more" in out


def test_the_users_line():
    out = run(
        """
        import runpy, tempfile
        with tempfile.TemporaryDirectory() as folder:
            path = folder + "/program.py"
            with open(path, "w") as f:
                print("def work(x):", "    import tutti as tt", "    return tt.exp(x)", sep=chr(10), file=f)
            work = runpy.run_path(path)["work"]
            tt.track_lines(True)
            _core._test_fail("device loss", 0, False)
            print(text_of(lambda: work(x).numpy()))
        """
    )
    assert "'exp of float64[1000]' at " in out and "program.py:3" in out
