"""Users' programs in OpenCL C on an OpenCL device, PoCL's where there is no other: what the CPU gives natively."""

import os
import subprocess
import sys

import numpy as np
import pytest
import tutti as tt

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "kernels", "opencl"))
from opencl_programs import GROUP, ITEMS, TYPES, Program  # noqa: E402
from test_opencl import SOURCE, floats  # noqa: E402

DEVICES = [d for d in map(str, tt.devices()) if d.startswith("opencl")]
if not DEVICES:
    pytest.skip("no OpenCL device (on Debian and Ubuntu pocl-opencl-icd makes one of the CPU)", allow_module_level=True)

DEVICE = DEVICES[0]
Local = tt.opencl.LocalMemory


@pytest.fixture(scope="module")
def program():
    return tt.opencl.Program(SOURCE).build("-D WITHOUT_FOLDS", device=DEVICE)


@pytest.fixture(scope="module")
def native():
    return tt.opencl.Program(SOURCE).build("-D WITHOUT_FOLDS", device="cpu")


def same(program, native, name, size, local, *args, **words):
    """A launch there and one on the CPU leave the same in all arrays."""
    here = [a.copy() if isinstance(a, np.ndarray) and a.ndim else a for a in args]
    there = [tt.array(a, device=DEVICE) if isinstance(a, np.ndarray) and a.ndim else a for a in args]
    before = tt.ledger()["device_launches"]
    program.kernel(name)(size, local, *there, **words)
    with tt.device("cpu"):
        native.kernel(name)(size, local, *here, **words)
    for a, b in zip(here, there, strict=True):
        if isinstance(a, np.ndarray) and a.ndim:
            assert str(b.device) == DEVICE
            np.testing.assert_array_equal(a, np.asarray(b))
    assert tt.ledger()["device_launches"] > before


def test_parameters_are_told_by_the_device(program, native):
    assert program.kernels == native.kernels
    for name in program.kernels:
        assert [t for _, t in program.kernel(name).parameters] == [t for _, t in native.kernel(name).parameters]
    assert program.asked.reqd_work_group_size == (4, 2, 1) and program.add.reqd_work_group_size is None


def test_launches(program, native):
    x = floats(128)
    same(program, native, "add", 128, None, x, x * 2, np.zeros_like(x))
    same(program, native, "tree", 128, 32, (x * 8).round(), np.zeros(4, "f4"), Local(128))
    same(program, native, "smooth", 128, 32, (x * 8).round(), np.zeros_like(x))
    same(program, native, "components", 16, 4, np.zeros(16, "f4"), (x * 8).round())
    same(program, native, "copied", 128, 32, np.zeros_like(x), x, Local(128))
    same(program, native, "asked", (4, 2), None, np.zeros(2, "i4"))


def test_vectors_by_value_axes_and_offsets(program):
    x, limit = floats(8, 4), np.array([0.1, 0, -0.1, 5], "f4")
    r = tt.zeros((8, 4), dtype="f4", device=DEVICE)
    program.choose(8, 2, r, x, limit)
    np.testing.assert_array_equal(r, np.minimum(x, limit))
    source = "__kernel void at(__global int *r) { r[get_global_id(0)] = get_global_id(1) * 10 + get_work_dim(); }"
    at = tt.opencl.Program(source).build(device=DEVICE).at
    at.set_args(r := tt.zeros(8, dtype="int32", device=DEVICE))
    at.enqueue((2, 1), None, global_offset=(3, 7))
    assert r.tolist() == [0, 0, 0, 72, 72, 0, 0, 0]


def test_memory_of_numpy_goes_there_and_back(program):
    x, y = floats(64), np.zeros(64, "f4")
    with tt.device(DEVICE):
        program.add(64, None, x, x, y)
    np.testing.assert_array_equal(y, x + x)


def test_arrays_may_be_pending_and_launches_are_recorded(program):
    x = tt.arange(64, dtype="float32", device=DEVICE) * 3
    y = tt.zeros(64, dtype="float32", device=DEVICE)
    before = y + 1
    program.add(64, None, x, x + 1, y)
    np.testing.assert_array_equal(y * 2, (np.arange(64) * 6 + 1) * 2)
    assert float(before.sum()) == 64


def test_a_program_is_built_where_its_arrays_lie():
    program = tt.opencl.Program("__kernel void f(__global float *x, float v) { x[get_global_id(0)] = v; }").build()
    for device in ("cpu", DEVICE, "cpu"):
        x = tt.zeros(4, dtype="f4", device=device)
        program.f(4, None, x, 2)
        assert x.tolist() == [2] * 4 and x.device == device
    with pytest.raises(ValueError, match="lie on two devices"):
        tt.opencl.Program("__kernel void g(__global float *x, __global float *y) { }").build().g(
            4, None, tt.zeros(4, dtype="f4", device="cpu"), tt.zeros(4, dtype="f4", device=DEVICE)
        )


