"""Are there tests for the laws that everything else relies on? Break each law in one line, and see.

``python -m tests.mutants`` copies the checkout to a temporary folder, puts in the mutants of `areas/` one by one, and
runs the tests that should fail; if none does, all unit tests of the area. Prints which test killed each mutant, and the
mutants that survived. Exit status 1 if one survived of which the table does not say so, 2 if one could not be judged.
"""

import argparse
import json
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from tests.mutants.judging import Judgement, judge_all
from tests.mutants.running import Runner
from tests.mutants.table import TableError, faults_of, read_table, select
from tests.support import ROOT

_KEYS: Final = ("area", "name", "file")


def main(argv: Sequence[str]) -> int:
    """Run the mutants; the exit status."""
    options = _parser().parse_args(argv)
    try:
        table = read_table()
        mutants = select(table, options.only)
    except TableError as error:
        print(error, file=sys.stderr)
        return 2
    faults = faults_of(table, ROOT)
    if faults:
        print(*faults, sep="\n", file=sys.stderr)
        return 2
    for number in (signal.SIGTERM, signal.SIGINT):  # a shell starts background jobs with SIGINT ignored
        signal.signal(number, signal.default_int_handler)
    commit = _commit()

    def tell(judgement: Judgement) -> None:
        print(_line(judgement), flush=True)
        if options.record is not None:
            with options.record.open("a", encoding="utf-8") as record:
                record.write(json.dumps(_record(judgement, commit)) + "\n")

    try:
        with (
            tempfile.TemporaryDirectory(prefix="eee-mutants-") as folder,
            Runner(options.seconds_each, options.target) as runner,
        ):
            found = judge_all(ROOT, Path(folder), mutants, runner, suite=options.suite, jobs=options.jobs, tell=tell)
    except KeyboardInterrupt:
        print("ended before all mutants were judged.", file=sys.stderr)
        return 130
    return _conclude(found)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__.partition("\n\n")[0])
    parser.add_argument("--only", action="append", default=[], metavar="AREA|NAME", help="may be given several times")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="copies in which mutants are judged at once")
    parser.add_argument("--suite", choices=("targeted", "unit"), default="unit", help="run the area's unit tests, too")
    parser.add_argument(
        "--seconds-each", type=float, default=900.0, metavar="S", help="a run of tests that takes longer has failed"
    )
    parser.add_argument("--record", type=Path, metavar="FILE", help="append one JSON object a mutant")
    parser.add_argument("--target", type=Path, metavar="FOLDER", help="keep Rust builds there for the next time")
    return parser


def _commit() -> str:
    """The commit of the checkout, with a + if files differ from it."""

    def git(*words: str) -> str:
        return subprocess.run(("git", *words), cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()

    return git("rev-parse", "--short", "HEAD") + ("+" if git("status", "--porcelain") else "")


def _record(judgement: Judgement, commit: str) -> dict[str, object]:
    return {
        "when": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": commit,
        **{key: getattr(judgement.mutant, key) for key in _KEYS},
        "outcome": judgement.outcome,
        "by": judgement.by,
        "suite": judgement.suite,
        "seconds": round(judgement.seconds, 1),
    }


def _line(judgement: Judgement) -> str:
    mutant = judgement.mutant
    by = f" by {judgement.by}" if judgement.outcome == "killed" else f": {judgement.by}" if judgement.by else ""
    return f"{judgement.seconds:6.1f} s  {mutant.area:10}  {mutant.name} | {mutant.law} | {judgement.outcome}{by}"


def _conclude(found: Sequence[Judgement]) -> int:
    """Print what survived, and the exit status."""
    counts = {outcome: sum(one.outcome == outcome for one in found) for outcome in ("killed", "survived", "not judged")}
    print("\n" + ", ".join(f"{count} {outcome}" for outcome, count in counts.items()))
    for judgement in found:
        mutant = judgement.mutant
        if judgement.outcome == "not judged":
            print(f"not judged: {mutant.area}, '{mutant.name}': {judgement.by}")
        elif judgement.outcome == "survived":
            print(f"survived: {mutant.area}, '{mutant.name}': {mutant.survives or f'no test fails: {mutant.law}'}")
        elif mutant.survives:
            print(f"killed, though the table says that it survives: {mutant.area}, '{mutant.name}': correct the table")
    if counts["not judged"]:
        return 2
    return int(any(one.is_surprise for one in found))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
