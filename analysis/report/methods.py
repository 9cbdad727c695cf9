"""How it was measured, in sentences that a paper can take over; what the runs' folders do not say is said, too."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from eee_testbed.analysis.agent_file import header_of
from eee_testbed.analysis.configurations import command_name
from eee_testbed.analysis.power.trial_energy import period_s
from eee_testbed.analysis.report.energies import meters_of
from eee_testbed.analysis.report.findings.finding import listed
from eee_testbed.analysis.report.report_data import ReportData, RunData
from eee_testbed.analysis.report.section import Section
from eee_testbed.analysis.report.table import number
from eee_testbed.analysis.run_lab import lab_of_run
from eee_testbed.lab.model import Lab
from eee_testbed.record.event_kinds import EventKind

_INTERVALS: Final = (
    "Intervals are 95 %. A ratio of run times is the median of the blocks' own ratios, so what drifts from block to "
    "block cancels. With six blocks or more its interval is by a percentile bootstrap of 4,000 rounds that draws whole "
    "blocks, then trials within them; with three to five it is Student's t of the logarithms of the blocks' ratios. "
    "Fewer than three blocks have no interval. Over mean gaps, configurations with fewer than six trials have an "
    "interval by Student's t, from the scatter of all configurations of the program together. Energies are a trial's "
    "mean power times its run time; their intervals are at least as wide as the meters' resolution and clocks make "
    "them."
)
_MPI: Final = "the version of the MPI library"
_ANY_MPI: Final = ("slurm", "command")
_FIRMWARE: Final = "the switches' firmware"


def methods(data: ReportData) -> Section:
    """A paragraph for each run, one on intervals, one on software, one on what is not known."""
    parts = [" ".join(_of_run(run, several=data.several)) for run in data.runs]
    kernels = _kernels(data.runs)
    parts += [_INTERVALS, " ".join(_software(data.runs, kernels)), _unknown(data.runs, kernels)]
    return Section("methods", "Methods", "\n\n".join(part for part in parts if part))


def _of_run(run: RunData, *, several: bool) -> Iterator[str]:
    if several:
        yield f"Run {run.name}."
    lab = lab_of_run(run.facts)
    yield _lab(run, lab)
    experiment = _mapping(run.facts.get("experiment"))
    yield from _measured(_mapping(experiment.get("measure")))
    yield from _design(experiment)
    yield from _trials(run)
    yield from _sampling(run, _mapping(experiment.get("sampling")))
    yield from _clocks(run)


def _lab(run: RunData, lab: Lab | None) -> str:
    name = str(run.facts.get("lab", "?"))
    if lab is None:
        return f"The lab was {name}, whose inventory is not on this machine."
    models = Counter(switch.model or str(switch.family).replace("_", " ") for switch in lab.switches)
    switches = listed([f"{count} {model}" for model, count in models.items()])
    speeds = sorted({host.rate_mbps for host in lab.hosts})
    at = f" at {listed([f'{mbps:,}' for mbps in speeds])} Mb/s" if speeds else ""
    cables = f"{len(lab.links)} cables" if len(lab.links) != 1 else "1 cable"
    devices = f"{_count(len(lab.switches), 'switch', 'switches')} ({switches}), {len(lab.hosts)} hosts{at}"
    return f"The lab was {name}: {devices}, {cables}."


def _measured(measure: Mapping[str, Any]) -> Iterator[str]:
    program = _mapping(measure.get("program"))
    if program:
        hosts = list(map(str, _list(program.get("hosts"))))
        each = program.get("ranks_per_host", 1)
        parameters = _mapping(program.get("parameters"))
        words = " ".join(map(str, _list(parameters.get("words")))) or str(parameters.get("words") or "")
        name = command_name(words) if words else str(program.get("name"))
        fixed = ", ".join(f"{key} {_plain(value)}" for key, value in parameters.items())
        where = f"{listed(hosts, 8) if hosts else 'hosts'} with {_count(each, 'rank')} each"
        yield f"{name} ran on {where}{f' ({fixed})' if fixed else ''}."
    probe = _mapping(measure.get("probe"))
    if probe:
        gaps = [gap for bound in _list(probe.get("gap_us")) if (gap := _number(bound))]
        pauses = f" after pauses of {' to '.join(gaps)} µs" if len(gaps) == 2 else ""
        yield f"Each trial sent {probe.get('count')} echoes from {probe.get('from')} to {probe.get('to')}{pauses}."
    for kind in ("idle", "power"):
        window = _mapping(measure.get(kind))
        if window:
            yield f"Each trial sampled meters and counters for {window.get('window_s')} s."


def _design(experiment: Mapping[str, Any]) -> Iterator[str]:
    factors = _mapping(experiment.get("factors"))
    if factors:
        each = (
            f"{name} ({', '.join(map(str, _list(_mapping(factor).get('levels'))))})" for name, factor in factors.items()
        )
        yield f"Varied were {listed(list(each), 8)}."
    blocks, repetitions = experiment.get("blocks"), experiment.get("repetitions", 1)
    if isinstance(blocks, int):
        order = "in random order" if blocks == 1 else "each in a random order of its own"
        yield (
            f"{_count(blocks, 'block')} {'has' if blocks == 1 else 'have'} every combination "
            f"{'once' if repetitions == 1 else f'{repetitions} times'}, {order} (seed {experiment.get('seed', '?')})."
        )
    slow = list(map(str, _list(experiment.get("slow"))))
    if slow:
        yield f"{listed(slow)} changed as seldom as possible within a block (a split plot)."
    if factors and (settle_s := _number(experiment.get("settle_s"))):
        yield f"Each change of the lab was read back and followed by a pause of {settle_s} s."


def _trials(run: RunData) -> Iterator[str]:
    states = Counter(trial.state for trial in run.trials)
    left_out = states["invalid"] + states["failed"]
    yield f"n = {states['valid']} trials count; {left_out} more do not, as a guard or an error refused them."
    notes = (str(event.get("note", "")) for event in run.events if event["kind"] == EventKind.TRIAL_NOTE)
    rates = dict.fromkeys(note.rstrip(".") for note in notes if "lab time" in note)
    yield from (f"The hosts of this virtual lab kept its own time: {note}." for note in rates)


def _sampling(run: RunData, sampling: Mapping[str, Any]) -> Iterator[str]:
    if period := _number(sampling.get("period_s")):
        yield f"Counters and meters were polled every {period} s."
    meters = [meter for meter in meters_of(run) if meter.series.sent_ns.size > 1]
    if meters:
        periods = [period_s(meter.series) for meter in meters]
        yield (
            f"{_count(len(meters), 'meter')} measured power, with a new value every "
            f"{number(min(periods))}{f' to {number(max(periods))}' if max(periods) > min(periods) else ''} s."
        )
    else:
        yield "No meter measured power."


def _clocks(run: RunData) -> Iterator[str]:
    bounds: dict[str, int] = {}
    for clock in run.facts.get("clocks", ()):
        bounds[str(clock["source"])] = max(int(clock["bound_ns"]), bounds.get(str(clock["source"]), 0))
    if bounds:
        each = [f"{source} within {number(bound_ns / 1e6)} ms" for source, bound_ns in bounds.items()]
        yield f"Times are UTC of the controlling computer; other clocks were related to it: {listed(each, 8)}."
    else:
        yield "Times are UTC of the controlling computer; no other clock was related to it."


def _software(runs: Sequence[RunData], kernels: Mapping[str, list[str]]) -> Iterator[str]:
    every = list(dict.fromkeys(tuple(run.facts.get("versions", {}).items()) for run in runs))
    for versions in every:
        software = {str(name): str(version) for name, version in versions}
        if "eee-testbed" not in software:
            continue
        commit = f", commit {software['commit']}" if "commit" in software else ""
        yield (
            f"Measured with eee-testbed {software['eee-testbed']}{commit}, Python {software.get('python', '?')}, Linux "
            f"{software.get('kernel', '?')}."
        )
    for fact in _launchers(runs):
        version = fact.get("version")
        yield f"Programs were started by launcher {fact.get('name')}{f', {version}' if version else ''}."
    for what, names_by in (("Firmware of the switches", _firmwares(runs)), ("Kernel of the hosts", kernels)):
        if names_by:
            yield f"{what}: {'; '.join(f'{text} ({listed(names, 8)})' for text, names in names_by.items())}."
    for run in runs:
        yield from _changed_firmware(run)


def _changed_firmware(run: RunData) -> Iterator[str]:
    """What switches said otherwise when a run was resumed."""
    changes = run.facts.get("switches_changed")
    for change in map(_mapping, changes if isinstance(changes, list) else ()):
        time_ns = change.get("time_ns")
        when = (
            f"{datetime.fromtimestamp(time_ns // 10**9, UTC):%Y-%m-%d %H:%M} UTC" if isinstance(time_ns, int) else "?"
        )
        for name, said in _mapping(change.get("switches")).items():
            yield f"From {when} on, {name} said {_mapping(said).get('firmware') or 'no firmware'}."


def _firmwares(runs: Sequence[RunData]) -> dict[str, list[str]]:
    """Switches by model and firmware, as they said at the runs' begins."""
    firmwares: dict[str, list[str]] = {}
    for run in runs:
        for name, said in _mapping(run.facts.get("switches")).items():
            if firmware := _mapping(said).get("firmware"):
                model = _mapping(said).get("model")
                names = firmwares.setdefault(f"{model} {firmware}" if model else str(firmware), [])
                names += [] if name in names else [str(name)]
    return firmwares


