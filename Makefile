# make            set up .venv under the lock, run all notebooks on the built-in judges
# make test       set up, then all tests that are not slow; make test-all runs every test
PYTHON ?= python3
VENV := .venv
RUN := $(VENV)/bin/python

.PHONY: all setup test test-all
all: setup
	$(RUN) -m helpers run

setup: $(VENV)/stamp

$(VENV)/stamp: requirements.txt requirements.lock pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(RUN) -m pip install --quiet --disable-pip-version-check -r requirements.txt -e .[dev] -c requirements.lock
	touch $@

test: setup
	$(RUN) -m pytest -m "not slow"

test-all: setup
	$(RUN) -m pytest
