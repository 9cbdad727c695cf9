#!/usr/bin/env bash
# `make check P=PATH`: formatters, linters, types and unit tests of one package or of a folder of one
# (controller/planning), or of one crate of the engine (engine/fabric).
set -euo pipefail
cd "$(dirname "$0")/.."
path=${1%/}
[ -d "$path" ] || { echo "make check P=$path: there is no such folder; use a package, a folder of one, or engine/CRATE" >&2; exit 2; }
status=0
run() { tests/part.sh "$@" || status=1; }

if [[ $path == engine* ]]; then
    cd engine
    crate=eee_engine
    [ "$path" = engine ] || crate=$(basename "$path")
    part() { "../tests/part.sh" "$1" bash -c 'cd engine && exec "$@"' - "${@:2}" || status=1; }
    part "cargo fmt" cargo fmt --package "$crate" --check
    part clippy cargo clippy --quiet --package "$crate" --all-targets -- -D warnings
    part "Rust tests" cargo test --quiet --package "$crate"
    exit "$status"
fi

tests=$path
[[ $path == tests* ]] || tests=tests/$path
[ -d "$tests" ] || tests=
run ruff ruff check --quiet "$path" $tests
run "ruff format" ruff format --quiet --check "$path" $tests
run imports lint-imports --no-logo
named=$path
[ ! -d "eee_testbed/$path" ] || named=eee_testbed/$path # the name that it is imported by
[[ $path == tests* ]] || run mypy mypy "$named"
[ -z "$tests" ] || run "unit tests" pytest --quiet --no-header -n 3 --dist worksteal -m "not lab and not alone and not slow and not night" "$tests"
exit "$status"
