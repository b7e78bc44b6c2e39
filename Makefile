# One command for each thing people want; `make help` lists them.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready

.DEFAULT_GOAL := help
.PHONY: help demo test lint bench bench-full study clean

help:  ## show this list
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]'
	@touch $@

demo: $(READY)  ## set up, then select features on the Wisconsin breast-cancer data
	$(BIN)/fewer demo --report fewer-demo.html

test: $(READY)  ## set up, then lint, types, tests and doctests
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -q -n 2

lint: $(READY)  ## fix what can be fixed and show the rest
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

BENCH  := .venv-bench
$(BENCH)/.ready: pyproject.toml constraints.txt benchmarks/requirements.txt
	$(PYTHON) -m venv $(BENCH)
	$(BENCH)/bin/python -m pip install --quiet --constraint constraints.txt --editable . --requirement benchmarks/requirements.txt
	@touch $@

bench: $(BENCH)/.ready  ## compare speed and memory with other libraries (minutes)
	$(BENCH)/bin/python benchmarks/run.py

bench-full: $(BENCH)/.ready  ## the same with larger samples and every document's methods
	$(BENCH)/bin/python -m pip install --quiet --requirement benchmarks/requirements-full.txt
	$(BENCH)/bin/python benchmarks/run.py --full

study: $(BENCH)/.ready  ## features kept by auto and by its peers, judged on other rows (hours; ARGS=--quick: minutes)
	$(BENCH)/bin/python -m pip install --quiet --requirement experiments/requirements.txt
	$(BENCH)/bin/python experiments/peers_study.py --jobs 2 $(ARGS)

clean:  ## remove the environment and all caches
	rm -rf $(VENV) .venv-bench build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
