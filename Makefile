# make            set up .venv under the lock, run all notebooks on the built-in judges
# make test       set up, then all tests that are not slow; make test-all runs every test
# make bench      set up, then measure what is fast and write benchmarks/results.md (an hour or two)
PYTHON ?= python3
VENV := .venv
RUN := $(VENV)/bin/python
# A test process a core, each with one thread of linear algebra: more only wait for each other.
PYTEST := OMP_NUM_THREADS=1 $(RUN) -m pytest -n auto --dist worksteal

.PHONY: all setup test test-all bench
all: setup
	$(RUN) -m helpers run

setup: $(VENV)/stamp

$(VENV)/stamp: requirements.txt requirements.lock pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(RUN) -m pip install --quiet --disable-pip-version-check -r requirements.txt -e .[dev,cluster] -c requirements.lock
	touch $@

test: setup
	$(PYTEST) -m "not slow"

test-all: setup
	$(PYTEST)

bench: setup
	$(RUN) -m benchmarks
