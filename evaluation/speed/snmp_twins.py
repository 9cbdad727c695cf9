"""Switches that consist of an SNMP agent alone, in a process of their own: targets for measuring collectors."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from eee_testbed.lab.model import Port, Switch

PORTS = 48
COMMUNITY = "public"

_PROGRAM = """
import sys, time
from eee_engine import SnmpAgent, VirtualEngine
engine, agents, count, ports = VirtualEngine(), [], int(sys.argv[1]), int(sys.argv[2])
names = [f"gi1/0/{n}" for n in range(1, ports + 1)]
for k in range(count):
    mac = bytes([2, 0x5E, 0, 0, k + 1, 0])
    switch = engine.add_switch(f"sw{k + 1}", phys=["1000BASE-T"] * ports, port_names=names, base_mac=mac)
    agent = SnmpAgent(address=f"127.18.252.{k + 1}", port=0, engine_id=b"\\x80\\x00\\x02\\xa2\\x05" + mac,
                      communities={"public": "ro"}, users=())
    index = {port: n for n, port in enumerate(switch["ports"], start=1)}
    agent.serve(engine, {"switch": switch["switch"], "if_index": index, "bridge_port": index,
                         "groups": ["if", "ifx", "etherlike", "bridge", "qbridge", "mau", "ros_eee"]})
    agent.put([("1.3.6.1.2.1.1.3.0", "uptime", time.monotonic())])
    agent.start()
    agents.append(agent)
print(*(agent.port for agent in agents), flush=True)
sys.stdin.read()
"""


@contextmanager
def switches(count: int, folder: Path) -> Iterator[list[Switch]]:
    """`count` switches of 48 ports whose agents answer on loopback until the context ends."""
    secret = folder / "community"
    secret.write_text(COMMUNITY, encoding="utf-8")
    secret.chmod(0o600)
    argv = [sys.executable, "-c", _PROGRAM, str(count), str(PORTS)]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            if process.stdout is None:
                raise AssertionError("stdout is a pipe")
            ports = [int(word) for word in process.stdout.readline().split()]
            if len(ports) != count:
                sys.exit("the agents did not start: see their error message above")
            yield [_switch(n, port, str(secret)) for n, port in enumerate(ports, start=1)]
        finally:
            process.kill()


def _switch(number: int, snmp_port: int, secret: str) -> Switch:
    name = f"sw{number}"
    ports = tuple(Port(name, f"gi1/0/{n}", n, 1000) for n in range(1, PORTS + 1))
    return Switch(
        name=name,
        family="dell_powerconnect_55xx",
        model="PowerConnect 5548",
        address=f"127.18.252.{number}",
        ssh_port=22,
        snmp_port=snmp_port,
        user="",
        password_file="",
        community_file=secret,
        ports=ports,
    )
