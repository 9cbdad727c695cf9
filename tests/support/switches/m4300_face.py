"""The twin's M4300 that executes orders: they go into its command line, walks to its agent on loopback."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from eee_engine import VirtualEngine
from gufo.snmp import SnmpVersion
from gufo.snmp.sync import SnmpSession

from eee_testbed.controller.drivers.driver import AdminSet, Line, Show, SnmpSet, Walk
from eee_testbed.controller.drivers.fastpath.driver import NETGEAR_M4300
from eee_testbed.controller.drivers.places import FINDERS, resolve
from eee_testbed.lab.model import Port, Switch
from eee_testbed.twin.cli.shell import Session, Shell
from eee_testbed.twin.families.fastpath import FAMILY, FastpathCli
from eee_testbed.twin.families.fastpath.snmp_profile import SNMP_PROFILE
from eee_testbed.twin.snmp.face import SnmpAccess, SnmpFace
from eee_testbed.twin.switch.device import SwitchDevice
from eee_testbed.twin.switch.personality import DeviceSpec, User

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from eee_testbed.controller.drivers.driver import Answers, Command, Query, SnmpValue

ADDRESS = "127.18.250.77"
NAMES = ("1/0/1", "1/0/2", "1/0/3", "1/0/5", "1/0/6", "1/0/25")
FASTEST_MBPS = {name: 10_000 if name == "1/0/25" else 1000 for name in NAMES}
SWITCH = Switch(
    name="sw5",
    family="netgear_m4300",
    model="M4300-28G",
    address="",
    ssh_port=22,
    snmp_port=161,
    user="admin",
    password_file="",
    community_file="community",
    ports=tuple(Port("sw5", name, int(name.rpartition("/")[2]), FASTEST_MBPS[name]) for name in NAMES),
)


class Face:
    """One switch for many examples: `reset` takes it back to the factory."""

    def __init__(self) -> None:
        self.engine = VirtualEngine(seed=1)
        spec = DeviceSpec("sw5", "netgear_m4300", "M4300-28G", bytes.fromhex("02ee05000000"), (), 1.0)
        self.now_s = 0.0
        self.device = SwitchDevice(spec, FAMILY, self.engine, clock_s=lambda: self.now_s)
        self.device.power_on()
        self.now_s = 2.0
        self.device.poll()
        self._cli = FastpathCli(self.device)
        self.reset()

    def reset(self) -> None:
        with self.device.change():
            self.device.personality.config = self.device.personality.factory()
        session = Session(self.device, self._cli.first_mode(), peer="127.0.0.1", number=1, page_rows=0)
        self._shell = Shell(self._cli, session, authenticated=User("admin", "secret"))
        self._shell.take()
        self.type("enable")
        self.typed: list[str] = []

    # -- the command line

    @property
    def prompt(self) -> str:
        return self._cli.prompt(self._shell.session).strip()

    def type(self, text: str, replies: Sequence[tuple[str, str]] = ()) -> str:
        """What appears between the echo and the next prompt."""
        shown = self._keys(text + "\r")
        for pattern, reply in replies:
            if re.search(pattern, shown):
                shown += self._keys(reply)
        return shown.partition("\n")[2].rpartition("\n")[0]

    def setup(self, *lines: str) -> None:
        """Lines from privileged mode, each of which the switch takes."""
        for line in lines:
            assert self.type(line) == "", line
        self.type("end")

    def _keys(self, text: str) -> str:
        for key in text:
            self._shell.feed(key)
        return "".join(chunk.text for chunk in self._shell.take()).replace("\r\n", "\n")

    # -- executing orders

    def execute(self, orders: Iterable[Command]) -> None:
        """As a session does: any text is a refusal, and the prompt has to be the one that was expected."""
        for order in orders:
            if isinstance(order, Line):
                refusal = NETGEAR_M4300.refusal(order, self.type(order.text, order.replies))
                assert not refusal, (order, refusal)
                assert re.search(order.prompt, self.prompt), (order, self.prompt)
                self.typed.append(order.text)
            else:
                self.put(order)

    def put(self, order: SnmpSet | AdminSet) -> None:
        if isinstance(order, AdminSet):
            order = resolve(SWITCH, order, self.ask(FINDERS)).request
        face = self._agent()
        try:
            binds: list[Any] = [(name, "int", value) for name, value in order.objects]
            assert face._snmp_set(binds) == (0, 0), order
        finally:
            face.close()

    # -- asking

    def ask(self, queries: Iterable[Query]) -> Answers:
        answers: dict[Query, Any] = {}
        walks = []
        for query in queries:
            if isinstance(query, Show):
                answers[query] = self.type(query.command)
            else:
                walks.append(query)
        if walks:
            answers |= self._walk(walks)
        return answers

    def _agent(self) -> SnmpFace:
        return SnmpFace(self.device, SNMP_PROFILE, address=ADDRESS, port=0, access=SnmpAccess({"lab": "rw"}))

    def _walk(self, walks: Sequence[Walk]) -> dict[Walk, dict[str, SnmpValue]]:
        face = self._agent()
        try:
            port = face.agent.port  # type: ignore[attr-defined]
            with SnmpSession(addr=ADDRESS, port=port, community="lab", version=SnmpVersion.v2c) as manager:
                return {
                    walk: {oid.removeprefix(walk.oid + "."): value for oid, value in manager.getbulk(walk.oid)}
                    for walk in walks
                }
        finally:
            face.close()

    # -- what frames meet

    def wire(self, name: str) -> dict[str, Any]:
        """Effective state of a port in the engine, as a `PortState`."""
        number = {"lag1": 29}.get(name) or SWITCH.port(name).number
        port = self.device.engine_port[number]
        vlans = self.engine.vlans(self.device.switch)
        members = {vid for vid, (all_, _) in vlans.items() if port in all_}
        untagged = {vid for vid, (_, bare) in vlans.items() if port in bare}
        state = self.engine.port(port)
        return {
            "admin_up": state["admin_up"],
            "untagged_vids": untagged,
            "tagged_vids": members - untagged,
            "pvid": state["pvid"],
            "acceptance": state["acceptable"],
            "ingress_filtering": state["ingress_filtering"],
            "eee": state["eee_admin"],
            "flow_control": self.device.effect.ports[number].flow_control,
            "stp": self.device.personality.config.ports[number].spanning_tree,
            "advertised_mbps": state["advertised_mbps"],
        }

    def statics(self) -> dict[int, dict[bytes, str]]:
        """Static entries that forward."""
        names = {self.device.engine_port[port.number]: port.name for port in SWITCH.ports}
        found: dict[int, dict[bytes, str]] = {}
        for entry in self.engine.fdb(self.device.switch):
            if entry["static"]:
                found.setdefault(entry["vid"], {})[entry["mac"]] = names[entry["port"]]
        return found
