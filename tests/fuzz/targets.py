"""Every reader of files and answers that others may have written, with the files that it is given."""

import atexit
import io
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final
from xml.etree import ElementTree as ET

import polars as pl

from eee_testbed.analysis.calibration import load_calibration
from eee_testbed.analysis.programs.profile import load_profile
from eee_testbed.analysis.report.page import page, report_of
from eee_testbed.analysis.report.report_data import read_report_data
from eee_testbed.benchmarks.program import Placement, Program
from eee_testbed.benchmarks.table import PROGRAMS
from eee_testbed.controller.applying.holder import Holder
from eee_testbed.controller.applying.journal import read_journal
from eee_testbed.controller.applying.port_proof import PortProofs
from eee_testbed.controller.applying.run_notes import RunNotes
from eee_testbed.controller.applying.statefolder import StateFolder
from eee_testbed.controller.checking.recorded.folder import judge_folder
from eee_testbed.controller.drivers.cisco_ios.driver import CiscoIos
from eee_testbed.controller.drivers.driver import ASPECTS, Answers, Driver, Query, Show, SnmpValue
from eee_testbed.controller.drivers.fastpath.driver import NETGEAR_M4300
from eee_testbed.controller.drivers.ros.driver import DELL_55XX_DRIVER
from eee_testbed.controller.transports.terminal import shown
from eee_testbed.eeectl.application import execute
from eee_testbed.eeectl.tree_file import read_trees
from eee_testbed.lab.folder import find_lab, load_lab
from eee_testbed.lab.json_text import parse_json
from eee_testbed.lab.model import Lab, Switch
from eee_testbed.lab.plain_text import decoded_lines, is_safe
from eee_testbed.measuring.experiments.experiment_file import read_experiment
from eee_testbed.measuring.experiments.restore_journal import RestoreJournal
from eee_testbed.measuring.experiments.traffic import read_traffic
from eee_testbed.measuring.experiments.validation import validate_experiment
from eee_testbed.measuring.study.folder import StudyFolder
from eee_testbed.record.run_tail import RunTail
from eee_testbed.record.sample_tables import TABLES
from eee_testbed.record.samples import RunSamples
from eee_testbed.record.trials import read_trials
from eee_testbed.runs import open_run
from eee_testbed.simulation.description_file import read_description
from eee_testbed.simulation.replay.program import KEY, read_program
from eee_testbed.simulation.replay.readers.reading import Options
from eee_testbed.simulation.replay.readers.table import import_trace
from eee_testbed.simulation.replay.records import records
from eee_testbed.simulation.replay.seal import sealed
from eee_testbed.simulation.replay.summary import summary_of
from eee_testbed.simulation.report.data import read_simulation
from eee_testbed.twin.truth.truth_file import load_truth
from tests.controller.drivers.cisco_ios import test_ios_law as ios
from tests.fuzz import corpus
from tests.fuzz.engine import Target, Unsafe, command
from tests.support.switches import m4300_face, ros_face
from tests.support.switches.toy_ios import ToyIos

_ALL: Final = frozenset(ASPECTS)


def _void(_value: object) -> None:
    """What was read is of no interest."""


def _virtual() -> Lab:
    return load_lab(find_lab("virtual"))


def _require_safe(value: object) -> None:
    """Unsafe if a text anywhere in a value is not safe to show."""
    match value:
        case str():
            if not is_safe(value):
                raise Unsafe(repr(value))
        case dict():
            for key, item in value.items():
                _require_safe(key)
                _require_safe(item)
        case list() | tuple() | frozenset() | set():
            for item in value:
                _require_safe(item)
        case _:
            return


# -- runs


def _read_run(folder: Path) -> None:
    run = RunSamples(folder)
    _require_safe(run.facts)
    _require_safe(list(run.events))
    for name in TABLES:
        for column in run.table(name).iter_columns():
            _require_safe(column.unique().to_list() if column.dtype == str else [])
    run.increments("ports", "in_byte")
    read_trials(folder)


def _follow(folder: Path) -> None:
    tail = RunTail(folder)
    for _ in range(2):
        tail.poll()


