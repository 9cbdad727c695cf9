"""Small files of each kind, as the product writes them: what fuzzing starts from. Each is made once in a process."""

import json
import tempfile
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path

import polars as pl

from eee_testbed.analysis.calibration import save_calibration
from eee_testbed.analysis.programs.profile import save_profile
from eee_testbed.analysis.programs.profile_reading import profiles_of
from eee_testbed.controller.applying.holder import Holder
from eee_testbed.controller.applying.journal import Begun, Done, Journal, RollingBack, Sending, Verified
from eee_testbed.controller.drivers.driver import ASPECTS, Driver, Query, Show
from eee_testbed.controller.model.state import VlanChange
from eee_testbed.controller.planning.disruption import Disruption
from eee_testbed.controller.planning.steps import Step
from eee_testbed.lab.model import Switch
from eee_testbed.measuring.experiments.restore_journal import RestoreJournal
from eee_testbed.record.event_kinds import EventKind
from eee_testbed.record.samples import RunSamples
from eee_testbed.record.store import Run
from eee_testbed.simulation.pool import HerePool
from eee_testbed.simulation.replay.otf2_writer import write_otf2
from eee_testbed.simulation.replay.program import KEY, write_program
from eee_testbed.simulation.replay.readers.vef import CODES
from eee_testbed.simulation.results import Results
from eee_testbed.simulation.sweep import simulate
from tests.controller.checking.test_recorded import LLDP, LLDP_RECORDS, STRIP, SWITCH
from tests.fuzz.mutations import Tree
from tests.simulation.test_results import small_description
from tests.support.dumpi_bytes import INT, WORLD, write_trace
from tests.support.labs.toy_lab import small_lab, trees_state
from tests.support.measured.synthetic_run import calibration, write_alltoall, write_probe, write_regulation, write_run
from tests.support.recorded_bytes import write_recorded
from tests.support.replay_programs import ring

ROOT = Path(__file__).resolve().parents[2]


def kept(write: Callable[[Path], None]) -> Callable[[], Tree]:
    """The files that a function writes into a folder, written once."""

    @cache
    def tree() -> Tree:
        with tempfile.TemporaryDirectory(prefix="corpus-") as place:
            folder = Path(place)
            write(folder)
            return {
                str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()
            }

    return tree


def _run(folder: Path) -> None:
    write_run(folder, write_probe, write_alltoall, write_regulation).rename(folder / "study")
    save_calibration(folder / "calibration.yaml", calibration())


@kept
def measured(folder: Path) -> None:
    """A run with probes, a program and links off, and a calibration."""
    _run(folder)


@kept
def open_run(folder: Path) -> None:
    """A run whose writer was killed: open segments, and events of every kind that readers look into."""
    run = Run.create(folder, "killed", {"lab": "virtual", "what": "experiment", "slot_count": 2, "experiment": "x"})
    run.event(EventKind.SOURCE_FAILED, source="sw1", source_kind="switch", why="silent")
    run.event(EventKind.CLOCK_JUMP, jump_ns=5_000_000)
    ports = {"sw1": {"gi1/0/1": {"admin_up": True, "speed_mbps": 1000, "eee": True, "hold_us": None}}}
    run.event(EventKind.PORTS_SET, ports=ports)
    shares = {"busiest_share": 0.1, "slowdown": None, "backs_off": False, "undecided": ""}
    run.event(EventKind.LOOP_EPOCH, epoch=1, active=3, links={"active": ["a"], "off": []}, **shares)
    run.event(EventKind.LOOP_DECIDED, epoch=1, link="a", before="active", after="off", why="quiet")
    run.close()
    write_run(folder, write_probe).rename(folder / "whole")
    (found,) = folder.glob("*Z-killed")
    found.rename(folder / "run")
    for path in (folder / "whole" / "trials").rglob("*.jsonl"):
        target = folder / "run" / path.relative_to(folder / "whole")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(path.read_bytes())
    events = (folder / "whole" / "events.jsonl").read_bytes()
    with (folder / "run" / "events.jsonl").open("ab") as file:
        file.write(events)
    watts = {"strip": "pdu1", "tick": 1, "due_ns": 10**18, "sent_ns": 10**18, "received_ns": 10**18 + 5}
    rows = {"outlet": [0, 1], "feeds": ["", "sw1"], "power_watt": [40.0, 39.5], "mark": ["", ""]}
    line = json.dumps({"rows": 2, "columns": {**watts, **rows}})
    (folder / "run" / "samples" / "watts-00001.open.jsonl").write_text(f"{line}\n{line}\n", encoding="utf-8")


@kept
def profile(folder: Path) -> None:
    """A program's profile, and a calibration."""
    save_profile(folder / "profile.yaml", profiles_of(RunSamples(write_run(folder, write_alltoall)))[0])
    save_calibration(folder / "calibration.yaml", calibration())


