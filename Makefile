# The front door. Everything is built in build/ and installed in .venv/; only tools/setup.sh touches the system.
SHELL := /bin/bash
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
PY := .venv/bin/python
# What setup could not have from the system it puts into .venv.
export PATH := $(PATH):$(CURDIR)/.venv/bin
MAKEFLAGS += --no-print-directory
C_FILES = $(shell git ls-files 'src/*.[ch]' 'include/*.h' 'tests/*.[ch]' 'examples/*.c' 'python/*.[ch]')

.PHONY: help build test demo bench lint tidy format clean distclean setup
help:
	@echo 'make demo     build, then run the demonstration'
	@echo 'make test     build, then run all tests'
	@echo 'make build    the library in build/, the package importable from .venv/bin/python'
	@echo 'make bench    the speed table against NumPy, numexpr, Numba and JAX (installs them in .venv)'
	@echo 'make lint     formatting, ruff, layers, exported symbols;   make format   mend the formatting'
	@echo 'make clean    remove build*/;                               make distclean   and .venv/'

setup:
	@tools/setup.sh tools/requirements-test.txt

# A generator is chosen once; a second configure would refuse another one.
build: setup
	@[ -f build/CMakeCache.txt ] || { echo '== configuring'; \
	  generator=Ninja; command -v ninja >/dev/null || generator='Unix Makefiles'; \
	  cmake -S . -B build -G "$$generator" -DPython_EXECUTABLE="$(CURDIR)/$(PY)" >build.log 2>&1 \
	  || { cat build.log; rm -rf build build.log; exit 1; }; rm -f build.log; }
	@echo '== building'
	@cmake --build build -j $(JOBS) | { grep --line-buffered -v -e 'Re-checking' -e 'no work to do' -e 'ing directory' || true; }; \
	  exit $${PIPESTATUS[0]}
	@echo '$(CURDIR)/build/python' > "$$($(PY) -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])')/tutti-checkout.pth"

# What is compiled while they run stays in the checkout too.
demo test: export TUTTI_CACHE_DIR ?= $(CURDIR)/build/cache
demo: build
	@$(PY) examples/python/demo.py

test: build
	@echo '== C tests'
	@cd build && ctest --output-on-failure -j $(JOBS)
	@echo '== Python tests'
	@$(PY) -m pytest -n $(JOBS) tests

bench: build
	@tools/setup.sh tools/requirements-bench.txt
	@$(PY) bench/run.py

lint:
	@tools/setup.sh tools/requirements-lint.txt
	@tools/lint.sh

tidy: build
	@run-clang-tidy -quiet -p build -j $(JOBS) "$(CURDIR)/src/.*" 2>/dev/null | grep -E -A3 'warning:|error:' || echo 'nothing found'

format:
	@tools/setup.sh tools/requirements-lint.txt
	@.venv/bin/clang-format -i $(C_FILES)
	@.venv/bin/ruff format -q .
	@.venv/bin/ruff check -q --fix .

clean:
	rm -rf build build-*

distclean: clean
	rm -rf .venv
