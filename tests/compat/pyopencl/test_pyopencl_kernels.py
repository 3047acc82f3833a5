"""Programs, elementwise, reduction and scan kernels and algorithms of PyOpenCL: random ones against Python."""

import itertools
import random
import shutil

import numpy as np
import pytest
import tutti.compat.pyopencl as cl
from tutti.compat.pyopencl import algorithm, cltypes
from tutti.compat.pyopencl import array as cl_array
from tutti.compat.pyopencl.elementwise import ElementwiseKernel
from tutti.compat.pyopencl.reduction import ReductionKernel
from tutti.compat.pyopencl.scan import (
    ExclusiveScanKernel,
    GenericDebugScanKernel,
    GenericScanKernel,
    InclusiveScanKernel,
)
from tutti.compat.pyopencl.tools import (
    ScalarArg,
    VectorArg,
    dtype_to_ctype,
    get_or_register_dtype,
    match_dtype_to_c_struct,
)

pytestmark = pytest.mark.skipif(not (shutil.which("c++") or shutil.which("g++")), reason="no C++ compiler")
MF = cl.mem_flags
SIZES = [0, 1, 7, 4095, 4096, 4097, 20000]  # a piece of a work item has at least 4096 elements

SOURCE = """
typedef struct { int n; float by; } how;
__kernel void add(__global const float *a, __global const float *b, __global float *c) {
  int i = get_global_id(0);
  c[i] = a[i] + b[i];
}
__kernel void scale(__global float *a, how h) { if (get_global_id(0) < h.n) a[get_global_id(0)] *= h.by; }
__kernel void set(__global float4 *a, float4 v, int n) { for (int i = 0; i < n; i++) a[i] = v; }
__kernel void turn(__global int *a, __local int *l) {
  int k = get_local_id(0), n = get_local_size(0);
  l[k] = a[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  a[get_global_id(0)] = l[n - 1 - k];
}
"""


@pytest.fixture(scope="module")
def queue():
    return cl.CommandQueue(cl.create_some_context())


@pytest.fixture(scope="module")
def program(queue):
    return cl.Program(queue.context, SOURCE).build()


def test_buffers_numbers_structures_and_vectors(queue, program):
    a, b = np.random.default_rng(1).random((2, 100), dtype=np.float32)
    given = [cl.Buffer(queue.context, MF.READ_ONLY | MF.COPY_HOST_PTR, hostbuf=x) for x in (a, b)]
    out = cl.Buffer(queue.context, MF.WRITE_ONLY, a.nbytes)
    event = program.add(queue, a.shape, None, *given, out)
    event.wait()
    got = np.empty_like(a)
    cl.enqueue_copy(queue, got, out)
    assert np.array_equal(got, a + b)
    how = np.array([(50, 4)], [("n", "i4"), ("by", "f4")])
    program.scale(queue, (100,), (10,), out, how[0])
    cl.enqueue_copy(queue, got, out)
    assert np.array_equal(got[:50], 4 * (a + b)[:50]) and np.array_equal(got[50:], (a + b)[50:])
    vectors = cl_array.empty(queue, 3, cltypes.float4)
    program.set(queue, (1,), None, vectors.data, cltypes.make_float4(1, 2, 3, 4), np.int32(3))
    assert vectors.get()[2].tolist() == (1, 2, 3, 4)


def test_local_memory_and_kernels_with_arguments_of_their_own(queue, program):
    a = cl_array.arange(queue, 12, dtype=np.int32)
    kernel = cl.Kernel(program, "turn")
    kernel.set_args(a.data, cl.LocalMemory(16))
    cl.enqueue_nd_range_kernel(queue, kernel, (12,), (4,))
    assert a.get().tolist() == [3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8]
    kernel(queue, (3,), (4,), a.data, cl.LocalMemory(16), g_times_l=True)
    assert a.get().tolist() == list(range(12))
    assert kernel.num_args == 2 and kernel.function_name == "turn" and kernel.program is program
    assert kernel.get_arg_info(1, cl.kernel_arg_info.ADDRESS_QUALIFIER) == cl.kernel_arg_address_qualifier.LOCAL
    assert program.kernel_names == "add;scale;set;turn" and len(program.all_kernels()) == 4
    scalar = program.set
    scalar.set_scalar_arg_dtypes([None, cltypes.float4, np.int32])
    vectors = cl_array.empty(queue, 2, cltypes.float4)
    scalar(queue, (1,), None, vectors.data, cltypes.filled_float4(7), 2)
    assert vectors.get()[1].tolist() == (7, 7, 7, 7)


