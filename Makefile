# Everything runs in .venv; set PYTHON to choose the interpreter, WITH to add packages to it.
PYTHON ?= python3
PYTHONS ?= python3.11 python3.12 python3.13
VENV := .venv
BIN := $(VENV)/bin
WITH ?=
PYTEST_FLAGS ?= -n 2
# Named after the added packages, so that other ones get installed too.
TEST_STAMP := $(VENV)/.test-$(subst $() ,+,$(strip $(WITH)))

# Of `make fuzz`; another seed tries other mutants.
SEED ?= 0

.PHONY: demo test test-all fuzz lint clean

demo: $(VENV)/.demo
	$(BIN)/python examples/demo.py

test: $(TEST_STAMP)
	$(BIN)/python -m pytest -q $(PYTEST_FLAGS)

# The tests on every interpreter of PYTHONS that there is, each in an environment of its own.
test-all:
	@failed=; ran=; \
	for python in $(PYTHONS); do \
	  if ! $$python -c "" 2> /dev/null; then echo "$$python: not there, left out"; continue; fi; \
	  venv=$(VENV)-$${python##*/}; log=$$venv.log; ran=yes; \
	  echo "$$python: running, all output in $$log"; \
	  $(MAKE) test PYTHON=$$python VENV=$$venv > $$log 2>&1 || failed="$$failed $$python"; \
	  echo "$$python: $$(grep -E '[0-9]+ (passed|failed|error)' $$log | tail -n 1)"; \
	done; \
	[ -n "$$ran" ] || { echo "None of $(PYTHONS) is there: install one, or set PYTHONS."; exit 1; }; \
	[ -z "$$failed" ] || { echo "Failed:$$failed"; exit 1; }

# A minute of mutated images, crop tables and archives; findings go into fuzz_findings/.
fuzz: $(TEST_STAMP)
	$(BIN)/python tests/fuzz/fuzz_images.py --seconds 40 --seed $(SEED)
	$(BIN)/python tests/fuzz/fuzz_archive.py --seconds 20 --seed $(SEED)

lint: $(VENV)/.lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

$(VENV)/.demo: setup.cfg | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

$(TEST_STAMP): setup.cfg | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable ".[test]" $(WITH:%='%')
	rm -f $(VENV)/.test-*
	touch '$@'

$(VENV)/.lint: setup.cfg | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable ".[lint]"
	touch $@

clean:
	rm -rf $(VENV) $(VENV)-* build dist *.egg-info demo.png demo_data
