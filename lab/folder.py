"""From a lab's files to a `Lab`: all mistakes are reported together, each with file, line, key and remedy.

A lab is a folder with ``hosts.yml`` (an Ansible inventory with the groups `switches`, `nodes` and `strips`),
``cables.csv`` (end_a, end_b, rate_mbps, kind, switchable and, if there are LAGs, lag) and, if it has strips,
``outlets.csv`` (strip, outlet, feeds).
Variables that nothing here needs are left to Ansible and to a site's own playbooks, unless they look misspelled.
"""

import ipaddress
import re
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from eee_testbed.lab.ansible import ANSIBLE_VARIABLES, Entry, Inventory, Variable, expand_range, read_ansible
from eee_testbed.lab.ansible_vars import is_installed, with_ansible
from eee_testbed.lab.cables import CableRow, OutletRow, read_cables, read_outlets
from eee_testbed.lab.clear_text import IN_CLEAR_REMEDY, clear_text_secrets
from eee_testbed.lab.errors import InventoryError, LabError, Problem
from eee_testbed.lab.lags import lags_of
from eee_testbed.lab.model import End, Host, Lab, Lag, Link, Outlet, Port, Strip, Switch
from eee_testbed.lab.variables import STATE_ROOT, LabVars, NodeVars, StripVars, SwitchVars

__all__ = ["NAME", "STATE_ROOT", "find_lab", "inventories", "known_labs", "load_lab", "operand_of"]

NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?")
"""Names of labs made here, and of devices."""

_LAB_KEYS = LabVars.variables()
_EVERY_VARIABLE = frozenset(name for model in (LabVars, SwitchVars, NodeVars, StripVars) for name in model.variables())
"""All that is read here, of whatever device."""

_LEAST_LIKENESS = 0.8
"""How alike an unknown name has to be to a known one to be taken for a misspelling (difflib's ratio)."""

_AnyVars = TypeVar("_AnyVars", LabVars, SwitchVars, NodeVars, StripVars)


