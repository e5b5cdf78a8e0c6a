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

demo: .venv/demo  ## fuse the answers of 15 classifiers about handwritten digits
	$(BIN)/python -m blindfuse.demo

test: lint types layers  ## everything that must hold before a change lands
	$(BIN)/pytest

lint: .venv/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/dev
	$(BIN)/mypy

layers: .venv/dev
	$(BIN)/lint-imports

bench: .venv/dev  ## the figures that the documentation quotes
	$(BIN)/python benchmarks/run.py

clean:
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .import_linter_cache dist
	find . -name __pycache__ -prune -exec rm -rf {} +