@pytest.mark.parametrize(
    "call, kind, words",
    [
        (lambda q, p, b: p.set(q, (4,), None, b, np.float32(3), np.int32(1)), cl.LogicError, "INVALID_ARG_SIZE.*arg#2"),
        (lambda q, p, b: p.set(q, (4,), None, b, 3.0, np.int32(1)), cl.LogicError, "arg#2.*invalid kernel argument"),
        (lambda q, p, b: p.add(q, (4,), None, b, b, np.zeros(3)), cl.LogicError, "INVALID_ARG_SIZE.*arg#3"),
        (lambda q, p, b: p.add(q, (4,), None, b, b), TypeError, "takes 3 arguments, 2 are given"),
        (lambda q, p, b: p.add(q, (10,), (3,), b, b, b), cl.LogicError, "INVALID_WORK_GROUP_SIZE"),
        (lambda q, p, b: p.add(q, (1 << 20,), (1 << 20,), b, b, b), cl.LogicError, "INVALID_WORK_GROUP_SIZE"),
        (lambda q, p, b: p.add(q, (1, 1, 1, 1), None, b, b, b), cl.LogicError, "INVALID_WORK_DIMENSION"),
        (lambda q, p, b: p.turn(q, (4,), (4,), b, b), cl.LogicError, "INVALID_ARG"),
        (lambda q, p, b: p.add.set_arg(9, b), cl.LogicError, "INVALID_ARG_INDEX"),
        (lambda q, p, b: cl.enqueue_nd_range_kernel(q, p.add, (4,), None), cl.LogicError, "INVALID_KERNEL_ARGS"),
        (lambda q, p, b: p.nothing, AttributeError, "'nothing' was not found"),
        (lambda q, p, b: cl.Kernel(p, "nothing"), cl.LogicError, "INVALID_KERNEL_NAME"),
        (lambda q, p, b: cl.Program(q.context, SOURCE).all_kernels(), cl.LogicError, "INVALID_PROGRAM_EXECUTABLE"),
        (lambda q, p, b: cl.Program(q.context, "\n\nvoid f() { nope; }").build(), cl.RuntimeError, "3.*nope"),
        (lambda q, p, b: cl.Program(q.context, [], [b"no"]), cl.LogicError, "INVALID_BINARY"),
        (lambda q, p, b: cl.Program(q.context, b"\x03\x02\x23\x07"), cl.LogicError, "SPIR-V is not covered"),
    ],
)
def test_bad_calls_say_what_is_wrong(queue, program, call, kind, words):
    with pytest.raises(kind, match=r"(?s)" + words):
        call(queue, program, cl.Buffer(queue.context, MF.READ_WRITE, 64))


def test_programs_of_parts_options_and_binaries(queue):
    context = queue.context
    pi = cl.Program(context, "float pi() { return FOUR - 1; }").compile(["-D", "FOUR=4"])
    main = cl.Program(context, '#include "pi.h"\n__kernel void f(__global float *x) { x[0] = pi(); }')
    whole = cl.link_program(context, [main.compile(headers=[("pi.h", pi)])], ["-DFOUR=4"])
    x = cl_array.zeros(queue, 1, np.float32)
    whole.f(queue, (1,), None, x.data)
    assert x.get().tolist() == [3]
    again = cl.Program(context, context.devices, whole.binaries).build("-D FOUR=6")
    again.f(queue, (1,), None, x.data)
    assert x.get().tolist() == [5]
    assert again.get_build_info(context.devices[0], cl.program_build_info.OPTIONS) == "-D FOUR=6"


# ---- elementwise


def expression(rng, names, depth):
    """A random expression over x[i], y[i] and a, the same in C and for NumPy."""
    if not depth:
        return rng.choice([*(f"{n}[i]" for n in names), "a", "2"])
    left, right = (expression(rng, names, depth - 1) for _ in range(2))
    return f"({left} {rng.choice('+-*')} {right})"


