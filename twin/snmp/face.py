"""A switch's SNMP agent: what the engine measures, what the configuration says, and when it answers.

The agent answers while the switch is ready: booting or without power it is silent, and every boot is a boot of its SNMP
engine. Tables of counters and states come from the engine; names, descriptions and everything else that only the
configuration knows is laid over them here, again after each change.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from eee_engine import SnmpAgent

from eee_testbed.twin.snmp.rows import VLAN_STATIC
from eee_testbed.twin.snmp.set_requests import SnmpSet
from eee_testbed.twin.snmp.values import RowStatus, port_list

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Literal

    from eee_engine import Group, UsmUser, VarBind

    from eee_testbed.twin.snmp.profile import SnmpProfile
    from eee_testbed.twin.switch.device import Event, SwitchDevice

_SYSTEM = "1.3.6.1.2.1.1"
_IF_DESCR = "1.3.6.1.2.1.2.2.1.2"
_IF_X = "1.3.6.1.2.1.31.1.1.1"
_STP_PORT_ENABLE = "1.3.6.1.2.1.17.2.15.1.4"
_Q_BASE = "1.3.6.1.2.1.17.7.1.1"
_ENGINE_ID_OF_MAC = 3  # format octet of RFC 3411, section 5


@dataclass(frozen=True, slots=True)
class SnmpAccess:
    """Communities and users that may read or write."""

    communities: Mapping[str, Literal["ro", "rw"]]
    users: Sequence[UsmUser] = ()


class SnmpFace:
    """The agent of one switch. It follows the device from construction until `close`.

    Other modules may put further entries (sensors) into `agent`. OSError if the switch is ready and its address cannot
    be bound; ValueError for invalid users or communities.
    """

    def __init__(
        self,
        device: SwitchDevice,
        profile: SnmpProfile,
        *,
        address: str,
        port: int = 161,
        access: SnmpAccess,
    ) -> None:
        self._device = device
        self._profile = profile
        self._snmp_set = SnmpSet(device, self._profile, self._refresh)
        self._shown: dict[str, VarBind] = {}
        engine_id = (0x8000_0000 | self._profile.enterprise).to_bytes(4, "big")
        self.agent = SnmpAgent(
            address=address,
            port=port,
            engine_id=engine_id + bytes([_ENGINE_ID_OF_MAC]) + device.spec.base_mac,
            communities=access.communities,
            users=access.users,
            on_set=self._snmp_set,
        )
        self.agent.serve(device.engine, self._group())
        self._stop_observing = device.observe(self._on_event)
        with device.lock:
            if device.ready:
                self._begin()

    def close(self) -> None:
        """Stop answering and listening; idempotent."""
        self.agent.stop()
        self._stop_observing()
        self._stop_observing = _already_closed

    def _on_event(self, device: SwitchDevice, event: Event) -> None:
        if event == "config":
            self._refresh()
        elif event == "ready":
            self._begin()
        elif event == "power" and not device.ready:
            self.agent.stop()
            self._snmp_set.forget()

    def _begin(self) -> None:
        self._refresh()
        self.agent.put([(f"{_SYSTEM}.3.0", "uptime", time.monotonic() - self._device.uptime_s)])
        self.agent.start()

    def _refresh(self) -> None:
        """Put changed entries, remove deleted ones."""
        with self._device.lock:
            entries = {bind[0]: bind for bind in self._entries()}
            for name in self._shown.keys() - entries.keys():
                self.agent.remove(name)
            self.agent.put([bind for name, bind in entries.items() if self._shown.get(name) != bind])
            self.agent.changed()
            self._shown = entries

    def _group(self) -> Group:
        ports = self._device.ports
        return {
            "switch": self._device.switch,
            "if_index": {port.engine_port: port.if_index for port in ports},
            "bridge_port": {port.engine_port: port.number for port in ports},
            "lags": [port.engine_port for port in ports if port.is_lag],
            "speed_mbps": {port.engine_port: port.speed_mbps for port in ports if not port.is_lag},
            "groups": self._profile.groups,
        }

    # -- entries

    def _entries(self) -> Iterator[VarBind]:
        device, profile = self._device, self._profile
        yield f"{_SYSTEM}.1.0", "octets", profile.describe(device).encode()
        yield f"{_SYSTEM}.2.0", "oid", profile.object_id(device)
        yield f"{_SYSTEM}.5.0", "octets", device.personality.hostname().encode()
        yield f"{_SYSTEM}.7.0", "int", profile.services
        yield f"{_Q_BASE}.2.0", "int", profile.vid_max
        yield f"{_Q_BASE}.3.0", "uint", profile.vid_max
        yield from profile.own(device)
        participating = device.stp_ports()
        for port in device.ports:
            yield f"{_IF_DESCR}.{port.if_index}", "octets", port.long_name.encode()
            yield f"{_IF_X}.1.{port.if_index}", "octets", port.name.encode()
            yield f"{_IF_X}.18.{port.if_index}", "octets", device.personality.alias(port.number).encode()
            yield f"{_STP_PORT_ENABLE}.{port.number}", "int", 1 if port.number in participating else 2
        for vid, name in device.personality.vlan_names().items():
            yield f"{VLAN_STATIC}.1.{vid}", "octets", name.encode()
        yield from self._waiting_entries()

    def _waiting_entries(self) -> Iterator[VarBind]:
        """VLAN rows that are not active."""
        count = len(self._device.ports)
        for vid, row in self._snmp_set.waiting.items():
            yield f"{VLAN_STATIC}.1.{vid}", "octets", row.name.encode()
            yield f"{VLAN_STATIC}.2.{vid}", "octets", port_list(row.egress, count)
            yield f"{VLAN_STATIC}.3.{vid}", "octets", port_list((), count)
            yield f"{VLAN_STATIC}.4.{vid}", "octets", port_list(row.untagged, count)
            yield f"{VLAN_STATIC}.5.{vid}", "int", int(RowStatus.NOT_IN_SERVICE)


def _already_closed() -> None:
    """Do nothing: the observation has already ended."""