def _notebook(folder: Path) -> None:
    run = open_run(folder)
    _ = (run.events, run.trials, run.results, run.echoes, run.gaps)
    run.increments("ports", "in_byte")


def _trial_file(folder: Path) -> None:
    read_traffic(folder / "traffic.json")


def _commands(*lines: tuple[str, ...]) -> Callable[[Path], None]:
    """Verbs, each with the folder's files as its operands."""

    def read(folder: Path) -> None:
        for line in lines:
            command(execute, [*line])
        for file in folder.glob("*.html"):
            _require_well_formed(file.read_text(encoding="utf-8"))

    return read


def _report(folder: Path) -> None:
    """The page, without the figures' own files: PDFs take seconds each."""
    data = read_report_data([folder / "study"], load_calibration(folder / "calibration.yaml"), "calibration.yaml")
    report = report_of(data)
    _require_well_formed(page(data, report))


def _require_well_formed(text: str) -> None:
    for line in text.splitlines():
        _require_safe(line)
    for svg in re.findall(r"<svg.*?</svg>", text, re.DOTALL):
        ET.fromstring(svg)  # noqa: S314 - our own page; that it parses is what is tested


# -- a lab's own files


def _inventory(folder: Path) -> None:
    lab = load_lab(folder / "virtual")
    _require_safe([lab.watts_note, *(switch.model for switch in lab.switches), *(str(link) for link in lab.links)])


def _experiments(folder: Path) -> None:
    for path in sorted(folder.glob("*.yaml")):
        experiment, source = read_experiment(path)
        validate_experiment(experiment, _virtual(), source)


def _study(folder: Path) -> None:
    study = StudyFolder.open(folder)
    for name in study.names:
        study.content(name)
        study.state_of(name)
    _ = study.blocks
    study.all_runs()


def _journal(folder: Path) -> None:
    found = read_journal(folder / "journal.jsonl")
    if found is not None:
        _ = (found.after, found.rest, found.standing, found.described)


def _restore(folder: Path) -> None:
    found = RestoreJournal.load(folder / "restore.json", folder)
    if found is not None:
        _ = (found.home, found.length)


def _proofs(folder: Path) -> None:
    proofs = PortProofs(folder / "ports.json")
    _ = (proofs.proved("sw1"), proofs.waiting("sw2"))


def _lock(folder: Path) -> None:
    try:
        holder = Holder.model_validate_json((folder / "lock").read_bytes())
    except (ValueError, FileNotFoundError):
        return
    _require_safe(str(holder))


def _state(folder: Path) -> None:
    state = StateFolder("toy")
    state.path = folder
    _ = (RunNotes(state).all(), state.changes())


def _recordings(folder: Path) -> None:
    for verdict in judge_folder(folder):
        _require_safe([verdict.recording, verdict.device, verdict.said])


def _replay(path: Path) -> None:
    program = read_program(path)
    _require_safe([program.name, program.source, *program.assumed])
    records(program)


def _replay_content(folder: Path) -> None:
    """The same with a right digest: values that a stranger wrote."""
    try:
        calls = pl.read_json(folder / "calls.json", infer_schema_length=None)
    except (pl.exceptions.PolarsError, OSError):
        return
    if "sizes" in calls.columns and calls["sizes"].dtype == pl.Null:
        calls = calls.with_columns(pl.col("sizes").cast(pl.List(pl.Int64)))
    text = decoded_lines((folder / "about.json").read_bytes()) if (folder / "about.json").exists() else ""
    parquet = io.BytesIO()
    calls.write_parquet(parquet, metadata={KEY: text})
    (folder / "x.replay").write_bytes(sealed(parquet.getvalue()))
    _replay(folder / "x.replay")


def _trace(form: str, options: Options | None = None) -> Callable[[Path], None]:
    """A reader of traces, with all files of the folder that are not its options'."""

    def read(folder: Path) -> None:
        files = [path for path in sorted(folder.iterdir()) if options is None or path.name != str(options.codes)]
        program = import_trace(files, form, options or Options("fuzzed"))
        _require_safe([program.name, program.source, *program.assumed])
        summary_of(program)
        records(program)

    return read


