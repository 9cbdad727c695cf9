"""What an M4300 shows and accepts over SNMP.

Its MIBs are from the data sheet; sysDescr, sysObjectID, and that a table is writable, is partly from memory ([M]) and
not verified on a device. It has no MAU-MIB and no EEE objects: speed and EEE are set on the command line only.
agentSaveConfig has the number of FASTPATH's switching MIB below Netgear's branch [M].
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from eee_testbed.twin.snmp.profile import BRIDGE_WRITABLE, SnmpProfile

if TYPE_CHECKING:
    from collections.abc import Iterator

    from eee_engine import VarBind

    from eee_testbed.twin.switch.device import SwitchDevice


def _own(_device: SwitchDevice) -> Iterator[VarBind]:
    """Empty contact and location: the twin of this family does not store them."""
    yield "1.3.6.1.2.1.1.4.0", "octets", b""
    yield "1.3.6.1.2.1.1.6.0", "octets", b""


SNMP_PROFILE = SnmpProfile(
    groups=("if", "ifx", "etherlike", "bridge", "qbridge", "lldp"),
    enterprise=4526,
    describe=lambda device: device.personality.description(),
    object_id=lambda _: "1.3.6.1.4.1.4526.100.1.36",  # [M]
    services=6,
    vid_max=4093,
    writable=BRIDGE_WRITABLE,
    own=_own,
    save_object=(1, 3, 6, 1, 4, 1, 4526, 10, 1, 3, 1),
)
