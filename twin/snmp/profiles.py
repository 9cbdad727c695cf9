"""What each switch family shows and takes over SNMP: the one table to extend for another family.

Which MIBs a family has is from its data sheets; what stands in sysDescr and sysObjectID, and that a table is writable,
is partly from memory ([M] below) and not verified on a device.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from twin.families.fastpath.ports import model_named as fastpath_model
from twin.families.ros.models import model_named as ros_model

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from eee_engine import VarBind

    from twin.families.ros.config import RosConfig
    from twin.switch.device import SwitchDevice

GroupName = Literal["if", "ifx", "etherlike", "bridge", "qbridge", "mau", "ros_eee"]

_BRIDGE_WRITABLE = frozenset(
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


@dataclass(frozen=True, slots=True)
class Profile:
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


def _ros_own(device: SwitchDevice) -> Iterator[VarBind]:
    """Admin status and EEE as configured (the engine knows only what is in force), contact and location.

    A member of a LAG that is shut is down and still set to be up (RFC 2863, ifAdminStatus).
    """
    config: RosConfig = device.personality.config
    yield "1.3.6.1.2.1.1.4.0", "octets", config.contact.encode()
    yield "1.3.6.1.2.1.1.6.0", "octets", config.location.encode()
    yield "1.3.6.1.4.1.89.149.1.0", "int", 1 if config.eee else 2
    for port in device.ports:
        yield f"1.3.6.1.2.1.2.2.1.7.{port.if_index}", "int", 2 if config.ports[port.number].shutdown else 1
        if not port.is_lag:
            on = config.ports[port.number].eee
            yield f"1.3.6.1.4.1.89.149.2.1.1.{port.if_index}", "int", 1 if on else 2


def _fastpath_own(_device: SwitchDevice) -> Iterator[VarBind]:
    """Contact and location, which this family's twin does not keep."""
    yield "1.3.6.1.2.1.1.4.0", "octets", b""
    yield "1.3.6.1.2.1.1.6.0", "octets", b""


PROFILES: dict[str, Profile] = {
    "dell_powerconnect_55xx": Profile(
        groups=("if", "ifx", "etherlike", "bridge", "qbridge", "mau", "ros_eee"),
        enterprise=674,
        describe=lambda device: device.spec.model,  # [M]
        object_id=lambda device: ros_model(device.spec.model).object_id,
        services=2,
        vid_max=4094,
        writable=_BRIDGE_WRITABLE
        | {
            "ifMauDefaultType",
            "ifMauAutoNegAdminStatus",
            "ifMauAutoNegRestart",
            "rlEeeEnable",
            "rlEeePortAdminStatus",
            "rlCopyTable",
        },
        own=_ros_own,
    ),
    # No MAU-MIB and no EEE objects: speed and EEE are the command line's alone. agentSaveConfig has the number of
    # FASTPATH's switching MIB below Netgear's branch [M].
    "netgear_m4300": Profile(
        groups=("if", "ifx", "etherlike", "bridge", "qbridge"),
        enterprise=4526,
        describe=lambda device: f"{fastpath_model(device.spec.model).description}, 12.0.13.8, 1.0.0.9",  # [M]
        object_id=lambda _: "1.3.6.1.4.1.4526.100.1.36",  # [M]
        services=6,
        vid_max=4093,
        writable=_BRIDGE_WRITABLE,
        own=_fastpath_own,
        save_object=(1, 3, 6, 1, 4, 1, 4526, 10, 1, 3, 1),
    ),
}
