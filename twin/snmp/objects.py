"""Objects whose instances are independent in a SET: ports' settings, ageing time, EEE.

One table row is one object. Rows that belong together (VLANs, static addresses, copying the configuration) are in
`twin.snmp.rows`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from eee_testbed.twin.snmp.values import SetRefused, Status, ascii_text, one_of, truth

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from eee_testbed.twin.switch.device import SwitchDevice
    from eee_testbed.twin.switch.effect import Acceptable
    from eee_testbed.twin.switch.personality import Personality, Port

Index = tuple[int, ...]
Kind = Literal["int", "uint", "octets", "oid"]

ALIAS_MAX_BYTE = 64
_ACCEPTABLE: dict[int, Acceptable] = {1: "all", 2: "tagged", 3: "untagged"}
_MAU_MBPS = {11: 10, 16: 100, 30: 1000, 54: 10_000}
_MAU_TYPES = "1.3.6.1.2.1.26.4."


@dataclass(frozen=True, slots=True)
class Writable:
    """One writable object.

    `find` maps an instance to what it names (a port; None for a scalar) or raises `SetRefused`; `read` checks and
    parses a value; `write` changes the configuration.
    """

    name: str
    object_id: str
    kind: Kind
    find: Callable[[SwitchDevice, Index], Port | None]
    read: Callable[[object], Any]
    write: Callable[[Personality, int, Any], None]


def _scalar(_device: SwitchDevice, index: Index) -> None:
    if index != (0,):
        raise SetRefused(Status.NO_CREATION)


def _interface(device: SwitchDevice, index: Index) -> Port:
    """Find a port or LAG by ifIndex."""
    for port in device.ports:
        if index == (port.if_index,):
            return port
    raise SetRefused(Status.NO_CREATION)


def _ethernet(device: SwitchDevice, index: Index) -> Port:
    """Find a port with a PHY by ifIndex."""
    port = _interface(device, index)
    if port.is_lag:
        raise SetRefused(Status.NO_CREATION)
    return port


def _mau(device: SwitchDevice, index: Index) -> Port:
    """Find a port by ifIndex and MAU number, which is always 1."""
    if index[1:] != (1,):
        raise SetRefused(Status.NO_CREATION)
    return _ethernet(device, index[:1])


def _bridge_port(device: SwitchDevice, index: Index) -> Port:
    if len(index) != 1 or not 1 <= index[0] <= len(device.ports):
        raise SetRefused(Status.NO_CREATION)
    return device.ports[index[0] - 1]


def _vid(value: object) -> int:
    return one_of(value, range(1, 4095))


def _acceptable(value: object) -> Acceptable:
    return _ACCEPTABLE[one_of(value, _ACCEPTABLE)]


def _default_type(value: object) -> int:
    """Parse a dot3MauType of copper, full duplex, as a speed."""
    number = str(value).removeprefix(_MAU_TYPES)
    if not number.isdecimal() or int(number) not in _MAU_MBPS:
        raise SetRefused(Status.WRONG_VALUE)
    return _MAU_MBPS[int(number)]


def _alias(value: object) -> str:
    return ascii_text(value, ALIAS_MAX_BYTE)


def _ageing(value: object) -> int:
    return one_of(value, range(10, 1_000_001))


def _restart(value: object) -> bool:
    return truth(value)


def _nothing(_personality: Personality, _port: int, _value: object) -> None:
    """Accept ifMauAutoNegRestart; the twin does not negotiate again (no outage is visible)."""


OBJECTS: tuple[Writable, ...] = (
    Writable(
        "ifAdminStatus",
        "1.3.6.1.2.1.2.2.1.7",
        "int",
        _interface,
        truth,
        lambda p, port, up: p.set_admin(port, up=up),
    ),
    Writable(
        "ifAlias",
        "1.3.6.1.2.1.31.1.1.1.18",
        "octets",
        _interface,
        _alias,
        lambda p, port, text: p.set_alias(port, text),
    ),
    Writable(
        "dot1dStpPortEnable",
        "1.3.6.1.2.1.17.2.15.1.4",
        "int",
        _bridge_port,
        truth,
        lambda p, port, on: p.set_stp(port, on=on),
    ),
    Writable(
        "dot1dTpAgingTime",
        "1.3.6.1.2.1.17.4.2",
        "int",
        _scalar,
        _ageing,
        lambda p, _, seconds: p.set_ageing(seconds),
    ),
    Writable(
        "dot1qPvid",
        "1.3.6.1.2.1.17.7.1.4.5.1.1",
        "uint",
        _bridge_port,
        _vid,
        lambda p, port, vid: p.set_pvid(port, vid),
    ),
    Writable(
        "dot1qPortAcceptableFrameTypes",
        "1.3.6.1.2.1.17.7.1.4.5.1.2",
        "int",
        _bridge_port,
        _acceptable,
        lambda p, port, acceptable: p.set_acceptable(port, acceptable),
    ),
    Writable(
        "dot1qPortIngressFiltering",
        "1.3.6.1.2.1.17.7.1.4.5.1.3",
        "int",
        _bridge_port,
        truth,
        lambda p, port, on: p.set_ingress_filtering(port, on=on),
    ),
    Writable(
        "ifMauDefaultType",
        "1.3.6.1.2.1.26.2.1.1.11",
        "oid",
        _mau,
        _default_type,
        lambda p, port, mbps: p.set_speed(port, mbps),
    ),
    Writable(
        "ifMauAutoNegAdminStatus",
        "1.3.6.1.2.1.26.5.1.1.1",
        "int",
        _mau,
        truth,
        lambda p, port, on: p.set_autoneg(port, on=on),
    ),
    Writable("ifMauAutoNegRestart", "1.3.6.1.2.1.26.5.1.1.8", "int", _mau, _restart, _nothing),
    Writable(
        "rlEeeEnable",
        "1.3.6.1.4.1.89.149.1",
        "int",
        _scalar,
        truth,
        lambda p, _, on: p.set_eee(None, on=on),
    ),
    Writable(
        "rlEeePortAdminStatus",
        "1.3.6.1.4.1.89.149.2.1.1",
        "int",
        _ethernet,
        truth,
        lambda p, port, on: p.set_eee(port, on=on),
    ),
)
"""All writable objects; a family's profile names those that it accepts SETs of."""
