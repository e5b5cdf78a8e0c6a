PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test lint types layers bench clean

.venv/demo: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[experiments]'
	touch $@

.venv/dev: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $@

.venv-bench/peers: pyproject.toml constraints.txt benchmarks/peers.txt
	$(PYTHON) -m venv .venv-bench
	.venv-bench/bin/pip install --quiet --disable-pip-version-check -c constraints.txt \
		-r benchmarks/peers.txt -e '.[dev]'
	touch $@

demo: .venv/demo  ## fuse the answers of 15 classifiers about handwritten digits
	$(BIN)/blindfuse demo

test: lint types layers  ## everything that must hold before a change lands
	$(BIN)/pytest

lint: .venv/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/dev
	$(BIN)/mypy

layers: .venv/dev
	$(BIN)/lint-imports

bench: .venv-bench/peers  ## the figures that the documentation quotes, beside other libraries
	.venv-bench/bin/python benchmarks/run.py

clean:
	rm -rf .venv .venv-bench .mypy_cache .pytest_cache .ruff_cache .import_linter_cache dist
	find . -name __pycache__ -prune -exec rm -rf {} +
