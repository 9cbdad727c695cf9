#!/usr/bin/env bash
# Installs the wheels of FOLDER for a user without rights and tries what needs no lab; ends with what each part took. On a
# machine without compiler, which `tests/bare_machine.sh --wheels dist` makes.
#
#   tests/try_wheels.sh FOLDER TESTS     TESTS: a folder with tests/support, which writes a run with known values
set -euo pipefail

wheels=$1 tests=$2
say() { printf 'wheels: %s\n' "$*"; }

# NAME, COMMAND...: run it, quietly unless it fails; it may end with status 3, by which `plan` says that changes are pending.
try() {
    local name=$1 begun status=0
    shift
    begun=$(date +%s%N)
    "$@" >"$HOME/output" 2>&1 || status=$?
    if [ "$status" -ne 0 ] && [ "$status" -ne 3 ]; then
        cat "$HOME/output"
        say "$name failed with status $status"
        exit 1
    fi
    say "$(printf '%7.2f s  %s' "$((($(date +%s%N) - begun) / 10000000))e-2" "$name")"
}

[ "$(id -u)" -ne 0 ] || { say "run this as a user without rights"; exit 1; }
if command -v cc gcc rustc cargo; then say "this machine has a compiler, so it proves less"; exit 1; fi
cd "$HOME"
PATH=$HOME/.local/bin:$PATH
python3 -m venv tools
try "install uv" tools/bin/pip install --quiet uv
try "uv tool install" tools/bin/uv tool install --quiet --find-links "$wheels" eee-testbed
du -sh .local/share/uv/tools/eee-testbed | sed 's/^/wheels: /'
try "eeectl --version" eeectl --version
cat output
try "eeectl --help" eeectl --help
try "eeectl lab list" eeectl lab list
try "eeectl doctor (says what is missing)" bash -c '[ "$(eeectl doctor --json | head -c 1)" = "{" ]'
try "eeectl examples copy" eeectl examples copy mine
test -s mine/docs/tutorial.md
test -s mine/playbooks/nodes.yml
test -s mine/experiments/miwa.yaml
try "eeectl plan virtual --start factory" eeectl plan virtual --start factory
grep -q 'proved' output
try "eeectl plan of a copied lab" eeectl plan mine/inventory/koibuchi --start factory
try "eeectl study virtual --design" eeectl study virtual --design
PYTHONPATH=$tests try "a run with known values" .local/share/uv/tools/eee-testbed/bin/python -c '
from pathlib import Path
from tests.support.measured.synthetic_run import write_measured
write_measured(Path())'
try "eeectl fit" eeectl fit runs/study --output fitted.yaml
grep -q 'hold_us' fitted.yaml
try "eeectl report" eeectl report runs/study --calibration fitted.yaml --output report.html
test -s report.html
try "eeectl predict" eeectl predict runs/study --calibration fitted.yaml --at sleep_us=2000
grep -q 'measured' output
try "eeectl check --expect" eeectl check runs/study --expect 'time.slowdown < 50 %'
try "eeectl check of a figure out of its limit" bash -c 'eeectl check runs/study --expect "trials.valid < 1"; [ $? -eq 4 ]'
grep -q 'trials.valid' output
cat >tiny.yaml <<'EOF'
name: tiny
network: {kind: torus, radix: [4, 4]}
routing: dor
loads: [0.1]
EOF
try "eeectl simulate" eeectl simulate tiny.yaml
.local/share/uv/tools/eee-testbed/bin/python -c '
import sys
text = open(f"{sys.prefix}/share/man/man1/eeectl.1").read()
sys.exit(0 if text.startswith(".TH EEECTL 1") and ".SH" in text else "no manual page")'
try "uninstall" tools/bin/uv tool uninstall --quiet eee-testbed
hash -r
if command -v eeectl; then say "eeectl is still there"; exit 1; fi
say "all work"
