# The commands of the house. `make` alone lists them; they need a Rust toolchain, a C compiler and Python 3.

# Builds lie outside the tree, where a fresh clone finds them again. Our crates are built together: chosen one
# by one, their dependencies would have other features and be compiled again.
export CARGO_TARGET_DIR ?= $(HOME)/.cache/pando/target

.PHONY: help demo test clients verify fix

help:
	@echo 'make demo     starts Pando with data to look at'
	@echo 'make test     runs every test and the checks that need no tools: what has to pass'
	@echo 'make clients  runs PostgreSQL clients (psql, drivers in five languages, pgbench) against pando serve'
	@echo 'make verify   checks formatting, lints, documentation, layers and licences; changes nothing'
	@echo 'make fix      formats the code and applies the fixes that the lints know'

demo:
	cargo run --release --locked --bin pando -- demo

test:
	cargo test --release --locked
	cargo test --release --quiet --locked --package xtask
	cargo run --release --quiet --locked --package xtask -- tidy
	cargo fmt --all --check
	@echo 'make test: everything passed'

clients:
	cargo build --release --locked --bin pando
	python3 tests/clients/run.py --pando $(CARGO_TARGET_DIR)/release/pando --expected tests/clients/expected.txt

verify:
	cargo fmt --all --check
	cargo run --release --quiet --locked --package xtask -- tidy
	cargo clippy --release --all-targets --locked -- -D warnings
	cargo clippy --release --all-targets --locked --package xtask -- -D warnings
	RUSTDOCFLAGS='-D warnings' cargo doc --release --no-deps --locked
	command -v cargo-deny >/dev/null || cargo install cargo-deny --locked
	cargo deny --locked check licenses bans sources
	@echo 'make verify: everything passed'

fix:
	cargo fmt --all
	cargo clippy --release --all-targets --fix --allow-dirty --allow-staged
	cargo fmt --all
