#!/usr/bin/env bash
# Bring what a build and its tests need: system packages where something is missing, the rest into .venv.
# Run by make; running it again costs nothing. PYTHON names the interpreter to use (default: python3).
set -u
cd "$(dirname "$0")/.." || exit 1

say() { printf '== %s\n' "$*"; }
fail() { printf 'setup: %s\n' "$*" >&2; exit 1; }
has() { command -v "$1" >/dev/null 2>&1; }

# ---- Python
find_python() {
  local name
  for name in ${PYTHON:-} python3 python3.14 python3.13 python3.12 python3.11; do
    has "$name" && "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo "$name"; return; }
  done
}
python=$(find_python)
[ -n "$python" ] || fail "Python 3.11 or newer is needed (set PYTHON=/path/to/python3)"
has_venv() { "$python" -c 'import venv, ensurepip' 2>/dev/null; }
has_headers() { "$python" -c 'import os, sysconfig as s, sys; sys.exit(not os.path.exists(s.get_paths()["include"] + "/Python.h"))'; }
is_system_python() { case $("$python" -c 'import sys; print(sys.base_prefix)') in /usr) true ;; *) false ;; esac }

# ---- system packages
has_blas() { ldconfig -p 2>/dev/null | grep -q 'libopenblas' || PATH=$PATH:/sbin:/usr/sbin ldconfig -p 2>/dev/null | grep -q libopenblas; }
packages=()
has cc || has gcc || has clang || packages+=(gcc libc6-dev)
has c++ || has g++ || has clang++ || packages+=(g++) # kernels in CUDA C on the CPU
has cmake || packages+=(cmake)
has ninja || packages+=(ninja-build)
has pkg-config || packages+=(pkg-config)
has_blas || packages+=(libopenblas0-pthread)
case " $* " in *requirements-test*) # an OpenCL device for the tests, made of the CPU
  ls /etc/OpenCL/vendors/*.icd >/dev/null 2>&1 || packages+=(ocl-icd-libopencl1 pocl-opencl-icd) ;;
esac
if is_system_python; then
  minor=$("$python" -c 'import sys; print("python3.%d" % sys.version_info[1])')
  has_venv || packages+=("$minor-venv")
  has_headers || packages+=("$minor-dev")
fi

as_root=()
can_install() {
  has apt-get || return 1
  [ "$(id -u)" = 0 ] && return 0
  has sudo || return 1
  if sudo -n true 2>/dev/null; then as_root=(sudo -n); elif [ -t 0 ]; then as_root=(sudo); else return 1; fi
}
apt_install() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "$@" >>"$log" 2>&1
}
# One name that apt does not know makes it install nothing: then one by one.
install_what_is_there() {
  local name missing=()
  apt_install "$@" && return 0
  for name in "$@"; do apt_install "$name" || missing+=("$name"); done
  [ ${#missing[@]} -eq 0 ] && return 0
  grep '^E:' "$log" | sort -u | tail -n 3 >&2
  say "not to be had from apt: ${missing[*]} (Ubuntu keeps some in 'universe'); going on with what is here"
}
if [ ${#packages[@]} -gt 0 ]; then
  log=$(mktemp)
  if can_install; then
    say "installing system packages: ${packages[*]}"
    "${as_root[@]}" apt-get update -q >"$log" 2>&1
    install_what_is_there "${packages[@]}"
  else
    say "missing and not installable from here (no apt-get, or no root): ${packages[*]}"
  fi
  rm -f "$log"
fi
has cc || has gcc || has clang || fail "a C compiler is needed: install gcc"
has_headers || fail "Python's headers are needed for $python: install python3-dev"

# ---- .venv
want() { # the requirement file is met, by the note that its last install left
  cmp -s "$1" ".venv/.have-$(basename "$1")"
}
pip_install() {
  .venv/bin/python -m pip install -qq --disable-pip-version-check "$@"
}
need_file() {
  want "$1" && return 0
  say "installing into .venv: $(grep -v '^#' "$1" | tr '\n' ' ')"
  pip_install -r "$1" && cp "$1" ".venv/.have-$(basename "$1")"
}
if ! .venv/bin/python -c 'import pip' 2>/dev/null; then
  say "creating .venv with $("$python" --version)"
  rm -rf .venv
  if has_venv; then "$python" -m venv .venv; else
    "$python" -m venv --without-pip .venv && "$python" -m pip --python .venv/bin/python install -q pip 2>/dev/null
  fi
  .venv/bin/python -c 'import pip' 2>/dev/null || fail "cannot create .venv: install ${minor:-python3}-venv"
fi
# What apt could not bring, PyPI may.
has cmake || [ -x .venv/bin/cmake ] || { say "cmake comes from PyPI"; pip_install cmake; } ||
  fail "cmake is needed: install cmake"
has ninja || has make || [ -x .venv/bin/ninja ] || pip_install ninja || fail "ninja or make is needed: install ninja-build"
has_blas || .venv/bin/python -c 'import scipy_openblas64' 2>/dev/null || { say "OpenBLAS comes from PyPI"; pip_install scipy-openblas64; } ||
  say "no OpenBLAS: our own matrix product serves, which is slower"
for file in "$@"; do
  need_file "$file" || fail "cannot install $file from PyPI into .venv: is the network there?"
done
