"""`eeectl bench`: run one program of the table on some hosts, once or several times, in a run of its own."""

import json
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

from cyclopts import App, Parameter

from eee_testbed.benchmarks.program import Placement
from eee_testbed.benchmarks.table import PROGRAMS
from eee_testbed.eeectl.after_dashes import AfterDashes
from eee_testbed.eeectl.exit_status import DONE, INTERRUPTED, REFUSED
from eee_testbed.eeectl.lab_name import require_up
from eee_testbed.eeectl.lab_text import text_width
from eee_testbed.eeectl.notice import NoticeOptions
from eee_testbed.eeectl.program_list import plain_program, print_programs
from eee_testbed.eeectl.program_options import ProgramOptions, program_of
from eee_testbed.eeectl.set_options import pairs
from eee_testbed.lab.errors import LabError
from eee_testbed.lab.fitting_text import print_text
from eee_testbed.lab.yaml_source import CommandLine
from eee_testbed.measuring.experiments.experiment_file import experiment_of
from eee_testbed.measuring.experiments.traffic import node_traffic, read_traffic
from eee_testbed.record.event_kinds import EventKind
from eee_testbed.twin.lab.lateness import Lateness

if TYPE_CHECKING:
    from eee_testbed.analysis.compare import Metered
    from eee_testbed.measuring.experiments.session import RunResult
    from eee_testbed.record.trials import Trial

_TRAFFIC: Final = "traffic.json"

_Json = Annotated[bool, Parameter(name="--json", negative="")]


bench_app = App(name="bench")


@bench_app.default
def bench(
    program: str = "",
    /,
    *,
    command: AfterDashes = (),
    listed: Annotated[bool, Parameter(name="--list", negative="")] = False,
    values: Annotated[tuple[str, ...], Parameter(name="--set", negative="")] = (),
    as_json: _Json = False,
    options: Annotated[ProgramOptions, Parameter(name="*")] = ProgramOptions(),  # noqa: B008 - frozen
    telling: NoticeOptions = NoticeOptions(),  # noqa: B008 - frozen
) -> int:
    r"""Run an MPI program on hosts of a lab: check its answer, show its figures, and sample all devices meanwhile.

    Instead of PROGRAM, any command that is on the hosts, after --. It is not run by a shell:
    eeectl bench --hosts n01,n02 --figure 'time=Time = ([\d.]+) s' -- /shared/halo 1000

    Parameters
    ----------
    program
        Name of a program that eeectl knows; --list shows them.
    command
        The command.
    listed
        Only show the programs, or the parameters of PROGRAM with their meaning.
    values
        NAME=VALUE: a parameter of the program. Give the option once for each parameter.
    as_json
        Print JSON.
    options
        Where the program runs, and what is recorded of it.
    telling
        Whom it tells at its end.

    """
    from eee_testbed.measuring.experiments.session import RunOptions, run_new, validated_lab

    if listed:
        return _list(program, as_json=as_json)
    with telling.notice("bench") as notice:
        program, parameters = program_of(program, command, dict(pairs(values, "--set sleep_us=100")))
        content = options.content(program, parameters, f"bench-{program}")
        source = CommandLine(content | {"blocks": 1, "guards": {"retry_failed": False}})
        experiment = experiment_of(source)
        require_up(validated_lab(experiment, source))
        result = run_new(experiment, source, RunOptions(options.runs, quiet=as_json), Lateness.of)
        notice.run = result.folder
        status = _show(program, content["measure"]["program"], options, result, as_json=as_json)
        return notice.run_ended(status, result)


def _show(
    program: str, measured: Mapping[str, Any], options: ProgramOptions, result: "RunResult", *, as_json: bool
) -> int:
    """Print the figures; returns the exit status. The error that ended the run early is raised again."""
    from eee_testbed.analysis.compare import Energies
    from eee_testbed.record.samples import RunSamples
    from eee_testbed.record.trials import read_trials

    placement = Placement(tuple(measured["hosts"]), options.ranks_per_host)
    trials, notes = read_trials(result.folder), _notes(result.folder)
    energies = Energies(RunSamples(result.folder))
    metered = {trial.number: found for trial in trials if trial.valid and (found := energies.of(trial)) is not None}
    report = BenchReport(program, result.folder, trials, measured["parameters"], placement, notes, metered)
    if as_json:
        print(json.dumps(report.plain(), indent=1))
    else:
        print_text(report.text())
    if result.outcome.cause is not None:
        raise result.outcome.cause
    if result.outcome.interrupted:
        return INTERRUPTED
    return DONE if result.outcome.valid == options.repetitions else REFUSED


