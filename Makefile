# The commands of the house. `make` alone lists them; they need a Rust toolchain, a C compiler and Python 3.

# Builds lie outside the tree, where a fresh clone finds them again. They use the profile `quick`: README.md says which to use
# for production. Our crates are built together: chosen one
# by one, their dependencies would have other features and be compiled again.
export CARGO_TARGET_DIR ?= $(HOME)/.cache/pando/target

# PostgreSQL's parser needs libclang when it is built.
with_libclang = env $$($(CURDIR)/.ci/libclang $(CARGO_TARGET_DIR)/libclang)
cargo = $(with_libclang) cargo

# Suites that could not be installed, which `make test` names at its end.
skipped := $(CARGO_TARGET_DIR)/skipped-suites
clients := python3 tests/clients/run.py --pando $(CARGO_TARGET_DIR)/quick/pando --expected tests/clients/expected.txt
drivers := python3 tests/drivers/run.py --pando $(CARGO_TARGET_DIR)/quick/pando
backups := python3 tests/backups/run.py --pando $(CARGO_TARGET_DIR)/quick/pando
# Each seed is a cluster with its own faults (docs/SIMULATION.md).
simulation := $(CARGO_TARGET_DIR)/quick/pando-sim
differential := python3 tests/differential/run.py --pando $(CARGO_TARGET_DIR)/quick/pando
isolation := python3 tests/isolation/run.py --binary $(CARGO_TARGET_DIR)/quick/pando

.PHONY: help demo release test clients drivers backups soak fuzz verify fix

help:
	@echo 'make demo     starts Pando with data to look at, in its shell and from any PostgreSQL client'
	@echo 'make release  builds what users run, optimised, which takes half an hour'
	@echo 'make test     runs every test, clients, drivers and PostgreSQL too (it installs what is missing): what has to pass'
	@echo 'make clients  runs PostgreSQL clients (psql, drivers in five languages, pgbench) against one pando serve, in memory and durable,'
	@echo '              and three'
	@echo 'make drivers  runs the own tests of SQLAlchemy, asyncpg and pgx against pando serve'
	@echo 'make backups  makes backups in an object store with the protocol of S3, and restores them'
	@echo 'make soak     compares random statements with PostgreSQL on one server and on three, simulates clusters with faults'
	@echo '              (SOAK_SECONDS each), shows that the simulation finds bugs that are planted, and kills servers and'
	@echo '              clusters under load (SOAK_RESTARTS, SOAK_CLUSTER_RESTARTS)'
	@echo 'make fuzz     looks for bytes that break the decoders of what clients send, and for statements that break a server,'
	@echo '              a minute for each (FUZZ_SECONDS)'
	@echo 'make verify   checks formatting, lints, documentation, layers and licences; changes nothing'
	@echo 'make fix      formats the code and applies the fixes that the lints know'

demo:
	$(cargo) run --profile quick --locked --bin pando -- demo

release:
	$(cargo) build --release --locked --bin pando

test:
	@.ci/room $(CARGO_TARGET_DIR)
	$(cargo) --config tests/profile.toml test --profile quick --locked
	$(cargo) test --profile quick --quiet --locked --package xtask
	$(cargo) run --profile quick --quiet --locked --package xtask -- tidy
	cargo fmt --all --check
	$(cargo) build --profile quick --locked --bin pando --bin pando-sim
	$(simulation) --seeds 1 300 --seconds 150
	@rm -f $(skipped)
	$(clients) --data --without rails,prisma --allow-missing --skipped $(skipped)
	$(drivers) --only asyncpg,pgx --allow-missing --skipped $(skipped)
	$(backups) --allow-missing --skipped $(skipped)
	$(differential) --allow-missing --skipped $(skipped)
	$(isolation)
	$(isolation) --prepared
	$(isolation) --servers 3
	@if [ -s $(skipped) ]; then echo 'make test: what ran has passed; skipped:'; cat $(skipped); \
		else echo 'make test: everything passed'; fi

clients:
	$(cargo) build --profile quick --locked --bin pando
	$(clients)
	$(clients) --data
	$(clients) --servers 3

drivers:
	$(cargo) build --profile quick --locked --bin pando
	$(drivers)

backups:
	$(cargo) build --profile quick --locked --bin pando
	$(backups)

# Seeds begin where the hour says, so that each run tries others; a finding names its seed.
SOAK_SECONDS ?= 600
SOAK_RESTARTS ?= 1000
SOAK_CLUSTER_RESTARTS ?= 100
soak:
	PANDO_RESTARTS=$(SOAK_RESTARTS) $(cargo) --config tests/profile.toml test --profile quick --locked --test serve \
		-- --nocapture crashes
	PANDO_CLUSTER_RESTARTS=$(SOAK_CLUSTER_RESTARTS) PANDO_CLUSTER_STOPS=$(SOAK_CLUSTER_RESTARTS) \
		$(cargo) --config tests/profile.toml test --profile quick --locked --test cluster -- --nocapture crashes
	$(cargo) test --profile quick --locked --package simulation --features planted --test planted -- --nocapture
	$(cargo) build --profile quick --locked --bin pando --bin pando-sim
	$(simulation) --crash-points 0 24
	$(simulation) --seeds $$(date +%y%m%d%H)0000 1000000 --seconds $(SOAK_SECONDS)
	$(differential) --seed $$(date +%y%m%d%H)00 --seconds $(SOAK_SECONDS) --report $(CARGO_TARGET_DIR)/differential

FUZZ_SECONDS ?= 60
fuzz:
	$(with_libclang) fuzz/run.sh $(FUZZ_SECONDS)
	$(cargo) build --profile quick --locked --bin pando
	cd fuzz && $(cargo) run --release --quiet --locked --package fuzz_sql -- --seconds $(FUZZ_SECONDS) \
		--program $(CARGO_TARGET_DIR)/quick/pando --keep $(CARGO_TARGET_DIR)/fuzz/sql

verify:
	cargo fmt --all --check
	$(cargo) run --profile quick --quiet --locked --package xtask -- tidy
	$(cargo) clippy --profile quick --all-targets --locked -- -D warnings
	$(cargo) clippy --profile quick --all-targets --locked --package xtask -- -D warnings
	cd fuzz && $(cargo) clippy --release --all-targets --locked --package fuzz_sql -- -D warnings
	RUSTDOCFLAGS='-D warnings' $(cargo) doc --profile quick --no-deps --locked
	command -v cargo-deny >/dev/null || cargo install cargo-deny --locked
	cargo deny --locked check licenses bans sources
	cd fuzz && cargo deny --workspace --locked check licenses bans sources
	@echo 'make verify: everything passed'

fix:
	cargo fmt --all
	$(cargo) clippy --profile quick --all-targets --fix --allow-dirty --allow-staged
	cargo fmt --all
