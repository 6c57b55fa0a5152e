# Everything is set up from nothing: Python 3.11 or newer and g++ are all that a machine needs.
PYTHON ?= python3
BIN := .venv/bin

fuzz: .venv/ready                 ## fuzz every kernel for a minute, on the best device there is
	$(BIN)/kfuzz fuzz --max-time 60s

test: .venv/ready                 ## the tests
	$(BIN)/python -m pytest -q -n auto

check: .venv/ready                ## lint and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	rm -rf .venv/types && mkdir -p .venv/types/kfuzz
	ln -s $(CURDIR)/fuzz/* $(CURDIR)/oracle .venv/types/kfuzz/
	MYPYPATH=.venv/types $(BIN)/mypy

soak: .venv/ready                 ## the long proofs
	$(BIN)/python -m kfuzz.oracle --full
	$(BIN)/kfuzz fuzz --device cpu --max-cases 100000
	$(BIN)/python -m pytest -q -n auto -m soak

.venv/ready: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --editable . --group dev
	touch $@

.PHONY: fuzz test check soak
