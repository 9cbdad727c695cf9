"""SNMP SETs on a switch's configuration: all varbinds of a PDU or none.

First every varbind is checked by itself (type, length, value, instance), then rows are put together, then all steps run
inside one `SwitchDevice.change()`, which restores the configuration if a later step is refused (RFC 3416, section
4.2.5). Objects that a family does not accept SETs of are notWritable. The configuration is saved last.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from eee_engine import FabricError

from eee_testbed.twin.snmp.objects import OBJECTS
from eee_testbed.twin.snmp.rows import (
    RL_COPY,
    SETTINGS,
    STATIC_UNICAST,
    VLAN_STATIC,
    Step,
    check_copy,
    read_copy_cell,
    read_static_cell,
    read_vlan_cell,
    static_steps,
    vlan_steps,
)
from eee_testbed.twin.snmp.values import SetRefused, Status, one_of, status_of
from eee_testbed.twin.switch.personality import Refused

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from eee_engine import VarBind

    from eee_testbed.twin.snmp.objects import Index, Writable
    from eee_testbed.twin.snmp.profile import SnmpProfile
    from eee_testbed.twin.snmp.rows import Cells, WaitingVlan
    from eee_testbed.twin.switch.device import SwitchDevice

_VLAN_COLUMNS, _STATIC_COLUMNS, _COPY_COLUMNS = range(1, 6), (3, 4), (3, 7, 8, 12, 17)
_SHARED_FDB, _DEFAULT_VLAN = 1, 1


class _Request:
    """One SET PDU while it is being read."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.vlans: dict[int, Cells] = {}
        self.statics: dict[tuple[int, bytes], Cells] = {}
        self.copies: dict[int, Cells] = {}
        self.save_index = 0  # varbind that requests saving the configuration; 0: none


