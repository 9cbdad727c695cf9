"""What a switch family shows and accepts over SNMP. Each family brings its `SnmpProfile`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from eee_engine import VarBind

    from eee_testbed.twin.switch.device import SwitchDevice

GroupName = Literal["if", "ifx", "etherlike", "bridge", "qbridge", "mau", "lldp", "ros_eee"]

BRIDGE_WRITABLE = frozenset(
    {
        "ifAdminStatus",
        "ifAlias",
        "dot1dStpPortEnable",
        "dot1dTpAgingTime",
        "dot1qPvid",
        "dot1qPortAcceptableFrameTypes",
        "dot1qPortIngressFiltering",
        "dot1qVlanStaticTable",
        "dot1qStaticUnicastTable",
    }
)
"""Objects of IF-MIB, BRIDGE-MIB and Q-BRIDGE-MIB that both families accept SETs of."""


@dataclass(frozen=True, slots=True)
class SnmpProfile:
    """SNMP side of one family.

    `enterprise` is the number in its snmpEngineID; `writable` names objects of `twin.snmp.objects` and tables of
    `twin.snmp.rows`; `own` yields entries that only this family has; `save_object` saves the configuration when set
    to 1; `services` is sysServices.
    """

    groups: tuple[GroupName, ...]
    enterprise: int
    describe: Callable[[SwitchDevice], str]
    object_id: Callable[[SwitchDevice], str]
    services: int
    vid_max: int
    writable: frozenset[str]
    own: Callable[[SwitchDevice], Iterator[VarBind]]
    save_object: tuple[int, ...] | None = None
