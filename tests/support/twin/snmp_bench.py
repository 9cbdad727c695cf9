"""A switch of each family with its SNMP agent on loopback, and net-snmp's tools to query it."""

from __future__ import annotations

import subprocess
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from eee_engine import SnmpAgent, VirtualEngine

from eee_testbed.twin.families import fastpath, ros
from eee_testbed.twin.families.table import FAMILIES
from eee_testbed.twin.snmp.face import SnmpAccess, SnmpFace
from eee_testbed.twin.switch.device import SwitchDevice
from eee_testbed.twin.switch.personality import DeviceSpec, Family

if TYPE_CHECKING:
    from eee_engine import UsmUser

READ, WRITE = "glance", "scribble"
ADDRESS = "127.18.250.1"
SECOND_PS = 10**12
BOOT_S = 60.0
MODELS = {
    "ros": (ros.FAMILY, "PowerConnect 5524"),
    "fastpath": (fastpath.FAMILY, "M4300-28G"),
}


def usm_user(name: str, auth: str, priv: str, access: str = "rw") -> UsmUser:
    return {
        "name": name,
        "auth": auth,  # type: ignore[typeddict-item]
        "auth_password": "maplesyrup",
        "priv": priv,  # type: ignore[typeddict-item]
        "priv_password": "pancakes4u",
        "access": access,  # type: ignore[typeddict-item]
    }


USERS = (
    usm_user("shaaes", "sha", "aes"),
    usm_user("md5des", "md5", "des"),
    usm_user("sha256aes", "sha256", "aes"),
    usm_user("authonly", "sha", "none"),
    usm_user("open", "none", "none", "ro"),
)


@dataclass
class Reply:
    """Output of a tool: exit code, lines of values, complaint."""

    code: int
    lines: list[str]
    complaint: str

    @property
    def values(self) -> dict[str, str]:
        """OID with leading dot -> printed value."""
        return dict(line.split(" = ", 1) for line in self.lines if " = " in line)


@dataclass
class Manager:
    """net-snmp's command line against one agent."""

    address: str
    community: str = READ
    user_options: tuple[str, ...] = ()
    timeout_s: float = 2
    common: tuple[str, ...] = field(default=("-On", "-Oe", "-Ot", "-r1"))

    def run(self, tool: str, *arguments: str) -> Reply:
        who = self.user_options or ("-v2c", "-c", self.community)
        done = subprocess.run(
            [tool, *who, *self.common, "-t", str(self.timeout_s), self.address, *arguments],
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
        return Reply(done.returncode, done.stdout.splitlines(), done.stderr)

    def get(self, *names: str) -> Reply:
        return self.run("snmpget", *names)

    def walk(self, name: str = ".1") -> dict[str, str]:
        reply = self.run("snmpbulkwalk", name)
        assert reply.code == 0, reply.complaint
        return reply.values

    def set(self, *triples: str) -> Reply:
        return Manager(self.address, WRITE, self.user_options).run("snmpset", *triples)


@dataclass
class Clock:
    """Wall-clock time that can be advanced."""

    ahead_s: float = 0.0

    def __call__(self) -> float:
        return time.monotonic() + self.ahead_s


@dataclass
class Bench:
    """A ready switch with two hosts on its first two ports."""

    engine: VirtualEngine
    device: SwitchDevice
    face: SnmpFace
    hosts: list[int]
    cables: list[int]
    manager: Manager
    clock: Clock

    def boot(self) -> None:
        """Power it on and let it boot."""
        self.device.power_on()
        self.clock.ahead_s += BOOT_S
        self.device.poll()
        self.find()

    def run_for(self, seconds: float) -> None:
        self.engine.run_until(self.engine.now_ps() + int(seconds * SECOND_PS))
        self.face.agent.changed()

    def find(self) -> None:
        """Read the agent's port, which changes at each boot."""
        self.manager.address = f"{ADDRESS}:{self.agent.port}"

    @property
    def agent(self) -> SnmpAgent:
        return self.face.agent


def make_bench(family_name: str, **engine_options: object) -> Bench:
    """Make a bench: switch booted, links up."""
    family: Family
    family, model = MODELS[family_name]
    engine = VirtualEngine(seed=1)
    spec = DeviceSpec(
        "sw1", family.name, model, bytes.fromhex("025e00000100"), (), BOOT_S, engine_options=engine_options
    )
    clock = Clock()
    device = SwitchDevice(spec, family, engine, clock_s=clock)
    face = SnmpFace(
        device,
        FAMILIES[family.name].snmp,
        address=ADDRESS,
        port=0,
        access=SnmpAccess({READ: "ro", WRITE: "rw"}, USERS),
    )
    hosts = [engine.add_host(f"n{n}", mac=bytes([2, 0, 0, 0, 0, n])) for n in (1, 2)]
    cables = [engine.connect(device.ports[n].engine_port, host) for n, host in enumerate(hosts)]
    bench = Bench(engine, device, face, hosts, cables, Manager(ADDRESS), clock)
    bench.boot()
    bench.run_for(30)
    return bench
