# One recipe a chore. Every recipe sets up what it needs; a second run finds it ready.

python := .venv/bin/python
pytest := $(python) -m pytest
# Tests of one file stay in one process: they share what is dear to set up.
parallel := -n auto --dist loadfile

.DEFAULT_GOAL := help
.PHONY: help demo check test test-all test-lowest bench lint types extension vscode lock clean \
        setup-python setup-extension setup-vscode

help: ## list the recipes
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile

demo: setup-python ## generate a model from a comment with the embedded language model
	@$(python) tools/demo.py

check: lint types ## lint, types and the Python tests, without VS Code
	$(pytest) $(parallel) -m "not long and not vscode"

# The browser's driver keeps an event loop running, so the tests in VS Code have a run of their own.
test: setup-python setup-extension setup-vscode lint types extension ## everything but the long tests
	REQUIRE=model $(pytest) $(parallel) -m "not long and not vscode"
	REQUIRE=vscode $(pytest) -m "not long and vscode"

test-all: setup-python setup-extension setup-vscode lint types extension ## everything
	REQUIRE=model $(pytest) $(parallel) -m "not vscode"
	REQUIRE=vscode $(pytest) -m vscode

test-lowest: setup-python ## the Python tests with the lowest versions pyproject.toml allows
	tools/test_lowest.sh

bench: setup-python ## run the benchmarks; tables on the screen, JSON in benchmarks/results/
	$(python) -m benchmarks

lint: setup-python ## ruff
	$(python) -m ruff check
	$(python) -m ruff format --check

types: setup-python ## mypy, strict
	$(python) -m mypy

extension: setup-python setup-extension ## lint, test and package the VS Code extension
	npm run --silent lint
	npm run --silent typecheck
	npm test --silent
	npm run --silent package

vscode: setup-vscode extension ## the end-to-end tests in the real VS Code
	REQUIRE=vscode $(pytest) -m "not long and vscode"

lock: ## write requirements.lock anew from pyproject.toml
	$(python) tools/lock.py

clean: ## remove what was set up and built, the caches too
	rm -rf .venv .e2e node_modules vscode-extension/node_modules vscode-extension/dist \
	    vscode-extension/out vscode-extension/server vscode-extension/*.vsix build dist *.egg-info \
	    .mypy_cache .ruff_cache .pytest_cache .hypothesis benchmarks/results
	find language_server tests tools benchmarks -name __pycache__ -type d -exec rm -rf {} +

setup-python:
	@tools/setup_python.sh

setup-extension:
	@tools/setup_extension.sh

setup-vscode:
	@tools/setup_vscode.sh
