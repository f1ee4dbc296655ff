# Two commands do everything on a machine that has only Python (>= 3.11) and make:
#   make demo    complete the embedded synthetic table
#   make test    lint, types, import directions and the whole test suite
# Each makes its own environment in .venv the first time and is quick after that.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --quiet --disable-pip-version-check

.PHONY: demo test check browser bench-paper bench-solvers bench-real bench-tables bench-ablation bench-mixed bench-cost bench-long bench-first-use bench-report bench-draws bench-baselines ugly mutated reproduction reproduction-pages clean

demo: $(VENV)/.installed
	$(BIN)/cocomplete demo

# One worker per core, one thread per worker; --dist loadfile makes what a file's tests share once.
test: check
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses auto --maxprocesses 8 --dist loadfile

check: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# What the tests of the report's page need beside Debian's chromium; without it they are skipped. Needs npm.
browser: tests/browser/node_modules/axe-core/axe.min.js

tests/browser/node_modules/axe-core/axe.min.js: tests/browser/package-lock.json
	npm ci --prefix tests/browser --no-audit --no-fund --silent
	@touch $@

bench-paper: $(VENV)/.installed
	$(BIN)/python benchmarks/paper.py

bench-solvers: $(VENV)/.installed
	$(BIN)/python benchmarks/solvers.py

# One thread: the unit of cost, one SVD, and every method get the same.
bench-real: $(VENV)/.installed-bench
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 NUMBA_NUM_THREADS=1 $(BIN)/python benchmarks/real.py

# The tables to choose with; HALF=confirm or HALF=all looks at the others, which is written down. Hours, but it
# goes on where it was.
HALF ?= choose
bench-tables: $(VENV)/.installed-bench
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 NUMBA_NUM_THREADS=1 $(BIN)/python benchmarks/tables.py --half $(HALF)

# What every kind of ensemble member is worth, and costs, on the tables to choose with.
bench-ablation: $(VENV)/.installed-bench
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 NUMBA_NUM_THREADS=1 $(BIN)/python benchmarks/ablation.py

# Categories, levels and words: how often held-out ones are filled right, beside rivals.
bench-mixed: $(VENV)/.installed-bench
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 NUMBA_NUM_THREADS=1 $(BIN)/python benchmarks/mixed.py --half $(HALF)

# What a default fit costs beside IterativeImputer and earlier code; bench-long: tables of up to 400 000 rows.
bench-cost: $(VENV)/.installed
	$(BIN)/python benchmarks/cost.py

bench-long: $(VENV)/.installed
	$(BIN)/python benchmarks/cost.py --long

# What the first default fit after an installation costs beyond the second, in both precisions.
bench-first-use: $(VENV)/.installed
	$(BIN)/python benchmarks/first_use.py

# Seconds that a report takes beyond the fit, and the size of its page, up to 100 000 rows × 500 columns. A
# quarter of an hour, nearly all of it the fits.
bench-report: $(VENV)/.installed
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 NUMBA_NUM_THREADS=1 $(BIN)/python benchmarks/report.py

bench-draws: $(VENV)/.installed
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 NUMBA_NUM_THREADS=1 $(BIN)/python benchmarks/draws.py

bench-baselines: $(VENV)/.installed
	$(BIN)/python benchmarks/baselines.py

# 20 000 tables and settings that few people have: finite answers, or one sentence. About an hour and a half.
ugly: $(VENV)/.installed
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 NUMBA_NUM_THREADS=1 $(BIN)/python benchmarks/ugly.py

# 50 000 damaged files of every format through the readers: a table each, or one sentence. Ten minutes.
mutated: $(VENV)/.installed-dev
	$(BIN)/python benchmarks/mutated_files.py

# The paper's tables and figures. Hours, but it goes on where it was; the pages alone take seconds.
reproduction: $(VENV)/.installed-plots
	$(BIN)/cocomplete reproduce all --out reproduction --jobs 2

reproduction-pages: $(VENV)/.installed-plots
	$(BIN)/cocomplete reproduce pages --out reproduction

clean:
	rm -rf $(VENV) cocomplete-demo .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml | $(VENV)/bin/python
	$(PIP) install --editable .
	@touch $@

$(VENV)/.installed-dev: pyproject.toml | $(VENV)/bin/python
	$(PIP) install --editable '.[dev]'
	@touch $@ $(VENV)/.installed

$(VENV)/.installed-bench: pyproject.toml | $(VENV)/bin/python
	$(PIP) install --editable '.[bench]'
	@touch $@ $(VENV)/.installed

$(VENV)/.installed-plots: pyproject.toml | $(VENV)/bin/python
	$(PIP) install --editable '.[plots]'
	@touch $@ $(VENV)/.installed
