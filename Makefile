# The front door. Everything is built in build/ and installed in .venv/; only tools/setup.sh touches the system.
SHELL := /bin/bash
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
PY := .venv/bin/python
# What setup could not have from the system it puts into .venv.
export PATH := $(PATH):$(CURDIR)/.venv/bin
MAKEFLAGS += --no-print-directory
C_FILES = $(shell git ls-files 'src/*.[ch]' 'include/*.h' 'tests/*.[ch]' 'examples/*.c' 'python/*.[ch]')

.PHONY: help build package test test-long test-libraries docs demo bench conformance conformance-kernels lint tidy format \
  clean distclean setup setup-demo
help:
	@echo 'make demo     build the package, then run the demonstration'
	@echo 'make test     build, then run all tests'
	@echo 'make test-libraries   what users of other libraries write (installs pandas, SciPy, JAX, ... in .venv)'
	@echo 'make test-long   all of what CI tries a part of a day; more threads than cores, wide vectors, AddressSanitizer'
	@echo '                 (PARTS="stages turns c library oracle" THREADS="3 16 64")'
	@echo 'make build    the library in build/, the package importable from .venv/bin/python'
	@echo 'make bench    the speed table against NumPy, numexpr, Numba and JAX (installs them in .venv)'
	@echo 'make conformance ARRAY_API_TESTS=dir   the array API suite (a clone of data-apis/array-api-tests, with its submodule)'
	@echo 'make conformance-kernels NUMBA=dir     tests of Numba, NUMBA_CUDA=, PYCUDA=, CUPY= on tutti (clones of their repositories)'
	@echo 'make docs     the documentation site, in build/docs/html (installs Sphinx in .venv)'
	@echo 'make lint     formatting, ruff, layers, exported symbols;   make format   mend the formatting'
	@echo 'make clean    remove build*/;                               make distclean   and .venv/'

setup:
	@tools/setup.sh tools/requirements-test.txt
setup-demo:
	@tools/setup.sh tools/requirements-demo.txt

# Of the package, or of everything: the libraries for C, their examples and the tests. A generator is chosen once; a second
# configure would refuse another one.
build: setup
build: TARGET = all
package: setup-demo
package: TARGET = _core
build package:
	@[ -f build/CMakeCache.txt ] || { echo '== configuring'; \
	  generator=Ninja; command -v ninja >/dev/null || generator='Unix Makefiles'; \
	  cmake -S . -B build -G "$$generator" -DPython_EXECUTABLE="$(CURDIR)/$(PY)" >build.log 2>&1 \
	  || { cat build.log; rm -rf build build.log; exit 1; }; rm -f build.log; }
	@echo '== building'
	@cmake --build build -j $(JOBS) --target $(TARGET) | awk -f tools/progress.awk; exit $${PIPESTATUS[0]}
	@echo '$(CURDIR)/build/python' > "$$($(PY) -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])')/tutti-checkout.pth"

# What is compiled while they run stays in the checkout too.
demo test: export TUTTI_CACHE_DIR ?= $(CURDIR)/build/cache
demo: package
	@$(PY) examples/python/demo.py

test: build
	@echo '== C tests'
	@cd build && ctest --output-on-failure -j $(JOBS) | grep --line-buffered -v -e ' Start ' -e ' Passed ' -e '^$$'; exit $${PIPESTATUS[0]}
	@echo '== Python tests'
	@$(PY) -m pytest -n $(JOBS) --parts tests --ignore=tests/libraries

test-libraries: export TUTTI_CACHE_DIR ?= $(CURDIR)/build/cache
test-libraries: build
	@tools/setup.sh tools/requirements-libraries.txt
	@$(PY) -m pytest -n $(JOBS) tests/libraries

docs: export TUTTI_CACHE_DIR ?= $(CURDIR)/build/cache
docs: build
	@tools/setup.sh tools/requirements-docs.txt
	@$(PY) tools/site.py build/docs/source
	@$(PY) -m sphinx -q -W --keep-going -b html -j $(JOBS) build/docs/source build/docs/html
	@echo '== build/docs/html/index.html'

