#!/usr/bin/env bash
# Runs the unit tests with the lowest version of each package that pyproject.toml allows, on the oldest Python that it
# allows, in an environment of its own below TMPDIR or /var/tmp. What shows that a bound is too low.
#
#   tests/lowest_packages.sh [PATH OF TESTS...]
set -euo pipefail
cd "$(dirname "$0")/.."
PATH="$HOME/.cargo/bin:$PWD/.tools/bin:$PATH"
work=$(mktemp -d -p "${TMPDIR:-/var/tmp}" lowest.XXXXXX)
trap 'rm -rf "$work"' EXIT

uv venv --quiet --python 3.11 "$work/venv"
uv pip compile --quiet --python-version 3.11 --resolution lowest-direct --all-extras --no-emit-package eee-engine \
    pyproject.toml --output-file "$work/lowest.txt"
uv pip install --quiet --python "$work/venv" --requirements "$work/lowest.txt" hypothesis pexpect pytest pytest-xdist syrupy
engine=$(compgen -G "dist/eee_engine-*_$(uname -m).whl" || echo ./engine) # that of `make dist`, else built here
uv pip install --quiet --python "$work/venv" --no-deps "$engine" --editable .
[ $# -gt 0 ] || set -- tests
"$work/venv/bin/python" -m pytest --quiet --no-header -n 2 -p no:cacheprovider -m "not lab and not alone and not slow and not night" "$@"
