"""How many varbinds an SNMP agent answers in one second of its own CPU time, beside pysnmp's agent.

``python -m evaluation.speed.snmp_agent`` starts each agent in a process of its own on loopback, replays one prepared
GETBULK (SNMPv2c, one column, as many repetitions as a datagram takes) from a raw socket with several requests
outstanding, and prints one JSON object: per agent the median and extremes over rounds. The agents take turns round by
round. CPU is the agent process's, all threads, user and system, from ``/proc/PID/schedstat`` (nanoseconds). The
engine's agent serves a switch of 48 ports with all its groups and rebuilds its table ten times a second; pysnmp's (left
out with ``--alone``) serves a column of Counter64 of the same length.
"""

import argparse
import json
import os
import select
import signal
import socket
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evaluation import quiet, recording
from evaluation.speed.figures import Ratio, paired

ADDRESS = "127.18.251.1"
COMMUNITY = b"public"
PORTS = 48
REPETITIONS = 60
OUTSTANDING = 8
IF_HC_IN_OCTETS = bytes([0x2B, 6, 1, 2, 1, 31, 1, 1, 1, 6])

ENGINE_AGENT = f"""
import os, sys
from eee_engine import SnmpAgent, VirtualEngine
engine = VirtualEngine()
names = [f"gi1/0/{{n}}" for n in range(1, {PORTS} + 1)]
mac = bytes.fromhex("025e00000100")
switch = engine.add_switch("sw1", phys=["1000BASE-T"] * {PORTS}, port_names=names, base_mac=mac)
agent = SnmpAgent(address="{ADDRESS}", port=0, engine_id=b"\\x80\\x00\\x02\\xa2\\x05bench",
                  communities={{"public": "ro"}}, users=())
index = {{port: n for n, port in enumerate(switch["ports"], start=1)}}
agent.serve(engine, {{"switch": switch["switch"], "if_index": index, "bridge_port": index,
                      "groups": ["if", "ifx", "etherlike", "bridge", "qbridge", "mau", "ros_eee"]}})
agent.start()
print(os.getpid(), agent.port, flush=True)
sys.stdin.read()
"""

PYSNMP_AGENT = f"""
import asyncio, os, socket
from pysnmp.carrier.asyncio.dgram import udp
from pysnmp.entity import config, engine
from pysnmp.entity.rfc3413 import cmdrsp, context
from pysnmp.proto.api import v2c
probe = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
probe.bind(("{ADDRESS}", 0))
port = probe.getsockname()[1]
probe.close()
loop = asyncio.new_event_loop()
asyncio.set_event_loop(loop)
snmp = engine.SnmpEngine()
config.add_transport(snmp, udp.DOMAIN_NAME, udp.UdpTransport().open_server_mode(("{ADDRESS}", port)))
config.add_v1_system(snmp, "area", "public")
config.add_vacm_user(snmp, 2, "area", "noAuthNoPriv", readSubTree=(1, 3, 6))
here = context.SnmpContext(snmp)
builder = here.get_mib_instrum().get_mib_builder()
MibScalar, MibScalarInstance = builder.import_symbols("SNMPv2-SMI", "MibScalar", "MibScalarInstance")
column = (1, 3, 6, 1, 2, 1, 31, 1, 1, 1, 6)
rows = [MibScalarInstance(column, (n,), v2c.Counter64(2**40 + n)) for n in range(1, {PORTS} * 4)]
named = {{f"row{{n}}": row for n, row in enumerate(rows)}}
builder.export_symbols("bench", MibScalar(column, v2c.Counter64()), **named)
cmdrsp.GetCommandResponder(snmp, here)
cmdrsp.NextCommandResponder(snmp, here)
cmdrsp.BulkCommandResponder(snmp, here)
snmp.transport_dispatcher.job_started(1)
print(os.getpid(), port, flush=True)
snmp.open_dispatcher()
"""


@dataclass(slots=True)
class AgentProcess:
    """An agent in a process of its own."""

    name: str
    process: subprocess.Popen[str]
    pid: int
    port: int
    per_cpu_second: list[float] = field(default_factory=list)
    per_second: list[float] = field(default_factory=list)


def element(tag: int, content: bytes) -> bytes:
    """BER with lengths up to 255."""
    size = len(content)
    return bytes([tag, size] if size < 128 else [tag, 0x81, size]) + content


