"""CPU cost of sampling counters of a switch: the collector, plain pysnmp, and Debian's prometheus-snmp-exporter.

``python -m evaluation.speed.collector`` polls the same software switch (48 ports, 16 columns of IF-MIB) with each of
them in turns and prints one JSON object: varbinds per second of CPU time (user and system, all threads) of the
poller, and ratios round by round with 95 % bootstrap intervals. The collector's time includes validating every counter
and writing rows to a run's folder; pysnmp's is that of ``bulk_walk_cmd`` without MIB lookups, and stores nothing; the
exporter's (omitted if it is not installed) includes its response to one scrape. ``--switches 50`` also samples that
many switches at 1 Hz, and ``--lab koibuchi`` a lab that is up: CPU as a share of one core, ticks missed and late.
"""

import argparse
import asyncio
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

from pysnmp.hlapi.v3arch.asyncio import (
    CommunityData,
    ContextData,
    ObjectIdentity,
    ObjectType,
    SnmpEngine,
    UdpTransportTarget,
    bulk_walk_cmd,
)

from eee_testbed.controller.transports.snmp import Agent
from eee_testbed.controller.transports.snmp_access import access_of
from eee_testbed.lab.folder import find_lab, load_lab
from eee_testbed.lab.model import Switch
from eee_testbed.measuring.collecting.collect import Collector, Timed
from eee_testbed.measuring.collecting.lab_sources import sources_of
from eee_testbed.measuring.collecting.port_counters import COUNTERS, DISCONTINUITY, HIGH_SPEED, LAST_CHANGE, OPER_STATUS
from eee_testbed.measuring.collecting.port_source import PortSource
from eee_testbed.record.run_clock import RunClock
from eee_testbed.record.store import Run
from evaluation import quiet, recording
from evaluation.records import Figure
from evaluation.speed.figures import Ratio, paired
from evaluation.speed.snmp_agent import tree_cpu_s
from evaluation.speed.snmp_twins import COMMUNITY, PORTS, switches
from tests.support.waiting import eventually

COLUMNS = (*(counter.oid for counter in COUNTERS), OPER_STATUS, LAST_CHANGE, HIGH_SPEED, DISCONTINUITY)
VARBINDS = len(COLUMNS) * PORTS
EXPORTER = "prometheus-snmp-exporter"
WARM_UP_S = 3.0

Poll = Callable[[], float]
"""Polls every column once; returns the CPU seconds used."""


@contextmanager
def ours(switch: Switch, folder: Path) -> Iterator[Poll]:
    """The collector: one poll of a switch, with its rows written to the run's folder."""
    source = PortSource(switch, lambda: Agent(access_of(switch)))
    with Run.create(folder, "bench", {}) as run:
        clock, ticks = RunClock(), count()
        source.read(clock)

        def poll() -> float:
            before_s = time.process_time()
            reading = source.read(clock)
            begun_ns, ended_ns = reading.sent_ns, reading.received_ns
            times = {"tick": next(ticks), "due_ns": begun_ns, "sent_ns": begun_ns, "received_ns": ended_ns}
            run.append(replace(reading.batch, columns={**times, **reading.batch.columns}))
            run.flush()
            assert reading.batch.row_count == PORTS
            return time.process_time() - before_s

        yield poll
    source.close()


@contextmanager
def pysnmp(switch: Switch) -> Iterator[Poll]:
    """Plain pysnmp: one bulk walk for each column in series."""
    loop = asyncio.new_event_loop()
    engine = SnmpEngine()

    async def walk() -> int:
        target = await UdpTransportTarget.create((switch.address, switch.snmp_port), timeout=2)
        count = 0
        for oid in COLUMNS:
            column = ObjectType(ObjectIdentity(oid))
            asked = (engine, CommunityData(COMMUNITY), target, ContextData(), 0, PORTS + 2, column)
            async for error, status, _, bindings in bulk_walk_cmd(*asked, lexicographicMode=False, lookupMib=False):
                assert not error
                assert not status
                count += len(bindings)
        return count

    def poll() -> float:
        before_s = time.process_time()
        count = loop.run_until_complete(walk())
        assert count >= VARBINDS
        return time.process_time() - before_s

    yield poll
    engine.close_dispatcher()
    loop.run_until_complete(asyncio.sleep(0))  # its timer ends
    loop.close()


