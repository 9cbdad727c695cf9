"""After a SET without a response its objects are read before it is sent again."""

from collections.abc import Callable, Sequence

import pytest

from eee_testbed.controller.drivers.driver import SnmpSet, SnmpValue
from eee_testbed.controller.transports.snmp import Agent
from eee_testbed.controller.transports.snmp_access import SnmpAccess
from eee_testbed.controller.transports.snmp_set import Objects
from eee_testbed.lab.errors import Rejected, Unreachable
from eee_testbed.lab.model import Secret

_ACCESS = SnmpAccess("sw1", "192.0.2.1", 161, Secret("/nowhere"), None)
_ADMIN_STATUS = "1.3.6.1.2.1.2.2.1.7.5"
_LOCKED = "1.3.6.1.2.1.2.2.1.7.6"


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
        said = "".join(self._make(oid, value) for oid, value in objects)
        return None if lost == "answer" else said

    def _make(self, oid: str, value: SnmpValue) -> str:
        if oid == "1.3.6.1.2.1.1.2.0":
            return "notWritable"
        if oid == _LOCKED and oid in self.held:
            return "inconsistentValue"
        self.held[oid] = value
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


_SHUT = SnmpSet(((_ADMIN_STATUS, 2),), "shut 5")
_SETS = {
    "one object": _SHUT,
    "several objects": SnmpSet(((_ADMIN_STATUS, 1), ("1.3.6.1.2.1.17.7.1.4.5.1.1.5", 20)), "wake 5, set its PVID"),
}
_LOCK = SnmpSet(((_LOCKED, 2),), "shut 6")
"""An object that the agent lets be set once only."""


@pytest.mark.parametrize("put", _SETS.values(), ids=_SETS)
@pytest.mark.parametrize(
    ("losses", "sent"), [([], 1), (["request"], 2), (["answer"], 1), (["request", "answer"], 2), (["request"] * 3, 4)]
)
def test_a_set_is_sent_as_often_as_its_requests_are_lost(put: SnmpSet, losses: list[str], sent: int) -> None:
    toy = _ToyAgent(losses)
    sent_ns, done_ns = _Agent(toy).put(put)
    assert sent_ns <= done_ns
    assert toy.sent == sent
    reference = _ToyAgent([])
    reference.set(put.objects)
    assert toy.held == reference.held


def test_a_set_that_took_effect_late_is_not_a_refusal() -> None:
    """The first request arrives after the read; its repetition is refused, as the object has its value by then."""
    toy = _ToyAgent(["request"])
    made: Callable[[Objects], str | None] = toy.set

    def late(objects: Objects) -> str | None:
        if toy.sent == 1:
            toy.held[_LOCKED] = 2
        return made(objects)

    toy.set = late  # type: ignore[method-assign]
    _Agent(toy).put(_LOCK)
    assert toy.sent == 2


def test_a_refusal_of_the_first_request_is_rejected() -> None:
    toy = _ToyAgent([])
    toy.held[_LOCKED] = 2
    with pytest.raises(Rejected, match="refused 'shut 6' with: inconsistentValue"):
        _Agent(toy).put(_LOCK)


def test_a_refusal_is_not_repeated() -> None:
    toy = _ToyAgent([])
    with pytest.raises(Rejected, match="notWritable"):
        _Agent(toy).put(SnmpSet((("1.3.6.1.2.1.1.2.0", 1),), "rename"))
    assert toy.sent == 1


def test_an_agent_that_never_answers_is_unreachable() -> None:
    toy = _ToyAgent(["request"] * 100)
    with pytest.raises(Unreachable, match="a SET to shut 5"):
        _Agent(toy).put(_SHUT)
    assert toy.sent < 10