@pytest.mark.parametrize("seed", range(12))
def test_elementwise_kernels(queue, seed):
    rng = random.Random(seed)
    kind = np.dtype(rng.choice(["i4", "i8", "f4", "f8"]))
    text, n = expression(rng, "xy", rng.randrange(1, 4)), rng.choice(SIZES[1:])
    host = np.random.default_rng(seed).integers(-4, 5, (2, 2 * n)).astype(kind)
    x, y = (cl_array.to_device(queue, h)[n:] for h in host)
    z = cl_array.zeros(queue, n, kind)
    c = dtype_to_ctype(kind)
    kernel = ElementwiseKernel(queue.context, f"{c} a, {c} *x, {c} *y, {c} *z", f"z[i] = {text}", "k")
    names = {"x": host[0, n:], "y": host[1, n:], "a": kind.type(3)}
    wanted = np.broadcast_to(eval(text.replace("[i]", ""), names), n).astype(kind)
    kernel(3, x, y, z).wait()
    assert np.allclose(z.get(), wanted)
    z.fill(0)
    part = slice(*sorted(rng.randrange(n + 1) for _ in range(2)), rng.randrange(1, 4))
    kernel(3, x, y, z, slice=part)
    only = np.zeros(n, kind)
    only[part] = wanted[part]
    assert np.allclose(z.get(), only)


def test_elementwise_kernels_with_preparation_complex_numbers_and_structures(queue):
    kernel = ElementwiseKernel(
        queue.context, [ScalarArg(np.complex64, "a"), VectorArg(np.complex64, "x", with_offset=True)],
        "if (i == 1) PYOPENCL_ELWISE_CONTINUE;\n x[i] = cfloat_add(cfloat_mul(a, x[i]), t)",
        loop_prep="cfloat_t t = cfloat_new(1, 0)",
    )  # fmt: skip
    x = cl_array.to_device(queue, np.array([1j, 2, 3], np.complex64))
    kernel(2j, x)
    assert np.allclose(x.get(), [-1, 2, 1 + 6j])
    with pytest.raises(RuntimeError, match="at least one vector argument"):
        ElementwiseKernel(queue.context, "int a", "a")
    with pytest.raises(TypeError, match="both range and slice"):
        kernel(2j, x, slice=slice(1), range=slice(1))
    with pytest.raises(TypeError, match="2 arguments are needed, 1 are given"):
        kernel(x)


COMPLEX = ["add", "sub", "mul", "divide", "pow"]
OF_ONE = ["exp", "log", "sqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh", "conj", "neg"]


@pytest.mark.parametrize("name, kind", [("cfloat", np.complex64), ("cdouble", np.complex128)])
def test_functions_of_complex_numbers(queue, name, kind):
    rng = np.random.default_rng(5)
    a, b = (rng.normal(size=(2, 50)) + 1j * rng.normal(size=(2, 50))).astype(kind)
    there = [cl_array.to_device(queue, v) for v in (a, b)]
    calls = [f"{name}_{f}(a[i], b[i])" for f in COMPLEX] + [f"{name}_{f}(a[i])" for f in OF_ONE]
    calls += [f"{name}_fma(a[i], b[i], a[i])", f"{name}_cast(cfloat_new(1, 2))"]
    outs = [cl_array.empty(queue, 50, kind) for _ in calls]
    c = name + "_t"
    kernel = ElementwiseKernel(
        queue.context, ", ".join([f"{c} *a, {c} *b", *(f"{c} *o{k}" for k in range(len(calls)))]),
        "; ".join(f"o{k}[i] = {call}" for k, call in enumerate(calls)),
    )  # fmt: skip
    kernel(*there, *outs)
    wanted = [a + b, a - b, a * b, a / b, a**b, *(getattr(np, f.replace("neg", "negative"))(a) for f in OF_ONE)]
    wanted += [a * b + a, 1 + 2j]
    for call, got, right in zip(calls, outs, wanted, strict=True):
        assert np.allclose(got.get(), right, rtol=2e-4 if kind == np.complex64 else 1e-10), call


# ---- reductions


@pytest.mark.parametrize("n, kind", list(itertools.product(SIZES, ["i4", "f8"])))
def test_reductions(queue, n, kind):
    host = np.random.default_rng(n).integers(-9, 10, n).astype(kind)
    x, c = cl_array.to_device(queue, host), dtype_to_ctype(np.dtype(kind))
    squares = ReductionKernel(queue.context, kind, "0", "a+b", "a[i] * a[i]", f"{c} *a")
    assert squares(x).get() == (host**2).sum()
    assert squares(x, slice=slice(1, None, 3)).get() == (host[1::3] ** 2).sum()
    least = ReductionKernel(queue.context, kind, "100", "min(a, b)", "k - x[i]", f"{c} k, {c} *x")
    out = cl_array.zeros(queue, (), kind)
    result, event = least(5, x, out=out, return_event=True)
    event.wait()
    assert result is out and out.get() == min([100, *(5 - host)])


