# Everything runs in .venv; set PYTHON to choose the interpreter, WITH to add packages to it.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
WITH ?=
PYTEST_FLAGS ?= -n 2

.PHONY: demo test lint clean

demo: $(VENV)/.demo
	$(BIN)/python examples/demo.py

test: $(VENV)/.test
	$(BIN)/python -m pytest -q $(PYTEST_FLAGS)

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

$(VENV)/.test: setup.cfg | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable ".[test]" $(WITH)
	touch $@

$(VENV)/.lint: setup.cfg | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable ".[lint]"
	touch $@

clean:
	rm -rf $(VENV) build dist *.egg-info demo.png demo_data
