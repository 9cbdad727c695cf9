"""The command that measures what a report lacks: whole, for the lab and the program of its runs."""

import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from eee_testbed.analysis.report.report_data import ReportData, RunData
from eee_testbed.analysis.run_lab import lab_of_run
from eee_testbed.benchmarks.table import PROGRAMS
from eee_testbed.record.trials import Trial

_BLOCKS: Final = 3
NOT_COUNTED: Final = "no program's calls of MPI were counted in valid trials with EEE on and off."
_USUAL_PROGRAM: Final = "alltoall"


def study_command(data: ReportData) -> str:
    """Everything that a lab can show, power included."""
    return _command("study", _lab(data))


def probe_command(data: ReportData) -> str:
    """Echoes after pauses, with EEE on and off."""
    return _command("probe", *_hosts(data)[:2], "--lab", _lab(data), "--paired")


def sweep_command(data: ReportData, factor: str = "eee=on,off", *more: str) -> str:
    """The program of the runs, else Alltoall, at the levels of a factor."""
    trial = _last_program(data.runs)
    name = _USUAL_PROGRAM if trial is None else trial.program
    hosts = _hosts(data) if trial is None else trial.hosts
    argv = ["sweep", name, "--lab", _lab(data), "--hosts", ",".join(hosts)]
    if trial is not None and trial.ranks_per_host > 1:
        argv += ["--ranks-per-host", str(trial.ranks_per_host)]
    argv += [] if trial is None else [word for pair in _constants(trial) for word in ("--set", pair)]
    argv += _launched(data.runs)
    argv += [word for text in _figures(data.runs) for word in ("--figure", text)]
    return _command(*argv, "--factor", factor, "--blocks", str(_BLOCKS), *more)


def more_blocks_command(run: RunData, blocks: int) -> str:
    """A run with so many blocks."""
    return _command("run", str(run.folder), "--resume", "--blocks", str(blocks))


def resume_command(run: RunData) -> str:
    """The trials that a run still lacks."""
    return _command("run", str(run.folder), "--resume")


def fit_command(data: ReportData) -> str:
    """A calibration of the report's runs."""
    return _command("fit", *(str(run.folder) for run in data.runs), "--output", "calibration.yaml")


def _command(*words: str) -> str:
    return shlex.join(("eeectl", *words))


def _lab(data: ReportData) -> str:
    """The lab, as the run's file names it."""
    for run in data.runs:
        experiment = run.facts.get("experiment")
        named = experiment.get("lab") if isinstance(experiment, Mapping) else None
        if name := named or run.facts.get("lab"):
            return str(name)
    return "LAB"


def _hosts(data: ReportData) -> Sequence[str]:
    """Two hosts: of the last trial that had two, else of the inventory."""
    trials = [trial for run in data.runs for trial in run.trials if len(trial.hosts) > 1]
    if trials:
        return trials[-1].hosts[:2]
    labs = (lab_of_run(run.facts) for run in data.runs)
    known = next((lab for lab in labs if lab is not None), None)
    names = [] if known is None else [host.name for host in known.hosts]
    return [*names, "n01", "n02"][:2] if len(names) < 2 else names[:2]  # without an inventory, names to replace


def _last_program(runs: Iterable[RunData]) -> Trial | None:
    trials = [trial for run in runs for trial in run.trials if trial.what == "program" and trial.hosts]
    return trials[-1] if trials else None


def _figures(runs: Iterable[RunData]) -> Sequence[str]:
    """What the last program's experiment reads of its output."""
    return [str(text) for text in _program(runs).get("figures", ())]


def _launched(runs: Iterable[RunData]) -> list[str]:
    """The launcher of the last program's experiment, as its options; none for the usual one."""
    program = _program(runs)
    launcher, extra = (str(program.get(name) or "") for name in ("launcher", "launcher_words"))
    options = ["--launcher", launcher] if launcher not in ("", "openmpi") else []
    return [*options, "--launcher-words", extra] if extra else options


def _program(runs: Iterable[RunData]) -> Mapping[str, Any]:
    """The last program, as its experiment has it."""
    last: Mapping[str, Any] = {}
    for run in runs:
        experiment = run.facts.get("experiment")
        measure = experiment.get("measure") if isinstance(experiment, Mapping) else None
        program = measure.get("program") if isinstance(measure, Mapping) else None
        if isinstance(program, Mapping):
            last = program
    return last


def _constants(trial: Trial) -> list[str]:
    """Parameters that no factor set, as --set takes them, without those that have their default."""
    program = PROGRAMS.get(trial.program)
    fields = {} if program is None else program.parameters.model_fields
    defaults = {name: field.default for name, field in fields.items() if not field.is_required()}
    return [
        f"{name}={_text(value)}"
        for name, value in trial.parameters.items()
        if name not in trial.levels and value not in ("", []) and (name not in defaults or value != defaults[name])
    ]


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return shlex.join(map(str, value)) if isinstance(value, list | tuple) else str(value)