def mine(queue):
    """A type for x -> p x + q: their composition is associative, and the order matters."""
    kind, text = match_dtype_to_c_struct(queue.context.devices[0], "linear", np.dtype([("p", "u4"), ("q", "u4")]))
    kind = get_or_register_dtype("linear", kind)
    text += """
    linear linear_of(uint p, uint q) { linear r; r.p = p; r.q = q; return r; }
    linear linear_then(linear f, linear g) { return linear_of(f.p * g.p, g.p * f.q + g.q); }
    """
    return kind, text


def folded(pairs, starts):
    """The oracle: (p, q) of all up to each one."""
    p, q, out = 1, 0, []
    for (a, b), start in zip(pairs, starts, strict=True):
        p, q = (a, b) if start else ((p * a) % 2**32, (a * q + b) % 2**32)
        out.append((p, q))
    return out


@pytest.mark.parametrize("n, is_segmented", list(itertools.product(SIZES[1:], [False, True])))
def test_scans_keep_the_order(queue, n, is_segmented):
    kind, text = mine(queue)
    rng = np.random.default_rng(n)
    pairs, starts = rng.integers(1, 9, (n, 2)), (rng.random(n) < 0.001) & is_segmented
    p, q = (cl_array.to_device(queue, pairs[:, k].astype("u4")) for k in range(2))
    flags = cl_array.to_device(queue, starts.astype("i1"))
    out, before, last = (cl_array.empty(queue, n, np.uint32) for _ in range(3))
    scan = GenericScanKernel(
        queue.context, kind, "uint *p, uint *q, char *flags, uint *out, uint *before, uint *last",
        "linear_of(p[i], q[i])", "across_seg_boundary ? b : linear_then(a, b)", "linear_of(1, 0)",
        "out[i] = item.q; before[i] = prev_item.q; last[i] = last_item.q + (N == i)",
        is_segment_start_expr="flags[i]" if is_segmented else None, preamble=text,
    )  # fmt: skip
    scan(p, q, flags, out, before, last).wait()
    wanted = [v for _, v in folded(pairs.tolist(), starts)]
    assert out.get().tolist() == wanted
    assert before.get().tolist() == [0 if s else v for v, s in zip([0, *wanted[:-1]], starts, strict=True)]
    assert set(last.get().tolist()) == {wanted[-1]}


@pytest.mark.parametrize("n", SIZES)
def test_scans_of_arrays_in_place_and_apart(queue, n):
    host = np.random.default_rng(n).integers(0, 9, n).astype("i4")
    x = cl_array.to_device(queue, host)
    sums = np.cumsum(host)
    assert np.array_equal(InclusiveScanKernel(queue.context, np.int32, "a+b", "0")(x, "new").get(), sums)
    ExclusiveScanKernel(queue.context, np.int32, "a+b", "0")(x)
    assert np.array_equal(x.get(), sums - host)
    y = cl_array.to_device(queue, host)
    differences = (
        GenericDebugScanKernel if n == 7 else GenericScanKernel
    )  # each reads its neighbour, which is written over
    kernel = differences(
        queue.context, np.int32, "int *x", "i > 0 ? now - left : now", "b", "0", "x[i] = item",
        input_fetch_exprs=[("now", "x", 0), ("left", "x", -1)],
    )  # fmt: skip
    kernel(y)
    assert np.array_equal(y.get(), np.diff(host, prepend=0))
    with pytest.raises(ValueError, match="neutral"):
        ExclusiveScanKernel(queue.context, np.int32, "a+b")
    with pytest.raises(TypeError, match="divisible by 4"):
        InclusiveScanKernel(queue.context, np.int16, "a+b")


# ---- algorithms