def getbulk(column: bytes, repetitions: int) -> bytes:
    """A message of SNMPv2c that asks for one column."""
    binding = element(0x30, element(0x06, column) + element(0x05, b""))
    pdu = element(0x02, b"\x2a") + element(0x02, b"\0") + element(0x02, bytes([repetitions])) + element(0x30, binding)
    return element(0x30, element(0x02, b"\1") + element(0x04, COMMUNITY) + element(0xA5, pdu))


def contents(data: bytes) -> list[tuple[int, bytes]]:
    """Elements in series."""
    found, at = [], 0
    while at < len(data):
        tag, size, at = data[at], data[at + 1], at + 2
        if size & 0x80:
            octets = size & 0x7F
            size, at = int.from_bytes(data[at : at + octets]), at + octets
        found.append((tag, data[at : at + size]))
        at += size
    return found


def varbinds_in(answer: bytes) -> int:
    """Varbinds of a GetResponse without error."""
    message = contents(contents(answer)[0][1])
    pdu = contents(message[2][1])
    assert message[2][0] == 0xA2, "the agent answers with a Response"
    assert pdu[1][1] == b"\0", "the agent answers without error"
    return len(contents(pdu[3][1]))


def tree_cpu_s(pid: int) -> float:
    """CPU seconds of a process, all its threads."""
    return (
        sum(int(Path(task, "schedstat").read_text().split()[0]) for task in Path(f"/proc/{pid}/task").iterdir()) / 1e9
    )


def play_round(agent: AgentProcess, request: bytes, seconds: float) -> tuple[float, float]:
    """Varbinds per second of the agent's CPU time, and per second of wall time."""
    counts: dict[int, int] = {}
    total = 0
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as manager:
        manager.connect((ADDRESS, agent.port))
        cpu_s, begun_s = tree_cpu_s(agent.pid), time.monotonic()
        for _ in range(OUTSTANDING):
            manager.send(request)
        while time.monotonic() - begun_s < seconds:
            if not select.select([manager], [], [], 5.0)[0]:
                sys.exit(f"the agent of {agent.name} does not respond")
            answer = manager.recv(65_536)
            size = len(answer)
            if size not in counts:
                counts[size] = varbinds_in(answer)
            total += counts[size]
            manager.send(request)
        return total / (tree_cpu_s(agent.pid) - cpu_s), total / (time.monotonic() - begun_s)


def start(name: str, argv: list[str]) -> AgentProcess:
    """Start an agent and read its process and port; exits if it does not start."""
    process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    said = process.stdout.readline().split()
    if len(said) != 2:
        process.kill()
        sys.exit(f"the agent of {name} did not start: see its error message above")
    return AgentProcess(name, process, int(said[0]), int(said[1]))


def summary(values: list[float]) -> dict[str, float]:
    """Median and extremes of rounds."""
    return {"median": statistics.median(values), "min": min(values), "max": max(values)}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2.0, help="length of a round")
    parser.add_argument("--alone", action="store_true", help="leave pysnmp out")
    quiet.add_argument(parser)
    recording.add_argument(parser)
    asked = parser.parse_args()
    records = recording.begin(asked)
    request = getbulk(IF_HC_IN_OCTETS, REPETITIONS)
    agents = [start("engine", [sys.executable, "-c", ENGINE_AGENT])]
    try:
        if not asked.alone:
            agents.append(start("pysnmp", [sys.executable, "-c", PYSNMP_AGENT]))
        for _ in range(asked.rounds):
            for agent in agents:
                cpu, wall = play_round(agent, request, asked.seconds)
                agent.per_cpu_second.append(cpu)
                agent.per_second.append(wall)
    finally:
        for agent in agents:
            os.kill(agent.pid, signal.SIGTERM)
            agent.process.wait()
    result: dict[str, Any] = {"cores": os.cpu_count(), "kernel": os.uname().release, "repetitions": REPETITIONS}
    for agent in agents:
        result[agent.name] = {
            "varbinds_per_cpu_second": summary(agent.per_cpu_second),
            "varbinds_per_second": summary(agent.per_second),
        }
    ratios: list[Ratio] = []
    if len(agents) == 2:
        ratio = paired("engine to pysnmp", "varbinds per CPU second", *(agent.per_cpu_second for agent in agents))
        result["engine_to_pysnmp"] = ratio.as_dict()
        ratios.append(ratio)
    print(json.dumps(result, indent=2))
    records.append({ratio.what: ratio.figure() for ratio in ratios})


if __name__ == "__main__":
    main()
