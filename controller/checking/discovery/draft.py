"""An inventory of what was found: hosts.yml, cables.csv, outlets.csv as text, with question marks for the rest. Pure.

What SNMP does not tell is left to a person: the login of the switches, the data network, a host's login and its
addresses. Hosts are therefore comments, and so are their cables and outlets; `lab check --files-only` accepts the rest
as it is.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Final

from eee_testbed.controller.checking.cable_proposal import Proposal, cables_csv, propose, question
from eee_testbed.controller.checking.discovery.asking import Credentials, as_switch, host_name
from eee_testbed.controller.checking.discovery.found import (
    Device,
    FoundOther,
    FoundPort,
    FoundStrip,
    FoundSwitch,
    Station,
)
from eee_testbed.controller.checking.neighbours import one_line
from eee_testbed.lab.model import Host, Lab

_NUMBERED_NAME: Final = re.compile(r"(.*?)(\d+)")
_PLAIN_NAME: Final = re.compile(r"[a-z][a-z-]*\d[a-z0-9-]*")
_UNKNOWN_NETWORK: Final = "198.51.100.0/24"
_SHOWN_CHARACTERS: Final = 80


@dataclass(frozen=True, slots=True)
class Draft:
    """A first inventory: the text of its files, and what they hold."""

    devices: tuple[Device, ...]
    stations: tuple[Station, ...]
    """Hosts, each where it was heard first, with a name of its own."""

    proposal: Proposal
    hosts_yml: str
    cables_csv: str
    outlets_csv: str


def draft(lab: str, network: str, devices: Iterable[Device], credentials: Credentials) -> Draft:
    """Draft the inventory of a lab from the devices of its management network."""
    known = named(devices)
    switches = [device for device in known if isinstance(device, FoundSwitch)]
    strips = [device for device in known if isinstance(device, FoundStrip)]
    stations = _hosts(switches, {device.name for device in known})
    hosts = tuple(
        Host(one.name, "", one.address, 22, "", one.mac or one.name.encode(), one.interface or "eth0", 1000, 1500)
        for one in stations
    )
    bare = Lab(lab, "", network, _UNKNOWN_NETWORK, tuple(map(as_switch, switches)), hosts, (), (), ())
    proposal = propose(bare, {switch.name: switch.sight for switch in switches if switch.sight is not None})
    return Draft(
        known,
        stations,
        proposal,
        "\n".join([*_hosts_yml(lab, network, known, stations, credentials), ""]),
        _cables(bare, proposal),
        "\n".join(["strip,outlet,feeds", *_outlets(strips, switches, stations), ""]),
    )


def named(devices: Iterable[Device]) -> tuple[Device, ...]:
    """The devices with names that are there and unique: by kind and address where the system name is neither."""
    listed = list(devices)
    count = Counter(device.name for device in listed)
    found: list[Device] = []
    for device in listed:
        if device.name and count[device.name] == 1:
            found.append(device)
            continue
        kind = {FoundSwitch: "switch", FoundStrip: "pdu"}.get(type(device), "device")
        name = f"{kind}-{'-'.join(device.address.split('.')[2:])}"
        if isinstance(device, FoundSwitch):
            stations = tuple(replace(station, switch=name) for station in device.stations)
            found.append(replace(device, name=name, stations=stations))
        else:
            found.append(replace(device, name=name))
    return tuple(found)


def _hosts(switches: Sequence[FoundSwitch], taken: set[str]) -> tuple[Station, ...]:
    """One station for each host; those of a name that is taken, or without one, are numbered."""
    stations: dict[bytes | str, Station] = {}
    names = set(taken)
    for station in (station for switch in switches for station in switch.stations):
        key = station.mac or station.name
        name = host_name(station.name)
        if key in stations or name in taken:
            continue
        unique = name if name and name not in names else next(
            free for free in (f"{name or 'host'}-{n}" for n in range(1, len(names) + 2)) if free not in names
        )  # fmt: skip
        names.add(unique)
        stations[key] = replace(station, name=unique)
    return tuple(sorted(stations.values(), key=lambda station: station.name))


def _hosts_yml(
    lab: str, network: str, devices: Sequence[Device], stations: Sequence[Station], credentials: Credentials
) -> Iterator[str]:
    secrets = f"~/.config/eee-testbed/{lab}"
    yield f"# Drafted by `eeectl lab discover` from what {network} answered. A question mark is for you to answer."
    yield "# Other devices that answered:" if any(isinstance(one, FoundOther) for one in devices) else "#"
    for device in devices:
        if isinstance(device, FoundOther):
            said = one_line(device.description)[:_SHOWN_CHARACTERS]
            yield f"#   ? {device.address} {device.name}: {said} ({device.object_id})"
    yield "all:"
    yield "  vars:"
    yield f"    management_network: {network}"
    yield f"    data_network: {_UNKNOWN_NETWORK}  # ? the addresses of the hosts on the switches under test"
    yield "  children:"
    yield "    switches:"
    yield "      vars:"
    yield "        ansible_user: admin  # ?"
    yield f"        password_file: {secrets}/switch_password  # ? a file of mode 0600, or password_env, or a key"
    yield f"        known_hosts_file: {secrets}/known_hosts  # ? their host keys, got over a trusted path"
    yield from (f"        {line}" for line in _snmp(credentials))
    yield "      hosts:"
    for device in devices:
        if isinstance(device, FoundSwitch):
            yield from (f"        {line}" for line in _switch(device))
    yield from _nodes(stations)
    strips = [device for device in devices if isinstance(device, FoundStrip)]
    if strips:
        yield "    strips:"
        yield "      vars:"
        yield from (f"        {line}" for line in _snmp(credentials))
        yield "      hosts:"
        for strip in strips:
            yield (
                f"        {_key(strip.name)}: {{ansible_host: {strip.address}, family: {strip.family}, "
                f"model: {_quoted(strip.model)}, outlets: {len(strip.outlets)}}}"
            )


def _snmp(credentials: Credentials) -> Iterator[str]:
    if credentials.port != 161:
        yield f"snmp_port: {credentials.port}"
    user = credentials.user
    if user is None:
        at = credentials.community
        yield f"community_file: {_quoted(at.file)}" if at.file else f"community_env: {at.variable}"
        return
    yield "snmp_v3:"
    yield f"  user: {_quoted(user.name)}"
    for what, protocol, key in (
        ("auth", user.auth_protocol, user.auth_key),
        ("privacy", user.privacy_protocol, user.privacy_key),
    ):
        if key:
            yield f"  {what}_protocol: {protocol}"
            yield f"  {what}_key_file: {_quoted(key.file)}" if key.file else f"  {what}_key_env: {key.variable}"


def _switch(switch: FoundSwitch) -> Iterator[str]:
    said = one_line(switch.description)[:_SHOWN_CHARACTERS]
    others = f"; perhaps {', '.join(switch.families[1:])}" if len(switch.families) > 1 else ""
    yield f"{_key(switch.name)}:  # {said}"
    yield f"  ansible_host: {switch.address}"
    yield f"  family: {switch.families[0]}{f'  # ?{others[1:]}' if others else ''}"
    yield f"  model: {_quoted(switch.model)}"
    if switch.problem:
        yield f"  # ? {one_line(switch.problem)}"
    yield "  ports:"
    for pattern, rate_mbps, guessed in port_ranges(switch.ports):
        yield f"    {_quoted(pattern)}: {rate_mbps}{'  # ? neither name nor link tells the rate' if guessed else ''}"


def port_ranges(ports: Sequence[FoundPort]) -> Iterator[tuple[str, int, bool]]:
    """Ports in the ranges of hosts.yml: (pattern, Mb/s, guessed). Names in a row, of one rate, are one range."""
    place = 0

    def run(port: FoundPort) -> tuple[str, int, int, bool]:
        nonlocal place
        place += 1
        shape = _NUMBERED_NAME.fullmatch(port.name)
        if shape is None or shape[2] != str(int(shape[2])):
            return port.name, 0, port.rate_mbps, port.guessed
        return shape[1], int(shape[2]) - place, port.rate_mbps, port.guessed

    for (head, _, rate_mbps, guessed), group in groupby(ports, key=run):
        names = [port.name for port in group]
        first, last = names[0].removeprefix(head), names[-1].removeprefix(head)
        yield (names[0] if len(names) == 1 else f"{head}[{first}:{last}]"), rate_mbps, guessed


def _nodes(stations: Sequence[Station]) -> Iterator[str]:
    yield "    # ? Hosts that announce themselves (LLDP). Fill in what is missing, and remove the first two characters."
    yield "    # nodes:"
    yield "    #   vars:"
    yield "    #     ansible_user: ?"
    yield "    #   hosts:"
    for station in stations:
        mac = station.mac.hex(":") or "?"
        interface = station.interface or "?"
        yield (
            f"    #     {_key(station.name)}: {{ansible_host: {station.address or '?'}, data_address: ?, "
            f'mac: "{mac}", interface: {interface}}}'
        )


def _cables(lab: Lab, proposal: Proposal) -> str:
    lines = cables_csv(lab, proposal).splitlines()
    hosts = tuple(f",{host.name}:{host.interface}," for host in lab.hosts)
    return "\n".join([*(question(line) if any(host in line for host in hosts) else line for line in lines), ""])


def _outlets(
    strips: Sequence[FoundStrip], switches: Sequence[FoundSwitch], stations: Sequence[Station]
) -> Iterator[str]:
    ready = {switch.name for switch in switches}
    later = {station.name for station in stations}
    for strip in strips:
        for number, called in enumerate(strip.outlets, 1):
            name = host_name(called)
            if name in ready:
                yield f"{strip.name},{number},{name}"
            elif name in later:
                yield question(f"{strip.name},{number},{name}")
            else:
                yield question(f"{strip.name},{number},?{f' the strip calls it {called}' if called else ''}")


def _key(name: str) -> str:
    """A host name as a key: YAML takes some words and numbers for something else."""
    return name if _PLAIN_NAME.fullmatch(name) else _quoted(name)


def _quoted(text: str) -> str:
    """A YAML scalar on one line; what a device says is no template of Jinja, which Ansible would evaluate."""
    return "'" + untemplated(one_line(text)).replace("'", "''") + "'"


def untemplated(text: str) -> str:
    """A text with round brackets in place of those that begin a template."""
    return re.sub(r"\{(?=[{%#])", "(", text)
