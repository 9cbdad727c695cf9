"""What a night shows: `make soak`, or ``python -m tests.soak [PART ...]``.

All laws in Python on twenty times as many examples, those in Rust on theirs, every mutant, an hour of damaged files, a
kill at every step, and each script of `evaluation/speed` and `evaluation/accuracy` with its full arguments. Each part
appends a record to `tests/records/soak.jsonl`: what ran, on which commit, how long, how it ended, what it printed last.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from tests.support import ROOT
from tests.support.scripts import SCRIPTS

RECORDS: Final = ROOT / "tests" / "records" / "soak.jsonl"
_KEPT_LINES: Final = 60
_PYTEST: Final = (sys.executable, "-m", "pytest", "--quiet", "--no-header")


def parts(folder: Path) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each part and its command; a script's name is its module's without `evaluation.`."""
    yield "oldest-rust", ("tests/support/oldest_rust.sh", "--always")
    yield "laws", (*_PYTEST, "-n", "2", "--dist", "worksteal", "-m", "not lab and not alone")
    yield "walks", (*_PYTEST, "-m", "night and lab")
    yield "rust-laws", ("cargo", "test", "--quiet", "--manifest-path", "engine/Cargo.toml", "--workspace")
    yield "mutants", (sys.executable, "-m", "tests.mutants")
    yield "fuzz", (sys.executable, "-m", "tests.fuzz", "--minutes", "60")
    for module, script in SCRIPTS.items():
        if script.soak is not None:
            words = tuple(word.format(folder=folder) for word in script.soak)
            yield module.removeprefix("evaluation."), (sys.executable, "-m", module, *words)


def run(name: str, command: tuple[str, ...], environment: Mapping[str, str]) -> dict[str, object]:
    """Run a part, show what it prints, and return its record."""
    print(f"==== {name}: {' '.join(command)}", flush=True)
    begun_s = time.monotonic()
    kept: list[str] = []
    with subprocess.Popen(
        command, cwd=ROOT, env=dict(environment), text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as child:
        for line in child.stdout or ():
            print(line, end="", flush=True)
            kept = [*kept[1 - _KEPT_LINES :], line.rstrip("\n")]
    return {
        "part": name,
        "command": [Path(word).name if word == sys.executable else word for word in command],
        "commit": _commit(),
        "begun": datetime.now(UTC).isoformat(timespec="seconds"),
        "took_s": round(time.monotonic() - begun_s, 1),
        "status": child.returncode,
        "cores": os.cpu_count(),
        "kernel": platform.release(),
        "printed": kept,
    }


def _commit() -> str:
    argv = ["git", "describe", "--always", "--dirty", "--exclude=*"]
    return subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


def main() -> int:
    """Run the parts; status 1 if one failed."""
    with tempfile.TemporaryDirectory() as folder:
        table = dict(parts(Path(folder)))
        parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
        parser.add_argument("parts", nargs="*", metavar="PART", help=f"default: all. {', '.join(table)}")
        parser.add_argument("--records", type=Path, default=RECORDS, help="file to append to (default %(default)s)")
        asked = parser.parse_args()
        if unknown := [name for name in asked.parts if name not in table]:
            parser.error(f"no part {', '.join(unknown)}: use {', '.join(table)}")
        failed = []
        asked.records.parent.mkdir(parents=True, exist_ok=True)
        for name in asked.parts or table:
            record = run(name, table[name], {**os.environ, "EEE_EFFORT": "soak"})
            with asked.records.open("a", encoding="utf-8") as file:
                file.write(json.dumps(record) + "\n")
            if record["status"]:
                failed.append(name)
    print(f"\nsoak: {len(asked.parts or table) - len(failed)} passed, {len(failed)} failed {' '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
