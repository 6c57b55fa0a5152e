# Sets up everything from nothing: a machine needs Python 3.11 or newer, g++ and make.
PYTHON ?= python3
BIN := .venv/bin
# Without this, a tenth of the tests' time goes into compiling the same Python again.
unexport PYTHONDONTWRITEBYTECODE
# Many tests wait for a process of their own: one worker more than processors keeps all processors at work.
export PYTEST_XDIST_AUTO_NUM_WORKERS ?= $(shell expr $$(nproc) + 1)
# The build for CPUs alone: what PyPI calls torch has gigabytes of CUDA. It is on PyTorch's own index.
TORCH ?= torch==2.13.0+cpu
TORCH_INDEX ?= https://download.pytorch.org/whl/cpu
TORCH_TESTS = tests/fuzz/devices/python tests/fuzz/claims/references \
  $(shell grep -rlE '(importorskip|find_spec)."(torch|triton)"' tests --include='test_*.py')
PYTEST = $(BIN)/python -m pytest -q -n auto --dist loadfile --no-loadscope-reorder

fuzz: .venv/ready                 ## fuzz every kernel for a minute, on every device of this machine
	$(BIN)/kfuzz fuzz --max-time 60s

test: .venv/ready                 ## the tests
	$(PYTEST)

quick: .venv/ready                ## the tests that a change usually breaks, in a minute
	$(PYTEST) -m "not slow and not soak and not gpu"

test-torch: .venv-torch/ready     ## the tests of what needs torch or Triton, in an environment of its own: eight minutes
	.venv-torch/bin/python -m pytest -q -n auto --dist loadfile --no-loadscope-reorder $(TORCH_TESTS)

check: .venv/ready                ## lint, types, and a test that no two things share a name
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	rm -rf .venv/types && mkdir -p .venv/types/kfuzz
	ln -s $(CURDIR)/fuzz/* $(CURDIR)/oracle .venv/types/kfuzz/
	MYPYPATH=.venv/types $(BIN)/mypy
	$(BIN)/python -m pytest -q -p no:cacheprovider tests/repository/test_names.py

soak: .venv/ready                 ## the long proofs
	$(BIN)/python -m tests.oracle.selfcheck --full
	$(BIN)/kfuzz fuzz --device cpu --max-cases 100000
	$(PYTEST) -m soak

docs: .venv/docs                  ## the documentation as a site in build/site: open index.html; it needs no network
	$(BIN)/python docs/site.py build/site

.venv/docs: .venv/ready
	$(BIN)/python -m pip install --quiet --group docs
	touch $@

.venv/ready: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --editable . --group dev
	$(BIN)/python -m compileall -q fuzz oracle  # else each of several first processes does it
	touch $@

.venv-torch/ready: pyproject.toml
	$(PYTHON) -m venv .venv-torch
	.venv-torch/bin/python -m pip install --quiet --upgrade "pip>=25.1"
	.venv-torch/bin/python -m pip install --quiet --retries 0 --extra-index-url $(TORCH_INDEX) "$(TORCH)"
	.venv-torch/bin/python -m pip install --quiet --editable ".[torch,triton]" --group dev
	touch $@

.PHONY: fuzz test test-torch quick check soak docs
