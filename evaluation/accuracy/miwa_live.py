"""Miwa's experiment on a live lab: one real rank on each of 4 hosts, or of more, and models of their run times.

    python -m evaluation.accuracy.miwa_live                                    the 48 configurations, 4 hosts
    python -m evaluation.accuracy.miwa_live --hosts 12 --arrays 1024 16384     12 hosts of a lab that is like `miwa`

Brings a lab up, runs `experiments/miwa.yaml` with these hosts, arrays and pauses, and takes the lab down; `--runs`
keeps the run. Links' policy is the truth's. Prints Markdown, as `evaluation.accuracy.miwa_experiment` does.
"""

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Final

from ruamel.yaml import YAML

from eee_testbed.analysis.calibration import Calibration, Estimate, LinkPolicy
from eee_testbed.lab.folder import find_lab
from eee_testbed.twin.drawing.models import APC, GUDE
from evaluation import quiet, recording
from evaluation.accuracy.alltoall_engine import MIWA as POLICY
from evaluation.accuracy.miwa_experiment import ARRAYS_BYTE, SLEEPS_US, figures_of, live_cases, print_errors
from evaluation.running_lab import eeectl
from inventory.draw import MIWA, draw

_EXPERIMENT: Final = Path(__file__).parents[2] / "experiments" / "miwa.yaml"


def hosts_of(count: int) -> list[str]:
    """Names of the first hosts of a drawn lab."""
    return [MIWA.host_name(index) for index in range(count)]


def write_lab(folder: Path, count: int) -> None:
    """Write a lab that is `miwa` with so many hosts."""
    for name, text in draw(replace(MIWA, name=folder.name, hosts=count, strips=(GUDE, APC))).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    truth = Path("twin", "truth.yaml")
    (folder / truth).write_text((find_lab("miwa") / truth).read_text(encoding="utf-8"), encoding="utf-8")


def write_experiment(path: Path, lab: Path, hosts: Sequence[str], arrays: Sequence[int], sleeps: Sequence[int]) -> None:
    """Write Miwa's experiment for a lab, its hosts and other factors."""
    yaml = YAML(typ="safe")
    experiment = yaml.load(_EXPERIMENT.read_text(encoding="utf-8"))
    experiment["lab"] = str(lab)
    experiment["factors"]["eee"]["links"] = list(hosts)
    experiment["factors"] |= {"sleep_us": list(sleeps), "array_byte": list(arrays)}
    experiment["measure"]["program"]["hosts"] = list(hosts)
    with path.open("w", encoding="utf-8") as stream:
        yaml.dump(experiment, stream)


def truth(lab: str, hosts: Sequence[str]) -> Calibration:
    """A calibration with the truth's policy of all links."""
    hold, sleep, wake = (_exact(POLICY[name]) for name in ("hold_us", "sleep_us", "wake_us"))
    links = {
        f"{one}-{other}": LinkPolicy(
            ends=(f"sw1:{one}", f"sw1:{other}"),
            kind="hold",
            sleeper_count=2,
            path_wake_us=_exact(2 * POLICY["wake_us"]),
            largest_gap_us=4 * POLICY["hold_us"],
            base_us=_exact(20.0),
            noise_us=_exact(1.0),
            hold_us=hold,
            sleep_us=sleep,
            wake_us=wake,
            echo_count=0,
            lost_count=0,
            explained_fraction=1.0,
            evidence=0.0,
        )
        for one, other in combinations(hosts, 2)
    }
    return Calibration.begin(lab, "", [], links=links)


def _exact(value: float) -> Estimate:
    return Estimate(value=value, low=value, high=value)


def options(about: str | None, arrays: Sequence[int], sleeps: Sequence[int], rate: str) -> argparse.ArgumentParser:
    """The options of a script that measures on such a lab, with the defaults of some."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hosts", type=int, default=4)
    parser.add_argument("--arrays", type=int, nargs="+", default=list(arrays), help="byte")
    parser.add_argument("--sleeps", type=int, nargs="+", default=list(sleeps), help="us")
    parser.add_argument("--rate", default=rate, help="of lab time (default %(default)s)")
    parser.add_argument("--runs", type=Path, help="folder that the run is kept in")
    quiet.add_argument(parser)
    return parser


def require_root() -> None:
    """Exit with a sentence if this user cannot bring a lab up."""
    if os.geteuid() != 0:
        print(f"{Path(sys.argv[0]).stem}: virtual labs need root: use sudo.", file=sys.stderr)
        sys.exit(2)


def measured(lab: Path, experiment: Path, rate: str, runs: Path) -> Path:
    """Bring a lab up, run an experiment on it, and take the lab down; the run's folder."""
    eeectl("lab", "up", str(lab), "--rate", rate)
    try:
        said = json.loads(eeectl("run", str(experiment), "--runs", str(runs), "--json"))
    finally:
        eeectl("lab", "down", lab.name)
    return Path(said["folder"])


def main() -> int:
    """Measure, fit, print."""
    parser = options(__doc__, ARRAYS_BYTE, SLEEPS_US, "auto:2us")
    recording.add_argument(parser)
    given = parser.parse_args()
    require_root()
    records = recording.begin(given)
    hosts = hosts_of(given.hosts)
    with tempfile.TemporaryDirectory() as scratch:
        lab = Path(scratch) / f"miwa{given.hosts}"
        experiment = Path(scratch) / "miwa.yaml"
        write_lab(lab, given.hosts)
        write_experiment(experiment, lab, hosts, given.arrays, given.sleeps)
        run = measured(lab, experiment, given.rate, given.runs or Path(scratch))
        groups = live_cases([run], truth(lab.name, hosts))
    print_errors(groups)
    records.append(figures_of(groups))
    return 0


if __name__ == "__main__":
    sys.exit(main())
