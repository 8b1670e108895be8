# make demo: the tour. make test: every test. Both set up what they need in .venv.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
# Installed like this, all code is found in this folder; structlearn has what learning needs, and extras.
FULL := ./packaging/structlearn
PROJECTS := pyproject.toml $(FULL)/pyproject.toml
NATIVE := CMakeLists.txt $(shell find native -name '*.hpp' -o -name '*.cpp')

# Tests find real corpora here; those that need them skip, by name, where it is absent.
ifneq ($(wildcard ../shared/data),)
export STRUCTLEARN_DATA ?= $(abspath ../shared/data)
endif

.PHONY: demo model library test test-core test-library test-neighbours test-neighbours-corpus test-serve test-ray test-spacy test-native test-threads test-aarch64 test-windows test-musl test-browser test-torch fuzz fuzz-structures \
	fuzz-kills fuzz-metamorphic fuzz-smoke lint stub format types bench tables docs source wheel clean help

help:  ## list the targets
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

$(VENV)/ready:
	@echo "==> 1/2 creating the virtual environment in $(VENV), with CMake and Ninja"
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || \
		{ echo "structlearn needs Python 3.10 or newer; set PYTHON=..."; exit 1; }
	@$(PYTHON) -m venv $(VENV)
	@$(PIP) install "scikit-build-core>=0.11" "nanobind>=2.4" "cmake>=3.18" ninja
	@touch $@

$(VENV)/installed: $(VENV)/ready $(PROJECTS) $(NATIVE)
	@echo "==> 2/2 fetching NumPy, SciPy, scikit-learn and compiling the core (a minute or two on two cores)"
	@$(BIN)/python tools/install.py
	@$(BIN)/python -m compileall -q src/structlearn  # what pip does for what it does not link
	@touch $@

$(VENV)/test-tools: $(VENV)/installed
	@echo "==> installing the test tools"
	@$(PIP) install seqeval  # a source archive: its own build tools are fetched for it
	@$(PIP) install --no-build-isolation --editable "$(FULL)[test]"
	@touch $@

$(VENV)/lint-tools: $(VENV)/installed
	@echo "==> installing ruff, mypy and clang-format"
	@$(PIP) install --no-build-isolation --editable "$(FULL)[lint]"
	@touch $@

$(VENV)/docs-tools: $(VENV)/installed
	@echo "==> installing Sphinx and its theme"
	@$(PIP) install --no-build-isolation --editable "$(FULL)[docs]"
	@touch $@

