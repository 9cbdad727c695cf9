"""Tables whose columns belong together in a SET: VLANs, static addresses, copying the configuration.

A SET PDU's columns are gathered row by row first, because the order of varbinds has no meaning (RFC 3416,
section 4.2.5): a VLAN may be named before the varbind that creates it.

A VLAN made with createAndWait is not yet in the running configuration: it waits in the agent, notInService, until it is
set to active. Forbidden egress ports can only be set to the empty list; the families' `forbidden` lines are out of
reach.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from eee_testbed.twin.snmp.values import RowStatus, SetRefused, Status, ascii_text, one_of, parse_port_list
from eee_testbed.twin.switch.personality import Refused

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, MutableMapping

    from eee_testbed.twin.switch.device import SwitchDevice
    from eee_testbed.twin.switch.personality import Personality

VLAN_STATIC = "1.3.6.1.2.1.17.7.1.4.3.1"
STATIC_UNICAST = "1.3.6.1.2.1.17.7.1.3.1.1"
RL_COPY = "1.3.6.1.4.1.89.87.2.1"
VLAN_NAME_MAX_BYTE = 32
_NAME, _EGRESS, _FORBIDDEN, _UNTAGGED, _ROW_STATUS = range(1, 6)
_ALLOWED_TO_GO_TO, _STATIC_STATUS = 3, 4
_STATIC_INVALID, _STATIC_PERMANENT = 2, 3

Cells = dict[int, tuple[int, object]]
"""Column -> (position of the varbind from 1, parsed value)."""


@dataclass(frozen=True, slots=True)
class WaitingVlan:
    """A VLAN row that is not active."""

    name: str = ""
    egress: frozenset[int] = frozenset()
    untagged: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Step:
    """One call on the configuration. Steps run in the order of `phase`; `index` is the varbind that an error names."""

    phase: int
    index: int
    act: Callable[[Personality], None]


CREATE, NAME, MEMBERS, SETTINGS, DESTROY = range(5)


# -- VLANs


def read_vlan_cell(column: int, kind: str, value: object, port_count: int) -> object:
    """Check one varbind of dot1qVlanStaticTable."""
    needed_kind = "int" if column == _ROW_STATUS else "octets"
    if kind != needed_kind:
        raise SetRefused(Status.WRONG_TYPE)
    match column:
        case 1:
            return ascii_text(value, VLAN_NAME_MAX_BYTE)
        case 5:
            return RowStatus(one_of(value, (1, 2, 4, 5, 6)))
        case _:
            ports = parse_port_list(value, port_count)
            if column == _FORBIDDEN and ports:
                raise SetRefused(Status.WRONG_VALUE)
            return ports


def vlan_steps(
    device: SwitchDevice,
    waiting: MutableMapping[int, WaitingVlan],
    vid: int,
    cells: Cells,
) -> list[Step]:
    """Return the steps for one VLAN row of a SET; waiting rows are changed in `waiting` at once."""
    exists = vid in device.personality.vlan_names()
    first = min(index for index, _ in cells.values())
    index, status = cells.get(_ROW_STATUS, (first, None))
    create = _becomes_active(status, index, exists=exists, waits=vid in waiting)
    if status is RowStatus.DESTROY:
        waiting.pop(vid, None)
        return [Step(DESTROY, index, lambda p: p.destroy_vlan(vid))] if exists else []
    if not exists:
        row = _filled(waiting.get(vid, WaitingVlan()), cells)
        if not create:
            waiting[vid] = row
            return []
        waiting.pop(vid, None)
        steps = [Step(CREATE, index, lambda p: p.create_vlan(vid))]
        if row.name:
            steps.append(Step(NAME, cells.get(_NAME, (index, None))[0], lambda p: p.rename_vlan(vid, row.name)))
        if row.egress or row.untagged:
            steps.append(_members(vid, row.egress, row.untagged, cells.get(_EGRESS, (index, None))[0]))
        return steps
    return _changes(device, vid, cells)


def _becomes_active(status: object, index: int, *, exists: bool, waits: bool) -> bool:
    """Whether the row becomes active now; raises where RFC 2579's table of RowStatus does not allow the change."""
    match status:
        case RowStatus.CREATE_AND_GO | RowStatus.CREATE_AND_WAIT:
            if exists or waits:
                raise SetRefused(Status.INCONSISTENT_VALUE, index)
            return status is RowStatus.CREATE_AND_GO
        case RowStatus.ACTIVE:
            if not exists and not waits:
                raise SetRefused(Status.INCONSISTENT_VALUE, index)
            return True
        case RowStatus.NOT_IN_SERVICE:
            if not waits:
                raise SetRefused(Status.INCONSISTENT_VALUE, index)
            return False
        case None:
            if not exists and not waits:
                raise SetRefused(Status.INCONSISTENT_NAME, index)
            return False
        case _:
            return False


