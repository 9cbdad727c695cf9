"""What links off cost programs, and save: `eeectl regulate` on a shipped lab in lab time.

    python -m evaluation.accuracy.regulation_curves FOLDER run alltoall --sweep 3 --set sleep_us=1000
    python -m evaluation.accuracy.regulation_curves FOLDER run hpl --share xhpl --set binary=/shared/xhpl --sweep 3
    python -m evaluation.accuracy.regulation_curves FOLDER run hpcc --sweep 3 --figure hpl_time --set order=500
    python -m evaluation.accuracy.regulation_curves FOLDER run alltoall --shipped koibuchi --rate 1/50 --sweep 2
    python -m evaluation.accuracy.regulation_curves FOLDER resume RUN [--figure random_access]

Writes the lab into FOLDER, with hosts that compute as a part of a core of this machine in lab time (`cpu_ratio`) and
links that come up quickly, brings it up, applies its trees in real time, regulates with `--rate`, and takes it
down. What follows FOLDER is passed on to `eeectl regulate`. With `--within` it stops after so many minutes, and says
how to go on.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from eee_testbed.record.trials import read_trials
from evaluation import quiet, recording
from evaluation.records import Figure
from evaluation.running_lab import eeectl, share
from tests.support.labs.lab_numbers import reserve
from tests.support.labs.proportional import proportional_lab

_NAME: Final = "regulated"


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="of the lab and the runs; made if it is not there")
    parser.add_argument(
        "--shipped", default="virtual", help="name of the shipped lab: virtual (12 hosts), koibuchi (66)"
    )
    parser.add_argument("--rate", default="1/10", help="of the lab's time (default %(default)s)")
    parser.add_argument("--cpu-ratio", type=float, default=0.5, help="cores of a host (default %(default)s)")
    parser.add_argument("--trees-per-switch", default="2", help="of `eeectl apply` (default %(default)s)")
    parser.add_argument("--eee-off", action="store_true", help="turn EEE off everywhere first; default: as it comes")
    parser.add_argument("--share", type=Path, nargs="*", default=[], help="files that hosts then have in /shared")
    parser.add_argument("--within", type=float, help="minutes after which it stops, to be resumed")
    quiet.add_argument(parser)
    recording.add_argument(parser)
    given, words = parser.parse_known_args()
    if os.geteuid() != 0:
        print("regulation_curves: virtual labs need root: use sudo.", file=sys.stderr)
        return 2
    records = recording.begin(given)
    given.folder.mkdir(parents=True, exist_ok=True)
    lab = next(given.folder.resolve().glob(f"{_NAME}*"), None)
    if lab is None:
        number = reserve()
        lab = proportional_lab(given.folder.resolve() / f"{_NAME}{number}", number, given.cpu_ratio, given.shipped)
    eeectl("lab", "up", str(lab), "--rate", "1")
    try:
        for file in given.share:
            share(lab.name, file)
        eeectl("apply", str(lab), "--yes", "--trees-per-switch", given.trees_per_switch)
        if given.eee_off:
            eeectl("eee", "off", "--lab", str(lab), "--all", "--may-flap", "--yes")
        eeectl("lab", "clock", lab.name, "--rate", given.rate)
        where = [] if words[:1] == ["resume"] else ["--lab", str(lab), "--runs", str(given.folder)]
        status, said = _regulate([*words, *where], given.within, captured=given.record)
    finally:
        eeectl("lab", "down", lab.name)
    print(said, end="")
    if given.record and not status:
        table = json.loads(said)
        trials = read_trials(Path(table["run"]))
        records.append(figures_of(table, [str(one.levels["regulation"]) for one in trials if one.valid]))
    return status


def _regulate(words: list[str], within_min: float | None, *, captured: bool) -> tuple[int, str]:
    """Run `eeectl regulate`, or interrupt it after a time; its exit status, and its JSON if that is captured."""
    argv = [sys.executable, "-m", "eee_testbed.eeectl.cli", "regulate", *words, *(["--json"] if captured else [])]
    with subprocess.Popen(argv, stdout=subprocess.PIPE if captured else None, text=True) as running:
        try:
            said, _ = running.communicate(timeout=None if within_min is None else within_min * 60)
        except subprocess.TimeoutExpired:
            running.send_signal(signal.SIGINT)
            said, _ = running.communicate()
        return running.returncode, said or ""


def figures_of(table: Mapping[str, Any], measured: Sequence[str]) -> dict[str, Figure]:
    """For records: slowdown in percent and saving of each choice, by how many links are off, or asleep if none is.

    `measured` has the level of each valid trial.

    Of several choices with as many links off, the first counts. One without an interval is left out.
    """
    figures: dict[str, Figure] = {}
    for choice in table["choices"]:
        asleep = sum(level == "eee" for level in choice["levels"].values())
        name = f"{len(choice['off'])} off" if choice["off"] else f"{asleep} asleep"
        slower, saved = choice["slowdown"], choice["saving_metered"]
        blocks = measured.count(choice["level"])
        if slower is not None and saved is not None and name not in figures:
            value, low, high = (100 * slower[key] for key in ("value", "low", "high"))
            figures[name] = Figure(value=value, low=low, high=high, saving=_percent(saved), n=blocks)
    return figures


def _percent(share: Mapping[str, float]) -> str:
    value, low, high = (100 * share[key] for key in ("value", "low", "high"))
    return f"{value:.1f} % ({low:.1f} - {high:.1f})"


if __name__ == "__main__":
    sys.exit(main())