def _kernels(runs: Sequence[RunData]) -> dict[str, list[str]]:
    """Hosts by their kernels, from the headers of agents' files of each run's first trials."""
    kernels: dict[str, list[str]] = {}
    for run in runs:
        seen: set[str] = set()
        for trial in run.trials:
            if seen >= {*trial.hosts}:
                continue
            for path in sorted(trial.folder.glob("*.jsonl")):
                node = _mapping(header_of(path).get("node"))
                name, kernel = str(node.get("name", "")), str(node.get("kernel", ""))
                if name and kernel and name not in seen:
                    seen.add(name)
                    kernels.setdefault(kernel, []).append(name)
    return {kernel: list(dict.fromkeys(names)) for kernel, names in kernels.items()}


def _launchers(runs: Sequence[RunData]) -> list[Mapping[str, Any]]:
    """Launchers of the runs, each once."""
    launchers = [fact for run in runs if (fact := _mapping(run.facts.get("launcher")))]
    return list({(fact.get("name"), fact.get("version")): fact for fact in launchers}.values())


def _any_mpi(runs: Sequence[RunData]) -> bool:
    """Whether a launcher starts programs of any MPI, so that its own version does not say that of MPI."""
    return any(fact.get("name") in _ANY_MPI for fact in _launchers(runs))