def _filled(row: WaitingVlan, cells: Cells) -> WaitingVlan:
    values = {
        field: cells[column][1]
        for column, field in ((_NAME, "name"), (_EGRESS, "egress"), (_UNTAGGED, "untagged"))
        if column in cells
    }
    return replace(row, **values)  # type: ignore[arg-type]  # read_vlan_cell has checked each column's type


def _changes(device: SwitchDevice, vid: int, cells: Cells) -> list[Step]:
    """Return the steps for an existing VLAN. A port removed from egress leaves the untagged ports too."""
    steps = []
    if _NAME in cells:
        index, name = cells[_NAME]
        steps.append(Step(NAME, index, lambda p: p.rename_vlan(vid, str(name))))
    if _EGRESS in cells or _UNTAGGED in cells:
        now = device.effect.vlans[vid]
        row = _filled(WaitingVlan(egress=now.members, untagged=now.untagged), cells)
        untagged = row.untagged if _UNTAGGED in cells else row.untagged & row.egress
        index = cells[_EGRESS][0] if _EGRESS in cells else cells[_UNTAGGED][0]
        steps.append(_members(vid, row.egress, untagged, index))
    return steps


def _members(vid: int, egress: frozenset[int], untagged: frozenset[int], index: int) -> Step:
    def act(personality: Personality) -> None:
        if untagged - egress:
            raise Refused(f"a port is untagged in VLAN {vid} but not a member of it: make it a member")
        personality.set_vlan_ports(vid, egress=egress, untagged=untagged)

    return Step(MEMBERS, index, act)


# -- static addresses


def read_static_cell(column: int, kind: str, value: object, port_count: int) -> object:
    """Check one varbind of dot1qStaticUnicastTable. A set of ports other than one port is refused (wrongValue)."""
    if kind != ("octets" if column == _ALLOWED_TO_GO_TO else "int"):
        raise SetRefused(Status.WRONG_TYPE)
    if column == _STATIC_STATUS:
        return one_of(value, (_STATIC_INVALID, _STATIC_PERMANENT))
    ports = parse_port_list(value, port_count)
    if len(ports) != 1:
        raise SetRefused(Status.WRONG_VALUE)
    return min(ports)


def static_steps(device: SwitchDevice, vid: int, mac: bytes, cells: Cells) -> list[Step]:
    """Return the steps for one row of dot1qStaticUnicastTable."""
    index, status = cells.get(_STATIC_STATUS, (0, _STATIC_PERMANENT))
    if status == _STATIC_INVALID:
        return [Step(SETTINGS, index, lambda p: p.remove_static_mac(vid, mac))]
    if _ALLOWED_TO_GO_TO in cells:
        place, port = cells[_ALLOWED_TO_GO_TO]
        number = one_of(port, range(1, len(device.ports) + 1))
        return [Step(SETTINGS, place, lambda p: p.add_static_mac(vid, mac, number))]
    if (vid, mac) not in device.effect.statics:
        raise SetRefused(Status.INCONSISTENT_NAME, index)
    return []


# -- copying the configuration

_COPY_RUNNING_TO_STARTUP: Mapping[int, int] = {3: 1, 7: 2, 8: 1, 12: 3, 17: RowStatus.CREATE_AND_GO}
"""rlCopySourceLocation local, SourceFileType runningConfig, DestinationLocation local, FileType startupConfig."""


def read_copy_cell(column: int, kind: str, value: object) -> int:
    """Check one varbind of rlCopyTable: only running to startup, in one PDU with createAndGo, is accepted."""
    if column not in _COPY_RUNNING_TO_STARTUP:
        raise SetRefused(Status.NOT_WRITABLE)
    if kind != "int":
        raise SetRefused(Status.WRONG_TYPE)
    return one_of(value, (_COPY_RUNNING_TO_STARTUP[column],))


def check_copy(cells: Cells) -> None:
    """Refuse a row that lacks a column: createAndGo needs them all."""
    if cells.keys() != _COPY_RUNNING_TO_STARTUP.keys():
        raise SetRefused(Status.INCONSISTENT_VALUE, max(index for index, _ in cells.values()))
