"""The twin's PowerConnect 5524 that executes orders: lines are typed into its shell, SNMP goes over loopback."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from eee_engine import SnmpAgent, VirtualEngine
from gufo.snmp import SnmpVersion
from gufo.snmp.sync import SnmpSession

from eee_testbed.controller.drivers.driver import AdminSet, Line, Show, SnmpSet
from eee_testbed.controller.drivers.places import FINDERS, resolve
from eee_testbed.controller.drivers.ros.driver import DELL_55XX_DRIVER
from eee_testbed.lab.model import Port, Switch
from eee_testbed.twin.cli.shell import Session, Shell
from eee_testbed.twin.families.ros import FAMILY, RosCli
from eee_testbed.twin.families.ros.snmp_profile import SNMP_PROFILE
from eee_testbed.twin.snmp.face import SnmpAccess, SnmpFace
from eee_testbed.twin.switch.device import SwitchDevice
from eee_testbed.twin.switch.personality import DeviceSpec, User

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from eee_testbed.controller.drivers.driver import Answers, Command, Query

ADDRESS = "127.18.250.91"
NUMBERS = {"gi1/0/1": 1, "gi1/0/2": 2, "gi1/0/5": 5, "gi1/0/6": 6, "te1/0/1": 25}
LAG_1 = 27  # bridge port
SWITCH = Switch(
    name="sw1",
    family="dell_powerconnect_55xx",
    model="PowerConnect 5524",
    address="",
    ssh_port=22,
    snmp_port=161,
    user="admin",
    password_file="",
    community_file="community",
    ports=tuple(Port("sw1", name, n, 10_000 if name.startswith("te") else 1000) for name, n in NUMBERS.items()),
)


class RosFace:
    """One switch for many examples: `reset` takes it back to the factory."""

    def __init__(self) -> None:
        self.engine = VirtualEngine(seed=1)
        spec = DeviceSpec("sw1", FAMILY.name, "PowerConnect 5524", bytes.fromhex("02ee01000001"), (), 1.0)
        self.now_s = 0.0
        self.device = SwitchDevice(spec, FAMILY, self.engine, clock_s=lambda: self.now_s)
        self.device.power_on()
        self.now_s = 2.0
        self.device.poll()
        self.snmp = SnmpFace(self.device, SNMP_PROFILE, address=ADDRESS, port=0, access=SnmpAccess({"lab": "rw"}))
        assert isinstance(self.snmp.agent, SnmpAgent)
        self._agent = self.snmp.agent
        self._manager = SnmpSession(addr=ADDRESS, port=self._agent.port, community="lab", version=SnmpVersion.v2c)
        self._manager.__enter__()
        self.reset()

    def close(self) -> None:
        self._manager.__exit__(None, None, None)
        self.snmp.close()

    def reset(self) -> None:
        with self.device.change():
            self.device.personality.config = self.device.personality.factory()
        self.device.faults.refuse = {}
        self.device.faults.ignore_writes = False
        cli = RosCli(self.device)
        session = Session(self.device, cli.first_mode(), peer="127.0.0.1", number=1, page_rows=0)
        self._cli, self._shell = cli, Shell(cli, session, authenticated=User("admin", "secret"))
        self._shell.take()
        self.typed: list[str] = []

    # -- the command line

    @property
    def prompt(self) -> str:
        return self._cli.prompt(self._shell.session).strip()

    def type(self, text: str, replies: Sequence[tuple[str, str]] = ()) -> str:
        """What appears between the echo and the next prompt."""
        shown = self._keys(text + "\r")
        for pattern, reply in replies:
            if re.search(pattern, shown, re.IGNORECASE):
                shown += self._keys(reply.replace("\n", "\r"))
        return shown.partition("\n")[2].rpartition("\n")[0]

    def setup(self, *lines: str) -> None:
        """Lines of configuration, each of which the switch takes."""
        for line in ("configure", *lines):
            assert self.type(line) == "", line
        self.type("end")

    def _keys(self, text: str) -> str:
        for key in text:
            self._shell.feed(key)
        return "".join(chunk.text for chunk in self._shell.take()).replace("\r\n", "\n")

    # -- executing orders and answering queries

    def execute(self, orders: Iterable[Command], each: Callable[[], None] = lambda: None) -> None:
        """As a session does: a refusal stops it, and the prompt has to be the expected one. `each` runs after each."""
        for order in orders:
            if isinstance(order, Line):
                refusal = DELL_55XX_DRIVER.refusal(order, self.type(order.text, order.replies))
                assert not refusal, (order, refusal)
                assert order.prompt, order
                assert re.search(order.prompt, self.prompt), (order, self.prompt)
                self.typed.append(order.text)
            else:
                self.put(order)
            each()

    def put(self, order: SnmpSet | AdminSet) -> None:
        if isinstance(order, AdminSet):
            order = resolve(SWITCH, order, self.ask(FINDERS)).request
        binds: list[Any] = [(name, "int", value) for name, value in order.objects]
        assert self.snmp._snmp_set(binds) == (0, 0), order

    def ask(self, queries: Iterable[Query]) -> Answers:
        self._agent.changed()
        answers: dict[Query, Any] = {}
        for query in queries:
            if isinstance(query, Show):
                answers[query] = self.type(query.command)
            else:
                rows = self._manager.getbulk(query.oid)
                answers[query] = {oid.removeprefix(query.oid + "."): value for oid, value in rows}
        return answers

    # -- what frames meet

    def wire(self, name: str) -> dict[str, Any]:
        """Effective state of a port in the engine, as a `PortState`."""
        number = LAG_1 if name == "lag1" else NUMBERS[name]
        port = self.device.engine_port[number]
        vlans = self.engine.vlans(self.device.switch)
        members = {vid for vid, (inside, _) in vlans.items() if port in inside}
        untagged = {vid for vid, (_, bare) in vlans.items() if port in bare}
        state = self.engine.port(port)
        effect = self.device.effect.ports[number]
        return {
            "admin_up": effect.admin_up,
            "untagged_vids": frozenset(untagged),
            "tagged_vids": frozenset(members - untagged),
            "pvid": state["pvid"],
            "acceptance": state["acceptable"],
            "ingress_filtering": state["ingress_filtering"],
            "eee": effect.eee,
            "flow_control": effect.flow_control,
            "speed_mbps": None if effect.autoneg else effect.advertised_mbps[0],
        }

    def statics(self) -> dict[int, dict[bytes, str]]:
        """Static entries that forward."""
        names = {number: name for name, number in (*NUMBERS.items(), ("lag1", LAG_1))}
        found: dict[int, dict[bytes, str]] = {}
        for (vid, mac), number in self.device.effect.statics.items():
            found.setdefault(vid, {})[mac] = names[number]
        return found
