#!/usr/bin/env bash
# Every public header compiles alone, as C and as C++; every internal one as C.
cd "$(dirname "$0")/../.." || exit 1
bad=0
cc=${CC:-cc}
cxx=$(command -v c++ || command -v g++ || command -v clang++)
for header in $(git ls-files 'include/*.h' 'src/*.h'); do
  case $header in src/scalar/prelude*.h | src/scalar/special*.h | src/scalar/bessel*.h | src/scalar/integral*.h | src/scalar/incomplete.h | src/scalar/quantiles.h | src/scalar/program_math.h | *_text.h | src/lib/*.text.h | *_body.h) continue ;; esac # kernels; templates of one .c
  $cc -std=gnu11 -D_GNU_SOURCE -Wall -Werror -Iinclude -Isrc -fsyntax-only -x c "$header" || bad=1
  case $header in include/*) [ -z "$cxx" ] || "$cxx" -std=c++17 -Wall -Werror -Iinclude -fsyntax-only -x c++ "$header" || bad=1 ;; esac
done
exit $bad