@contextmanager
def exporter(switch: Switch, folder: Path) -> Iterator[Poll | None]:
    """Debian's exporter, scraped over HTTP as by Prometheus; None if it is not installed."""
    program = shutil.which(EXPORTER)
    if program is None:
        yield None
        return
    metrics = "".join(
        f"  - {{name: m{n}, oid: {oid}, type: gauge, indexes: [{{labelname: ifIndex, type: gauge}}]}}\n"
        for n, oid in enumerate(COLUMNS)
    )
    walk = ", ".join(COLUMNS)
    auth = f"  version: 2\n  max_repetitions: {PORTS + 2}\n  auth: {{community: {COMMUNITY}}}\n"
    config = folder / "snmp.yml"
    config.write_text(f"bench:\n  walk: [{walk}]\n{auth}  metrics:\n{metrics}", encoding="utf-8")
    with socket.socket() as free:
        free.bind(("127.18.252.254", 0))
        where = f"127.18.252.254:{free.getsockname()[1]}"
    argv = [program, f"--config.file={config}", f"--web.listen-address={where}", "--log.level=error"]
    url = f"http://{where}/snmp?module=bench&target={switch.address}:{switch.snmp_port}"
    with subprocess.Popen(argv) as process:
        try:
            _await_port(where, process)

            def poll() -> float:
                before_s = tree_cpu_s(process.pid)
                with urllib.request.urlopen(url, timeout=10) as answer:
                    lines = sum(line.startswith(b"m") for line in answer)
                assert lines >= VARBINDS
                return tree_cpu_s(process.pid) - before_s

            yield poll
        finally:
            process.kill()


def _await_port(where: str, process: "subprocess.Popen[bytes]") -> None:
    address, _, port = where.rpartition(":")

    def listens() -> bool:
        if process.poll() is not None:
            sys.exit(f"{EXPORTER} ended with status {process.returncode}")
        with suppress(OSError), socket.create_connection((address, int(port)), timeout=0.1):
            return True
        return False

    eventually(f"{EXPORTER} listens", listens)


def per_cpu_s(poll: Poll, polls: int) -> float:
    """Varbinds per second of CPU time."""
    return VARBINDS * polls / sum(poll() for _ in range(polls))


def compare(rounds: int, polls: int) -> list[Ratio]:
    """Poll one switch with each in turns."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with (
            switches(1, folder) as (switch,),
            ours(switch, folder) as mine,
            pysnmp(switch) as plain,
            exporter(switch, folder) as exported,
        ):
            found: dict[str, list[float]] = {"collector": [], "pysnmp": [], "exporter": []}
            for _ in range(rounds):
                found["collector"].append(per_cpu_s(mine, polls))
                found["pysnmp"].append(per_cpu_s(plain, max(1, polls // 10)))
                if exported is not None:
                    found["exporter"].append(per_cpu_s(exported, polls))
    ratios: list[Ratio] = []
    for other in ("pysnmp", "exporter"):
        if found[other]:
            what = f"collector to {other}"
            ratios.append(paired(what, "varbinds per CPU second", found["collector"], found[other]))
    return ratios


def sample(sources: Sequence[Timed], seconds: float, folder: Path) -> dict[str, Any]:
    """Sample at the sources' periods; returns CPU use and counts of ticks."""
    with Run.create(folder, "bench", {}) as run, Collector(sources, run) as collector:
        pause = threading.Event()
        pause.wait(WARM_UP_S)
        before_s, begun_s = time.process_time(), time.monotonic()
        pause.wait(seconds)
        cpu_s, wall_s = time.process_time() - before_s, time.monotonic() - begun_s
        states = collector.states
    return {
        "sources": len(states),
        "seconds": wall_s,
        "cpu_percent_of_a_core": 100 * cpu_s / wall_s,
        "ok": sum(state.ok_count for state in states),
        "failed": sum(state.failed_count for state in states),
        "missed": sum(state.missed_count for state in states),
        "late": sum(state.late_count for state in states),
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--polls", type=int, default=60, help="of the collector and the exporter in each round")
    parser.add_argument("--switches", type=int, default=0, help="also sample this many software switches at 1 Hz")
    parser.add_argument("--lab", default="", help="also sample this lab, which has to be up, at 1 Hz")
    parser.add_argument("--seconds", type=float, default=60.0, help="of sampling")
    quiet.add_argument(parser)
    recording.add_argument(parser)
    asked = parser.parse_args()
    records = recording.begin(asked)
    result: dict[str, Any] = {"cores": os.cpu_count(), "kernel": os.uname().release}
    figures: dict[str, Figure] = {}
    if asked.rounds:
        ratios = compare(asked.rounds, asked.polls)
        figures |= {ratio.what: ratio.figure() for ratio in ratios}
        result["per_cpu_second"] = {
            "varbinds_of_a_poll": VARBINDS, "ratios": [ratio.as_dict() for ratio in ratios]
        }  # fmt: skip
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if asked.switches:
            with switches(asked.switches, folder) as many:
                sources = [Timed(PortSource(one, lambda one=one: Agent(access_of(one))), 1.0) for one in many]  # type: ignore[misc]
                sampled = result[f"{asked.switches} switches"] = sample(sources, asked.seconds, folder)
                if not sampled["missed"]:
                    figures["share of a core"] = Figure(value=sampled["cpu_percent_of_a_core"], n=1)
        if asked.lab:
            result[asked.lab] = sample(sources_of(load_lab(find_lab(asked.lab))), asked.seconds, folder)
    print(json.dumps(result, indent=2))
    records.append(figures)


if __name__ == "__main__":
    main()
