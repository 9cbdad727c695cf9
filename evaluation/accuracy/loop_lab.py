"""The lab of the closed loop: like `miwa`, with cards that sleep as ports do. Its experiments, and a watched run."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ruamel.yaml import YAML

from eee_testbed.lab.folder import load_lab
from evaluation.accuracy.live_states import Answer, Watch
from evaluation.accuracy.loop_programs import LoopProgram
from evaluation.accuracy.miwa_live import hosts_of, write_lab
from evaluation.running_lab import eeectl, share

FAMILY: Final = "dell_powerconnect_55xx"


@dataclass(frozen=True, slots=True)
class Live:
    """A lab that was watched while it ran an experiment.

    `utc_ahead_ns`: its UTC less its monotonic time. `partner`: of each end of a cable, the other one.
    """

    lab: Path
    run: Path
    answers: Sequence[Answer]
    utc_ahead_ns: int
    partner: Mapping[str, str]
    switch_ends: Sequence[str]


def prepare(folder: Path, hosts: int, program: LoopProgram, cpu_ratio: float | None = None) -> tuple[Path, Path]:
    """Write the lab and the experiment that records; their paths."""
    lab, experiment = folder / f"loop{hosts}", folder / "loop.yaml"
    yaml = YAML(typ="safe")
    write_lab(lab, hosts)
    truth = lab / "twin" / "truth.yaml"
    told = yaml.load(truth.read_text(encoding="utf-8"))
    defaults = told["nodes"]["defaults"]
    defaults["lpi"] = dict(told["switches"]["families"][FAMILY]["lpi"])
    if cpu_ratio is not None:
        defaults["cpu_ratio"] = cpu_ratio
    _dump(yaml, truth, told)
    _dump(yaml, experiment, experiment_of(lab, hosts_of(hosts), program))
    return lab, experiment


def experiment_of(lab: Path, hosts: list[str], program: LoopProgram) -> dict[str, Any]:
    """An experiment: the program with EEE on the hosts' links and without, every call recorded."""
    return {
        "name": "loop",
        "lab": str(lab),
        "factors": {"eee": {"links": hosts, "levels": ["off", "on"]}},
        "measure": {"program": program.measure(hosts)},
        "blocks": 1,
        "slow": ["eee"],
        "sampling": {"lpi_period_s": 0},
        "recordings": {"trace": True, "user": "root"},
    }


def _dump(yaml: YAML, path: Path, content: object) -> None:
    with path.open("w", encoding="utf-8") as stream:
        yaml.dump(content, stream)


def measured(lab: Path, experiment: Path, rate: str, runs: Path, files: Sequence[Path]) -> Live:
    """Bring the lab up, run the experiment while it is watched, and take the lab down. Hosts have the files."""
    eeectl("lab", "up", str(lab), "--rate", rate)
    try:
        for file in files:
            share(lab.name, file)
        ahead_ns = _utc_ahead_ns(lab)
        with Watch(lab.name) as watch:
            said = json.loads(eeectl("run", str(experiment), "--runs", str(runs), "--json"))
    finally:
        eeectl("lab", "down", lab.name)
    ends = load_lab(lab).links
    partner = {str(one): str(other) for link in ends for one, other in ((link.a, link.b), (link.b, link.a))}
    switches = {one.name for one in load_lab(lab).switches}
    own = [end for end in partner if end.split(":")[0] in switches]
    return Live(lab, Path(said["folder"]), watch.answers, ahead_ns, partner, own)


def _utc_ahead_ns(lab: Path) -> int:
    """By the clocks of a host, which are the lab's."""
    words = "import time; print(time.time_ns() - time.monotonic_ns())"
    host = load_lab(lab).hosts[0].name
    return int(eeectl("lab", "exec", "--lab", lab.name, host, "--", "python3", "-c", words))