def _unknown(runs: Sequence[RunData], kernels: Mapping[str, list[str]]) -> str:
    unknown = [] if all(_mapping(run.facts.get("switches")) for run in runs) else [_FIRMWARE]
    programs = [run for run in runs if any(trial.what == "program" for trial in run.trials)]
    if any(not _mapping(run.facts.get("launcher")).get("version") for run in programs) or _any_mpi(programs):
        unknown.insert(0, _MPI)
    if not kernels:
        unknown.append("the kernels of the hosts")
    if any("commit" not in run.facts.get("versions", {}) for run in runs):
        unknown.append("the commit of the software")
    return f"The runs' folders do not say {listed(unknown)}: note them yourself." if unknown else ""


def _mapping(fact: object) -> Mapping[str, Any]:
    return fact if isinstance(fact, Mapping) else {}


def _list(fact: object) -> Sequence[object]:
    return fact if isinstance(fact, list | tuple) else ()


def _number(fact: object) -> str:
    """A number, to print; "" for anything else."""
    return number(float(fact)) if isinstance(fact, int | float) and not isinstance(fact, bool) else ""


def _plain(value: object) -> str:
    return " ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _count(count: object, one: str, many: str = "") -> str:
    return f"{count} {one if count == 1 else many or f'{one}s'}"
