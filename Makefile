# Two commands do everything on a machine that has only Python (>= 3.11) and make:
#   make demo    complete the embedded synthetic table
#   make test    lint, types, import directions and the whole test suite
# Each makes its own environment in .venv the first time and is quick after that.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --quiet --disable-pip-version-check

# Tests start hundreds of processes: they are not to compile the same source again and again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test check browser docs test-lowest coverage mutation lock release-check bench bench-paper bench-solvers bench-real bench-tables bench-ablation bench-mixed bench-cost bench-long bench-scale bench-memory bench-first-use bench-report bench-draws bench-baselines bench-stored test-paper test-stored bench-sparse ugly mutated trust trust-slice reproduction reproduction-pages clean

demo: $(VENV)/.installed
	$(BIN)/cocomplete demo

# One worker per core, one thread per worker: a third one on two cores makes it slower. --dist loadfile makes what a
# file's tests share once.
test: check
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses auto --maxprocesses 8 --dist loadfile --no-loadscope-reorder

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

# The documentation site, in docs/_build/html; a warning is an error. A minute or two.
docs: $(VENV)/.installed-docs
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html

# A slice of the tests with the lowest versions that pyproject.toml allows, in an environment of its own. That old
# libraries use what newer ones deprecate is none of its business.
LOWEST := .venv-lowest
test-lowest: $(LOWEST)/.installed
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(LOWEST)/bin/python -m pytest -W ignore::DeprecationWarning \
	  --numprocesses auto --maxprocesses 8 --dist loadfile tests/units tests/formats tests/laws/test_sklearn_contract.py tests/command_line src

$(LOWEST)/.installed: pyproject.toml tools/lowest_versions.py
	$(PYTHON) -m venv --clear $(LOWEST)
	$(PYTHON) tools/lowest_versions.py > $(LOWEST)/constraints.txt
	$(LOWEST)/bin/python -m pip --quiet --disable-pip-version-check install \
	  --constraint $(LOWEST)/constraints.txt --editable '.[test]'
	@touch $@

# Branch coverage of src: the whole suite, then the kernels once more as plain Python beside their twins.
coverage: $(VENV)/.installed-dev
	$(BIN)/python -m coverage erase
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest --cov --cov-report= \
	  --numprocesses auto --maxprocesses 8 --dist loadfile
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest --cov --cov-append --cov-report= tests/agreement/test_kernels.py \
	  tests/agreement/test_score_kernels.py tests/agreement/test_eliminated_kernels.py tests/agreement/test_sparse_losses.py tests/units/test_trees.py tests/units/test_classifiers.py
	$(BIN)/python -m coverage report --skip-covered --sort=cover

# Small changes of the source that the tests have to notice: a seeded sample of each module, a quarter of an hour.
# cosmic-ray has an environment of its own; the tests run in the project's. SEED=1 draws others. docs/trust.md
MUTATION := .venv-mutation
mutation: $(VENV)/.installed-dev $(MUTATION)/.installed
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 NUMBA_NUM_THREADS=1 \
	  $(MUTATION)/bin/python tools/mutation.py --python $(BIN)/python --seed $(SEED)

$(MUTATION)/.installed:
	$(PYTHON) -m venv --clear $(MUTATION)
	$(MUTATION)/bin/python -m pip --quiet --disable-pip-version-check install cosmic-ray==8.7.0
	@touch $@

# Exact versions, with hashes, of everything that development needs: pip install -r requirements-dev.txt
lock: $(VENV)/.installed-dev
	$(PIP) install uv
	$(BIN)/uv pip compile pyproject.toml --extra dev --extra docs --universal --python-version 3.11 --quiet --upgrade \
	  --no-config --generate-hashes --no-emit-index-url --no-emit-find-links --custom-compile-command 'make lock' \
	  --output-file requirements-dev.txt

# Both packages, built twice with equal bytes, installed in empty environments, the demo run there.
release-check:
	$(PYTHON) tools/release_check.py

# A fixed set of figures, appended to benchmarks/records/history.jsonl and drawn; losses in red. Ten minutes.
bench: $(VENV)/.installed-plots
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 NUMBA_NUM_THREADS=1 $(BIN)/python benchmarks/remembered.py

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

