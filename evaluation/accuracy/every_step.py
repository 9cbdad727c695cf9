"""Kill `eeectl apply` with SIGKILL at every line of its journal, recover, and check the switches.

``python -m evaluation.accuracy.every_step`` takes some minutes, too long for a test. It prints the time of each
recovery, and fails at the first one after which the lab is neither fully rolled back nor fully applied, or if frames
went round in a loop.
"""

import argparse
import statistics
import sys
import tempfile
import time
from pathlib import Path

from evaluation import recording
from evaluation.records import Figure
from tests.support.labs.engineer import Engineer
from tests.support.labs.lab_client import LabClient, eeectl
from tests.support.labs.lab_numbers import reserve
from tests.support.labs.triangle import write_lab
from tests.support.waiting import ended_within


def _killed_at(engineer: Engineer, line: int) -> str:
    """Apply until the journal has so many lines, then kill; the kind of its last line, empty if the apply had ended."""
    engineer.forget()
    applying = engineer.start_apply()
    while len(engineer.kinds()) < line:
        if ended_within(applying.process, 0.001):
            applying.end()
            return ""
    applying.kill()
    return str(engineer.kinds()[-1])


def main() -> int:
    """Kill at each line in turn."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    recording.add_argument(parser)
    records = recording.begin(parser.parse_args())
    taken_s = []
    with tempfile.TemporaryDirectory() as kept:
        folder = write_lab(Path(kept), reserve())
        eeectl("lab", "up", str(folder))
        try:
            with Engineer(LabClient.of(folder, Path("/run/eee-testbed")), Path(kept) / "kept") as engineer:
                frames = engineer.frames()
                line = 1
                while last := _killed_at(engineer, line):
                    since_s = time.monotonic()
                    done = engineer.eeectl("recover", "--yes")
                    taken_s.append(time.monotonic() - since_s)
                    finished = last == "done"
                    assert done.returncode == 0, done.stderr
                    kept_it = "as it was to be" in done.stdout
                    (engineer.require_after if kept_it or finished else engineer.require_before)()
                    print(f"{line:3} {last:14} {taken_s[-1]:5.1f} s  {done.stdout.strip()}", flush=True)
                    engineer.restore()
                    line += 1
                engineer.require_no_loop_since(frames)
                engineer.restore()
        finally:
            eeectl("lab", "down", folder.name)
    print(f"{len(taken_s)} kills; recover: median {statistics.median(taken_s):.1f} s, longest {max(taken_s):.1f} s")
    kills = len(taken_s)
    records.append({"restored": Figure(value=kills, held=f"{kills} of {kills}", n=kills)})
    return 0


if __name__ == "__main__":
    sys.exit(main())
