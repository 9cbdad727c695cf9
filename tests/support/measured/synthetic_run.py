"""Run folders with known answers, written through the store with the events of an experiment."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from eee_testbed.agents.gap_histogram import lower_edges_ns
from eee_testbed.analysis.calibration import (
    AndujarPower,
    Calibration,
    Estimate,
    LinkPolicy,
    MiwaTime,
    NodePower,
    PortPower,
    PowerPart,
    ProgramTime,
    RunTimeError,
    SwitchPower,
    WakeTime,
    save_calibration,
)
from eee_testbed.analysis.links.path_delay import Policy
from eee_testbed.analysis.links.probes import ECHO_WIRE_BYTE
from eee_testbed.record.event_kinds import EventKind
from eee_testbed.record.sample_tables import Batch
from eee_testbed.record.store import Run
from eee_testbed.record.trial_events import TrialBegun, TrialEnded, trial_folder
from tests.support.measured.gap_bins import bin_of
from tests.support.measured.plain_echoes import echo_extra_us

HOLD_US, SLEEP_US, WAKE_US = 1_000.0, 182.0, 60.0
HOSTS = ("n01", "n02", "n03", "n04")
BASE_NS = 1_795_000_000_000_000_000
FACTORS = {
    "eee": {"kind": "eee", "levels": ["on", "off"]},
    "trunks": {"kind": "link", "levels": ["on", "off"], "links": "trunks"},
    "uplink": {"kind": "link", "levels": ["on", "off"]},
}
GAP_COLUMNS = ("frames", "byte", "busy_ns", "idle_ns", "gaps")


def about(value: float, share: float = 0.02) -> Estimate:
    return Estimate(value=value, low=value * (1 - share), high=value * (1 + share))


def delay_us(gap_us: np.typing.NDArray[np.float64]) -> np.typing.NDArray[np.float64]:
    asleep = np.maximum(HOLD_US + SLEEP_US - gap_us, 0.0) + WAKE_US
    return np.where(gap_us > HOLD_US, asleep, 0.0)


@dataclass
class Writer:
    """Writes trials one after the other, a simulated clock beside them."""

    run: Run
    now_ns: int = BASE_NS
    trial: int = 0
    random: np.random.Generator = field(default_factory=lambda: np.random.default_rng(7))

    def write(
        self,
        levels: Mapping[str, Any],
        length_s: float,
        *,
        what: str = "program",
        figures: Sequence[tuple[str, float, str]] = (),
        files: Mapping[str, str] | None = None,
        state: str = "valid",
        why: str = "",
        loop_ns: tuple[int, int] | None = None,
        **more: Any,
    ) -> tuple[int, int]:
        begun_ns = self.now_ns + 1_000_000_000
        ended_ns = begun_ns + round(length_s * 1e9)
        trial = TrialBegun(
            self.trial, self.trial, more.pop("block", 0), more.pop("repetition", 0), levels, what, **more
        )  # type: ignore[arg-type]
        self.run.event(EventKind.TRIAL_BEGUN, time_ns=begun_ns, **trial.plain())
        folder = trial_folder(self.run.folder, self.trial)
        folder.mkdir(parents=True)
        for name, text in (files or {}).items():
            (folder / name).write_text(text.replace("BEGUN", str(begun_ns)).replace("ENDED", str(ended_ns)))
        right = None if what != "program" else state == "valid"
        ended = TrialEnded(self.trial, state, why, begun_ns, ended_ns, right, figures, loop_ns)  # type: ignore[arg-type]
        self.run.event(EventKind.TRIAL_ENDED, time_ns=ended_ns, **ended.plain())
        self.trial += 1
        self.now_ns = ended_ns
        return begun_ns, ended_ns

    def watts(self, from_ns: int, to_ns: int, watt: float, feeds: str = "sw1", outlet: int = 1) -> None:
        due = list(range(from_ns, to_ns, 1_000_000_000))
        shown = [round((watt + float(self.random.normal(0, 0.05))) / 0.1) * 0.1 for _ in due]
        columns: dict[str, Any] = {
            "strip": "pdu1",
            "tick": list(range(len(due))),
            "due_ns": due,
            "sent_ns": due,
            "received_ns": [at + 5_000_000 for at in due],
            "outlet": outlet,
            "feeds": feeds,
            "on": True,
            "power_watt": shown,
            "power_step_watt": 0.1,
            "mark": "",
        }
        self.run.append(Batch("watts", len(due), columns))


def gaps_text(gap_us: Mapping[float, int], span_s: float) -> str:
    """A stream of the gap recorder with one row, both directions alike; frames of 1,000 bytes."""
    names = ["start_ns", "end_ns"]
    names += [f"{way}_{name}" for way in ("transmit", "receive") for name in GAP_COLUMNS] + ["frames_dropped"]
    header = {
        "kind": "header",
        "agent": "idle_gaps",
        "columns": [{"name": name} for name in names],
        "lower_edges_ns": lower_edges_ns(),
    }
    frames = sum(gap_us.values())
    bins: dict[int, int] = {}
    for gap, count in gap_us.items():
        number = bin_of(round(gap * 1_000))
        bins[number] = bins.get(number, 0) + count
    idle_ns = round(sum(gap * count for gap, count in gap_us.items()) * 1_000)
    way = [frames, frames * 1_000, frames * 8_300, idle_ns, sorted(map(list, bins.items()))]
    row = json.dumps([*way, *way, 0])[1:]
    rows = f'{{"kind": "rows", "rows": [[BEGUN, ENDED, {row}]}}'
    assert span_s > 0
    return "\n".join((json.dumps(header), rows, '{"kind": "summary", "ended_by": "done"}')) + "\n"


def echoes_text(eee: str, random: np.random.Generator, count: int = 300, hosts: int = 2, at_ns: int = BASE_NS) -> str:
    gaps = random.permutation(np.geomspace(200.0, 20_000.0, count))
    names = ("number", "wanted_ns", "late_ns", "idle_transmit_ns", "idle_receive_ns", "sent_ns", "rtt_ns")
    header: dict[str, Any] = {"kind": "header", "agent": "echo_probe", "payload_byte": 56}
    header["columns"] = [{"name": name} for name in names]
    sent_us = np.cumsum(gaps)
    path = [Policy(HOLD_US, SLEEP_US, WAKE_US)] * hosts
    extra_us = echo_extra_us(sent_us, 95.0, path, np.full(count, ECHO_WIRE_BYTE), 0.008) if eee == "on" else 0.0
    rtt_us = 95.0 + random.normal(0, 2.0, count) + extra_us
    sent = at_ns + (sent_us * 1e3).astype(int)
    rows = [
        [n, round(g * 1e3), 300, round(g * 1e3), round(g * 1e3), int(s), round(r * 1e3)]
        for n, (g, s, r) in enumerate(zip(gaps, sent, rtt_us, strict=True))
    ]
    rows[10][6] = None  # type: ignore[call-overload]
    return json.dumps(header) + "\n" + json.dumps({"kind": "rows", "rows": rows}) + "\n"


def write_probe(writer: Writer) -> None:
    for eee in ("off", "on"):
        files = {"echoes.jsonl": echoes_text(eee, writer.random)}
        writer.write({"eee": eee}, 5.0, what="probe", files=files, hosts=("n01", "n02"))


def alltoall_times(sleep_us: float, size_byte: int) -> tuple[float, float, float]:
    """(gap between calls, base time of a call, what EEE adds to it), microseconds."""
    call_us = 120.0 + size_byte * 0.03
    gap_us = sleep_us + 60.0 + 0.02 * size_byte
    return gap_us, call_us + sleep_us + 60.0, float(2 * delay_us(np.array([gap_us]))[0])


def write_alltoall(writer: Writer, iterations: int = 1_000, repetitions: int = 3, effect: float = 1.0) -> None:
    """Times with EEE off and on; `effect` 0: EEE was asked for, but no link slept."""
    for repetition in range(repetitions):
        for size_byte in (256, 4_096):
            for sleep_us in (0, 300, 600, 900, 1_100, 1_400, 2_000, 4_000):
                for eee in ("off", "on"):
                    gap_us, base_us, extra_us = alltoall_times(sleep_us, size_byte)
                    time_s = iterations * (base_us + (effect * extra_us if eee == "on" else 0.0)) * 1e-6
                    time_s *= 1 + float(writer.random.normal(0, 0.002))
                    files = {}
                    if eee == "off":
                        near = {gap_us: iterations, 5.0: iterations * 2}
                        files = {f"gaps-{host}.jsonl": gaps_text(near, time_s) for host in HOSTS}
                        each = [[0 if a == b else iterations for a in HOSTS] for b in HOSTS]
                        sizes = [[count * size_byte // 4 for count in row] for row in each]
                        files["traffic.json"] = json.dumps({"messages": each, "bytes": sizes})
                    begun_ns, ended_ns = writer.write(
                        {"eee": eee, "sleep_us": sleep_us, "array_byte": size_byte},
                        time_s,
                        figures=[
                            ("time", time_s, "s"),
                            ("communications", iterations, "call"),
                            ("communication_size", size_byte * 0.75, "byte"),
                        ],
                        files=files,
                        block=repetition,
                        program="alltoall",
                        parameters={"iterations": iterations, "array_byte": size_byte, "sleep_us": sleep_us},
                        hosts=HOSTS,
                        ranks_per_host=1,
                    )
                    writer.watts(begun_ns - 1_000_000_000, ended_ns + 1_000_000_000, 60.0 - 2.0 * (eee == "on"))
    writer.write(
        {"eee": "on", "sleep_us": 0, "array_byte": 256},
        1.0,
        state="invalid",
        why="the twin was 412 us late",
        program="alltoall",
        hosts=HOSTS,
        ranks_per_host=1,
    )


def write_regulation(writer: Writer) -> None:
    for repetition in range(3):
        for trunks, uplink, watt, rate in (
            ("on", "on", 60.0, 3.20),
            ("on", "off", 58.6, 3.19),
            ("off", "on", 57.2, 3.17),
            ("off", "off", 54.3, 2.6),
        ):
            times = {"begun_ns": writer.now_ns, "ended_ns": writer.now_ns + 900_000_000}
            writer.run.event(
                EventKind.ACTUATION, time_ns=writer.now_ns, what="link", link="sw1:gi1/0/5", after=uplink, **times
            )
            time_s = 20.0 * 3.2 / rate * (1 + float(writer.random.normal(0, 0.002)))
            begun_ns, ended_ns = writer.write(
                {"trunks": trunks, "uplink": uplink},
                time_s,
                figures=[("time", time_s, "s"), ("rate", rate * 1e9, "flop/s")],
                block=repetition,
                program="hpl",
                hosts=HOSTS,
                ranks_per_host=2,
            )
            writer.watts(begun_ns - 1_000_000_000, ended_ns + 1_000_000_000, watt)
            writer.watts(begun_ns - 1_000_000_000, ended_ns + 1_000_000_000, 250.0, feeds="n01", outlet=2)


def write_run(root: Path, *parts: Any, name: str = "study") -> Path:
    """A run's folder with the trials that the parts write."""
    program = {"name": "alltoall", "parameters": {"iterations": 1_000}, "hosts": list(HOSTS), "ranks_per_host": 1}
    measure = {"program": program, "probe": None}
    experiment = {"name": name, "seed": 1, "factors": FACTORS, "measure": measure, "blocks": 3, "repetitions": 1}
    facts = {
        "lab": "virtual",
        "lab_digest": "ab" * 32,
        "experiment": experiment,
    }
    with Run.create(root, name, facts) as run:
        clocks = [("sw1", 2_400_000), ("pdu1", 80_000_000)]
        estimate = {"method": "sysUpTime", "time_ns": BASE_NS, "offset_ns": 17, "consistent": True}
        run.add_clocks([{"source": source, "bound_ns": bound, **estimate} for source, bound in clocks])
        writer = Writer(run)
        for part in parts:
            part(writer)
    return run.folder


