"""The twin's M4300 that executes orders: they go into its command line, walks to its agent on loopback."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gufo.snmp import SnmpVersion
from gufo.snmp.sync import SnmpSession

from eee_testbed.controller.drivers.driver import AdminSet, Show, SnmpSet, Walk
from eee_testbed.controller.drivers.fastpath.driver import NETGEAR_M4300
from eee_testbed.controller.drivers.places import FINDERS, resolve
from eee_testbed.lab.model import Port, Switch
from eee_testbed.twin.families.fastpath import FAMILY, FastpathCli
from eee_testbed.twin.families.fastpath.snmp_profile import SNMP_PROFILE
from eee_testbed.twin.snmp.face import SnmpAccess, SnmpFace
from tests.support.switches.typed_face import TypedFace

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from eee_testbed.controller.drivers.driver import Answers, Query, SnmpValue

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


class Face(TypedFace):
    """See `TypedFace`."""

    def __init__(self) -> None:
        super().__init__(SWITCH, "02ee05000000", FAMILY, FastpathCli, NETGEAR_M4300)

    def reset(self) -> None:
        super().reset()
        self.type("enable")

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
            port = face.agent.port
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
