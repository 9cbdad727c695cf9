"""`python -m tests.fuzz --minutes 60 --seed N`: exit status 1 if a case failed; a place is printed once."""

import argparse
import sys
import time
from pathlib import Path

from tests.fuzz.engine import Failure, quiet_native_errors, run_case
from tests.fuzz.targets import TARGETS

_CASES = 10  # of a target, before the next one's turn


def main() -> int:
    """Fuzz until the time is over, target by target."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=60.0, help="how long (default %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of the damage (default %(default)s)")
    parser.add_argument("--target", action="append", help="only this one; may be given several times")
    parser.add_argument("--case", help="repeat one case, as TARGET:SEED:NUMBER")
    parser.add_argument("--started", type=Path, help="file that names the case under way, for a crash of the process")
    given = parser.parse_args()
    quiet_native_errors()
    if given.case:
        name, seed, number = given.case.split(":")
        failure = run_case(TARGETS[name], int(seed), int(number))
        print(failure.trace if failure else "passed")
        return 1 if failure else 0
    return _fuzz(given.minutes, given.seed, given.target or list(TARGETS), given.started)


def _fuzz(minutes: float, seed: int, names: list[str], started: Path | None) -> int:
    end_s = time.monotonic() + 60 * minutes
    seen: dict[str, Failure] = {}
    count, first = 0, 0
    while time.monotonic() < end_s:
        for name in names:
            for number in range(first, first + _CASES):
                if started is not None:
                    started.write_text(f"{name}:{seed}:{number}\n", encoding="utf-8")
                failure = run_case(TARGETS[name], seed, number)
                count += 1
                if failure is not None and (place := _place(failure)) not in seen:
                    seen[place] = failure
                    print(f"--- {failure.case}\n{failure.trace}", flush=True)
            if time.monotonic() > end_s:
                break
        first += _CASES
    print(f"{count} cases of {len(names)} readers, seed {seed}: {len(seen)} failures.")
    return 1 if seen else 0


def _place(failure: Failure) -> str:
    """Where it failed: the last line of our own code in the trace, and the kind of error."""
    lines = failure.trace.strip().splitlines()
    ours = [line.strip() for line in lines if line.strip().startswith("File ") and "site-packages" not in line]
    return f"{ours[-1] if ours else ''} {lines[-1].split(':')[0]}"


if __name__ == "__main__":
    sys.exit(main())
