"""The twin's PowerConnect 5524 that executes orders: lines are typed into its shell, SNMP goes over loopback."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gufo.snmp import SnmpVersion
from gufo.snmp.sync import SnmpSession

from eee_testbed.controller.drivers.driver import AdminSet, Show, SnmpSet
from eee_testbed.controller.drivers.places import FINDERS, resolve
from eee_testbed.controller.drivers.ros.driver import DELL_55XX_DRIVER
from eee_testbed.lab.model import Port, Switch
from eee_testbed.twin.families.ros import FAMILY, RosCli
from eee_testbed.twin.families.ros.snmp_profile import SNMP_PROFILE
from eee_testbed.twin.snmp.face import SnmpAccess, SnmpFace
from tests.support.switches.typed_face import TypedFace

if TYPE_CHECKING:
    from collections.abc import Iterable

    from eee_testbed.controller.drivers.driver import Answers, Query

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


class RosFace(TypedFace):
    """See `TypedFace`; its agent serves all examples."""

    def __init__(self) -> None:
        super().__init__(SWITCH, "02ee01000001", FAMILY, RosCli, DELL_55XX_DRIVER)
        self.snmp = SnmpFace(self.device, SNMP_PROFILE, address=ADDRESS, port=0, access=SnmpAccess({"lab": "rw"}))
        self._agent = self.snmp.agent
        self._manager = SnmpSession(addr=ADDRESS, port=self._agent.port, community="lab", version=SnmpVersion.v2c)
        self._manager.__enter__()

    def close(self) -> None:
        self._manager.__exit__(None, None, None)
        self.snmp.close()

    def setup(self, *lines: str) -> None:
        """Lines of configuration, each of which the switch takes."""
        super().setup("configure", *lines)

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
