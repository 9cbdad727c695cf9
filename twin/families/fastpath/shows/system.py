"""System-wide shows: version, hardware, environment, address table, LLDP, users.

Layouts of `show version`, `show environment`, `show mac-addr-table` and `show lldp remote-device all` from an
M4300-24X (firmware 12.0.13) and ICOS recordings; `show hardware`, `show sysinfo`, `show users` and `show
mac-address-table static` follow the manual's wording, their layout is [M].
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from eee_testbed.twin.families.fastpath.layout import Column, dotted, table, uptime
from eee_testbed.twin.families.fastpath.ports import LAG_COUNT
from eee_testbed.twin.families.fastpath.running_config import mac_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from eee_testbed.twin.families.fastpath.config import Config
    from eee_testbed.twin.families.fastpath.ports import Model
    from eee_testbed.twin.switch.personality import Neighbour, Port, User

FIRMWARE = "12.0.13.8"
BOOTCODE = "B1.0.0.15"
_MAC = re.compile(r"[0-9a-f]{2}(?::[0-9a-f]{2}){5}")
CPU_IF_INDEX = 769  # and, on an M4300-24X, `vlan 1` at 898

_FDB = (
    Column(("VLAN ID",), 7),
    Column(("MAC Address",), 18, 2),
    Column(("Interface",), 21, 2),
    Column(("IfIndex",), 7, 2),
    Column(("Status",), 12, 2),
)
# Heading and rows are one column right of the dashes under RemID, as recorded.
_LLDP_HEADING = (
    "Local",
    "Interface  RemID   Chassis ID            Port ID             System Name",
    "--------- -------  --------------------  ------------------  ------------------",
)
_TEMPERATURES = (
    Column(("Unit",), 4),
    Column(("Sensor",), 6, 5),
    Column(("Description",), 16, 2),
    Column(("Temp (C)",), 10, 2),
    Column(("State",), 14, 2),
    Column(("Max_Temp (C)",), 14, 2),
)
_FANS = (
    Column(("Unit",), 4),
    Column(("Fan",), 3),
    Column(("Description",), 14),
    Column(("Type",), 9),
    Column(("Speed",), 13),
    Column(("Duty level",), 13),
    Column(("State",), 14),
)
_SUPPLIES = (
    Column(("Unit",), 4),
    Column(("Power supply",), 12, 5),
    Column(("Description",), 16, 3),
    Column(("Type",), 10, 3),
    Column(("State",), 14, 4),
)
_USERS = (
    Column(("", "User Name"), 32),
    Column(("", "User Access Mode"), 16, 2),
)
_FILTERS = (
    Column(("VLAN ID",), 7),
    Column(("MAC Address",), 18, 2),
    Column(("Source Ports",), 24, 2),
    Column(("Destination Ports",), 24, 2),
)


@dataclass(frozen=True, slots=True)
class FdbRow:
    """One forwarding entry; `port` None is the switch itself."""

    vid: int
    mac: bytes
    port: Port | None
    static: bool


def serial_number(base_mac: bytes) -> str:
    """Return a serial number of the right form, derived from the address."""
    return f"{base_mac[3]:X}C9{int.from_bytes(base_mac[-3:]):08d}P"[:13]


def description(model: Model) -> str:
    """Return sysDescr."""
    return f"{model.description}, {FIRMWARE}, {BOOTCODE}"


def config_header(model: Model, uptime_s: float) -> list[str]:
    """Comment lines above ``show running-config``."""
    return [
        "!Current Configuration:",
        "!",
        f'!System Description "{description(model)}"',
        f'!System Software Version "{FIRMWARE}"',
        f'!System Up Time          "{uptime(uptime_s)}"',
        "!Additional Packages     QOS,Multicast,IPv6,Routing",
        "!Current SNTP Synchronized Time: SNTP Last Attempt Status Is Not Successful",
        "!",
    ]


def version(model: Model, base_mac: bytes, now: str) -> list[str]:
    """``show version``."""
    return [
        "",
        "Switch: 1",
        "",
        dotted("System Description", description(model)),
        dotted("Machine Model", model.name),
        dotted("Serial Number", serial_number(base_mac)),
        dotted("Burned In MAC Address", mac_text(base_mac)),
        dotted("Software Version", FIRMWARE),
        dotted("CPLD version", "0x6"),
        dotted("Bootcode Version", BOOTCODE),
        dotted("Current Time", now),
        dotted("Current SNTP Sync Status", "Not Synchronized"),
    ]


def hardware(model: Model, base_mac: bytes) -> list[str]:
    """``show hardware``."""
    return [
        "",
        "Switch: 1",
        "",
        dotted("System Description", description(model)),
        dotted("Machine Model", model.name),
        dotted("Serial Number", serial_number(base_mac)),
        dotted("Burned In MAC Address", mac_text(base_mac)),
        dotted("Software Version", FIRMWARE),
        dotted("CPLD Version", "0x6"),
    ]


def sysinfo(model: Model, name: str, stored: dict[str, str], uptime_s: float) -> list[str]:
    """``show sysinfo``."""
    return [
        "",
        dotted("System Description", description(model)),
        dotted("System Name", name),
        dotted("System Location", _stored(stored, "snmp-server location")).rstrip(),
        dotted("System Contact", _stored(stored, "snmp-server contact")).rstrip(),
        dotted("System Object ID", "1.3.6.1.4.1.4526.100.10.31"),
        dotted("System Up Time", uptime(uptime_s)),
    ]


def hosts(name: str) -> list[str]:
    """``show hosts``."""
    return ["", dotted("Host name", name), dotted("Default domain", "").rstrip(), ""]


def environment(celsius: int) -> list[str]:
    """``show environment``: everything normal; this family shows no watts."""
    return [
        "",
        dotted("Temp (C)", celsius),
        "Temperature traps range: 0 to 90 degrees (Celsius)",
        "",
        "Temperature Sensors:",
        *table(_TEMPERATURES, [(1, 1, "MAC", celsius, "Normal", celsius + 20)]),
        "",
        "Fans:",
        *table(_FANS, [(1, n, f"Fan-{n}", "Fixed", 5280 if n == 1 else 4560, "27%", "Operational") for n in (1, 2)]),
        "",
        "Power Modules:",
        *table(_SUPPLIES, [(1, 1, "Internal AC-1", "Fixed", "Operational")]),
    ]


def address_table(rows: Sequence[FdbRow]) -> list[str]:
    """``show mac-addr-table``; rows in the order given."""
    cells = []
    for row in rows:
        name = "CPU Interface:  0/15/1" if row.port is None else row.port.name
        index = CPU_IF_INDEX if row.port is None else row.port.if_index
        status = "Management" if row.port is None else "Static" if row.static else "Learned"
        cells.append((row.vid, mac_text(row.mac), name, index, status))
    return ["", dotted("Address Entries Currently in Use", len(rows)), "", *table(_FDB, cells)]


def static_filters(config: Config, ports: Sequence[Port]) -> list[str]:
    """``show mac-address-table static``."""
    rows = []
    for (vid, mac), macfilter in sorted(config.macfilters.items()):
        names = [
            ",".join(ports[n - 1].name for n in sorted(side)) for side in (macfilter.sources, macfilter.destinations)
        ]
        rows.append((vid, mac_text(mac), *names))
    return ["", *table(_FILTERS, rows)]


def locked_addresses(config: Config, number: int) -> list[str]:
    """``show port-security static``."""
    macs = sorted(config.ports[number].static_macs)
    return [
        "",
        f"Number of static MAC addresses configured: {len(macs)}",
        "",
        "Statically configured MAC Address VLAN ID Sticky",
        "--------------------------------- ------- ------",
        *(f"{mac_text(mac):<33} {vid:<7} No" for vid, mac in macs),
    ]


def neighbours(ports: Iterable[Port], look_up: Callable[[int], Sequence[Neighbour]]) -> list[str]:
    """``show lldp remote-device all``: every physical port; long texts are cut to the columns."""
    lines = ["", "LLDP Remote Device Summary", "", *_LLDP_HEADING]
    for port in (p for p in ports if not p.is_lag):
        heard = look_up(port.number)
        if not heard:
            lines.append(port.name)
        for neighbour in heard:
            name = neighbour.system_name
            cut = name if len(name) <= 18 else name[:14] + " ..."
            ids = f"{_upper_mac(neighbour.chassis):<22}{_upper_mac(neighbour.port)[:18]:<20}"
            lines.append(f"{port.name:<11}{neighbour.number:<8}{ids}{cut}")
    return lines


def _upper_mac(name: str) -> str:
    return name.upper() if _MAC.fullmatch(name) else name


def users(accounts: Iterable[User]) -> list[str]:
    """``show users``: firmware 12 says Privilege-15 and Privilege-1."""
    return ["", *table(_USERS, [(u.name, f"Privilege-{u.privilege}") for u in accounts])]


def port_channels(config: Config, ports: Sequence[Port], up: Callable[[int], bool]) -> list[str]:
    """``show port-channel brief``: LAGs with members."""
    first = len(ports) - LAG_COUNT
    columns = (
        Column(("Logical", "Interface"), 10),
        Column(("Port-Channel", "Name"), 16),
        Column(("Link", "State"), 10),
        Column(("", "Type"), 8),
        Column(("", "Mbr Ports"), 30),
    )
    rows = []
    for number in range(first + 1, len(ports) + 1):
        lag = ports[number - 1]
        members = [p.name for p in ports[:first] if config.ports[p.number].lag == number - first]
        if members:
            kind = "Static" if config.ports[number].lag_static else "Dynamic"
            rows.append((lag.name, f"ch{number - first}", "Up" if up(number) else "Down", kind, ",".join(members)))
    return ["", *table(columns, rows)]


def _stored(lines: dict[str, str], key: str) -> str:
    return lines.get(key, key).removeprefix(key).strip().strip('"')
