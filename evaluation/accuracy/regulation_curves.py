"""What links off cost programs, and save: `eeectl regulate` on a shipped lab in lab time.

    python -m evaluation.accuracy.regulation_curves FOLDER alltoall --sweep 3 --set sleep_us=1000
    python -m evaluation.accuracy.regulation_curves FOLDER hpl --share xhpl --set binary=/shared/xhpl --sweep 3
    python -m evaluation.accuracy.regulation_curves FOLDER hpcc --sweep 3 --figure hpl_time --set order=500
    python -m evaluation.accuracy.regulation_curves FOLDER alltoall --shipped koibuchi --rate 1/50 --sweep 2
    python -m evaluation.accuracy.regulation_curves FOLDER --resume RUN [--figure random_access]

Writes the lab into FOLDER, with hosts that compute as a part of a core of this machine in lab time (`cpu_ratio`) and
links that come up quickly, brings it up, applies its trees at the wall's pace, regulates with `--rate`, and takes it
down. What follows FOLDER is passed on to `eeectl regulate`. With `--within` it stops after so many minutes, and says
how to go on.
"""

import argparse
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Final

from evaluation import quiet
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
    given, words = parser.parse_known_args()
    if os.geteuid() != 0:
        print("regulation_curves: virtual labs need root: use sudo.", file=sys.stderr)
        return 2
    quiet.require(given)
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
        where = [] if "--resume" in words else ["--lab", str(lab), "--runs", str(given.folder)]
        return _regulate([*words, *where], given.within)
    finally:
        eeectl("lab", "down", lab.name)


def _regulate(words: list[str], within_min: float | None) -> int:
    """Run `eeectl regulate`, or interrupt it after a time; its exit status."""
    with subprocess.Popen([sys.executable, "-m", "eeectl.cli", "regulate", *words]) as running:
        try:
            return running.wait(None if within_min is None else within_min * 60)
        except subprocess.TimeoutExpired:
            running.send_signal(signal.SIGINT)
            return running.wait()


if __name__ == "__main__":
    sys.exit(main())
