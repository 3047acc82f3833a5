#!/usr/bin/env bash
# The kernel prelude compiles without a warning and without a header: as C, as C++ (what CUDA C is), and as OpenCL C.
cd "$(dirname "$0")/../.." || exit 1
bad=0
parts="src/scalar/prelude.h src/scalar/prelude_f64.h src/scalar/prelude_f32.h"
parts="$parts src/scalar/special_tables.h src/scalar/special.h src/scalar/incomplete.h src/scalar/quantiles.h src/scalar/bessel_tables.h src/scalar/bessel.h"
parts="$parts src/scalar/integral_tables.h src/scalar/integrals.h src/scalar/bessel_order.h src/scalar/special_complex.h"
grep -n '^ *# *include' $parts && bad=1
warn="-Wall -Wextra -Werror -nostdinc -ffp-contract=off -fsyntax-only"
for cc in gcc clang; do
  command -v $cc >/dev/null || continue
  cat $parts | $cc -std=gnu11 $warn -Wconversion -Wno-sign-conversion -x c - || bad=1
  cat $parts | $cc -std=c++17 $warn -x c++ - || bad=1
done
opencl='#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#define TT_DIALECT_TYPES
typedef uchar tt_b8; typedef char tt_i8; typedef short tt_i16; typedef int tt_i32; typedef long tt_i64;
typedef uchar tt_u8; typedef ushort tt_u16; typedef uint tt_u32; typedef ulong tt_u64;
typedef ushort tt_f16; typedef ushort tt_bf16; typedef float tt_f32; typedef double tt_f64;
#define TT_DIALECT_BITS
#define tt__bits_f32(x) as_uint(x)
#define tt__from_f32(x) as_float(x)
#define tt__bits_f64(x) as_ulong(x)
#define tt__from_f64(x) as_double(x)
#define TT_U64(x) x##ul
#define TT_I64(x) x##l
#define TT_FN static
#define TT_RARE static
#define TT_LONG_FN static
#define TT_CONST __constant
#define TT_SQRT_F32(x) sqrt(x)
#define TT_SQRT_F64(x) sqrt(x)'
if command -v clang >/dev/null; then
  { echo "$opencl"; cat $parts; } |
    clang -x cl -cl-std=CL1.2 -Xclang -finclude-default-header -Wno-unused-function -Werror -fsyntax-only - || bad=1
fi
exit $bad
