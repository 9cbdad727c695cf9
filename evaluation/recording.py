"""`--record` of a script: its figures go into the records of the claims that its command measures.

A record's file says which command measures it and which of the command's figures it is. So a script that is run with
other arguments, or for a short try, changes no record. What no script measures, such as `make demo`, is entered by

    python -m evaluation.recording NAME --value 5.7 --n 1 [--quiet]
"""

import argparse
import os
import platform
import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from eee_testbed.record.checkout import git
from evaluation import page
from evaluation.quiet import MachineState, look, require
from evaluation.records import FOLDER, ROOT, Figure, Measurement, Record, read_records, write_record

_NO_MATTER: Final = frozenset({"--record", "--force", "--json"})
"""Options that change no figure."""

_NOT_CODE: Final = (":!evaluation/records", ":!docs/performance.md", ":!tests/records")
"""What a measurement itself changes, as patterns of paths of git."""


def add_argument(parser: argparse.ArgumentParser) -> None:
    """Add `--record`."""
    parser.add_argument("--record", action="store_true", help="append the figures to evaluation/records")


class Recorder:
    """The claims that a command measures, and what is known before it begins."""

    def __init__(self, claims: Mapping[str, Record], before: Mapping[str, object], checkout: Path) -> None:
        self._claims = claims
        self._before = before
        self._checkout = checkout

    def append(self, figures: Mapping[str, Figure | None]) -> None:
        """Add a measurement to each claim, and write the page; None is a figure that could not be measured here."""
        # Others may have measured the same claim since this command began.
        claims = {name: record for name, record in read_records(self._checkout).items() if name in self._claims}
        for name, claim in (dict(self._claims) | claims).items():
            figure = figures.get(claim.figure)
            if figure is None:
                print(f"{name}: nothing is recorded, as {claim.figure!r} was not measured.", file=sys.stderr)
                continue
            measurement = Measurement.model_validate(figure.model_dump() | dict(self._before))
            print(write_record(name, claim.with_measurement(measurement), self._checkout), file=sys.stderr)
        if self._claims:
            page.write(self._checkout)


def begin(
    given: argparse.Namespace,
    argv: Sequence[str] | None = None,
    checkout: Path = ROOT,
    look: Callable[[], MachineState] = look,
) -> Recorder:
    """Look at the checkout and the machine, before anything is measured.

    A script that has `--force` waits for a quiet machine here. Without `--record` nothing will be recorded. Exits with
    a sentence if the command measures no claim, or if the code differs from its commit.
    """
    if not given.record:
        if "force" in given:
            require(given)
        return Recorder({}, {}, checkout)
    command = typed(sys.argv if argv is None else argv, given, checkout)
    claims = {name: record for name, record in read_records(checkout).items() if record.command == command}
    if not claims:
        sys.exit(
            f"`{command}` measures no claim of {FOLDER}: leave out --record, use the command of a claim, or add a file "
            "with this command there."
        )
    before = _before(checkout)
    state = require(given) if "force" in given else look()
    return Recorder(claims, before | {"load": round(os.getloadavg()[0], 2), "quiet": state.quiet}, checkout)


def typed(argv: Sequence[str], given: argparse.Namespace, checkout: Path = ROOT) -> str:
    """A script's command as a user types it, without what matters to no figure.

    Paths that were given are replaced by the names of their arguments, in capital letters.
    """
    module = ".".join(Path(argv[0]).resolve().relative_to(checkout.resolve()).with_suffix("").parts)
    names: dict[Path, str] = {}
    for name, value in vars(given).items():
        values = value if isinstance(value, list) else [value]
        names |= {one: name.upper() for one in values if isinstance(one, Path)}
    words = (names.get(Path(word), word) for word in argv[1:] if word not in _NO_MATTER)
    return " ".join(["python", "-m", module, *words])


def machine() -> str:
    """Processor, cores and kernel."""
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    kernel = platform.release().partition("-")[0]
    return f"{os.cpu_count()} cores, {models[0] if models else platform.machine()}, {platform.system()} {kernel}"


def _before(checkout: Path) -> dict[str, object]:
    changed = _git(checkout, "status", "--porcelain", "--untracked-files=no", "--", ".", *_NOT_CODE)
    if changed:
        sys.exit(f"this code is not that of a commit ({len(changed.splitlines())} changed files): commit it first.")
    return {
        "commit": _git(checkout, "rev-parse", "--short=10", "HEAD").strip(),
        "machine": machine(),
        "date": datetime.now(UTC).date(),
    }


def _git(checkout: Path, *words: str) -> str:
    said, why = git(checkout, *words)
    if why:
        sys.exit(f"a record names its commit, and git says: {why}")
    return said


def main(argv: Sequence[str] | None = None, checkout: Path = ROOT) -> None:
    """Enter a measurement of a command that records nothing by itself."""
    parser = argparse.ArgumentParser(description="Enter a measurement of a command that is no script of evaluation/.")
    parser.add_argument("name", help="of the claim: its file's name in evaluation/records, without .yaml")
    for name, field in Figure.model_fields.items():
        parser.add_argument(f"--{name.replace('_', '-')}", help=field.description, required=field.is_required())
    parser.add_argument("--quiet", action="store_true", help="nothing else ran while it was measured")
    given = vars(parser.parse_args(argv))
    name, quiet = given.pop("name"), given.pop("quiet")
    claim = read_records(checkout).get(name)
    if claim is None:
        parser.error(f"no claim {name} in {FOLDER}: add its file first.")
    if claim.command.startswith("python -m evaluation."):
        parser.error(f"{name} is recorded by its command: {claim.command} --record")
    try:
        figure = Figure.model_validate({key: value for key, value in given.items() if value is not None})
    except ValidationError as error:
        wrong = error.errors()[0]
        parser.error(f"--{wrong['loc'][0]}".replace("_", "-") + f": {wrong['msg']}")
    Recorder({name: claim}, _before(checkout) | {"quiet": quiet}, checkout).append({claim.figure: figure})


if __name__ == "__main__":
    main()
