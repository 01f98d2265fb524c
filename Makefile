# Run `make` alone for the list of targets.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PLAIN := $(VENV)/.installed-plain
STAMP := $(VENV)/.installed
UV := $(shell command -v uv 2>/dev/null)
ifdef UV
MAKE_VENV := $(UV) venv --quiet --python $(PYTHON) $(VENV)
INSTALL := $(UV) pip install --python $(BIN)/python --constraint constraints.txt
else
MAKE_VENV := $(PYTHON) -m venv $(VENV)
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
endif

.DEFAULT_GOAL := help
.PHONY: help setup demo doctor test test-all lint format docs results bench clean

help: ## List the targets
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

setup: $(STAMP) ## Create .venv and install the package with everything optional (quick when nothing changed)

$(PLAIN): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "olive-iw needs Python 3.11 or newer; give one: make PYTHON=python3.12 …"; exit 1; }
	@echo "setup: $(VENV), with $$($(PYTHON) --version)"
	@test -x $(BIN)/python || $(MAKE_VENV)
	@echo "setup: olive-iw (some 110 MB, the first time)"
	@$(INSTALL) --editable .
	@touch $@

$(STAMP): $(PLAIN)
	@echo "setup: everything optional; torch alone has 200 MB or more, the first time"
	@$(INSTALL) --editable ".[all,dev,docs]"
	@$(BIN)/olive-iw run breakout --algorithm olive-plus --training-calls 40 --first-share 0.5 \
		--episodes 1 --max-actions 1 --out $$(mktemp -d) >/dev/null
	@echo "setup: done; try $(BIN)/olive-iw --help"
	@touch $@

demo: $(PLAIN) ## Train olive-plus on Breakout for a minute, then play a game
	$(BIN)/olive-iw run breakout --algorithm olive-plus --training-calls 20000 --episodes 1 --max-actions 300 --out runs/demo

doctor: setup ## Check the emulator on all 55 games of the paper
	$(BIN)/olive-iw doctor

lint: setup ## Check formatting, style and types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

format: setup ## Format the code
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

test: lint ## What CI runs: lint, types, and all tests but the slow ones
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist loadgroup

test-all: lint ## All tests, the slow ones too
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist loadgroup -m "slow or not slow"

docs: setup ## Build the documentation site into site/ (broken links fail)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

results: setup ## Replay every episode of results/, then make the pages docs/results*.md
	$(BIN)/olive-iw verify results --quiet --workers $$($(BIN)/python -c 'import os; print(os.cpu_count())')
	$(BIN)/python scripts/evidence.py results/five-minute

bench: setup ## Measure planning against the bare emulator
	$(BIN)/olive-iw bench

clean: ## Remove what the other targets made, but not your runs
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis build dist site
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