class _Loader:
    def __init__(self, folder: Path, *, cabled: bool) -> None:
        self.folder = folder
        self.cabled = cabled
        self.hosts_file = str(folder / "hosts.yml")
        self.problems: list[Problem] = []
        self.said: dict[tuple[str, int, str], str] = {}
        """By file, line and variable of a mistake, of whom it was said first."""
        self.shared: Mapping[str, Variable] = {}
        """Variables of the group `all`."""
        self.interfaces: dict[str, str] = {}
        """By node whose interface is given outside hosts.yml, words that say so."""

    def complain(self, file: str, line: int, key: str, sentence: str, remedy: str) -> None:
        self.problems.append(Problem(file, line, key, sentence, remedy))

    def complain_of(self, at: Variable, key: str, sentence: str, remedy: str) -> None:
        """Complain of a variable, where it stands."""
        self.complain(at.file or self.hosts_file, at.line, key, sentence, remedy)

    def parse(self, model: type[_AnyVars], variables: Mapping[str, Variable], line: int, who: str) -> _AnyVars | None:
        names = model.variables()
        self.misspelled(names, variables, who)
        given = {key: var for key, var in variables.items() if key in names and not any(clear_text_secrets({key: var}))}
        try:
            return model.model_validate({key: var.value for key, var in given.items()})
        except ValidationError as error:
            for mistake in error.errors():
                key = str(mistake["loc"][0]) if mistake["loc"] else ""
                at = given.get(key, Variable(None, line))
                missing = mistake["type"] == "missing" and len(mistake["loc"]) == 1
                said = mistake["msg"].removeprefix("Value error, ")
                sentence = f"{who} lacks it" if missing else f"{said} (found {mistake['input']!r})"
                remedy = "add it" if missing else "correct it"
                if mistake["type"] == "extra_forbidden":
                    sentence, remedy = f"{key} has no part {mistake['loc'][-1]}", "check its spelling, or remove it"
                elif not mistake["loc"]:  # how several variables go together; the sentence brings its own remedy
                    sentence, _, remedy = said.partition(": ")
                    sentence = f"{who}: {sentence}"
                self.complain_once(at, key, who, sentence, remedy, shared=key in given)
            return None

    def complain_once(self, at: Variable, key: str, who: str, sentence: str, remedy: str, *, shared: bool) -> None:
        """Complain of a variable; of one that a group shares once, not for each of its members."""
        file = at.file or self.hosts_file
        if not shared or self.said.setdefault((file, at.line, key), who) == who:
            self.complain_of(at, key, sentence, remedy)

    def misspelled(self, known: Iterable[str], variables: Mapping[str, Variable], who: str) -> None:
        """Complain of variables that look like one that is read here, or like one of Ansible's, and are neither.

        Any other is the site's own (rack, bmc_address): other playbooks share the inventory. So is one that looks like
        a variable that is given as well: `interfaces` beside `interface`.
        """
        for key, variable in variables.items():
            if key in _EVERY_VARIABLE or key in ANSIBLE_VARIABLES:
                continue
            for_ansible = key.startswith("ansible_")
            names = [*known, *(ANSIBLE_VARIABLES if for_ansible else _LAB_KEYS)]
            names = [name for name in names if for_ansible or name not in {**variables, **self.shared}]
            near = get_close_matches(key, names, 1, _LEAST_LIKENESS) or ([] if for_ansible else _longer(key, names))
            if near:
                sentence = f"{who} has no such variable" + (", and Ansible knows none" if for_ansible else "")
                remedy = f"did you mean {near[0]}?" + ("" if for_ansible else f" known are {', '.join(known)}")
                self.complain_once(variable, key, who, sentence, remedy, shared=True)

    def secrets(self, inventory: Inventory) -> None:
        """Complain once about each secret in clear text; the secret itself is not repeated."""
        seen: set[tuple[str, int, str]] = set()
        for variables in (inventory.variables, *(entry.variables for entry in inventory.entries)):
            for key, variable in clear_text_secrets(variables):
                file = variable.file or self.hosts_file
                if (file, variable.line, key) not in seen:
                    seen.add((file, variable.line, key))
                    self.complain(file, variable.line, key, "holds a secret in clear text", IN_CLEAR_REMEDY)

    def ports(self, entry: Entry, switch: SwitchVars) -> tuple[Port, ...]:
        at = entry.variables["ports"]
        rates: dict[str, int] = {}
        for name, rate_mbps, _ in self.ranges(entry, "ports", switch.ports):
            if name in rates:
                self.complain_of(at, "ports", f"{entry.name} has {name} twice", "remove one")
            rates[name] = rate_mbps
        stated: dict[str, int] = {}
        for name, first, place in self.ranges(entry, "bridge_ports", switch.bridge_ports):
            at = entry.variables["bridge_ports"]
            if name not in rates:
                self.complain_of(
                    at, "bridge_ports", f"{entry.name} has no port {name}", "name ports that `ports` lists"
                )
            stated[name] = first + place
        ports = tuple(
            Port(entry.name, name, stated.get(name, n), rate, numbered=name in stated)
            for n, (name, rate) in enumerate(rates.items(), 1)
        )
        for number, count in Counter(stated.values()).items():
            if count > 1:
                self.complain_of(
                    at, "bridge_ports", f"{entry.name} has bridge port {number} twice", "give each port its own"
                )
        return ports

    def ranges(self, entry: Entry, key: str, patterns: Mapping[str, int]) -> Iterator[tuple[str, int, int]]:
        """Each name of each range, with the range's value and the name's place in the range, from 0."""
        for pattern, value in patterns.items():
            try:
                names = expand_range(pattern)
            except ValueError as error:
                self.complain_of(entry.variables[key], key, str(error), "write it as gi1/0/[1:24]")
            else:
                yield from ((name, value, place) for place, name in enumerate(names))

    def switch(self, entry: Entry) -> Switch | None:
        values = self.parse(SwitchVars, entry.variables, entry.line, entry.name)
        if values is None:
            return None
        more = {"ports": self.ports(entry, values), "enable": values.enable, "snmp_user": values.snmp_user}
        return Switch(entry.name, **values.fields_of(Switch) | more)

    def host(self, entry: Entry) -> Host | None:
        values = self.parse(NodeVars, entry.variables, entry.line, entry.name)
        if values is None:
            return None
        given = entry.variables.get("interface")
        if given is not None and given.file:
            self.interfaces[entry.name] = f": its interface is {values.interface} ({given.file}:{given.line})"
        mac = bytes.fromhex(values.mac.replace(":", ""))
        return Host(entry.name, **values.fields_of(Host) | {"mac": mac})

    def strip(self, entry: Entry) -> Strip | None:
        values = self.parse(StripVars, entry.variables, entry.line, entry.name)
        if values is None:
            return None
        return Strip(entry.name, **values.fields_of(Strip), snmp_user=values.snmp_user)

    def members(self, entries: Iterable[Entry], group: str) -> list[Entry]:
        members = []
        for entry in entries:
            if group not in entry.groups:
                continue
            other_groups = {"switches", "nodes", "strips"} & entry.groups - {group}
            if not NAME.fullmatch(entry.name):
                remedy = "use lower-case letters, digits and dashes, at most 32"
                self.complain(self.hosts_file, entry.line, entry.name, "is not a host name", remedy)
            elif other_groups and group < min(other_groups):
                sentence = f"is both in {group} and in {', '.join(sorted(other_groups))}"
                self.complain(self.hosts_file, entry.line, entry.name, sentence, "leave it in one group")
            entry_vars = {key: var for key, var in entry.variables.items() if key not in _LAB_KEYS}
            members.append(Entry(entry.name, entry.line, entry.groups, entry_vars))
        return members

    def unique(self, entries: Iterable[Entry], keys: tuple[str, ...], what: str) -> None:
        seen: dict[tuple[Any, ...], str] = {}
        for entry in entries:
            if keys[0] not in entry.variables:
                continue
            value = tuple(entry.variables[key].value if key in entry.variables else None for key in keys)
            first = seen.setdefault(value, entry.name)
            if first != entry.name:
                sentence = f"{entry.name} has the {what} {value[0]} that {first} has already"
                self.complain_of(entry.variables[keys[0]], keys[0], sentence, "give it its own")

    def inside(self, entries: Iterable[Entry], key: str, network: str) -> None:
        held = ipaddress.IPv4Network(network)
        for entry in entries:
            variable = entry.variables.get(key)
            if variable is None:
                continue
            try:
                address = ipaddress.IPv4Address(variable.value)
            except ValueError:
                continue  # said already
            if address not in held or address in (held.network_address, held.broadcast_address):
                sentence = f"{entry.name} has {address}, which is not a host address of {network}"
                self.complain_of(variable, key, sentence, "change the address or the network")

    def inventory(self) -> Inventory:
        """What hosts.yml holds; if it is none, the mistakes in the tables are reported with those in it."""
        hosts_file = self.folder / "hosts.yml"
        try:
            return with_ansible(hosts_file, read_ansible(hosts_file), _EVERY_VARIABLE, installed=is_installed())
        except InventoryError as error:
            if self.cabled:
                read_cables(self.folder / "cables.csv", self.problems)
            read_outlets(self.folder / "outlets.csv", self.problems, needed=False)
            raise InventoryError([*error.problems, *self.problems]) from error

    def load(self) -> Lab:
        inventory = self.inventory()
        self.shared = inventory.variables
        self.secrets(inventory)
        lab_vars = self.parse(LabVars, {k: v for k, v in inventory.variables.items() if k in _LAB_KEYS}, 1, "all")
        switch_entries = self.members(inventory.entries, "switches")
        node_entries = self.members(inventory.entries, "nodes")
        strip_entries = self.members(inventory.entries, "strips")
        if not switch_entries:
            remedy = "list at least one switch below all: children: switches: hosts:"
            self.complain(self.hosts_file, 1, "switches", "the lab has no switch", remedy)
        switches = tuple(filter(None, map(self.switch, switch_entries)))
        hosts = tuple(filter(None, map(self.host, node_entries)))
        strips = tuple(filter(None, map(self.strip, strip_entries)))
        self.unique(
            (*switch_entries, *node_entries, *strip_entries), ("ansible_host", "ansible_port", "unit"), "address"
        )
        self.unique(node_entries, ("data_address",), "data address")
        self.unique(node_entries, ("mac",), "MAC address")
        if lab_vars is not None:
            self.networks(lab_vars, node_entries, inventory.variables)
            if lab_vars.way_in and lab_vars.way_in.rpartition(":")[0] not in {entry.name for entry in switch_entries}:
                sentence = f"no switch {lab_vars.way_in.rpartition(':')[0]}"
                remedy = "name the switch where this machine is plugged in"
                self.complain_of(inventory.variables["way_in"], "way_in", sentence, remedy)
        cables = read_cables(self.folder / "cables.csv", self.problems) if self.cabled else []
        outlets = read_outlets(self.folder / "outlets.csv", self.problems, needed=bool(strip_entries))
        devices_broken = bool(self.problems)
        if devices_broken or lab_vars is None:  # cables and outlets of devices that could not be read would mislead
            raise InventoryError(self.problems)
        links = self.links(cables, switches, hosts) if self.cabled else ()
        lags = self.lags(cables, links, hosts)
        fed = self.outlets(outlets, strips, {switch.name for switch in switches} | {host.name for host in hosts})
        if self.problems:
            raise InventoryError(self.problems)
        return Lab(
            name=self.folder.name,
            folder=str(self.folder),
            management_network=lab_vars.management_network,
            data_network=lab_vars.data_network,
            switches=switches,
            hosts=hosts,
            links=links,
            strips=strips,
            outlets=fed,
            lags=lags,
            way_in=_way_in(lab_vars.way_in),
            watts_note=" ".join(lab_vars.watts_note.split()),
        )

    def networks(self, lab: LabVars, nodes: list[Entry], variables: Mapping[str, Variable]) -> None:
        management = ipaddress.IPv4Network(lab.management_network)
        if management.overlaps(ipaddress.IPv4Network(lab.data_network)):
            sentence = f"overlaps the management network {management}"
            self.complain_of(variables["data_network"], "data_network", sentence, "choose another")
        self.inside(nodes, "ansible_host", lab.management_network)
        self.inside(nodes, "data_address", lab.data_network)

    def links(self, rows: list[CableRow], switches: tuple[Switch, ...], hosts: tuple[Host, ...]) -> tuple[Link, ...]:
        file = str(self.folder / "cables.csv")
        rates = {End(port.switch, port.name): port.rate_mbps for switch in switches for port in switch.ports}
        rates.update({End(host.name, host.interface): host.rate_mbps for host in hosts})
        devices = {end.device for end in rates}
        used: dict[End, int] = {}
        links: list[Link] = []
        for row in rows:
            a, b = End(*row.end_a.split(":", 1)), End(*row.end_b.split(":", 1))
            for key, end in (("end_a", a), ("end_b", b)):
                if end not in rates:
                    unknown = (
                        f"{end.device} has no port {end.port}" if end.device in devices else f"no device {end.device}"
                    )
                    unknown += self.interfaces.get(end.device, "")
                    self.complain(file, row.line, key, unknown, "name a port that hosts.yml lists")
                elif end in used:
                    sentence = f"{end} holds the cable of line {used[end]} already"
                    self.complain(file, row.line, key, sentence, "a port takes one cable")
                elif row.rate_mbps > rates[end]:
                    sentence = f"{end} can do {rates[end]} Mb/s at most, not {row.rate_mbps}"
                    self.complain(file, row.line, "rate_mbps", sentence, "lower the rate or choose another port")
                used.setdefault(end, row.line)
            if a.device == b.device:
                self.complain(file, row.line, "end_b", f"both ends are at {a.device}", "join two devices")
            if {a.device, b.device} <= {host.name for host in hosts} and a.device != b.device:
                self.complain(file, row.line, "end_b", "joins two nodes", "one end must be at a switch")
            links.append(Link(len(links) + 1, a, b, row.rate_mbps, row.kind, row.switchable))
        for host in hosts:
            if End(host.name, host.interface) not in used:
                sentence = f"{host.name}:{host.interface} has no cable"
                self.complain(file, 0, "", sentence, "add a line that joins it to a switch")
        return tuple(links)

    def lags(self, rows: list[CableRow], links: tuple[Link, ...], hosts: tuple[Host, ...]) -> tuple[Lag, ...]:
        file = str(self.folder / "cables.csv")
        return lags_of(
            [(link, row.lag, row.line) for row, link in zip(rows, links, strict=True)],
            frozenset(host.name for host in hosts),
            lambda line, key, sentence, remedy: self.complain(file, line, key, sentence, remedy),
        )

    def outlets(self, rows: list[OutletRow], strips: tuple[Strip, ...], devices: set[str]) -> tuple[Outlet, ...]:
        file = str(self.folder / "outlets.csv")
        counts = {strip.name: strip.outlet_count for strip in strips}
        used: dict[tuple[str, int], int] = {}
        for row in rows:
            if row.strip not in counts:
                self.complain(file, row.line, "strip", f"no strip {row.strip}", "name one that hosts.yml lists")
            elif row.outlet > counts[row.strip]:
                sentence = f"{row.strip} has {counts[row.strip]} outlets, not {row.outlet}"
                self.complain(file, row.line, "outlet", sentence, "choose a free one")
            elif (row.strip, row.outlet) in used:
                sentence = f"outlet {row.outlet} is in use in line {used[row.strip, row.outlet]}"
                self.complain(file, row.line, "outlet", sentence, "choose a free one")
            used.setdefault((row.strip, row.outlet), row.line)
            if row.feeds not in devices:
                remedy = "name a switch or a node of hosts.yml"
                self.complain(file, row.line, "feeds", f"no device {row.feeds}", remedy)
        return tuple(Outlet(row.strip, row.outlet, row.feeds) for row in rows)


