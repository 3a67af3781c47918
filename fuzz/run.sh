#!/bin/sh
# Runs each fuzz target for so many seconds (the first argument), with a stable compiler: it can count coverage
# too. What is found is kept among the builds; each begins with the seeds of `corpus`.
set -eu
seconds=${1:-60}
cd "$(dirname "$0")"
target=$(rustc -vV | sed -n 's/^host: //p')
builds=${CARGO_TARGET_DIR:-$PWD/target}
coverage='-sanitizer-coverage-level=4 -sanitizer-coverage-inline-8bit-counters -sanitizer-coverage-pc-table -sanitizer-coverage-trace-compares'
RUSTFLAGS='-Cpasses=sancov-module -Ccodegen-units=1'
for option in $coverage; do RUSTFLAGS="$RUSTFLAGS -Cllvm-args=$option"; done
export RUSTFLAGS
cargo build --release --locked --target "$target"
for name in startup messages log checkpoints chunks numbers; do
    found="$builds/fuzz/$name"
    mkdir -p "$found"
    "$builds/$target/release/$name" -max_total_time="$seconds" -max_len=4096 -print_final_stats=1 \
        -artifact_prefix="$builds/fuzz/$name-" "$found" "corpus/$name"
done
