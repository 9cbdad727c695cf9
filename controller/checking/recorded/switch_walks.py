"""Readers of a switch's SNMP objects, held against a recorded walk. Pure.

The recording says itself what is right: an interface's ifIndex, and both of its names. The inventories that it is asked
for are made of those names, in other orders and spellings than the agent's, and once of a port that it does not have.
"""

from collections.abc import Iterator, Mapping
from functools import partial

from eee_testbed.controller.checking.recorded.verdict import Verdict, judge, judge_refusal
from eee_testbed.controller.checking.recorded.walks import Recorded, answers_of, below
from eee_testbed.controller.drivers.bridge_mib import VLAN_EGRESS, VLAN_UNTAGGED, VLAN_WALKS, vlan_table
from eee_testbed.controller.drivers.driver import Answers, Walk
from eee_testbed.controller.drivers.interface_names import interface_key
from eee_testbed.controller.drivers.mib_rows import text_of
from eee_testbed.controller.drivers.places import BASE_PORT_IF_INDEX, FINDERS, IF_DESCR, IF_NAME, places
from eee_testbed.lab.model import Port, Switch

_IF_TYPE = "1.3.6.1.2.1.2.2.1.3"
_ETHERNET = {6, 117}  # ethernetCsmacd, gigabitEthernet
_ACTIVE = 1


def judge_switch(recording: str, device: str, recorded: Recorded) -> Iterator[Verdict]:
    """Verdicts on where the ports of a switch are, and on their memberships."""
    by_name, by_description = (_names(recorded, walk.oid) for walk in (IF_NAME, IF_DESCR))
    if not by_name and not by_description:
        return
    answers = answers_of(recorded, FINDERS)
    for what, names in (("ports by ifName", by_name), ("ports by ifDescr", by_description)):
        if not names:
            continue
        for spelled in _inventories(names):
            switch = _switch(list(spelled))
            yield judge(recording, device, what, partial(_found, switch, answers), dict(spelled))
    stranger = _stranger({*by_name, *by_description})
    yield judge_refusal(
        recording, device, "a port that it does not have", partial(_found, _switch([stranger]), answers)
    )
    yield from _memberships(recording, device, recorded, by_name or by_description)


def _names(recorded: Recorded, oid: str) -> dict[str, int]:
    """IfIndex by name, of Ethernet interfaces whose names are known and unlike each other."""
    kinds = below(recorded, _IF_TYPE)
    names: dict[str, int] = {}
    twice: set[object] = set()
    keys: set[object] = set()
    for index, value in below(recorded, oid).items():
        name = text_of(value).strip()
        key = interface_key(name)
        if not name or not index.isdecimal() or (kinds and kinds.get(index) not in _ETHERNET):
            continue
        if key is None or name in names or key in keys:
            twice.add(key)
            continue
        keys.add(key)
        names[name] = int(index)
    return {name: index for name, index in names.items() if interface_key(name) not in twice}


def _inventories(names: Mapping[str, int]) -> Iterator[dict[str, int]]:
    """The same ports as inventories may list them, each with the right ifIndex: backwards, in capitals, half."""
    yield dict(reversed(list(names.items())))
    yield {name.upper(): index for name, index in names.items()}
    yield dict(list(names.items())[len(names) // 2 :])


def _stranger(names: set[str]) -> str:
    """A name of the usual shape that no interface has."""
    keys = {interface_key(name) for name in names}
    candidates = (f"{kind}{unit}/{n}" for unit in ("0", "1/0", "9/9") for kind in ("Fa", "Gi", "") for n in (1, 77))
    return next(name for name in candidates if interface_key(name) not in keys)


def _switch(names: list[str]) -> Switch:
    ports = tuple(Port("recorded", name, n, 1000) for n, name in enumerate(names, 1))
    return Switch("recorded", "cisco_sg", "", "", 22, 161, "", "", "", ports)


def _found(switch: Switch, answers: Answers) -> dict[str, int]:
    return {place.name: place.if_index for place in places(switch, answers)}


def _memberships(recording: str, device: str, recorded: Recorded, names: Mapping[str, int]) -> Iterator[Verdict]:
    egress = below(recorded, VLAN_EGRESS.oid)
    base_ports = below(recorded, BASE_PORT_IF_INDEX.oid)
    numbers = {value: int(number) for number, value in base_ports.items() if number.isdecimal()}
    bridged = {name: numbers[index] for name, index in names.items() if index in numbers}
    if not egress or not bridged:
        return
    switch = _switch(list(bridged))
    answers = answers_of(recorded, (*FINDERS, *VLAN_WALKS))
    expected = {name: _bits(recorded, number) for name, number in bridged.items()}

    def read() -> dict[str, tuple[frozenset[int], frozenset[int]]]:
        table = vlan_table(switch, places(switch, answers), answers)
        return {name: (port.tagged_vids, port.untagged_vids) for name, port in table.ports.items()}

    yield judge(recording, device, "VLANs of ports", read, expected)


def _bits(recorded: Recorded, number: int) -> tuple[frozenset[int], frozenset[int]]:
    """Tagged and untagged VLANs of a bridge port, by the port's bit in each list as text of zeros and ones."""
    status = below(recorded, "1.3.6.1.2.1.17.7.1.4.3.1.5")
    lists = {walk: below(recorded, walk.oid) for walk in (VLAN_EGRESS, VLAN_UNTAGGED)}

    def has(walk: Walk, vid: str) -> bool:
        octets = lists[walk].get(vid, b"")
        digits = "".join(f"{octet:08b}" for octet in octets) if isinstance(octets, bytes) else ""
        return digits[number - 1 : number] == "1"

    vids = [vid for vid, value in status.items() if vid.isdecimal() and value == _ACTIVE and has(VLAN_EGRESS, vid)]
    untagged = frozenset(int(vid) for vid in vids if has(VLAN_UNTAGGED, vid))
    return frozenset(map(int, vids)) - untagged, untagged