# Stages of CI with all cases, tests with all their turns, and c, library and oracle with more threads than cores under
# AddressSanitizer; hours on a small machine. PARTS and THREADS choose.
PARTS ?= stages turns c library oracle
THREADS ?= 3 16 64
long_part_c = (cd build-asan && ctest --output-on-failure -j $(JOBS) -E 'nvrtc|test_threads$$')
long_python = env LD_PRELOAD="$$(realpath "$$(cc -print-file-name=libasan.so)") $$(realpath "$$(g++ -print-file-name=libstdc++.so.6)")" \
  TUTTI_CC=none PYTHONPATH=build-asan/python ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 \
  $(PY) -m pytest -n $(JOBS) -m "not slow and not timing" -p no:cacheprovider --parts
long_part_library = $(long_python) tests/fuzz/test_library.py
long_part_oracle = $(long_python) tests/oracle
test-long: export TUTTI_CC_MEMORY := 100000000
test-long: export ASAN_OPTIONS := allocator_may_return_null=1
test-long: build
	@cmake -S . -B build-asan -DTUTTI_SANITIZE=address,undefined -DTUTTI_WIDE=ON -DPython_EXECUTABLE="$(CURDIR)/$(PY)" >/dev/null
	@cmake --build build-asan -j $(JOBS) | awk -f tools/progress.awk; exit $${PIPESTATUS[0]}
	@$(if $(filter stages,$(PARTS)),SHARE=1 .ci/run asserts ASan 'no compiler' simulated NVRTC)
	@$(if $(filter turns,$(PARTS)),$(PY) -m pytest -n $(JOBS) --parts --turns 6 tests --ignore=tests/libraries)
	@$(foreach n,$(THREADS),$(foreach p,$(filter-out stages turns,$(PARTS)),echo '== $n threads: $p' && export TUTTI_NUM_THREADS=$n && $(long_part_$p) &&)) true

bench: build
	@tools/setup.sh tools/requirements-bench.txt
	@$(PY) bench/run.py

# All of the suite, but for one function where NumPy's answer is another (docs/numpy.md). MAX_EXAMPLES, of each test.
MAX_EXAMPLES ?= 25
conformance: export TUTTI_CACHE_DIR ?= $(CURDIR)/build/cache
conformance: export ARRAY_API_TESTS_MODULE := tutti
conformance: build
	@[ -f "$(ARRAY_API_TESTS)/conftest.py" ] || { echo 'ARRAY_API_TESTS=dir of a clone of data-apis/array-api-tests'; exit 2; }
	@tools/setup.sh tools/requirements-conformance.txt
	@cd "$(ARRAY_API_TESTS)" && PYTHONPATH="$(CURDIR)/build/python" "$(CURDIR)/$(PY)" -m pytest -q -n $(JOBS) --rootdir . -p no:cacheprovider \
	  --disable-deadline --max-examples $(MAX_EXAMPLES) --xfails-file "$(CURDIR)/tools/array_api_differences.txt" array_api_tests

# Of each library's own tests those that tools/conformance_kernels.py names, or KERNEL_PARTS of a single one. KERNEL_RESULTS
# keeps the outcomes for tools/compat_page.py.
KERNEL_PARTS ?=
KERNEL_RESULTS ?=
conformance-kernels: export TUTTI_CACHE_DIR ?= $(CURDIR)/build/cache
conformance-kernels: build
	@[ -n "$(NUMBA)$(NUMBA_CUDA)$(PYCUDA)$(PYOPENCL)$(CUPY)" ] || { echo 'NUMBA=, NUMBA_CUDA=, PYCUDA=, PYOPENCL=, CUPY=: dirs of clones'; exit 2; }
	@for given in numba:"$(NUMBA)" numba-cuda:"$(NUMBA_CUDA)" pycuda:"$(PYCUDA)" pyopencl:"$(PYOPENCL)" cupy:"$(CUPY)"; do \
	  [ -n "$${given#*:}" ] || continue; \
	  PYTHONPATH="$(CURDIR)/build/python" "$(CURDIR)/$(PY)" tools/conformance_kernels.py "$${given%%:*}" "$${given#*:}" \
	    $(if $(KERNEL_RESULTS),--results "$(KERNEL_RESULTS)") $(KERNEL_PARTS) || exit 1; \
	done

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
