# Two commands do all the set-up on a fresh machine: `make demo` and `make test`. Each makes its own environment in .venv.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
BASE := $(VENV)/.base
STAMP := $(VENV)/.everything

.PHONY: demo test check format clean

demo: $(BASE)  ## the main job end to end: a table, a healthy run and a sick one, diagnosed and explained
	@$(BIN)/python examples/demo.py

test: $(STAMP)  ## every test
	$(BIN)/ruff format --check src tests benchmarks examples
	$(BIN)/ruff check src tests benchmarks examples
	$(BIN)/mypy
	$(BIN)/lint-imports
	HF_HUB_OFFLINE=1 OMP_NUM_THREADS=1 $(BIN)/pytest -n 2

check: $(STAMP)  ## format, lint, types, import rule and the fast tests
	$(BIN)/ruff format --check src tests benchmarks examples
	$(BIN)/ruff check src tests benchmarks examples
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/pytest -n 2 -m "not slow"

format: $(STAMP)
	$(BIN)/ruff format src tests benchmarks examples
	$(BIN)/ruff check --fix src tests benchmarks examples

$(BASE): pyproject.toml constraints.txt  # what a user installs: no torch
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt pip
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable .
	touch $(BASE)

$(STAMP): $(BASE)  # the trainers, the peers they are held against, and the tools
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[train]' \
		--group dev --group bench --group parity
	touch $(STAMP)

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
