"""A SET without an answer is read back before it is sent again, and what it leads to is known for every kind of row."""

from collections.abc import Callable, Sequence

import pytest

from controller.drivers.driver import SnmpSet, SnmpValue
from controller.transports.snmp import Agent
from controller.transports.snmp_access import SnmpAccess
from controller.transports.snmp_set import Objects
from lab.errors import Rejected, Unreachable
from lab.model import Secret

_ACCESS = SnmpAccess("sw1", "192.0.2.1", 161, Secret("/nowhere"), None)
_VLAN = "1.3.6.1.2.1.17.7.1.4.3.1.5.11"
_ENTRY = "1.3.6.1.2.1.17.7.1.3.1.1.4.11.2.238.0.0.0.1.0"
_SPEED = "1.3.6.1.2.1.26.2.1.1.11.5.1"


class _ToyAgent:
    """Objects, and which of the next requests or answers are lost."""

    def __init__(self, losses: Sequence[str]) -> None:
        self.held: dict[str, SnmpValue] = {}
        self.losses = list(losses)
        self.sent = 0

    def set(self, objects: Objects) -> str | None:
        self.sent += 1
        lost = self.losses.pop(0) if self.losses else ""
        if lost == "request":
            return None
        said = "".join(self._make(oid, value) for oid, _, value in objects)
        return None if lost == "answer" else said

    def _make(self, oid: str, value: SnmpValue) -> str:
        if oid == _VLAN:
            if value == 4 and oid in self.held:
                return "inconsistentValue"
            self.held.pop(oid, None)
            if value == 4:
                self.held[oid] = 1
        elif oid == _ENTRY and value == 2:
            self.held.pop(oid, None)
        elif oid == "1.3.6.1.2.1.1.2.0":
            return "notWritable"
        else:
            self.held[oid] = value.ljust(8, b"\0") if isinstance(value, bytes) else value
        return ""

    def close(self) -> None:
        pass


class _Agent(Agent):
    """Reads from the toy without a network."""

    def __init__(self, toy: _ToyAgent) -> None:
        super().__init__(_ACCESS, make_setter=lambda _: toy)
        self.toy = toy

    def get(self, oids: Sequence[str]) -> dict[str, SnmpValue]:
        return {oid: self.toy.held[oid] for oid in oids if oid in self.toy.held}


_PUTS = {
    "a number": SnmpSet((("1.3.6.1.2.1.2.2.1.7.5", "int", 2),), "shut 5"),
    "a port list": SnmpSet((("1.3.6.1.2.1.17.7.1.4.3.1.2.11", "octets", b"\xc0\0"),), "set members"),
    "an object's name": SnmpSet(((_SPEED, "oid", "1.3.6.1.2.1.26.4.30"),), "set speed"),
    "a VLAN that comes": SnmpSet(((_VLAN, "int", 4),), "create VLAN 11"),
    "a VLAN that goes": SnmpSet(((_VLAN, "int", 6),), "destroy VLAN 11"),
    "an entry that goes": SnmpSet(((_ENTRY, "int", 2),), "forget"),
}


@pytest.mark.parametrize("put", _PUTS.values(), ids=_PUTS)
@pytest.mark.parametrize(
    ("losses", "sent"), [([], 1), (["request"], 2), (["answer"], 1), (["request", "answer"], 2), (["request"] * 3, 4)]
)
def test_a_set_is_sent_as_often_as_its_requests_are_lost(put: SnmpSet, losses: list[str], sent: int) -> None:
    toy = _ToyAgent(losses)
    if put.objects[0][2] in {6, 2} and put.what != "shut 5":
        toy.held[put.objects[0][0]] = 1
    sent_ns, done_ns = _Agent(toy).put(put)
    assert sent_ns <= done_ns
    assert toy.sent == sent
    reference = _ToyAgent([])
    reference.set(put.objects)
    assert toy.held == reference.held


def test_a_row_that_came_late_is_not_taken_for_a_refusal() -> None:
    """The first request arrives after it was read back; its repetition is refused, as the row is there by then."""
    toy = _ToyAgent(["request"])
    made: Callable[[Objects], str | None] = toy.set

    def late(objects: Objects) -> str | None:
        if toy.sent == 1:
            toy.held[_VLAN] = 1
        return made(objects)

    toy.set = late  # type: ignore[method-assign]
    _Agent(toy).put(_PUTS["a VLAN that comes"])
    assert toy.sent == 2


def test_a_vlan_that_others_made_is_a_refusal() -> None:
    toy = _ToyAgent([])
    toy.held[_VLAN] = 1
    with pytest.raises(Rejected, match="refused 'create VLAN 11' with: inconsistentValue"):
        _Agent(toy).put(_PUTS["a VLAN that comes"])


def test_a_refusal_is_not_repeated() -> None:
    toy = _ToyAgent([])
    with pytest.raises(Rejected, match="notWritable"):
        _Agent(toy).put(SnmpSet((("1.3.6.1.2.1.1.2.0", "oid", "1.3"),), "rename"))
    assert toy.sent == 1


def test_an_agent_that_never_answers_is_unreachable() -> None:
    toy = _ToyAgent(["request"] * 100)
    with pytest.raises(Unreachable, match="an order to shut 5"):
        _Agent(toy).put(_PUTS["a number"])
    assert toy.sent < 10
