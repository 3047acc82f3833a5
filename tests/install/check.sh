#!/usr/bin/env bash
# check.sh CMAKE BUILD_DIR: install into a folder of the build, then use it as a stranger would.
set -eu
cmake=$1 build=$2
here=$(cd "$(dirname "$0")" && pwd)
examples=$here/../../examples/c
cc=${CC:-cc}
command -v "$cc" >/dev/null || exit 77
prefix=$build/install-check
rm -rf "$prefix"
"$cmake" --install "$build" --prefix "$prefix" >/dev/null
libdir=$(dirname "$(find "$prefix" -name libtutti.so)")

test "$(readlink "$libdir/libtutti.so")" = libtutti.so.0
test -f "$libdir/libtutti.a"

echo "find_package"
"$cmake" -S "$here/consumer" -B "$prefix/consumer" -DCMAKE_PREFIX_PATH="$prefix" >/dev/null
"$cmake" --build "$prefix/consumer" >/dev/null
"$prefix/consumer/consumer_shared"
"$prefix/consumer/consumer_static"
"$prefix/consumer/stencil" >/dev/null

command -v pkg-config >/dev/null || { echo "no pkg-config: its half is skipped"; exit 0; }
export PKG_CONFIG_PATH=$libdir/pkgconfig
# Words of a shell: a folder with spaces comes with backslashes.
eval "flags=($(pkg-config --cflags --libs tutti))"
for file in "$here"/consumer/consumer.c "$examples"/*.c; do
  [ -e "$file" ] || continue
  echo "pkg-config: $(basename "$file")"
  "$cc" -std=c11 -Wall -Werror "$file" -o "$prefix/program" "${flags[@]}" -lm
  LD_LIBRARY_PATH=$libdir "$prefix/program" >/dev/null
done

echo "pkg-config: README.md"
snippet=$(sed -n '/^```c$/,/^```$/p' "$here/../../README.md" | grep -v '^```')
test -n "$snippet"
{
  grep '^#include' <<<"$snippet"
  echo 'int main(void) {'
  grep -v '^#include' <<<"$snippet"
  echo 'float sum[1000]; return tt_read(c, sum, sizeof sum, NULL) != TT_OK || sum[0] != 5 || sum[999] != 5; }'
} >"$prefix/readme.c"
"$cc" -std=c11 -Wall -Werror "$prefix/readme.c" -o "$prefix/program" "${flags[@]}"
LD_LIBRARY_PATH=$libdir "$prefix/program"