@pytest.mark.parametrize("n", SIZES)
def test_choosing(queue, n):
    host = np.sort(np.random.default_rng(n).integers(0, max(n // 2, 1), n).astype("i4"))
    x, limit = cl_array.to_device(queue, host), np.int32(n // 4)
    chosen, count, event = algorithm.copy_if(x, "ary[i] > limit", [("limit", limit)])
    event.wait()
    assert chosen.get()[: int(count.get())].tolist() == host[host > limit].tolist()
    others, count, _ = algorithm.remove_if(x, "ary[i] > limit", [("limit", limit)])
    assert others.get()[: int(count.get())].tolist() == host[host <= limit].tolist()
    yes, no, count, _ = algorithm.partition(x, "ary[i] % 3 == 0")
    assert int(count.get()) == (host % 3 == 0).sum()
    assert yes.get()[: int(count.get())].tolist() == host[host % 3 == 0].tolist()
    assert no.get()[: n - int(count.get())].tolist() == host[host % 3 != 0].tolist()
    one, count, _ = algorithm.unique(x)
    assert one.get()[: int(count.get())].tolist() == np.unique(host).tolist()


def test_sorting_by_keys(queue):
    host = np.random.default_rng(2).integers(0, 1000, (2, 5000)).astype("i4")
    a, b = (cl_array.to_device(queue, h) for h in host)
    sort = algorithm.RadixSort(
        queue.context, "int *a, int *b, int most", "most - a[i]", ["b", "a"], key_dtype=np.uint32
    )
    (b_sorted, a_sorted), event = sort(a, b, 2000)
    event.wait()
    order = np.argsort(2000 - host[0], kind="stable")
    assert np.array_equal(a_sorted.get(), host[0][order]) and np.array_equal(b_sorted.get(), host[1][order])
    starts, values, _ = algorithm.KeyValueSorter(queue.context)(queue, a, b, 1000, np.int32)
    starts, values = starts.get(), values.get()
    for key in (0, 500, 999):
        assert values[starts[key] : starts[key + 1]].tolist() == host[1][host[0] == key].tolist()


@pytest.mark.parametrize("n", [0, 5, 9000])
def test_lists(queue, n):
    builder = algorithm.ListOfListsBuilder(
        queue.context, [("odd", np.int32), ("even", np.float32), ("same", np.int64)],
        """
        void more(LIST_ARG_DECL USER_ARG_DECL index_type i) { APPEND_even(i / by); APPEND_same(i); }
        void generate(LIST_ARG_DECL USER_ARG_DECL index_type i) {
          if (i % 2) for (int k = 0; k < i % 4; k++) { APPEND_odd(x[i] + k); }
          else more(LIST_ARGS USER_ARGS i);
        }
        """,
        arg_decls=[VectorArg(np.int32, "x"), ScalarArg(np.float32, "by")], count_sharing={"same": "even"},
        eliminate_empty_output_lists=["odd"],
    )  # fmt: skip
    x = cl_array.arange(queue, n, dtype=np.int32)
    made, event = builder(queue, n, x, 2)
    event.wait()
    full = [i for i in range(n) if i % 2]
    assert made["odd"].lists.get().tolist() == [i + k for i in full for k in range(i % 4)]
    assert made["odd"].nonempty_indices.get().tolist() == full and made["odd"].num_nonempty_lists == len(full)
    assert np.diff(made["odd"].starts.get()).tolist() == [i % 4 for i in full]
    assert made["even"].lists.get().tolist() == [i / 2 for i in range(0, n, 2)]
    assert made["same"].lists.get().tolist() == list(range(0, n, 2)) and made["same"].count == made["even"].count
    only, _ = builder(queue, n, x, 2, omit_lists=["odd"])
    assert only["odd"].lists is None and only["even"].count == len(range(0, n, 2))
    with pytest.raises(TypeError, match="unexpected: nothing"):
        builder(queue, n, x, 2, omit_lists=["nothing"])


def test_launches_as_scripts(queue, program, monkeypatch, tmp_path):
    """The script makes the launch again with the same values: seen by the one that it captures itself."""
    a = cl_array.arange(queue, 8, dtype=np.int32)
    file = tmp_path / "captured.py"
    program.turn.capture_call(str(file), queue, (8,), (4,), a.data, cl.LocalMemory(16))
    monkeypatch.setitem(__import__("sys").modules, "pyopencl", cl)
    script, seen = {}, []
    exec(file.read_text(), script)  # noqa: S102
    monkeypatch.setattr(cl, "Buffer", lambda *args, **words: seen.append(cl._memory.Buffer(*args, **words)) or seen[-1])
    script["main"]()
    assert seen[0]._bytes.view("i4").tolist() == [3, 2, 1, 0, 7, 6, 5, 4] and a.get().tolist() == list(range(8))


def test_errors_tell_the_lines_of_the_program(queue):
    text = "#include <pyopencl-complex.h>\n#include <pyopencl-complex.h>\n__kernel void f() {\n  cfloat_nothing(1);\n}"
    with pytest.raises(cl.RuntimeError, match="kernel.cl:4:"):
        cl.Program(queue.context, text).build()
