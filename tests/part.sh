#!/usr/bin/env bash
# Runs one part of `make check`, `make test` or `make soak` and notes how long it took.
#
#   tests/part.sh NAME COMMAND...   run the command; end with its status
#   tests/part.sh --new             forget what was noted
#   tests/part.sh --show            print the table: seconds of the wall and of the processors, name, status
set -euo pipefail
cd "$(dirname "$0")/.."
noted=.tools/parts
unset MAKEFLAGS MFLAGS # cargo would look for the job server of make

case "$1" in
    --new)
        mkdir -p .tools
        : >"$noted"
        ;;
    --show)
        printf '\nparts (those of make -j ran side by side)\n%8s %8s  %s\n' wall cpu part
        awk -F'\t' '{ printf "%6d s %6d s  %s%s\n", $1, $2, $3, $4 == 0 ? "" : "  FAILED" }' "$noted"
        ;;
    *)
        name=$1
        shift
        TIMEFORMAT='%R %U %S'
        status=0
        exec 3>&1 4>&2
        took=$({ time "$@" >&3 2>&4 3>&- 4>&-; } 2>&1) || status=$?
        read -r wall user system <<<"$took"
        printf '%.0f\t%.0f\t%s\t%s\n' "$wall" "$(awk "BEGIN { print $user + $system }")" "$name" "$status" >>"$noted"
        [ "$status" -eq 0 ] || printf 'part %s failed with status %s\n' "$name" "$status" >&2
        exit "$status"
        ;;
esac