$(VENV)/english: $(VENV)/installed $(wildcard models/english/src/*/*.model)
	@$(PIP) install "setuptools>=77" && $(PIP) install --no-build-isolation --no-deps ./models/english
	@touch $@

demo: $(VENV)/english  ## the tour on built-in data; ends with a paragraph of English (TEXT=FILE: yours)
	@$(BIN)/structlearn demo $(if $(TEXT),--text $(TEXT))

ENGLISH := models/english/src/structlearn_english/english.model
EWT := $(STRUCTLEARN_DATA)/ud_en_ewt

model: $(VENV)/installed  ## the English model, from the treebank in STRUCTLEARN_DATA (some minutes)
	@$(BIN)/structlearn train pipeline $(EWT)/train.conllu.gz --dev $(EWT)/dev.conllu.gz \
		--random-state 1 --variants english --hash-bits 23 --n-models 4 --prune 1.05 --precision int8 --checkpoint build/english --model $(ENGLISH)
	@$(BIN)/structlearn evaluate $(ENGLISH) $(EWT)/test.conllu.gz
	@$(BIN)/structlearn evaluate $(ENGLISH) $(EWT)/test.conllu.gz --gold-tokens

test: $(VENV)/test-tools  ## every test
	@echo "==> running the tests"
	@$(BIN)/python -m pytest -n auto

$(VENV)/ray-tools: $(VENV)/test-tools
	@echo "==> installing Ray"
	@$(PIP) install --no-build-isolation --editable "$(FULL)[ray]"
	@touch $@

test-ray: $(VENV)/ray-tools  ## training and labelling on a Ray cluster of three nodes on this machine
	@echo "==> running the tests on a Ray cluster"
	@STRUCTLEARN_TEST_RAY=1 $(BIN)/python -m pytest tests/distributed -k ray

$(VENV)/serve-tools: $(VENV)/test-tools
	@echo "==> installing Starlette and uvicorn"
	@$(PIP) install --no-build-isolation --editable "$(FULL)[serve]"
	@touch $@

test-serve: $(VENV)/serve-tools  ## structlearn serve: its protocol, under load and under attack (a minute)
	@echo "==> running the tests of the server"
	@STRUCTLEARN_TEST_SERVE=1 $(BIN)/python -m pytest tests/serve

$(VENV)/neighbour-tools: $(VENV)/test-tools
	@echo "==> installing python-crfsuite, sklearn-crfsuite, Wapiti and CRF++"
	@$(PIP) install libwapiti  # a source archive: its own build tools are fetched for it
	@$(PIP) install --no-build-isolation --editable "$(FULL)[neighbours]"
	@touch $@

test-neighbours: $(VENV)/neighbour-tools  ## other libraries: files, scripts, their own tests, and products on our modules (STRINGS=10000)
	@echo "==> running the tests that compare with them"
	@$(BIN)/python -m pytest -n auto tests/crfsuite tests/io tests/docs/test_migration.py tests/metrics/test_entity_scores.py
	@echo "==> running their tests, and usaddress, probablepeople, ingredient-parser, on structlearn"
	@$(BIN)/python tools/neighbour_suites.py
	@$(BIN)/python tools/neighbour_products.py --strings $(or $(STRINGS),10000)

test-neighbours-corpus: $(VENV)/neighbour-tools  ## other libraries' models, objectives and scores on CoNLL-2000 (some minutes)
	@echo "==> comparing on CoNLL-2000, in STRUCTLEARN_DATA (some minutes)"
	@$(BIN)/python tools/neighbour_corpus.py

test-native: $(VENV)/ready  ## the core's own tests under AddressSanitizer and UBSan
	@echo "==> building the native tests with sanitizers (some minutes the first time)"
	@mkdir -p build
	@export PATH="$(abspath $(BIN)):$$PATH"; \
		cmake -S . -B build/sanitized -G Ninja \
		$(if $(shell command -v ccache),-DCMAKE_CXX_COMPILER_LAUNCHER=ccache) \
		-DSTRUCTLEARN_PYTHON=OFF -DSTRUCTLEARN_TESTS=ON -DSTRUCTLEARN_SANITIZE=ON \
		-DCMAKE_BUILD_TYPE=None > build/sanitized.log 2>&1 \
		&& cmake --build build/sanitized --parallel 2 --target core_test >> build/sanitized.log 2>&1 \
		|| { cat build/sanitized.log; exit 1; }
	@build/sanitized/core_test

test-threads: $(VENV)/ready  ## training, labelling and batches on threads under ThreadSanitizer
	@echo "==> building the tests of threads with ThreadSanitizer (some minutes the first time)"
	@mkdir -p build
	@export PATH="$(abspath $(BIN)):$$PATH"; \
		cmake -S . -B build/threads -G Ninja \
		$(if $(shell command -v ccache),-DCMAKE_CXX_COMPILER_LAUNCHER=ccache) \
		-DSTRUCTLEARN_PYTHON=OFF -DSTRUCTLEARN_TESTS=ON -DSTRUCTLEARN_SANITIZE=thread \
		-DCMAKE_BUILD_TYPE=None > build/threads.log 2>&1 \
		&& cmake --build build/threads --parallel 2 --target threads_test >> build/threads.log 2>&1 \
		|| { cat build/threads.log; exit 1; }
	@TSAN_OPTIONS=halt_on_error=1 build/threads/threads_test

# Built as it is installed: cmake --install build/library --component library --prefix FOLDER.
library: $(VENV)/ready  ## libstructlearn: labelling in C, without Python
	@echo "==> building the C library (a minute or two the first time)"
	@mkdir -p build
	@export PATH="$(abspath $(BIN)):$$PATH"; \
		cmake -S . -B build/library -G Ninja \
		$(if $(shell command -v ccache),-DCMAKE_CXX_COMPILER_LAUNCHER=ccache) \
		-DSTRUCTLEARN_PYTHON=OFF -DSTRUCTLEARN_LIBRARY=ON > build/library.log 2>&1 \
		&& cmake --build build/library --parallel 2 --target structlearn >> build/library.log 2>&1 \
		|| { cat build/library.log; exit 1; }
	@echo "build/library/libstructlearn.so and native/library/structlearn.h"

test-library: $(VENV)/test-tools library  ## the C library's answers against Python's
	@$(BIN)/python -m pytest -n auto tests/library

test-aarch64: $(VENV)/test-tools  ## 64-bit ARM under qemu: the core's tests, models from here there and back, equal bits
	@$(BIN)/python tools/elsewhere.py aarch64

test-windows: $(VENV)/ready  ## the core's tests, built by MinGW, under Wine
	@$(BIN)/python tools/elsewhere.py windows

test-musl: $(VENV)/ready  ## the core's tests with musl, Alpine's C library, built by Zig
	@$(BIN)/python tools/elsewhere.py musl

# Seconds of fuzzing: ten minutes for all targets, native and in Python.
FUZZ_SECONDS ?= 600
FUZZ_INPUTS ?= 1000000
FUZZ_TIMEOUT ?= 1

build/fuzz/ready: $(VENV)/ready $(NATIVE)
	@mkdir -p build
	@if ! command -v clang++ > /dev/null && command -v apt-get > /dev/null && [ "$$(id -u)" = 0 ]; then \
		echo "==> installing clang"; \
		{ apt-get update && apt-get install -y clang; } > build/clang.log 2>&1 \
		|| tail -3 build/clang.log; fi
	@command -v clang++ > /dev/null || \
		{ echo "libFuzzer is part of clang: install it first (Debian: apt-get install clang)"; exit 1; }
	@echo "==> building the fuzz targets of the core with clang (some minutes the first time)"
	@export PATH="$(abspath $(BIN)):$$PATH"; \
		cmake -S . -B build/fuzz -G Ninja -DCMAKE_CXX_COMPILER=clang++ \
		$(if $(shell command -v ccache),-DCMAKE_CXX_COMPILER_LAUNCHER=ccache) \
		-DSTRUCTLEARN_PYTHON=OFF -DSTRUCTLEARN_SANITIZE=ON -DSTRUCTLEARN_FUZZ=ON \
		-DCMAKE_BUILD_TYPE=None > build/fuzz.log 2>&1 \
		&& cmake --build build/fuzz --parallel 2 >> build/fuzz.log 2>&1 \
		|| { cat build/fuzz.log; exit 1; }
	@touch $@

fuzz: $(VENV)/test-tools build/fuzz/ready  ## readers of files under fuzzers (FUZZ_SECONDS=600, FUZZ_INPUTS)
	@echo "==> libFuzzer on the core, under AddressSanitizer and UBSan"
	@$(BIN)/python -m fuzz.native --inputs $(FUZZ_INPUTS) \
		--timeout $(FUZZ_TIMEOUT) --seconds $$(( $(FUZZ_SECONDS) / 4 ))
	@echo "==> mutation of what Python reads"
	@$(BIN)/python -m fuzz --inputs $(FUZZ_INPUTS) --seconds $$(( $(FUZZ_SECONDS) * 3 / 4 ))

fuzz-structures: $(VENV)/test-tools  ## every structure against enumeration (FUZZ_INSTANCES=100000)
	@$(BIN)/python -m fuzz.structures --instances $(or $(FUZZ_INSTANCES),100000) \
		$(if $(STRUCTURE_SECONDS),--seconds $(STRUCTURE_SECONDS))

fuzz-kills: $(VENV)/test-tools  ## trainings killed at random moments, 200 of each task (KILLS=200)
	@$(BIN)/python -m fuzz.kills --kills $(or $(KILLS),200)
	@$(BIN)/python -m fuzz.label_kills --kills $(or $(KILLS),200)

fuzz-metamorphic: $(VENV)/test-tools  ## the same question asked in two ways (SHARE=1 of the draws: hours)
	@$(BIN)/python -m fuzz.metamorphic --share $(or $(SHARE),1) \
		$(if $(RELATION_SECONDS),--seconds $(RELATION_SECONDS))

# A smoke of each, some minutes in all once the programs are built: counts, so that every machine
# tries the same inputs; the times only bound what a very slow machine does.
fuzz-smoke: $(VENV)/test-tools build/fuzz/ready  ## some minutes of these, for CI
	@$(MAKE) --no-print-directory fuzz FUZZ_INPUTS=1000 FUZZ_SECONDS=240 FUZZ_TIMEOUT=20
	@$(MAKE) --no-print-directory fuzz-structures FUZZ_INSTANCES=250 STRUCTURE_SECONDS=60
	@$(MAKE) --no-print-directory fuzz-kills KILLS=2
	@$(MAKE) --no-print-directory fuzz-metamorphic SHARE=0.002 RELATION_SECONDS=10

test-browser: $(VENV)/test-tools  ## the workbench and the page of labels in a real browser; installs Debian's chromium where it can
	@mkdir -p build
	@if ! command -v chromium > /dev/null && ! command -v google-chrome > /dev/null \
		&& command -v apt-get > /dev/null && [ "$$(id -u)" = 0 ]; then \
		echo "==> installing chromium"; \
		{ apt-get update && apt-get install -y chromium; } > build/chromium.log 2>&1 \
		|| tail -3 build/chromium.log; fi
	@echo "==> running the pages in a browser"
	@STRUCTLEARN_BROWSER_TESTS=1 $(BIN)/python -m pytest tests/workbench/test_page.py tests/labelling/test_page.py -p no:xdist

$(VENV)/torch-tools: $(VENV)/test-tools
	@echo "==> installing PyTorch (the CPU's build where it is at hand) and Triton"
	@$(PIP) install "torch==2.13.0" "triton==3.7.1"
	@touch $@

test-torch: $(VENV)/torch-tools  ## the tests of structlearn.torch, with PyTorch
	@echo "==> running the tests of structlearn.torch"
	@$(BIN)/python -m pytest -n auto tests/torch \
		"tests/docs/test_pages_run.py::test_python_blocks_print_what_the_page_says[howto/torch]"

$(VENV)/spacy-tools: $(VENV)/test-tools
	@echo "==> installing spaCy"
	@$(PIP) install --no-build-isolation --editable "$(FULL)[spacy]"
	@touch $@

test-spacy: $(VENV)/spacy-tools  ## documents of ours in spaCy, and our models as its components
	@echo "==> running the tests with spaCy"
	@$(BIN)/python -m pytest tests/spacy

lint: $(VENV)/lint-tools  ## ruff and clang-format
	@echo "==> ruff"
	@$(BIN)/ruff check . && $(BIN)/ruff format --check .
	@$(BIN)/python tools/stub.py --check
	@echo "==> clang-format"
	@$(BIN)/clang-format --dry-run --Werror $(filter %.hpp %.cpp,$(NATIVE))

stub: $(VENV)/lint-tools  ## src/structlearn/_core.pyi, from the native module
	@$(BIN)/python tools/stub.py

types: $(VENV)/lint-tools  ## mypy, strict
	@echo "==> mypy"
	@$(BIN)/mypy

format: $(VENV)/lint-tools  ## format everything
	@$(BIN)/ruff check --fix . ; $(BIN)/ruff format .
	@$(BIN)/clang-format -i $(filter %.hpp %.cpp,$(NATIVE))

bench: $(VENV)/installed  ## compare with the rivals; JSON in benchmarks/results
	@$(PIP) install libwapiti  # a source archive: its own build tools are fetched for it
	@$(PIP) install --no-build-isolation --editable "$(FULL)[bench]"
	@$(BIN)/python -m benchmarks

tables: bench  ## docs/tables.md: the lectures' tables and the rivals' again (DATA=FOLDER; most of an hour)
	@$(BIN)/python -m benchmarks.tables --output docs/tables.md $(if $(DATA),--data $(DATA))

test-core: $(VENV)/test-tools  ## structlearn-core's wheel with nothing else installed
	@echo "==> building the wheel of structlearn-core, and using models with nothing but it"
	@$(BIN)/python tools/check_wheel.py --core

source: $(VENV)/test-tools  ## the source archive of structlearn-core, into dist
	@$(PIP) install build && $(BIN)/python -m build --sdist --no-isolation --outdir dist .

wheel: $(VENV)/test-tools  ## build dist/*.whl, both distributions, and try them where no compiler is
	@$(BIN)/python tools/check_wheel.py

docs: $(VENV)/docs-tools  ## the documentation site, into build/docs; warnings are errors
	@echo "==> building the site"
	@$(BIN)/python -m sphinx -W --keep-going -n -q -j auto docs build/docs
	@echo "open build/docs/index.html"

clean:  ## remove what was built
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis \
		docs/gallery docs/reference/generated docs/sg_execution_times.rst
