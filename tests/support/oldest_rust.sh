#!/usr/bin/env bash
# Checks the engine with the oldest compiler that setup.sh takes, where `rust-version` or Cargo.lock has changed since it
# was checked last (engine/oldest_rust.checked, which this rewrites and you commit), or always with --always.
set -euo pipefail
cd "$(dirname "$0")/../.."
record=engine/oldest_rust.checked
now=$( (grep '^rust-version' engine/Cargo.toml; cat engine/Cargo.lock) | sha256sum | cut -d' ' -f1)
if [ "${1:-}" != --always ] && [ "$(cat "$record" 2>/dev/null || true)" = "$now" ]; then
    echo "oldest Rust: rust-version and Cargo.lock are those of the last check"
    exit 0
fi
tests/support/fetch_oldest_rust.sh
(cd engine && RUSTC=$PWD/../.tools/rust-1.85/rustc cargo check --quiet --workspace --all-targets --target-dir target/oldest)
if [ "$(cat "$record" 2>/dev/null || true)" != "$now" ]; then
    echo "$now" >"$record"
    echo "oldest Rust: passed; commit $record"
fi
