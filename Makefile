# Each verb works on a fresh machine: it installs what it needs first, and only what changed.
# The work is in scripts/setup.py; this file names the verbs.

.DEFAULT_GOAL := help
.PHONY: help run test soak check prompts bench generate lock sbom sandbox clean dev

# The environment's own Python once there is one, else the first that is new enough.
ifndef PYTHON
PYTHON := $(shell for python in .venv/bin/python python3 python3.14 python3.13 python3.12 python3.11; do \
	$$python -S -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	&& echo $$python && break; done)
endif
SETUP = $(or $(PYTHON),$(error hitsend needs Python 3.11 or later: install it, or say PYTHON=/path/to/python)) -m scripts.setup
BIN := .venv/bin

# Tests that fail beside others run once more, alone: a test that fails there too fails the build.
# What passed only alone is in the output above, and is a fault to find.
PYTEST = $(BIN)/python -m pytest$(1)$(2) || \
	$(BIN)/python -m pytest --last-failed --last-failed-no-failures none$(2)

help: ## List these verbs
	@sed -n 's/^\([a-z]*\):.*## /  make \1	/p' Makefile | expand -t 18

run: ## Install what is missing, build the page, serve; flags: make run ARGS="--port 9000"
	@$(SETUP) run $(ARGS)

test: check ## Everything: check, then unit, server, engine, browser, docs and web tests
	@$(SETUP) chromium
	@$(SETUP) conformance
	@$(SETUP) npm run test
	$(call PYTEST, -n 3 --dist loadgroup,)
	$(call PYTEST, -n 3 --dist load, tests/browser)

soak: dev ## The long fault tests: thousands of streams, killed, cut, stuck and refused
	@$(SETUP) chromium
	$(BIN)/python -m pytest -m soak tests/faults tests/engine tests/browser -o log_cli=true --log-cli-level=warning

check: dev ## The quick part: lint, types, import contracts, generated files
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python -m mypy
	$(BIN)/lint-imports
	$(BIN)/python scripts/gen_docs.py --check
	$(BIN)/python scripts/gen_events.py --check
	$(BIN)/python scripts/gen_prompts.py --check
	$(BIN)/python scripts/gen_rules.py --check
	$(BIN)/python scripts/gen_safety.py --check
	@$(SETUP) npm run check

prompts: dev ## What real models make of our prompts, checked: make prompts ARGS="title summary"
	$(BIN)/python -m scripts.check_prompts $(ARGS)

bench: dev ## Measure through the front door; the benches are listed in docs/performance.md
	-@$(SETUP) chromium
	$(BIN)/python -m bench

generate: dev ## Write the checked-in files that are made from code
	$(BIN)/python scripts/gen_docs.py
	$(BIN)/python scripts/gen_events.py
	$(BIN)/python scripts/gen_prompts.py
	$(BIN)/python scripts/gen_rules.py
	$(BIN)/python scripts/gen_safety.py

COMPILE = $(BIN)/uv pip compile --upgrade --generate-hashes --universal --python-version 3.11 \
	--no-emit-index-url --no-header --no-annotate --quiet

define SANDBOX
import tomllib
print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]["sandbox"])
endef
export SANDBOX

lock: dev ## Choose the newest versions that fit, for requirements/*.lock
	$(COMPILE) pyproject.toml --group dev -o requirements/dev.lock
	printf 'hatchling\neditables\n' | \
	$(COMPILE) pyproject.toml - -c requirements/dev.lock -o requirements/run.lock
	$(BIN)/python scripts/build_web.py | $(COMPILE) - -o requirements/node.lock
	$(BIN)/python -c "$$SANDBOX" | $(COMPILE) - -o requirements/sandbox.lock

sandbox: ## Add CPython with pandas and matplotlib for programs of models: 280 MB, and a minute
	@$(SETUP) sandbox

sbom: dev ## List every dependency with its hashes, as CycloneDX: dist/sbom.cdx.json
	mkdir -p dist
	$(BIN)/python scripts/write_sbom.py dist/sbom.cdx.json

clean: ## Delete what these verbs made; weights and conversations stay
	rm -rf .venv .cache dist web/node_modules src/hitsend/server/static
	rm -rf .mypy_cache .ruff_cache .hypothesis .import_linter_cache .coverage

dev:
	@$(SETUP) dev