@kept
def inventory(folder: Path) -> None:
    """The files of the virtual lab, its truth among them."""
    for path in (ROOT / "inventory" / "virtual").rglob("*"):
        if path.is_file():
            target = folder / "virtual" / path.relative_to(ROOT / "inventory" / "virtual")
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(path.read_bytes())


@kept
def experiments(folder: Path) -> None:
    """The experiments that are shipped."""
    for path in (ROOT / "experiments").glob("*.yaml"):
        (folder / path.name).write_bytes(path.read_bytes())


@kept
def simulated(folder: Path) -> None:
    """A simulation with two points."""
    description = small_description()
    results = Results(folder / "out", description)
    simulate(description, results, HerePool(), lambda _: None)


@kept
def simulation_file(folder: Path) -> None:
    """What to simulate."""
    text = (
        "name: ring\nnetwork: {kind: torus, radix: [4, 4]}\nrouting: dor\nrouter: {vcs: 2, packet_flits: 4}\n"
        "links: {eee: deep, latency: 1}\nloads: [0.1, 0.2]\nseeds: [1]\nprecision: {most_cycles: 3000}\n"
    )
    (folder / "ring.yaml").write_text(text, encoding="utf-8")


@kept
def replay(folder: Path) -> None:
    """A program as a replay file."""
    write_program(folder / "ring.replay", ring())


@kept
def replay_content(folder: Path) -> None:
    """The same as its metadata and its calls."""
    file = folder / "ring.replay"
    write_program(file, ring())
    (folder / "about.json").write_text(pl.read_parquet_metadata(file)[KEY], encoding="utf-8")
    (folder / "calls.json").write_text(pl.read_parquet(file).write_json(), encoding="utf-8")
    file.unlink()


@kept
def ti_trace(folder: Path) -> None:
    """A time-independent trace of SimGrid, of two ranks."""
    text = (
        "0 init 1\n0 irecv 1 1 1e3\n0 isend 1 2 8\n0 compute 1e6\n0 test 1 0 1\n0 wait 1 0 1\n0 waitall\n"
        "0 alltoallv 9 1 2 9 1 1\n0 gatherv 3 1 2 0\n0 bcast 4 1 0\n0 finalize\n"
    )
    other = "1 init 1\n1 send 0 1 1e3\n1 recv 0 2 8\n1 alltoallv 9 1 2 9 2 2\n1 gatherv 3 1 2 0\n1 bcast 4 1 0\n"
    (folder / "trace.txt").write_text(text + other, encoding="utf-8")


@kept
def dumpi_trace(folder: Path) -> None:
    """A DUMPI trace of two ranks."""
    calls = [
        ("Comm_split", [WORLD, 0, 0, 4]),
        ("Irecv", [1, INT, -1, 1, 4, 2]),
        ("Isend", [1, INT, 0, 1, 4, 3]),
        ("Waitall", [2, (2, 3), [(4, 0, 0, 1), (0, 0, 0, 0)]]),
        ("Alltoallv", [2, (1, 2), (0, 1), INT, (1, 1), (0, 1), INT, WORLD]),
    ]
    write_trace(folder, calls, calls)


@kept
def otf2_trace(folder: Path) -> None:
    """An OTF2 archive of two ranks."""
    write_otf2(ring(ranks=2, passes=2), folder / "trace")


@kept
def goal_trace(folder: Path) -> None:
    """A GOAL schedule of two ranks."""
    text = (
        "num_ranks 2\n// fork and join\nrank 0 {\nl1: send 10b to 1 tag 3 cpu 0 nic 0\nl2: recv 7b from 1 tag 4\n"
        "l3: calc 500\nl3 requires l1\nl3 requires l2\nl4: calc 6 cpu 1\nl4 irequires l3\n}\n"
        "rank 1 {\nl1: recv 10b from -1 tag -1\nl2: send 7b to 0 tag 4\nl2 requires l1\n}\n"
    )
    (folder / "schedule.goal").write_text(text, encoding="utf-8")


@kept
def vef_trace(folder: Path) -> None:
    """A VEF trace of two ranks, and its codes."""
    text = "VEF3 2 2 1 1 0 TRUE\nC0 0 1\n0 0 1 100 0 500 0\n1 1 0 60 2 50 0\nG0 0 2 0 8 8 2 30 1\nG0 0 2 1 8 8 1 40 1\n"
    (folder / "trace.vef").write_text(text, encoding="utf-8")
    (folder / "codes.yaml").write_text(CODES, encoding="utf-8")


@kept
def recorded_trace(folder: Path) -> None:
    """What the recorder wrote of two ranks."""
    write_recorded(folder)