# Peak memory of fits of six shapes beside what is forecast before they begin.
bench-memory: $(VENV)/.installed
	$(BIN)/python benchmarks/memory_forecast.py

# Up to a million rows, given penalties and defaults, beside cmfrec and on a Dask cluster; half an hour.
bench-scale: $(VENV)/.installed $(VENV)/.installed-bench
	$(BIN)/python benchmarks/scale.py

# What the first default fit after an installation costs beyond the second, in both precisions.
bench-first-use: $(VENV)/.installed
	$(BIN)/python benchmarks/first_use.py

# Seconds that a report takes beyond the fit, and the size of its page, up to 100 000 rows × 500 columns. A
# quarter of an hour, nearly all of it the fits.
bench-report: $(VENV)/.installed
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 NUMBA_NUM_THREADS=1 $(BIN)/python benchmarks/report.py

bench-draws: $(VENV)/.installed
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 NUMBA_NUM_THREADS=1 $(BIN)/python benchmarks/draws.py

# Figures of the paper that take hundreds of SVDs each; a few minutes.
test-paper: $(VENV)/.installed-dev
	COCOMPLETE_PAPER=1 $(BIN)/python -m pytest tests/reproduction/test_paper_figures.py

# 500 MB of Parquet completed within 300 MB of private memory; minutes, and no room for other work beside it.
test-stored: $(VENV)/.installed-dev
	COCOMPLETE_STORED=1 OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n 1 tests/formats/test_larger_than_memory.py

# 20 GiB of Parquet, completed in a process that may have 6 GiB of private memory. Hours, and 70 GiB of disk.
bench-stored: $(VENV)/.installed
	$(BIN)/python benchmarks/stored.py --size 20 --limit 6 --defaults

# Sparse tables: precision of the best labels beside one-vs-rest; FULL=--full for 100 000 x 5 000 x 10 000.
bench-sparse: $(VENV)/.installed
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python benchmarks/sparse_tables.py $(FULL)

bench-baselines: $(VENV)/.installed
	$(BIN)/python benchmarks/baselines.py

# 20 000 tables and settings that few people have: finite answers, or one sentence. About an hour and a half.
ugly: $(VENV)/.installed
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 NUMBA_NUM_THREADS=1 $(BIN)/python benchmarks/ugly.py

# 50 000 damaged files of every format through the readers: a table each, or one sentence. Ten minutes.
mutated: $(VENV)/.installed-dev
	$(BIN)/python benchmarks/mutated_files.py

# The campaign: hostile calls, files and models, metamorphic relations, kills, disks, signals, threads and processes.
# An hour, one closing line a part; SEED=1 tries other things. trust-slice: three minutes of it. docs/trust.md
SEED ?= 0
trust: $(VENV)/.installed-dev
	$(BIN)/python -m trust --seed $(SEED)

trust-slice: $(VENV)/.installed-dev
	$(BIN)/python -m trust --seed $(SEED) --slice

# The paper's tables and figures. Hours, but it goes on where it was; the pages alone take seconds.
reproduction: $(VENV)/.installed-plots
	$(BIN)/cocomplete reproduce all --out reproduction --jobs 2

reproduction-pages: $(VENV)/.installed-plots
	$(BIN)/cocomplete reproduce pages --out reproduction

clean:
	rm -rf $(VENV) $(LOWEST) $(MUTATION) cocomplete-demo docs/_build docs/gallery docs/reference .coverage .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml | $(VENV)/bin/python
	$(PIP) install --editable .
	@touch $@

$(VENV)/.installed-dev: pyproject.toml | $(VENV)/bin/python
	$(PIP) install --editable '.[dev]'
	@touch $@ $(VENV)/.installed

$(VENV)/.installed-docs: pyproject.toml | $(VENV)/bin/python
	$(PIP) install --editable '.[docs]'
	@touch $@ $(VENV)/.installed

$(VENV)/.installed-bench: pyproject.toml | $(VENV)/bin/python
	$(PIP) install --editable '.[bench]'
	@touch $@ $(VENV)/.installed

$(VENV)/.installed-plots: pyproject.toml | $(VENV)/bin/python
	$(PIP) install --editable '.[plots]'
	@touch $@ $(VENV)/.installed