def _longer(key: str, names: Iterable[str]) -> list[str]:
    """Known names that have all words of an unknown one: `mtu` stands in mtu_byte."""
    parts = set(key.split("_"))
    return [name for name in names if not name.startswith("ansible_") and parts < set(name.split("_"))]


def _way_in(text: str | None) -> tuple[str, int] | None:
    if text is None:
        return None
    switch, _, vid = text.rpartition(":")
    return switch, int(vid)


def load_lab(folder: Path, *, cabled: bool = True) -> Lab:
    """Read and check a lab's folder; InventoryError holds all problems found.

    Not `cabled`: cables.csv is not read, as it may still be missing, and the lab has no links.
    """
    return _Loader(folder.resolve(), cabled=cabled).load()


def device_lines(folder: Path) -> dict[str, int]:
    """The line of hosts.yml in which each device stands, by its name."""
    return {entry.name: entry.line for entry in read_ansible(folder / "hosts.yml").entries}


def inventories() -> tuple[Path, ...]:
    """Folders that hold labs: ./inventory first, then what came with the package."""
    package = Path(__file__).resolve().parent
    return tuple(
        path for path in (Path("inventory"), package / "shipped", package.parent / "inventory") if path.is_dir()
    )


def known_labs() -> dict[str, Path]:
    """Every lab found by name; of two with one name the nearer wins."""
    labs: dict[str, Path] = {}
    for root in inventories():
        for hosts_file in sorted(root.glob("*/hosts.yml")):
            labs.setdefault(hosts_file.parent.name, hosts_file.parent.resolve())
    return labs


def operand_of(lab: Lab) -> str:
    """What names this very lab on the command line, from the present folder: its name, or its folder's path."""
    folder = Path(lab.folder).resolve()
    try:
        if find_lab(lab.name) == folder:
            return lab.name
    except LabError:
        pass
    return shlex.quote(str(folder))


def find_lab(name: str) -> Path:
    """Return the folder of a lab given as a path or by name; LabError lists the known labs."""
    if Path(name).is_dir() and (Path(name) / "hosts.yml").exists():
        return Path(name).resolve()
    labs = known_labs()
    if name not in labs:
        names = ", ".join(sorted(labs)) or "none"
        raise LabError(f"no lab '{name}': give a folder with a hosts.yml, or one of these: {names}.")
    return labs[name]
