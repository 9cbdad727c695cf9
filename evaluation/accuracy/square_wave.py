"""The closed loop under load that comes and goes, for an hour of lab time.

    python -m evaluation.accuracy.square_wave [--rate 4] [--epochs 3600] [--half-epochs 30]

Brings a triangle of switches up, with two cables between each two, and lets the loop regulate it with epochs of one
second of lab time. Prints one JSON object: how often each link went off and on, echoes sent and answered between all
switches meanwhile, frames that flooded, loops. Exit status 1 if an echo was lost, a loop seen, more flooded than the
first frames on new trees, or a link was switched more often than the rule allows.
"""

import argparse
import json
import os
import signal
import sys
import tempfile
import time
from dataclasses import asdict
from pathlib import Path

from evaluation import recording
from evaluation.records import Figure
from evaluation.running_lab import eeectl
from tests.support.labs.engineer import Engineer
from tests.support.labs.lab_client import LabClient
from tests.support.labs.lab_numbers import reserve
from tests.support.labs.square_wave import square_wave
from tests.support.labs.triangle import write_lab


def main() -> int:
    """Regulate and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rate", default="1", help="of the lab's time (default %(default)s)")
    parser.add_argument("--epochs", type=int, default=3600, help="of 1 s of lab time (default %(default)s)")
    parser.add_argument(
        "--half-epochs", type=int, default=30, help="so long load is off, then on (default %(default)s)"
    )
    recording.add_argument(parser)
    given = parser.parse_args()
    if os.geteuid() != 0:
        print("square_wave: virtual labs need root: use sudo.", file=sys.stderr)
        return 2
    signal.signal(signal.SIGINT, signal.default_int_handler)  # its captures end by it, also those of a background job
    records = recording.begin(given)
    with tempfile.TemporaryDirectory() as scratch:
        folder = write_lab(Path(scratch), reserve())
        eeectl("lab", "up", str(folder), "--rate", given.rate)
        try:
            lab = LabClient.of(folder, Path("/run/eee-testbed"))
            with Engineer(lab, Path(scratch)) as engineer:
                assert engineer.apply().returncode == 0
                frames, begun_s = engineer.frames(), time.monotonic()
                wave = square_wave(engineer, Path(scratch), given.epochs, given.half_epochs)
                taken_s = time.monotonic() - begun_s
                engineer.require_no_loop_since(frames)
        finally:
            eeectl("lab", "down", folder.name)
    print(
        json.dumps(
            asdict(wave)
            | {"faults": wave.faults, "most_offs": {link: wave.most_offs(link) for link in wave.offs}}
            | {"wall_s": taken_s, "rate": given.rate},
            indent=1,
        )
    )
    lost = wave.sent - wave.received
    records.append({"echoes lost": Figure(value=lost, held=f"{int(not lost)} of 1", n=wave.sent)})
    return 1 if wave.faults else 0


if __name__ == "__main__":
    sys.exit(main())