def _list(program: str, *, as_json: bool) -> int:
    if program and program not in PROGRAMS:
        raise LabError(f"unknown program {program}; known programs: {', '.join(PROGRAMS)}.")
    shown = [PROGRAMS[program]] if program else list(PROGRAMS.values())
    if as_json:
        print(json.dumps([plain_program(one) for one in shown], indent=1))
    else:
        print_programs(shown, text_width())
    return DONE


# -- results


def _notes(folder: Path) -> tuple[str, ...]:
    """Notes on what makes figures doubtful, without duplicates."""
    from eee_testbed.record.store import read_events

    return tuple(dict.fromkeys(event["note"] for event in read_events(folder) if event["kind"] == EventKind.TRIAL_NOTE))


@dataclass(frozen=True, slots=True)
class BenchReport:
    """What is said of a bench: `text` for people, `plain` for --json."""

    program: str
    folder: Path
    trials: "Sequence[Trial]"
    parameters: Mapping[str, Any]
    placement: Placement
    notes: Sequence[str]
    metered: "Mapping[int, Metered]"
    """Energy and power of all metered devices, by number of the trial."""

    def plain(self) -> dict[str, Any]:
        """For --json: every repetition with its figures, and each node's message count and mean size if counted."""
        fields: dict[str, Any] = {"folder": str(self.folder), "program": self.program}
        fields |= {"hosts": list(self.placement.hosts), "ranks_per_host": self.placement.ranks_per_host}
        fields["parameters"] = dict(self.trials[0].parameters if self.trials else self.parameters)
        fields["notes"] = list(self.notes)
        fields["repetitions"] = [self._plain_trial(trial) for trial in self.trials]
        return fields

    def _plain_trial(self, trial: "Trial") -> dict[str, Any]:
        figures = [{"name": name, "value": one.value, "unit": one.unit} for name, one in trial.figures.items()]
        fields: dict[str, Any] = {
            "state": trial.state,
            "why": trial.why,
            "answer_right": trial.answer_right,
            "figures": figures,
        }
        if (metered := self.metered.get(trial.number)) is not None:
            fields |= {"energy_joule": metered.energy_joule, "power_watt": metered.mean_watt}
        path = trial.folder / _TRAFFIC
        if path.exists():
            nodes = node_traffic(read_traffic(path), self.placement)
            fields["traffic"] = {one.host: {"messages": one.count, "mean_byte": one.size_byte} for one in nodes}
        return fields

    def text(self) -> str:
        """As text: figures of the valid repetitions, and why the others are not valid."""
        valid = [trial for trial in self.trials if trial.valid]
        lines = [f"{self.program} on {len(self.placement.hosts)} hosts, {self.placement.ranks} ranks: {self.folder}"]
        lines += [
            f"repetition {trial.number} is {trial.state}: {trial.why}" for trial in self.trials if not trial.valid
        ]
        lines += self.notes
        if valid:
            right = {trial.answer_right for trial in valid}
            lines.append("the answer is right" if right == {True} else "the program does not check its answer")
            lines += [_figure_line(name, valid) for name in valid[-1].figures]
            lines += self._power_lines()
        for trial in valid[-1:]:
            for host, counts in self._plain_trial(trial).get("traffic", {}).items():
                lines.append(
                    f"{host:24} {counts['messages']} messages to other hosts, {counts['mean_byte']:.6g} byte each"
                )
        return "\n".join(lines)

    def _power_lines(self) -> list[str]:
        """What all metered devices of the lab drew while the program ran; empty without meters."""
        metered = list(self.metered.values())
        if not metered:
            return []
        joules, watts = [one.energy_joule for one in metered], [one.mean_watt for one in metered]
        return [_line("energy, all meters", joules, "J"), _line("power, all meters", watts, "W")]


def _figure_line(name: str, trials: "Sequence[Trial]") -> str:
    values = [trial.figures[name].value for trial in trials if name in trial.figures]
    return _line(name, values, trials[-1].figures[name].unit)


def _line(name: str, values: Sequence[float], unit: str) -> str:
    spread = f"   [{min(values):.6g}, {max(values):.6g}] in {len(values)} repetitions" if len(values) > 1 else ""
    return f"{name:24} {statistics.median(values):.6g}{'' if unit == '1' else f' {unit}'}{spread}"
