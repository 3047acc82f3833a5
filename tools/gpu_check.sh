#!/usr/bin/env bash
# Everything about a GPU, in one go, in a bare checkout on a machine that has one: build, the tests on the device, the
# same with bounds checks, networks, users' kernels, random programs, a sample under compute-sanitizer, the speed table.
# OUT: where results go (default build/gpu). PYTHON: which interpreter (default python3).
# PART: which parts, of "build unit oracle grad nn kernels versions check sanitize bench" (default all).
set -u
cd "$(dirname "$0")/.." || exit 1
out=${OUT:-$PWD/build/gpu}
parts=${PART:-build unit oracle grad nn kernels versions check sanitize bench}
python=${PYTHON:-python3}
jobs=$(nproc)
mkdir -p "$out"
export TUTTI_CACHE_DIR=${TUTTI_CACHE_DIR:-$out/cache} PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1
verdict=()

# part NAME LIMIT COMMAND...: its output into a file, one line here.
part() {
  local name=$1 limit=$2 from=$SECONDS state=ok
  shift 2
  case " $parts " in *" ${name%%-*} "*) ;; *) return 0 ;; esac
  timeout "$limit" bash -c '"$@"' _ "$@" >"$out/$name.log" 2>&1 || state="FAIL ($?)"
  verdict+=("$(printf '%-10s %-10s %4d s  %s' "$name" "$state" $((SECONDS - from)) "$(tail -n 1 "$out/$name.log" | cut -c1-100)")")
  [ "$state" = ok ] || { printf -- '---- %s\n' "$name"; tail -n "${TAIL:-25}" "$out/$name.log"; }
}

build() {
  cmake -S . -B build-gpu -G "$(command -v ninja >/dev/null && echo Ninja || echo 'Unix Makefiles')" \
    -DPython_EXECUTABLE="$(command -v "$python")" && cmake --build build-gpu -j "$jobs"
}
pytest_on() {
  local device=$1
  shift
  TUTTI_DEVICE=$device PYTHONPATH=build-gpu/python "$python" -m pytest -q -p no:cacheprovider -m "not slow and not timing" "$@"
}
parallel() { "$python" -c 'import xdist' 2>/dev/null && echo "-n ${WORKERS:-6}"; }
# shellcheck disable=SC2046
oracle() { pytest_on cuda:0 $(parallel) tests/oracle tests/gpu; }
# shellcheck disable=SC2046
grad() {
  pytest_on cuda:0 $(parallel) tests/grad &&
    TUTTI_DEVICE=cuda:0 TUTTI_POISON=1 PYTHONPATH=build-gpu/python "$python" tests/fuzz/gradients.py 0 "${GRADIENTS:-200}" --processes 12
}
# shellcheck disable=SC2046
nn() { pytest_on cuda:0 $(parallel) tests/nn tests/training tests/data tests/compat; }
# Whatever runs on a GPU too; what NVRTC makes of their texts is looked at without one.
# shellcheck disable=SC2046
kernels() { pytest_on cuda:0 $(parallel) tests/kernels -k "not nvrtc and not both_compilers"; }
versions() {
  TUTTI_DEVICE=cuda:0 TUTTI_POISON=1 PYTHONPATH=build-gpu/python "$python" tests/fuzz/versions.py "${SEED:-$RANDOM}0000" \
    "${PROGRAMS:-20000}" --processes 8 --types int64
}
# shellcheck disable=SC2046
check() { TUTTI_CHECK=1 pytest_on cuda:0 $(parallel) tests/oracle -k "${CHECK_SAMPLE:-test_ops or test_functions}"; }
sanitized() {
  TUTTI_DEVICE=cuda:0 PYTHONPATH=build-gpu/python compute-sanitizer --error-exitcode 1 --target-processes all --report-api-errors no "$python" "$@"
}
# What is planted must be found, else silence means nothing.
sanitize() {
  command -v compute-sanitizer >/dev/null || { echo "no compute-sanitizer here"; return 0; }
  sanitized tools/planted_fault.py && { echo "compute-sanitizer does not see a write out of bounds"; return 1; }
  sanitized -m pytest -q -p no:cacheprovider tests/oracle/test_ops.py -k "${SANITIZE_SAMPLE:-float32}"
}
bench() { PYTHONPATH=build-gpu/python "$python" bench/gpu.py --out "$out/gpu.json" ${BENCH:-}; }

export -f build pytest_on parallel oracle grad nn kernels versions check sanitized sanitize bench
export out python jobs
part build 400 build
part unit 200 bash -c 'cd build-gpu && ctest --output-on-failure -R "device|threads|cublas" -E "unit_test_threads$" -j 6'
part oracle 500 oracle
part grad 300 grad
part nn 300 nn
part kernels 300 kernels
part versions 300 versions
part check 300 check
part sanitize 240 sanitize
part bench 550 bench
case " $parts " in *" bench "*) grep -v '^  *\.\.' "$out/bench.log" | tail -n 60 ;; esac
printf '%s\n' "${verdict[@]}"
