PYTHON ?= python3
# Environments and caches are here, or if this folder is read-only, in a temporary one.
ROOM := $(shell test -w . && echo . || echo $${TMPDIR:-/tmp}/blindfuse-$$(id -u))
VENV := $(ROOM)/.venv
BIN := $(VENV)/bin

ifneq ($(ROOM),.)
export XDG_CACHE_HOME := $(ROOM)/.cache
export RUFF_CACHE_DIR := $(ROOM)/.ruff_cache
export MYPY_CACHE_DIR := $(ROOM)/.mypy_cache
export HYPOTHESIS_STORAGE_DIRECTORY := $(ROOM)/.hypothesis
export PYTEST_ADDOPTS := -o cache_dir=$(ROOM)/.pytest_cache
endif

.PHONY: demo docs test test-browser test-engines chromium lint types \
	layers bench calibration reproduce clean docs/output docs/formats.md docs/install.md \
	docs/overview.svg docs/report.png

$(VENV)/demo: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e .
	touch $@

$(VENV)/experiments: $(VENV)/demo
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[experiments]'
	touch $@

$(VENV)/dev: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $@

$(VENV)/browser: $(VENV)/dev
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[browser]'
	touch $@

.venv-bench/peers: pyproject.toml constraints.txt benchmarks/peers.txt benchmarks/peers_alone.txt
	$(PYTHON) -m venv .venv-bench
	.venv-bench/bin/pip install --quiet --disable-pip-version-check -c constraints.txt \
		-r benchmarks/peers.txt -e '.[dev]'
	.venv-bench/bin/pip install --quiet --disable-pip-version-check --no-deps \
		-r benchmarks/peers_alone.txt  # pins NumPy 1, but runs with NumPy 2
	touch $@

.venv-engines/ready: pyproject.toml constraints.txt tests/engines/pins.txt
	$(PYTHON) -m venv .venv-engines
	grep -v '^pandas==' constraints.txt > .venv-engines/constraints.txt
	.venv-engines/bin/pip install --quiet --disable-pip-version-check \
		-c .venv-engines/constraints.txt -c tests/engines/pins.txt \
		-e '.[dask,spark]' hypothesis pytest pytest-randomly
	touch $@

demo: $(VENV)/demo  ## fuse the labels of weak classifiers for breast tumours
	$(BIN)/blindfuse demo --report $(ROOM)/demo.html --force

test: lint types layers  ## everything that must hold before a change is merged
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(BIN)/pytest -n auto --dist worksteal

test-browser: $(VENV)/browser chromium  ## the report in a real browser; screenshots to look at
	$(BIN)/pytest tests/browser

test-engines: .venv-engines/ready  ## Dask and Spark with worker processes; Spark needs Java 17
	.venv-engines/bin/pytest tests/engines

chromium:
	@command -v chromium > /dev/null \
		|| { test "$$(id -u)" = 0 && apt-get update -q && apt-get install -y -q chromium; } \
		|| { echo "chromium is missing, and installing it needs root: apt-get install chromium"; exit 1; }

docs/output: $(VENV)/dev  ## renew the output that README and the tutorials show
	$(BIN)/python tools/doc_examples.py README.md docs/index.md docs/tutorials/*.md

docs/formats.md: $(VENV)/dev  ## renew the tables of files that were tried
	$(BIN)/python -m tests.support.tried_files

docs/install.md:  ## renew the tables of what is installed, in an environment of its own
	$(PYTHON) -m venv --clear .venv-sizes
	grep -v '^pandas==' constraints.txt > .venv-sizes/constraints.txt
	.venv-sizes/bin/pip install --quiet --disable-pip-version-check packaging \
		-c .venv-sizes/constraints.txt -c tests/engines/pins.txt '.[sklearn,datasets,files,dask,spark]'
	.venv-sizes/bin/pip install --quiet --disable-pip-version-check '.[inspect]'  # older fsspec
	.venv-sizes/bin/python tools/installed_sizes.py $@

docs/overview.svg: $(VENV)/dev  ## renew the picture of README and the start page
	$(BIN)/python tools/overview.py

docs/report.png: $(VENV)/browser chromium  ## the picture of a report on the start page
	$(BIN)/python -m tests.browser.picture $@

lint: $(VENV)/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/dev
	$(BIN)/mypy

layers: $(VENV)/dev
	PYTHONPATH=. $(BIN)/lint-imports --cache-dir $(ROOM)/.import_linter_cache

docs: $(VENV)/dev  ## the pages of docs/ as a site in site/, with the API from docstrings
	$(BIN)/zensical build --strict --clean

reproduce: $(VENV)/experiments  ## the paper's tables and figures in docs/: hours; resumes where it stopped
	$(BIN)/python -m experiments all --out docs $(if $(BLINDFUSE_DATA),--data $(BLINDFUSE_DATA))

bench: .venv-bench/peers  ## the figures of docs/benchmarks.md, beside other libraries
	PYTHONPATH=. .venv-bench/bin/python benchmarks/run.py $(SECTIONS)

calibration: $(VENV)/experiments  ## learn the expected error from tables with a truth: an hour; resumes
	PYTHONPATH=. $(BIN)/python benchmarks/calibration.py

clean:
	rm -rf $(VENV) .venv-bench .venv-engines .venv-sizes .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .cache dist site
	find . -name __pycache__ -prune -exec rm -rf {} +