class SnmpSet:
    """The `on_set` of a switch's agent, called in the agents' thread."""

    def __init__(self, device: SwitchDevice, profile: SnmpProfile, on_waiting: Callable[[], None]) -> None:
        """`on_waiting` is called after waiting rows have changed."""
        self._device = device
        self._profile = profile
        self._on_waiting = on_waiting
        self._objects = {o.object_id: o for o in OBJECTS if o.name in profile.writable}
        self.waiting: dict[int, WaitingVlan] = {}

    def forget(self) -> None:
        """Discard the waiting rows: the switch has lost power."""
        self.waiting = {}

    def __call__(self, binds: Sequence[VarBind]) -> tuple[int, int]:
        """Execute a SET; return error-status and error-index."""
        with self._device.lock:
            try:
                self._execute(binds)
            except SetRefused as refused:
                return refused.status, refused.index
            return Status.NO_ERROR, 0

    def _execute(self, binds: Sequence[VarBind]) -> None:
        request = _Request()
        for index, (object_id, kind, value) in enumerate(binds, start=1):
            try:
                self._read(request, index, tuple(map(int, object_id.split("."))), kind, value)
            except SetRefused as refused:
                raise refused.at(index) from refused
        waiting = dict(self.waiting)
        for vid, cells in request.vlans.items():
            request.steps += vlan_steps(self._device, waiting, vid, cells)
        for (vid, mac), cells in request.statics.items():
            request.steps += static_steps(self._device, vid, mac, cells)
        for cells in request.copies.values():
            check_copy(cells)
            request.save_index = max(index for index, _ in cells.values())
        self._run_steps(request.steps)
        if request.save_index:
            self._save(request.save_index)
        if waiting != self.waiting and not self._device.faults.ignore_writes:
            self.waiting = waiting
            self._on_waiting()

    def _run_steps(self, steps: list[Step]) -> None:
        if not steps:
            return
        try:
            with self._device.change():
                for step in sorted(steps, key=lambda step: step.phase):
                    try:
                        step.act(self._device.personality)
                    except Refused as refused:
                        raise SetRefused(status_of(refused), step.index) from refused
        except Refused as refused:
            raise SetRefused(Status.RESOURCE_UNAVAILABLE, 1) from refused
        except FabricError as refused:
            raise SetRefused(Status.COMMIT_FAILED, 1) from refused

    def _save(self, index: int) -> None:
        try:
            self._device.save_startup()
        except Refused as refused:
            raise SetRefused(Status.RESOURCE_UNAVAILABLE, index) from refused

    # -- one varbind

    def _read(self, request: _Request, index: int, name: Index, kind: str, value: object) -> None:
        for length in range(len(name) - 1, 1, -1):
            writable = self._objects.get(".".join(map(str, name[:length])))
            if writable:
                request.steps.append(self._single_step(writable, index, name[length:], kind, value))
                return
        if not self._read_row(request, index, name, kind, value):
            raise SetRefused(Status.NOT_WRITABLE)

    def _single_step(self, writable: Writable, index: int, instance: Index, kind: str, value: object) -> Step:
        port = writable.find(self._device, instance)
        if kind != writable.kind:
            raise SetRefused(Status.WRONG_TYPE)
        setting: Any = writable.read(value)
        number = port.number if port else 0
        return Step(SETTINGS, index, lambda p: writable.write(p, number, setting))

    def _read_row(self, request: _Request, index: int, name: Index, kind: str, value: object) -> bool:
        """Put a cell into its row; False if it belongs to no writable row."""
        tables = self._profile.writable
        count = len(self._device.ports)
        if "dot1qVlanStaticTable" in tables and (cell := _cell(VLAN_STATIC, name, _VLAN_COLUMNS)):
            column, instance = cell
            if len(instance) != 1 or not 1 <= instance[0] <= self._profile.vid_max:
                raise SetRefused(Status.NO_CREATION)
            content = read_vlan_cell(column, kind, value, count)
            request.vlans.setdefault(instance[0], {})[column] = (index, content)
        elif "dot1qStaticUnicastTable" in tables and (cell := _cell(STATIC_UNICAST, name, _STATIC_COLUMNS)):
            column, instance = cell
            row = self._static_row(instance)
            request.statics.setdefault(row, {})[column] = (index, read_static_cell(column, kind, value, count))
        elif "rlCopyTable" in tables and (cell := _cell(RL_COPY, name, _COPY_COLUMNS)):
            column, instance = cell
            if len(instance) != 1:
                raise SetRefused(Status.NO_CREATION)
            request.copies.setdefault(instance[0], {})[column] = (index, read_copy_cell(column, kind, value))
        elif self._profile.save_object is not None and name == (*self._profile.save_object, 0):
            if kind != "int":
                raise SetRefused(Status.WRONG_TYPE)
            one_of(value, (1,))
            request.save_index = index
        else:
            return False
        return True

    def _static_row(self, instance: Index) -> tuple[int, bytes]:
        """VLAN and address of FdbId.MAC.receivePort; entries for a single receive port are not supported.

        If all VLANs share a filtering database it has number 1, and so has the VLAN that stands for it.
        """
        if len(instance) != 8 or instance[7] != 0 or any(octet > 255 for octet in instance[1:7]):
            raise SetRefused(Status.NO_CREATION)
        shared = self._device.spec.engine_options.get("shared_learning", False)
        if shared and instance[0] != _SHARED_FDB:
            raise SetRefused(Status.NO_CREATION)
        if not shared and not 1 <= instance[0] <= self._profile.vid_max:
            raise SetRefused(Status.NO_CREATION)
        return _DEFAULT_VLAN if shared else instance[0], bytes(instance[1:7])


def _cell(entry: str, name: Index, columns: Sequence[int]) -> tuple[int, Index] | None:
    """Column and instance, when `name` lies in one of these columns below `entry`."""
    prefix = tuple(map(int, entry.split(".")))
    if name[: len(prefix)] != prefix or len(name) < len(prefix) + 2 or name[len(prefix)] not in columns:
        return None
    return name[len(prefix)], name[len(prefix) + 1 :]