VIEWS = "__kernel void views(__global const int *a, __global int *b, __global const int *c, int n) {\
  int i = get_global_id(0); if (i < n) b[i] += a[i] * 3 + c[i]; }"


@pytest.mark.parametrize("seed", range(6))
def test_random_views(seed):
    """Arrays that begin anywhere: as parts of memory, or as copies where a device has no parts."""
    rng = np.random.default_rng(seed)
    programs = [tt.opencl.Program(VIEWS).build(device=d) for d in ("cpu", DEVICE)]
    values = rng.integers(0, 100, 4000).astype("i4")
    here, there = tt.array(values, device="cpu"), tt.array(values, device=DEVICE)
    for _ in range(10):
        n = int(rng.integers(1, 500))
        parts = rng.permutation(3)  # memory that is written is nobody else's; what is only read may overlap
        step = int(rng.choice([1, 4, 32, 128]))
        starts = [int(p) * 1300 + int(rng.integers(0, 700 // step)) * step for p in parts]
        if rng.random() < 0.5:
            starts[2] = starts[0] + int(rng.integers(0, 30))
        for program, x in zip(programs, (here, there)):
            program.views(512, 32, *[x[s : s + n] for s in starts], n)
        if rng.random() < 0.3:
            here, there = here + 1, there + 1
    np.testing.assert_array_equal(np.asarray(here), np.asarray(there))


def test_parts_that_share_memory():
    views = tt.opencl.Program(VIEWS).build(device=DEVICE).views
    x, y = (tt.arange(100, dtype="int32", device=DEVICE) for _ in range(2))
    views(32, None, x[3:35], x[3:35], y, 32)  # one copy for both
    assert x[3:35].tolist() == [k * 4 + k - 3 for k in range(3, 35)]
    with pytest.raises(ValueError, match=r"arguments 1 and 2 share memory.*multiples of \d+ bytes.*pass a copy"):
        views(32, None, x[3:35], x[4:36], y, 32)
    views(32, None, x[:32], x[64:96], x[3:35], 32)
    assert x[64:66].tolist() == [64 + 12, 65 + 3 + 17]


@pytest.mark.parametrize("checked", [False, True])
def test_random_programs(checked):
    if checked:
        run = [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            f"{__file__}::test_random_programs[False]",
        ]
        done = subprocess.run(run, env=os.environ | {"TUTTI_CHECK": "1"}, capture_output=True, text=True)
        assert done.returncode == 0 and "[100%]" in done.stdout and "skipped" not in done.stdout, done.stdout
        return
    for seed in (2, 5):
        program = Program(seed, steps=8)
        arrays = [data.ravel() for _, data in program.inputs]
        outputs = [np.zeros(want.size, TYPES[base]) for base, want in program.outputs]
        there = [tt.array(a, device=DEVICE) for a in outputs]
        for device, out in (("cpu", outputs), (DEVICE, there)):
            kernel = tt.opencl.Program(program.source()).build(device=device).k
            with tt.device(device):
                kernel(ITEMS, GROUP, *[tt.array(a) for a in arrays] if device == DEVICE else arrays, *out)
        for k, (_, want) in enumerate(program.outputs):
            np.testing.assert_array_equal(outputs[k].reshape(want.shape), want, f"q{k}, seed {seed}")
            np.testing.assert_array_equal(np.asarray(there[k]), outputs[k], f"q{k}, seed {seed}")


# ---- types of parameters, which devices only name

TYPED = r"""
typedef float real;
typedef real number;
typedef struct { char c; double d; } mixed;
struct pair { int a, b[3]; };
typedef uchar4 colour;
typedef int3 place;
__kernel void typed(__global number *r, number v, mixed m, struct pair p, colour c, __global mixed *g,
                    __global const struct pair *q, unsigned char b, float3 f, __global place *h, __constant real *w) {
  r[0] = v; r[1] = m.c + m.d; r[2] = p.a + p.b[2]; r[3] = c.y; r[4] = g->d; r[5] = 1; r[6] = q[1].b[0]; r[7] = b;
  r[8] = f.z; r[9] = w[1];
}
"""


def test_types_with_names_of_the_users():
    program = tt.opencl.Program(TYPED).build(device=DEVICE)
    mixed = np.array((3, 0.5), np.dtype([("c", "i1"), ("d", "f8")], align=True))
    pair = np.array([(1, (2, 3, 4)), (5, (6, 7, 8))], [("a", "i4"), ("b", "i4", 3)])
    types = [t for _, t in program.typed.parameters]
    assert types[:3] == ["float32 *", "float32", "struct of 16 bytes"] and types[5] == "void *", types
    assert types[6:] == [
        "const void *",
        "uint8",
        "struct of 16 bytes",
        "int32 *",
        "const float32 *",
    ]
    r = tt.zeros(10, dtype="f4", device=DEVICE)
    words = tt.array(np.frombuffer(pair.tobytes(), "u1"), device=DEVICE)
    program.typed(
        1, None, r, 1.5, mixed.tobytes(), pair[0].tobytes(), np.array([1, 2, 3, 4], "u1").tobytes(),
        tt.array(np.frombuffer(mixed.tobytes(), "u1"), device=DEVICE), words, 200, np.arange(4, dtype="f4").tobytes(),
        tt.zeros(4, dtype="i4", device=DEVICE),
        tt.array([1, 2.5], dtype="f4", device=DEVICE),
    )  # fmt: skip
    assert r.tolist() == [1.5, 3.5, 5, 2, 0.5, 1, 6, 200, 2, 2.5]


# ---- what is refused


@pytest.mark.parametrize(
    "text, words",
    [
        ("__kernel void k(__global float *x) {\n  x[0] =   y;\n}", r"kernel.cl:2:12: .*undeclared identifier .y"),
        ("\n__kernel void k(read_only image2d_t x) {}", "parameter 'x' is of type image2d_t: images"),
    ],
)
def test_errors_of_the_source(text, words):
    program = tt.opencl.Program(text)
    with pytest.raises(tt.CompileError, match=words):
        program.build(device=DEVICE)
    assert program.build_log


def test_bad_builds(program):
    with pytest.raises(ValueError, match="OpenCL C has no build option '-O3'"):
        tt.opencl.Program(SOURCE).build("-O3", device=DEVICE)
    with pytest.raises(AttributeError, match="no kernel 'none'; it has add, tree"):
        program.none  # noqa: B018 (asked for)
    with pytest.raises(RuntimeError, match="no such device"):
        tt.opencl.Program(SOURCE).build(device="opencl:99")


@pytest.mark.parametrize(
    "size, local, args, error, words",
    [
        (8, 3, 3, ValueError, "does not divide the global size"),
        (0, None, 3, ValueError, "no work-items"),
        (-1, None, 3, ValueError, "out of range"),
        ((8, 8), 8, 3, ValueError, "2 axes, local_size 1"),
        (1 << 20, 1 << 20, 3, ValueError, "at most"),
        (8, None, 2, TypeError, "takes 3 arguments"),
    ],
)
def test_bad_launches(program, size, local, args, error, words):
    a = tt.zeros(64, dtype="f4", device=DEVICE)
    with pytest.raises(error, match=words):
        program.add(size, local, *[a, a, a.copy()][:args])


def test_bad_arguments(program):
    a = tt.zeros(64, dtype="f4", device=DEVICE)
    with pytest.raises(TypeError, match="points at float32, the array holds float64"):
        program.add(8, None, a, a, tt.zeros(64, dtype="f8", device=DEVICE))
    with pytest.raises(TypeError, match=r"pass LocalMemory\(bytes\)"):
        program.tree(64, 32, a, a.copy(), 128)
    with pytest.raises(TypeError, match="not in local memory"):
        program.add(64, 32, a, a, Local(8))
    with pytest.raises(ValueError, match="bytes of local memory, at most"):
        program.tree(64, 32, a, a.copy(), Local(1 << 30))
    with pytest.raises(ValueError, match="wants a local size of"):
        program.asked((8, 4), (2, 2), tt.zeros(1, dtype="i4", device=DEVICE))
    with pytest.raises(TypeError, match="is given 3 bytes"):
        program.choose(1, None, a, a, b"abc")
    with pytest.raises(TypeError, match="needs an array, a number is given"):
        program.add(8, None, a, a, 5)


# ---- the disk

KEPT = """
import numpy as np, tutti as tt, sys
text = "typedef struct { int a; } s; __kernel void f(__global int *x, s v) { x[get_global_id(0)] = v.a; }"
f = tt.opencl.Program(text).build("-D A=1", device=sys.argv[1]).f
f(4, None, x := tt.zeros(4, dtype="int32", device=sys.argv[1]), np.int32(7).tobytes())
print(f.parameters, x.tolist(), tt.ledger()["cache_hits"] > 0)
"""


def test_built_programs_are_kept_on_disk(tmp_path):
    run = [sys.executable, "-c", KEPT, DEVICE]
    env = os.environ | {"TUTTI_CACHE_DIR": str(tmp_path)}
    told = [subprocess.run(run, env=env, capture_output=True, text=True).stdout for _ in range(2)]
    assert told[0] == "[('x', 'int32 *'), ('v', 'struct of 4 bytes')] [7, 7, 7, 7] False\n"
    assert told[1] == told[0].replace("False", "True")


def test_without_a_cpp_compiler_the_device_builds():
    text = f"import tutti as tt; p = tt.opencl.Program('__kernel void k(__global int *x) {{ x[0] = 3; }}').build(); \
x = tt.zeros(1, dtype='int32', device='{DEVICE}'); p.k(1, None, x); print(x.tolist())"
    done = subprocess.run(
        [sys.executable, "-c", text], env=os.environ | {"TUTTI_CXX": "none"}, capture_output=True, text=True
    )
    assert done.stdout == "[3]\n", done.stderr
