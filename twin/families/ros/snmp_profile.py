"""What a PowerConnect 55xx shows and accepts over SNMP.

Its MIBs are from the data sheet; sysDescr, and that a table is writable, is partly from memory ([M]) and not verified
on a device.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from eee_testbed.twin.families.ros.models import model_named
from eee_testbed.twin.snmp.profile import BRIDGE_WRITABLE, SnmpProfile

if TYPE_CHECKING:
    from collections.abc import Iterator

    from eee_engine import VarBind

    from eee_testbed.twin.families.ros.config import RosConfig
    from eee_testbed.twin.switch.device import SwitchDevice


def _own(device: SwitchDevice) -> Iterator[VarBind]:
    """Admin status and EEE as configured (the engine knows only what is in force), contact and location.

    A port of a LAG that is shut down has ifOperStatus down, but its own ifAdminStatus stays up (RFC 2863).
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


SNMP_PROFILE = SnmpProfile(
    groups=("if", "ifx", "etherlike", "bridge", "qbridge", "mau", "lldp", "ros_eee"),
    enterprise=674,
    describe=lambda device: device.personality.description(),
    object_id=lambda device: model_named(device.spec.model).object_id,
    services=2,
    vid_max=4094,
    writable=BRIDGE_WRITABLE
    | {
        "ifMauDefaultType",
        "ifMauAutoNegAdminStatus",
        "ifMauAutoNegRestart",
        "rlEeeEnable",
        "rlEeePortAdminStatus",
        "rlCopyTable",
    },
    own=_own,
)
