# Everything that a visitor needs: `make demo` and `make test`. Both set the machine up first.
.PHONY: demo test setup lint rust-test py-test bench clean
.DEFAULT_GOAL := demo
SHELL := /bin/bash
export PATH := $(HOME)/.cargo/bin:$(CURDIR)/.venv/bin:$(CURDIR)/.tools/bin:$(PATH)
PACKAGES := agents analysis benchmarks controller eee_testbed eeectl inventory lab playbooks record regulation simulation tests twin

demo: setup
	python -m eeectl.demo

test: setup lint rust-test py-test

setup:
	@./setup.sh

lint:
	ruff check $(PACKAGES)
	ruff format --check $(PACKAGES)
	mypy
	lint-imports --no-logo 2>/dev/null || lint-imports
	@if cargo fmt --version >/dev/null 2>&1; then cd engine && cargo fmt --all --check; else echo "lint: no cargo fmt here, skipped"; fi
	@if cargo clippy --version >/dev/null 2>&1; then cd engine && cargo clippy --quiet --workspace --all-targets -- -D warnings; else echo "lint: no cargo clippy here, skipped"; fi
	@if tests/support/fetch_oldest_rust.sh; then cd engine && RUSTC=$(CURDIR)/.tools/rust-1.85/rustc cargo check --quiet --workspace --all-targets --target-dir target/oldest; else echo "lint: no Rust 1.85 to be had here, skipped"; fi

rust-test:
	cd engine && cargo test --quiet --workspace

py-test: export OMP_NUM_THREADS = 1
py-test:
	pytest -m "not alone and not lab" -n auto --dist loadfile
	pytest -m alone
	pytest -m "lab and not alone" -n 4 --dist worksteal

bench: setup
	python -m tests.speed.twin_live

clean:
	rm -rf .venv .tools engine/target .mypy_cache .ruff_cache .pytest_cache .hypothesis