def _archive(folder: Path) -> None:
    program = import_trace([folder / "trace" / "traces.otf2"], "otf2", Options("fuzzed"))
    _require_safe([program.name, program.source, *program.assumed])
    records(program)


def _json(folder: Path) -> None:
    for path in folder.rglob("*.json"):
        try:
            _require_safe(parse_json(path.read_bytes()))
        except ValueError:
            continue


# -- answers of devices


def _answers_in(folder: Path, queries: dict[Query, None]) -> Answers:
    found: dict[Query, str | dict[str, SnmpValue]] = {}
    for number, query in enumerate(queries):
        path = folder / f"{number}.{'txt' if isinstance(query, Show) else 'walk'}"
        data = path.read_bytes() if path.exists() else b""
        text = data.decode("utf-8", "replace")
        found[query] = "\n".join(shown(text)) if isinstance(query, Show) else dict(_walked(text))
    return found


def _walked(text: str) -> Iterator[tuple[str, SnmpValue]]:
    """Rows of a walk; an agent can send any index of numbers, and any value."""
    for index, kind, value in re.findall(r"^([\d.]+)\|([xio])(.*)$", text, re.MULTILINE):
        if kind == "x" and re.fullmatch("(?:[0-9a-f]{2})*", value):
            yield index, bytes.fromhex(value)
        elif kind == "i" and re.fullmatch(r"-?[0-9]{1,19}", value):
            yield index, int(value)
        elif kind == "o":
            yield index, value


def _driver(driver: Driver, switch: Switch) -> Callable[[Path], None]:
    def read(folder: Path) -> None:
        queries = dict.fromkeys((*driver.queries(switch, _ALL), *driver.identity_queries(switch)))
        answers = _answers_in(folder, queries)
        identity = driver.identity(switch, answers)
        _require_safe([identity.model, identity.firmware, identity.serial])
        driver.parse(switch, _ALL, answers, None)

    return read


def _ask_ios(queries: tuple[Query, ...]) -> Answers:
    toy = ToyIos(ios.FULL)
    return {query: toy.type(query.command) for query in queries if isinstance(query, Show)}


def _ask_ros(queries: tuple[Query, ...]) -> Answers:
    face = ros_face.RosFace()
    atexit.register(face.close)
    face.setup("vlan database", "vlan 11-15", "exit", "interface gi1/0/1", "switchport access vlan 11")
    return face.ask(queries)


def _ask_m4300(queries: tuple[Query, ...]) -> Answers:
    return m4300_face.Face().ask(queries)


def _parameters_of(program: Program) -> Any:
    """Some parameters; a folder and a benchmark where those have to be given."""
    fields = program.parameters.model_fields
    known = {"benchmark": "osu_bw" if program.name == "osu" else "cg", "class": "S", "folder": "/opt"}
    asked = {name: known.get(name, "x") for name, field in fields.items() if field.is_required()}
    return program.parameters.model_validate(asked)


def _programs(folder: Path) -> None:
    for path in folder.glob("*.txt"):
        text = decoded_lines(path.read_bytes())  # as a launch takes it
        for program in PROGRAMS.values():
            program.read(_parameters_of(program), Placement(("n01", "n02"), 1), text)


@corpus.kept
def _outputs(folder: Path) -> None:
    for path in (corpus.ROOT / "tests" / "benchmarks" / "outputs").glob("*.txt"):
        (folder / path.name).write_bytes(path.read_bytes())


@corpus.kept
def _traffic(folder: Path) -> None:
    (folder / "traffic.json").write_text('{"messages": [[0, 3], [4, 0]], "bytes": [[0, 300], [400, 0]]}\n')


@corpus.kept
def _trees(folder: Path) -> None:
    links = '["sw1:gi1/0/11", "sw1:gi1/0/12"]'
    (folder / "trees.yaml").write_text(f"trees:\n  - switches: [sw1, sw2]\n    links: {links}\n", encoding="utf-8")


