# Two commands do all the set-up on a fresh machine: `make demo` and `make test`. Each makes its own environment in .venv.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
BASE := $(VENV)/.base
TRAIN := $(VENV)/.train
STAMP := $(VENV)/.everything

.PHONY: demo test check format screenshots clean

demo: $(TRAIN)  ## the main job end to end: a table, then a healthy run and a sick one, trained, recorded, diagnosed and explained
	@HF_HUB_OFFLINE=1 $(BIN)/python examples/demo.py

test: $(STAMP)  ## every test
	$(BIN)/ruff format --check src tests benchmarks examples
	$(BIN)/ruff check src tests benchmarks examples
	$(BIN)/mypy
	$(BIN)/lint-imports
	PYTHON=$(CURDIR)/$(BIN)/python bash tests/browser/install.sh
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

screenshots: $(STAMP)  ## the pictures of the README
	PYTHON=$(CURDIR)/$(BIN)/python bash tests/browser/install.sh
	$(BIN)/python docs/screenshots.py

$(BASE): pyproject.toml constraints.txt  # what a user installs: no torch
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt pip
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable .
	touch $(BASE)

$(TRAIN): $(BASE)  # torch and transformers
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[train]'
	touch $(TRAIN)

$(STAMP): $(BASE)  # the trainers, the peers they are held against, and the tools
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[train]' \
		--group dev --group trackers --group bench --group adapters --group parity
	# Its loss runs on a CPU; what it asks for beside torch does not.
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --no-deps liger-kernel
	touch $(STAMP)

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
