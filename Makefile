# One verb each for a newcomer, CI and a commit hook. `make help` lists them.
# Stamp files say what is already done, so that a second `make demo` builds nothing.

VENV := .venv
PYTHON ?= $(shell scripts/prerequisites.sh --print-python)
BIN := $(VENV)/bin
# Arguments for a verb: make test ARGS="-k until", make demo ARGS="--on /mnt/scratch.bin"
ARGS ?=

RUST_SOURCES := Cargo.toml Cargo.lock $(shell find crates -name '*.rs' -o -name Cargo.toml)
PYTHON_SOURCES := $(shell find python -name '*.py' -o -name '*.j2')
WEB_SOURCES := web/package.json web/package-lock.json web/build.mjs $(shell find web/src -type f)

INTERPRETER := $(BIN)/python
DEPENDENCIES := $(VENV)/.dependencies
EXTENSION := $(VENV)/.extension
BYTECODE := $(VENV)/.bytecode
CRATES := target/.crates
NODE_MODULES := web/node_modules/.dependencies
# The bundle itself, not a stamp: a package without it cannot be used.
PAGE := python/ssdlab/report/static/report.js
WHEELS := dist
# The hooks that pip would call, in this environment.
BUILD = PATH="$(CURDIR)/$(BIN):$$PATH" PYTHONPATH=scripts $(INTERPRETER) -c 'import build_backend, sys; eval("build_backend." + sys.argv[1])'

# Its build backend is maturin's all the same, behind ours.
export MATURIN_NO_MISSING_BUILD_BACKEND_WARNING := 1

.DELETE_ON_ERROR:
.PHONY: help setup build demo articles profiles reference test test-all test-slow check bench wheel sdist format clean prerequisites

help: ## what each verb does
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/make \1|\2/p' Makefile | awk -F'|' '{ printf "%-16s %s\n", $$1, $$2 }'

# What it does is said as it does it; what is built already is not built again, and not spoken of.
setup: $(EXTENSION) $(BYTECODE) $(PAGE) ## everything from a clean clone, in about two and a half minutes; the command is then .venv/bin/ssdlab

build: setup ## compile again what changed

demo: setup ## a whole quick review of a simulated drive, and its report; ARGS="--on DRIVE" for another
	$(BIN)/ssdlab demo $(ARGS)

articles: setup ## the five reviews on simulated drives, resumable, into articles/; ARGS="--quick" or names of some
	$(INTERPRETER) scripts/articles.py $(ARGS)

profiles: setup ## docs/profiles.md: what each simulated drive does beside what it is rated for, some minutes; ARGS=--quick
	$(INTERPRETER) scripts/profiles_page.py $(ARGS)

reference: setup ## docs/reference: a page for each method and command, from the code; after a change of its texts
	$(INTERPRETER) scripts/reference_pages.py

test: setup ## before every commit: all that a built tree is enough for, in some minutes; ARGS="-k until" for some
	scripts/test quick $(ARGS)

test-all: setup wheel sdist ## the rest but campaigns: long, devices, guest, wheel; what the machine lacks is skipped
	scripts/test all $(ARGS)

test-slow: setup ## the campaigns: kill tests, agreement with fio, long runs
	$(BIN)/pytest -m slow $(ARGS)
	cargo test --locked --quiet -p ssdlab-sim --features campaign --test all events::a_hundred

check: setup ## format, lint, types, documentation, stubs: what a commit must pass
	cargo fmt --all --check
	cargo clippy --locked --quiet --workspace --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --locked --quiet --workspace --no-deps
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/stubtest ssdlab._core --mypy-config-file pyproject.toml
	cd web && npm run --silent check

wheel: $(DEPENDENCIES) $(PAGE) ## dist/ssdlab-*.whl, which pip installs without Rust or Node
	@mkdir -p $(WHEELS) && rm -f $(WHEELS)/*.whl
	@$(BUILD) 'build_wheel("$(WHEELS)", {"maturin.build-args": "--compatibility pypi"})'
	@ls -l $(WHEELS)/*.whl

sdist: $(DEPENDENCIES) $(PAGE) ## dist/ssdlab-*.tar.gz: the sources with the report's front end; needs Rust, not Node
	@mkdir -p $(WHEELS) && rm -f $(WHEELS)/*.tar.gz
	@$(BUILD) 'build_sdist("$(WHEELS)")'
	@ls -l $(WHEELS)/*.tar.gz

bench: setup ## figures of the engine beside a bare loop and fio at its best; a served drive beside virtual time
	$(BIN)/python benches/run.py $(ARGS)

format: $(DEPENDENCIES) ## let rustfmt and ruff rewrite what they would complain of
	cargo fmt --all
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

clean: ## remove everything that was built
	rm -rf $(VENV) target $(WHEELS) web/node_modules python/ssdlab/report/static python/ssdlab/_core*.so
	rm -rf .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find python tests benches -name __pycache__ -type d -prune -exec rm -rf {} +

prerequisites:
	@scripts/prerequisites.sh

$(INTERPRETER): | prerequisites
	$(PYTHON) -m venv $(VENV)

# All that is fetched comes first: a network that is not there is told before anything is compiled.
$(DEPENDENCIES): requirements/run.lock requirements/dev.lock | prerequisites $(INTERPRETER)
	@echo "setup: Python packages into $(VENV), about 30 s"
	@scripts/fetch "the Python packages" $(BIN)/python -m pip install --quiet --disable-pip-version-check \
	    --require-hashes --only-binary :all: -r requirements/run.lock -r requirements/dev.lock
	@touch $@

$(NODE_MODULES): web/package.json web/package-lock.json | prerequisites $(DEPENDENCIES)
	@echo "setup: packages of the report's page into web/node_modules, about 10 s"
	@cd web && ../scripts/fetch "the packages of the report's page" npm ci --silent
	@touch $@

$(CRATES): Cargo.lock | prerequisites
	@mkdir -p $(@D)
	@scripts/fetch "the Rust crates" cargo fetch --locked --quiet
	@touch $@

# Release, because numbers are measured with it; the profile is recorded in every result.
# Whatever environment its user is in: maturin would install into that one.
$(EXTENSION): $(RUST_SOURCES) pyproject.toml $(DEPENDENCIES) | $(NODE_MODULES) $(CRATES)
	@echo "setup: compiling the native module, about 60 s on two cores when nothing is compiled yet"
	@env -u CONDA_PREFIX VIRTUAL_ENV="$(CURDIR)/$(VENV)" PIP_QUIET=1 $(BIN)/maturin develop --quiet --release --locked
	@touch $@

# Where Python may not write bytecode (PYTHONDONTWRITEBYTECODE), each start would compile every module that it imports,
# and each page its templates.
$(BYTECODE): $(PYTHON_SOURCES) $(EXTENSION)
	@$(INTERPRETER) -m compileall -q -j 0 python/ssdlab
	@env -u PYTHONDONTWRITEBYTECODE $(INTERPRETER) -c "from ssdlab.report.templating import compile_all; compile_all()"
	@touch $@

$(PAGE): $(WEB_SOURCES) $(NODE_MODULES)
	@echo "setup: bundling the report's page, about 3 s"
	@cd web && npm run --silent build