@kept
def study(folder: Path) -> None:
    """A study's own files."""
    (folder / "experiments").mkdir()
    (folder / "experiments" / "power.yaml").write_bytes((ROOT / "experiments" / "power-staged.yaml").read_bytes())
    (folder / "study.yaml").write_text(
        "format: 1\nlab: virtual\nexperiments: [power]\nleft_out: []\nprecision: 0.02\nbudget_s: 2400.0\n"
    )
    block = {"kind": "power", "time_s": 60.5, "complete": True, "seen": {"sw1 base": [2.0, 0.3]}}
    (folder / "blocks.jsonl").write_text(f"{json.dumps(block)}\n{json.dumps(block)}\n", encoding="utf-8")
    write_run(folder / "runs", write_probe, name="power")


@kept
def applied(folder: Path) -> None:
    """What an apply and a run keep of a lab: journal, restore journal, port proofs, lock."""
    lab = small_lab(folder / "toy")
    state = trees_state(lab)
    step = Step("sleep", 0, VlanChange("sw1", 9, False, True), "", Disruption("interruption", float("inf")))
    with Journal(folder / "journal.jsonl") as journal:
        journal.write(Begun(lab="toy", digest="", actor="me", command="apply", before=state, steps=(step,)))
        journal.write(Sending(round=0, orders={"sw1": ("vlan 9",)}))
        journal.write(Verified(round=0))
        journal.write(RollingBack(why="a restart", found=state, steps=(step,)))
        journal.write(Done(outcome="taken back"))
    restore = RestoreJournal(folder / "restore.json", state)
    restore.settle(state, {"link": "on"})
    (folder / "ports.json").write_text('{"proved": {"sw1": {"p1": 1}}, "waiting": {"sw2": {"p1": "description x"}}}')
    (folder / "lock").write_text(Holder.me("apply").model_dump_json(), encoding="utf-8")
    (folder / "lab").write_text("/labs/toy\n")
    (folder / "runs").mkdir()
    note = {"run": "/runs/x", "command": "run x.yaml", "lab_digest": "ab" * 32}
    (folder / "runs" / "x.json").write_text(json.dumps(note), encoding="utf-8")


@kept
def recordings(folder: Path) -> None:
    """Recordings of devices, of each form."""
    (folder / "switch.snmprec").write_text(SWITCH)
    (folder / "strip.snmpwalk").write_text(STRIP)
    shows = folder / "cisco_s300" / "show_lldp_neighbors"
    shows.mkdir(parents=True)
    (shows / "one.raw").write_text(LLDP)
    (shows / "one.yml").write_text(LLDP_RECORDS)
    fixtures = ROOT / "tests" / "twin" / "families" / "fastpath" / "fixtures"
    for platform, command, name in (
        ("broadcom_icos", "show_version", "show_version.txt"),
        ("broadcom_icos", "show_lldp_remote-device_all", "show_lldp_remote-device_all.txt"),
        ("ubiquiti_edgeswitch", "show_version", "edgeswitch_show_version.txt"),
    ):
        place = folder / platform / command
        place.mkdir(parents=True)
        (place / "one.raw").write_bytes((fixtures / name).read_bytes())
        (place / "one.yml").write_text("parsed_sample:\n  - {switch_model: M, version: '1', serial: X}\n")


@kept
def state_folder(folder: Path) -> None:
    """What a virtual lab keeps below /run."""
    process = {"pid": 4_000_000, "start_ticks": 1, "boot": "x"}
    content = {"lab": "virtual", "folder": "/labs/virtual", "group": 1_100_000_000, "bridge": "eee-x"}
    content |= {"management_network": "198.18.0.0/24", "listeners": ["198.18.0.1:22/tcp"], "cgroups": "/nowhere"}
    content |= {"cpu_ratios": {"n01": 0.5}, "daemon": process, "hosts": {"n01": process}, "ready": True}
    for name in ("virtual", "other"):
        (folder / name).mkdir()
        (folder / name / "lab.json").write_text(json.dumps(content), encoding="utf-8")


def answers(driver: Driver, switch: Switch, ask: Callable[[tuple[Query, ...]], object]) -> Callable[[], Tree]:
    """What a switch answers to all that its driver asks: text by query, and walks as lines of index and value."""

    def write(folder: Path) -> None:
        queries = dict.fromkeys((*driver.queries(switch, frozenset(ASPECTS)), *driver.identity_queries(switch)))
        found = ask(tuple(queries))
        for number, query in enumerate(queries):
            answer = found[query]  # type: ignore[index]
            if isinstance(query, Show):
                (folder / f"{number}.txt").write_text(answer, encoding="utf-8")
            else:
                lines = (f"{index}|{_written(value)}\n" for index, value in answer.items())
                (folder / f"{number}.walk").write_text("".join(lines), encoding="utf-8")

    return kept(partial(write))


def _written(value: object) -> str:
    return f"x{value.hex()}" if isinstance(value, bytes) else f"i{value}" if isinstance(value, int) else f"o{value}"
