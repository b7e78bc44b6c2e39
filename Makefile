# One command for each thing people want; `make help` lists them.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready

# Tests start many processes: with this word each of them would compile every module again.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help demo test test-browser test-cuda test-peers test-oldest test-newest torture lint bench bench-full clusters mutants study docs dist clean

help:  ## show this list
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

$(READY): pyproject.toml packages/fewer-papers/pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]' --editable packages/fewer-papers
	@touch $@

DEMO   := .venv-demo
$(DEMO)/.ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(DEMO)
	$(DEMO)/bin/python -m pip install --quiet --constraint constraints.txt .
	@touch $@

demo: $(DEMO)/.ready  ## install what the demo needs, then select features of a satellite image: fewer-demo.html
	$(DEMO)/bin/fewer demo --report fewer-demo.html

test: $(READY)  ## set up, then lint, types, tests and doctests
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -q -n 2 --dist worksteal
	$(BIN)/python -m pytest -q -p no:cacheprovider tests/browser
	$(MAKE) test-peers

test-browser: $(READY)  ## the pages and the workbench in a real browser (Chromium), every way and width
	FEWER_BROWSER=all $(BIN)/python -m pytest -q -p no:cacheprovider tests/browser

test-cuda: $(READY)  ## on a machine with an NVIDIA GPU: the same answers as the CPU's
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[cuda]'
	$(BIN)/python -m pytest -q -p no:cacheprovider tests/kernels/test_cuda.py

PEERS := .peers
$(PEERS)/mlxtend-0.23.1.tar.gz:
	$(BIN)/python -m pip download --quiet --no-deps --no-binary mlxtend --dest $(PEERS) mlxtend==0.23.1

$(PEERS)/fastcan:
	$(BIN)/python -m pip install --quiet --no-deps --target $@ fastcan==0.6.0

# The tests of these two are in their repositories alone; where these cannot be reached, their tests are skipped.
$(PEERS)/boruta_py:
	-git clone --quiet https://github.com/scikit-learn-contrib/boruta_py $@ && git -C $@ checkout --quiet dd7b020

$(PEERS)/feature_engine:
	-git clone --quiet https://github.com/feature-engine/feature_engine $@ && git -C $@ checkout --quiet 43d6c89b

test-peers: $(READY) $(PEERS)/mlxtend-0.23.1.tar.gz $(PEERS)/fastcan $(PEERS)/boruta_py $(PEERS)/feature_engine  ## tests of five other libraries' selectors, asked of ours
	tar -xzf $(PEERS)/mlxtend-0.23.1.tar.gz -C $(PEERS)
	MLXTEND_SOURCE=$(PEERS)/mlxtend-0.23.1 FASTCAN_SOURCE=$(PEERS)/fastcan \
	  BORUTA_SOURCE=$$(ls -d $(PEERS)/boruta_py) FEATURE_ENGINE_SOURCE=$$(ls -d $(PEERS)/feature_engine) \
	  $(BIN)/python -m pytest -q -W default tests/peers

lint: $(READY)  ## fix what can be fixed and show the rest
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

OLDEST := .venv-oldest
$(OLDEST)/.ready: pyproject.toml constraints-oldest.txt
	$(PYTHON) -m venv $(OLDEST)
	$(OLDEST)/bin/python -m pip install --quiet --constraint constraints-oldest.txt --editable '.[dev]' --editable packages/fewer-papers
	@touch $@

test-oldest: $(OLDEST)/.ready  ## the tests with the oldest versions that are supported, in an environment of their own
	NUMBA_CACHE_DIR=$(OLDEST)/numba $(OLDEST)/bin/python -m pytest -q -n 2 --dist worksteal -W default

NEWEST := .venv-newest
test-newest:  ## the tests with the newest versions that there are, in an environment of their own
	$(PYTHON) -m venv $(NEWEST)
	$(NEWEST)/bin/python -m pip install --quiet --upgrade --upgrade-strategy eager --editable '.[dev]' --editable packages/fewer-papers
	NUMBA_CACHE_DIR=$(NEWEST)/numba $(NEWEST)/bin/python -m pytest -q -n 2 --dist worksteal

torture: $(READY)  ## all that can happen to a run, 2,500 times (under 20 minutes; ARGS=--study: 7,000 times); counts for docs/reliability.md
	PYTHONPATH=tests $(BIN)/python -m torture.run $(ARGS)
	$(BIN)/python -m pytest -q -n 2 tests/torture/long_matrix.py

mutants: $(READY)  ## put 400 faults into the code, one by one: how many do the tests notice? (an hour; goes on where it stopped)
	$(BIN)/python -m pip install --quiet 'cosmic-ray>=8.4' 'pytest-cov>=6'
	PYTHONPATH=src:tools $(BIN)/python -m mutants $(ARGS)

BENCH  := .venv-bench
$(BENCH)/.ready: pyproject.toml constraints.txt benchmarks/requirements.txt
	$(PYTHON) -m venv $(BENCH)
	$(BENCH)/bin/python -m pip install --quiet --constraint constraints.txt --editable '.[plots]' --editable packages/fewer-papers --requirement benchmarks/requirements.txt
	@touch $@

bench: $(BENCH)/.ready  ## compare speed and memory with other libraries (minutes)
	$(BENCH)/bin/python benchmarks/run.py

bench-full: $(BENCH)/.ready  ## the same with larger samples and every document's methods
	$(BENCH)/bin/python -m pip install --quiet --requirement benchmarks/requirements-full.txt
	$(BENCH)/bin/python benchmarks/run.py --full

study: $(BENCH)/.ready  ## features kept by auto and by its peers, judged on other rows (hours; ARGS=--quick: minutes)
	$(BENCH)/bin/python -m pip install --quiet --requirement experiments/requirements.txt
	$(BENCH)/bin/python experiments/peers_study.py --jobs 2 $(ARGS)

DOCS   := .venv-docs
$(DOCS)/.ready: pyproject.toml constraints.txt docs/requirements.txt
	$(PYTHON) -m venv $(DOCS)
	$(DOCS)/bin/python -m pip install --quiet --constraint constraints.txt --editable '.[plots]' --requirement docs/requirements.txt
	@touch $@

docs: $(DOCS)/.ready  ## build the documentation site and check its links, warnings are errors: docs/_build/html/index.html
	$(DOCS)/bin/python -m sphinx -q -W --keep-going -b html docs docs/_build/html
	$(DOCS)/bin/python tools/check_site.py

dist: $(READY)  ## build wheel and sdist, check them, and try the wheel alone in a fresh environment
	$(BIN)/python -m pip install --quiet 'build>=1.2' 'twine>=6'
	$(BIN)/python tools/dist.py

CLUSTERS := .venv-clusters
clusters:  ## Spark (with a Java runtime) and Ray give the serial answer; so do files in a store
	$(PYTHON) -m venv $(CLUSTERS)
	$(CLUSTERS)/bin/python -m pip install --quiet --constraint constraints.txt --editable . pytest 'moto[server]>=5' 'ray>=2.40' 'pyspark[sql]>=3.5' 'joblibspark>=0.5'
	$(CLUSTERS)/bin/python -m pytest -q -p no:cacheprovider tests/test_spark.py tests/io/test_store.py
	$(CLUSTERS)/bin/python benchmarks/other_clusters.py ray spark

clean:  ## remove the environment and all caches
	rm -rf $(VENV) .venv-demo .peers .venv-bench .venv-clusters .venv-oldest .venv-newest .venv-docs docs/_build docs/_generated build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
