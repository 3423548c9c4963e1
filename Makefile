# Everything runs in .venv, which is made here from Python 3.11 to 3.14 and nothing else: the first
# of these that fits, or one that uv knows. `make demo PYTHON=/path/to/python` takes that one.
PYTHON ?=
PYTHONS := python3 python3.14 python3.13 python3.12 python3.11 python
FITS := import ensurepip, sys, venv; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 14))
VENV := .venv
BIN := $(VENV)/bin
# How many processes run the tests, each on a core: `make test WORKERS=8`.
WORKERS ?= 2
.DEFAULT_GOAL := help
.PHONY: help demo gallery test soak lint types notebooks docs site bench dist clean
# What is used is compiled when it is first imported; to compile all of it takes a minute.
INSTALL := $(BIN)/python -m pip install --no-compile --quiet --disable-pip-version-check

help:  ## list the targets
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

$(VENV)/pyvenv.cfg:
	@set -- $(or $(PYTHON),$(PYTHONS) "$$(uv python find '>=3.11,<3.15' 2>/dev/null)"); \
	for name; do \
	  if "$$name" -c '$(FITS)' >/dev/null 2>&1; then \
	    echo "make: takes $$(command -v "$$name"), $$("$$name" --version)"; \
	    exec "$$name" -m venv $(VENV); \
	  fi; \
	done; \
	echo "make: no Python from 3.11 to 3.14 with venv and pip was found; tried $$*"; \
	echo "make: install one (apt install python3-venv, brew install python, uv python install 3.13), or"; \
	echo "make: write make PYTHON=/path/to/python"; exit 1

# The pip that Python brings may be too old to read [dependency-groups]; so a newer one comes first.
$(VENV)/pip: | $(VENV)/pyvenv.cfg
	$(INSTALL) 'pip>=25.1'
	touch $@

# The demo needs no engine but DuckDB: Spark alone is half a gigabyte.
$(VENV)/demo: pyproject.toml | $(VENV)/pip
	$(INSTALL) --editable '.[all]' --group demo
	touch $@

$(VENV)/installed: pyproject.toml docs/gallery/requirements.txt | $(VENV)/pip
	$(INSTALL) --editable '.[all,spark,postgres,opacus,dp-accounting]' --group dev
	$(INSTALL) --no-deps -r docs/gallery/requirements.txt
	touch $@

$(VENV)/benchmarks: $(VENV)/installed
	$(INSTALL) --group bench
	touch $@

$(VENV)/pages: $(VENV)/installed
	$(INSTALL) --group pages
	touch $@

demo: $(VENV)/demo  ## private statistics of 336,776 real flights: report, picture, ledger
	$(BIN)/python examples/flights/run.py
	@echo
	@echo "Open the page in a browser: $(CURDIR)/examples/flights/out/report.html"
	@echo "Then type, with a file of your own: $(BIN)/neyman init FILE.csv"
	@echo "or ask one question at once:        $(BIN)/neyman help count"

gallery: $(VENV)/installed  ## draw the gallery anew, docs/gallery: private functions of public data
	for script in $(filter-out %/common.py,$(wildcard docs/gallery/*.py)); do $(BIN)/python $$script || exit 1; done

# What is compiled is kept, whatever the shell says: else each process compiles every test anew.
test: $(VENV)/installed lint types  ## lint, types, import contracts, every test and doctest
	$(BIN)/lint-imports --no-cache
	PYTHONDONTWRITEBYTECODE= OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -m "not soak" -n $(WORKERS)

soak: $(VENV)/installed  ## the long trials: kills, races, statistics at full size
	$(BIN)/python -m pytest -m soak

lint: $(VENV)/installed  ## ruff: rules and layout
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/installed  ## pyright, strict on src
	$(BIN)/pyright

notebooks: $(VENV)/installed  ## run the notebooks, build/notebooks/*.ipynb
	$(BIN)/python docs/run_notebooks.py

docs: notebooks  ## run every example of the docs and draw its figures
	$(BIN)/python docs/figures.py
	$(BIN)/python docs/spec_keys.py
	$(BIN)/python docs/tables.py
	$(BIN)/python -m pytest docs README.md src

site: $(VENV)/pages notebooks  ## build the site, build/site/index.html; a warning is an error
	$(BIN)/python docs/site/build.py

bench: $(VENV)/benchmarks  ## measure against the peers, side by side; writes benchmarks/results
	$(BIN)/python -m benchmarks

# Each file is tried as a user has it: in an environment of its own, outside of the clone.
dist: $(VENV)/installed  ## build wheel, sdist and bill of materials; run the README with each file
	rm -rf build/tried dist
	$(BIN)/python -m build --quiet
	for file in dist/*.tar.gz dist/*.whl; do \
	  $(BIN)/python -m venv --clear build/tried && \
	  build/tried/bin/python -m pip install --quiet --disable-pip-version-check "$$file[all]" && \
	  (cd build && tried/bin/python -W error::SyntaxWarning -m doctest -o ELLIPSIS -o NORMALIZE_WHITESPACE ../README.md) && \
	  build/tried/bin/neyman version || exit 1; \
	done
	build/tried/bin/python .ci/bill_of_materials.py dist/*.whl

clean:  ## remove what the targets made
	rm -rf $(VENV) build dist .pytest_cache .ruff_cache .hypothesis examples/flights/out
