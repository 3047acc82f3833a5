"""What programs bring with them: types of fixed widths of their own, launches in the text."""

# ruff: noqa: E501 (kernels stand here as people write them)

import shutil

import numpy as np
import nvrtc
import pytest
import tutti as tt
from test_cudac_same import refusal

needs_cxx = pytest.mark.skipif(not (shutil.which("c++") or shutil.which("g++")), reason="no C++ compiler")
OWN = """typedef unsigned char uint8_t;
typedef unsigned int uint32_t; typedef unsigned long long uint64_t;
typedef signed char int8_t; typedef short int16_t; typedef int int32_t; typedef long long int64_t;
struct pair { uint32_t low; uint64_t high; };
"""
KERNEL = """extern "C" __global__ void f(uint64_t *o, int64_t n, uint8_t x) {
  pair p = {(uint32_t)n, (uint64_t)n << 40};
  int8_t small = (int8_t)x;
  o[threadIdx.x] = p.low + p.high + (uint64_t)(int64_t)small;
  atomicAdd(o + 2, (uint64_t)1);
}"""


@needs_cxx
@pytest.mark.parametrize("way", ["", "#include <stdint.h>\n", "#include <cstdint>\n"])
@pytest.mark.parametrize("check", ["0", "1"])
def test_types_of_fixed_widths_of_its_own(way, check, monkeypatch):
    monkeypatch.setenv("TUTTI_CHECK", check)
    o = np.zeros(3, np.uint64)
    tt.SourceModule(way + OWN + KERNEL, no_extern_c=True).get_function("f")(
        o, np.int64(5), np.uint8(255), block=(2, 1, 1), grid=(1, 1)
    )
    tt.synchronize()
    assert o.tolist() == [4 + (5 << 40)] * 2 + [2]


@pytest.mark.skipif(nvrtc.library() is None, reason="no NVRTC")
def test_types_of_its_own_for_nvrtc():
    names = "".join(f"#define {u}int{n}_t tt_own_{u}int{n}_t\n" for u in ("", "u") for n in (8, 32, 64))
    assert refusal(names + "#define int16_t tt_own_int16_t\n" + OWN + KERNEL) is None


@needs_cxx
@pytest.mark.usefixtures("host")  # the words are ours, on a GPU the compiler's
@pytest.mark.parametrize(
    "text, line",
    [
        ("__global__ void g(int *o) {}\n__global__ void f(int *o) {\n  g<<<1, 32>>>(o);\n}", 3),
        (
            "#include <stdio.h>\n\ntemplate <class T> __global__ void g(T *o) {}\nvoid host(int *o) { g<int> <<<1, 1>>>(o); }",
            4,
        ),
        ("#define N 3\n__global__ void g(int *o) {}\n\n\nint main() { g\n<<<N, N>>>(0); }", 6),
    ],
)
def test_launches_in_a_text_are_refused_by_their_line(text, line):
    with pytest.raises(tt.CompileError, match=rf"kernel.cu:{line}: .*launches in a text are not there"):
        tt.SourceModule(text)


@needs_cxx
def test_shifts_and_templates_are_no_launches():
    text = "template <class T> struct of { T x; };\n__global__ void f(int *o) { o[0] = 1 << 2 < 5; of<of<of<int>>> y; (void)y; }"
    o = np.zeros(1, np.int32)
    tt.SourceModule(text).get_function("f")(o, block=(1, 1, 1), grid=(1, 1))
    tt.synchronize()
    assert o[0] == 1


@pytest.mark.parametrize("name", ["all", "any", "copy"])
def test_kernels_with_names_that_cuda_has(name):
    source = f'extern "C" __global__ void {name}(int *o, float x) {{ o[threadIdx.x] = (int)threadIdx.x + (int)x; }}'
    o = tt.zeros(3, dtype="int32")
    tt.RawKernel(source, name)((1,), (3,), (o, np.float32(2)))
    assert o.tolist() == [2, 3, 4]
