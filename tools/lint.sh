#!/usr/bin/env bash
# Every check that reads the tree and runs none of it; each says what it found, the exit status says whether all passed.
cd "$(dirname "$0")/.." || exit 1
export PATH=$PATH:$PWD/.venv/bin
bad=0
step() {
  local name=$1 out
  shift
  if out=$("$@" 2>&1); then printf 'ok    %s\n' "$name"; else printf 'FAIL  %s\n%s\n' "$name" "$out" | head -n 60; bad=1; fi
}
c_files() { git ls-files 'src/*.[ch]' 'include/*.h' 'tests/*.[ch]' 'examples/*.c' 'python/*.[ch]'; }
formatted() { c_files | xargs .venv/bin/clang-format --dry-run -Werror; }
# clang-format breaks our `**` comments into lines of `*word`; so it leaves comments alone, and their width is seen here.
narrow() { c_files | xargs awk 'length($0) > 120 { print FILENAME ":" FNR ": " length($0) " columns"; bad = 1 } END { exit bad }'; }

step "clang-format" formatted
step "line width" narrow
step "ruff check" .venv/bin/ruff check -q .
step "ruff format" .venv/bin/ruff format -q --check .
# With the calls of the build, where there is one.
built=$([ -d build/CMakeFiles/tutti_objects.dir ] && echo build)
step "layers" python3 tools/layers.py $built
for check in tools/checks/*; do
  step "$(basename "$check")" "$check"
done
exit $bad
