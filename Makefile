# Two commands do everything, set-up included: `make run` and `make test`.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
# No more than eight: a container may see many cores of which it gets few.
CORES := $(shell cores=$$(getconf _NPROCESSORS_ONLN) && [ $$cores -lt 8 ] && echo $$cores || echo 8)
# Most tests wait for other processes, so more of them run at once than there are cores.
WORKERS ?= $(shell expr $(CORES) + 3)

# Where Python is told not to keep what it compiles, each of hundreds of processes compiles it anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: run test check static static-and-classes classes compiled lint types imports units tests flaky soak durations bench lock setup operators clean

run: $(READY) operators classes
	@$(BIN)/python -m examples.plant $(if $(SECONDS),--seconds $(SECONDS)) \
	    $(if $(GUARANTEE),--guarantee $(GUARANTEE))

test: static-and-classes tests

# The inner loop: all that needs neither a JVM nor a broker's process.
check: $(READY)
	@$(SIDE_BY_SIDE) lint types imports units

setup: $(READY) operators

# What Spark lacks, in Java; the script does nothing while the jar is that of the sources.
operators: $(READY)
	@$(BIN)/python jvm/build.py

$(READY): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Headwater needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) --version). Try: make PYTHON=python3.11 $(MAKECMDGOALS)"; exit 1; }
	@test -x $(BIN)/python || { echo "Setting up $(VENV) (once)"; $(PYTHON) -m venv $(VENV); }
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

# Side by side, and each with its output in one piece where make can do that.
SIDE_BY_SIDE := $(MAKE) --no-print-directory --jobs 4 \
  $(if $(filter output-sync,$(.FEATURES)),--output-sync)

static: $(READY)
	@$(SIDE_BY_SIDE) lint types imports

static-and-classes: $(READY) operators
	@$(SIDE_BY_SIDE) classes compiled lint types imports

# Spark's classes, loaded once for all its JVMs; the command does nothing while they fit, and
# where it fails, they load them as before.
classes: $(READY) operators
	-@$(BIN)/headwater spark prepare

# All tests, compiled once: else each worker of a first run would do it. What cannot be is told by
# the run itself.
compiled: $(READY) operators
	-@$(BIN)/python -m pytest --collect-only -q > $(VENV)/.compiled 2>&1

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY)
	$(BIN)/mypy

imports: $(READY)
	$(BIN)/lint-imports --no-cache

units: $(READY)
	$(BIN)/python -m pytest -q -n $(shell expr $(CORES) + 1) --dist loadscope --no-loadscope-reorder tests/unit

tests: $(READY) operators classes
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadscope --no-loadscope-reorder

# Repeats tests that wait for something, under load, until Ctrl-C: make flaky TESTS=tests/chaos
flaky: $(READY) operators
	$(BIN)/python -m tests.runs.flaky $(if $(SECONDS),--seconds $(SECONDS)) $(TESTS)

# Kills, torn writes and random programs, with new seeds each time: make soak SECONDS=3600
soak: $(READY) operators
	$(BIN)/python -m tests.runs.soak $(if $(SECONDS),--seconds $(SECONDS)) $(TESTS)

# After `make tests`: keeps how long each file took, by which the next run is balanced.
durations: $(READY)
	$(BIN)/python -m tests.runs.durations

bench: $(READY) operators
	$(BIN)/python -m benchmarks

lock:
	$(PYTHON) -m venv $(VENV)-lock && $(VENV)-lock/bin/pip install --quiet uv
	$(VENV)-lock/bin/uv pip compile pyproject.toml --extra connect --extra spark --group dev --universal --generate-hashes \
	  --no-annotate --no-header --python-version 3.11 --output-file requirements.lock
	rm -rf $(VENV)-lock

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis
