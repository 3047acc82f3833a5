"""Programs that need more memory than the device has, on the simulated device: arrays move out, and nothing is lost."""

import pytest
from null_program import run_program

np = pytest.importorskip("numpy")

MIB = 1 << 20


def run(code, **env):
    return run_program(code, **{"TUTTI_NULL_MEMORY": str(64 * MIB), **env}).split()


def test_three_times_the_memory():
    out = run("""
import numpy as np, tutti as tt
host = [np.random.default_rng(k).random(1_000_000) for k in range(24)]  # 192 MB on a device of 64 MiB
xs = [tt.array(h, device="null:0") for h in host]
ys = [tt.sin(x) * 2 + 1 for x in xs]
tt.eval(*ys)
total = ys[0]
for y in ys[1:]:
    total = total + y
print(np.allclose(total.numpy(), sum(np.sin(h) * 2 + 1 for h in host)))
print(all(np.array_equal(x.numpy(), h) for x, h in zip(xs, host)))
print(tt.ledger()["evictions"] > 0)
""")
    assert out == ["True"] * 3


def test_a_step_that_does_not_fit_runs_in_pieces():
    out = run("""
import tutti as tt
big = tt.zeros(20_000_000, device="null:0") + 1
tt.eval(big)
print(big.device, float(big[5]), tt.ledger()["fallbacks"], tt.ledger()["streamed"])
""")
    assert out == ["null:0", "1.0", "0", "1"]


def test_a_step_that_cannot_be_cut_runs_on_the_host():
    out = run("""
import numpy as np, tutti as tt
big = (tt.asarray(np.ones((3000, 3500))).T * 2).copy("C").to("null:0")
tt.eval(big)
print(big.device, float(big[5, 7]), tt.ledger()["fallbacks"])
""")
    assert out == ["null:0", "2.0", "1"]


def test_the_message_names_who_holds_most():
    out = run("""
import numpy as np, tutti as tt
keep = tt.ones(6_000_000, device="null:0")
tt.eval(keep)
with tt.strict("fallback"):
    try:
        tt.eval((tt.asarray(np.ones((3000, 3500))).T * keep[0]).copy("C").to("null:0"))
    except RuntimeError as e:
        print("Unable_to_allocate" if "Unable to allocate" in str(e) else e, "null:0" in str(e))
print(float(keep[3]))
""")
    assert out == ["Unable_to_allocate", "True", "1.0"]


def test_an_array_that_is_larger_than_the_device():
    out = run("""
import numpy as np, tutti as tt
a = np.random.default_rng(0).random((3000, 3500))  # 84 MB on a device of 64 MiB
x = tt.array(a, device="null:0")
y = tt.asarray(a).to("null:0")
z = x * 2 + y
print(x.device, z.device, np.array_equal(z.numpy(), a * 3))
print(np.array_equal(z.sum(axis=1).numpy(), tt.asarray(z.numpy()).sum(axis=1).numpy()))
l = tt.ledger()
print(l["streamed"] >= 2, l["fallbacks"], l["evictions"] >= 2)
x[5] = 1
print(float(x[5].sum()))
""")
    assert out == ["null:0", "null:0", "True", "True", "True", "0", "True", "3500.0"]