def calibration(**parts: Any) -> Calibration:
    """What fits of such a run would find, with 2 % on each side."""
    policy = LinkPolicy(
        ends=("sw1:gi1/0/1", "n01:eth0"),
        kind="hold",
        sleeper_count=2,
        largest_gap_us=20_000.0,
        base_us=about(95.0),
        noise_us=about(2.0),
        hold_us=about(HOLD_US, 0.005),
        sleep_us=about(SLEEP_US),
        wake_us=about(WAKE_US),
        echo_count=299,
        lost_count=1,
        explained_fraction=0.97,
        evidence=400.0,
    )
    port = PortPower(
        cable_watt=about(0.05),
        enabled_watt=about(0.1),
        link_watt=about(0.6),
        lpi_fraction=about(0.2),
        residual_watt=about(0.06),
    )
    slow = port.model_copy(update={"link_watt": about(0.25)})
    switch = SwitchPower(
        family="dell_powerconnect_55xx",
        base_watt=about(40.0, 0.005),
        port_by_mbps={1000: port, 100: slow},
        bit_picojoule=about(30.0, 0.3),
        packet_nanojoule=about(50.0, 0.5),
        drift_watt=0.05,
        noise_watt=0.04,
        explained_fraction=0.99,
        window_count=40,
    )
    error = RunTimeError(mean_percent=2.5, worst_percent=15.0, configuration_count=8, held_out=True)
    miwa = MiwaTime(
        threshold_us=about(900.0),
        plateau_us=about(125.0),
        alpha_per_us=about(0.005),
        origin_us=about(850.0),
        residual_us=8.0,
        explained_fraction=0.93,
        error=error,
    )
    wakes = WakeTime(
        serial_count=about(1.0),
        abreast_count=about(1.0, 0.0),
        hidden_us=about(0.1, 0.0),
        residual_us=3.0,
        explained_fraction=0.99,
        error=error.model_copy(update={"mean_percent": 0.6, "worst_percent": 3.0}),
    )
    program = ProgramTime(
        program="alltoall",
        node_count=4,
        rank_count=4,
        configuration_count=16,
        link="path n01 - n02",
        miwa=miwa,
        wakes=wakes,
    )
    andujar = AndujarPower(
        port_watt=about(5.0),
        ports_fraction=about(0.816),
        sleeping_port_fraction=about(0.1),
        node_watt=about(300.0),
        idle_node_fraction=about(0.5),
    )
    given: dict[str, Any] = {
        "links": {"path n01 - n02": policy},
        "power": PowerPart(
            switches={"sw1": switch},
            nodes={"n01": NodePower(idle_watt=about(150.0), loaded_watt=about(250.0))},
            andujar=andujar,
        ),
        "run_time": {"alltoall 4x1": program},
    }
    return Calibration.begin("virtual", "ab" * 32, ["study"], **{**given, **parts})


def write_measured(folder: Path) -> None:
    """`runs/study`, with echoes and Alltoall, and `calibration.yaml` in a folder."""
    (folder / "runs").mkdir()
    write_run(folder / "runs", write_probe, write_alltoall).rename(folder / "runs" / "study")
    save_calibration(folder / "calibration.yaml", calibration())