_EVERY: Final = (
    Target("run", corpus.measured, lambda folder: _read_run(folder / "study"), lambda name: "study" in name),
    Target("open-run", corpus.open_run, lambda folder: _read_run(folder / "run"), lambda name: name.startswith("run/")),
    Target("tail", corpus.open_run, lambda folder: _follow(folder / "run"), lambda name: name.startswith("run/")),
    Target("notebook", corpus.measured, lambda folder: _notebook(folder / "study"), lambda name: "study" in name),
    Target("traffic", _traffic, _trial_file),
    Target(
        "calibration",
        corpus.profile,
        lambda folder: _void(load_calibration(folder / "calibration.yaml")),
        lambda name: name == "calibration.yaml",
    ),
    Target(
        "profile",
        corpus.profile,
        lambda folder: _void(load_profile(folder / "profile.yaml")),
        lambda name: name == "profile.yaml",
    ),
    Target("inventory", corpus.inventory, _inventory, lambda name: name.endswith((".yml", ".csv"))),
    Target(
        "truth",
        corpus.inventory,
        lambda folder: _void(load_truth(folder / "virtual" / "twin" / "truth.yaml")),
        lambda name: name.endswith("truth.yaml"),
    ),
    Target("experiments", corpus.experiments, _experiments),
    Target("trees", _trees, lambda folder: _void(read_trees(folder / "trees.yaml", _virtual()))),
    Target("simulation-file", corpus.simulation_file, lambda folder: _void(read_description(folder / "ring.yaml"))),
    Target("replay-file", corpus.replay, lambda folder: _replay(folder / "ring.replay")),
    Target("replay-content", corpus.replay_content, _replay_content),
    Target("trace-ti", corpus.ti_trace, _trace("ti")),
    Target("trace-dumpi", corpus.dumpi_trace, _trace("dumpi")),
    Target("trace-otf2", corpus.otf2_trace, _archive),
    Target("trace-goal", corpus.goal_trace, _trace("goal")),
    Target("trace-vef", corpus.vef_trace, _trace("vef", Options("fuzzed", codes=Path("codes.yaml")))),
    Target("trace-recorded", corpus.recorded_trace, _trace("recorder")),
    Target("simulation", corpus.simulated, lambda folder: _void(read_simulation(folder / "out"))),
    Target("study", corpus.study, _study, lambda name: not name.startswith("runs/") or name.endswith("run.yaml")),
    Target("journal", corpus.applied, _journal, lambda name: name == "journal.jsonl"),
    Target("restore-journal", corpus.applied, _restore, lambda name: name == "restore.json"),
    Target("port-proofs", corpus.applied, _proofs, lambda name: name == "ports.json"),
    Target("lock", corpus.applied, _lock, lambda name: name == "lock"),
    Target("state-folder", corpus.applied, _state, lambda name: name == "lab" or name.startswith("runs/")),
    Target("recordings", corpus.recordings, _recordings),
    Target("json", corpus.state_folder, _json),
    Target("programs", _outputs, _programs),
    Target("ios", corpus.answers(ios.DRIVER, ios.SWITCH, _ask_ios), _driver(CiscoIos(), ios.SWITCH)),
    Target(
        "ros",
        corpus.answers(DELL_55XX_DRIVER, ros_face.SWITCH, _ask_ros),
        _driver(DELL_55XX_DRIVER, ros_face.SWITCH),
    ),
    Target(
        "m4300",
        corpus.answers(NETGEAR_M4300, m4300_face.SWITCH, _ask_m4300),
        _driver(NETGEAR_M4300, m4300_face.SWITCH),
    ),
    Target("report", corpus.measured, _report),
    Target("compare", corpus.measured, _commands(("compare", "study:eee=on", "study:eee=off"))),
    Target("check", corpus.measured, _commands(("check", "study", "--expect", "time < 9 s"))),
    Target("fit", corpus.measured, _commands(("fit", "study"))),
    Target("predict", corpus.profile, _commands(("predict", "profile.yaml", "--calibration", "calibration.yaml"))),
    Target("watch", corpus.open_run, _commands(("watch", "run", "--once")), lambda name: name.startswith("run/")),
    Target("replay", corpus.recordings, _commands(("lab", "replay", "."))),
    Target("simulation-report", corpus.simulated, _commands(("report", "out", "-o", "page.html"))),
)
TARGETS: Final = {target.name: target for target in _EVERY}
