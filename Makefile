# `make demo` and `make test` set the machine up first. `make check` is what one runs before a commit.
.PHONY: demo check test dist site pages soak setup lint types clippy rust-test oldest-rust unit-check unit live alone smoke bench clean
.DEFAULT_GOAL := demo
SHELL := /bin/bash
export PATH := $(HOME)/.cargo/bin:$(CURDIR)/.venv/bin:$(CURDIR)/.tools/bin:$(PATH)
export OMP_NUM_THREADS := 1
# Where Python may not keep what it compiled, each of hundreds of processes compiles all that it imports.
unexport PYTHONDONTWRITEBYTECODE
PACKAGES := agents analysis benchmarks controller dataset eee_testbed eeectl evaluation inventory lab measuring playbooks record regulation simulation tests twin website
PART := @tests/part.sh
SIDE_BY_SIDE := $(MAKE) --keep-going --jobs 2 --output-sync=target --no-print-directory
PYTEST := pytest --quiet --no-header --durations=25 --durations-min=5
# Three on two cores: a third of the time they wait.
UNITS := $(PYTEST) -n 3 --dist worksteal
LIVE := $(PYTEST) -n 4 --dist worksteal

demo: setup
	python -m eee_testbed.eeectl.demo

# P=controller/planning checks that package alone, P=engine/fabric that crate.
check: setup
	@tests/part.sh --new
ifdef P
	@EEE_EFFORT=check tests/check_package.sh $(P); status=$$?; tests/part.sh --show; exit $$status
else
	@EEE_EFFORT=check $(SIDE_BY_SIDE) clippy lint types rust-test unit-check; status=$$?; tests/part.sh --show; exit $$status
endif

test: setup
	@tests/part.sh --new
	@$(SIDE_BY_SIDE) clippy lint types rust-test oldest-rust unit pages && $(MAKE) --keep-going --no-print-directory live alone smoke; status=$$?; tests/part.sh --show; exit $$status

setup:
	@./setup.sh

lint:
	$(PART) ruff ruff check --quiet $(PACKAGES)
	$(PART) "ruff format" ruff format --quiet --check $(PACKAGES)
	$(PART) imports lint-imports --no-logo
	$(PART) "cargo fmt" bash -c 'cd engine && cargo fmt --all --check'

types:
	$(PART) mypy mypy

clippy:
	$(PART) clippy bash -c 'cd engine && cargo clippy --quiet --all-targets -- -D warnings'

# One cargo at a time: two would wait for each other's lock on engine/target.
rust-test: clippy
	$(PART) "Rust tests" bash -c 'cd engine && cargo test --quiet'

oldest-rust: rust-test
	$(PART) "oldest Rust" tests/support/oldest_rust.sh

# Without files of tests whose sources are as when they passed here.
unit-check:
	$(PART) "unit tests" $(UNITS) -p tests.support.unchanged -m "not lab and not alone and not slow and not night"

unit:
	$(PART) "unit tests" $(UNITS) -m "not lab and not alone and not night"

live:
	$(PART) "live tests" $(LIVE) -m "lab and not alone"

alone:
	$(PART) alone $(PYTEST) -m "alone and not smoke and not night"

smoke:
	$(PART) "scripts" $(PYTEST) -m smoke

# Wheels and source distributions in dist/.
dist: setup
	@packaging/build.sh

# The documentation as pages in site/, with tools of its own in .tools/docs; a broken link is an error.
site: setup pages

pages:
	$(PART) site env UV_PROJECT_ENVIRONMENT=.tools/docs uv run --quiet --locked --only-group docs python -m website

# A night: more examples, mutants, damaged files, benchmarks; appends to tests/records/soak.jsonl.
soak: setup
	python -m tests.soak

bench: setup
	python -m evaluation.speed.twin_live --record

clean:
	rm -rf .venv .tools engine/target .mypy_cache .ruff_cache .pytest_cache .hypothesis
