"""A toy PowerConnect 62xx or N-series switch: it executes the commands of their manuals, and no others.

Words, prompts, refusals and warnings of the 62xx follow what fake-switches (https://github.com/internap/fake-switches,
Apache-2.0) says of a PowerConnect 6224P with firmware 3.3.7.3: lines of another switchport mode are refused, a change
of mode forgets what the port was, lists of VLANs are taken with a warning. N-series (OS6): ``vlan N`` makes VLANs in
global configuration, lines of other modes are kept and wait.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from eee_testbed.controller.drivers.driver import AdminSet, Line, Show
from eee_testbed.controller.drivers.places import FINDERS, resolve
from eee_testbed.lab.model import Port, Switch

if TYPE_CHECKING:
    from collections.abc import Iterable

    from eee_testbed.controller.drivers.driver import Answers, Command, Driver, Query, SnmpSet, Walk

WARNING = (
    "Warning: The use of large numbers of VLANs or interfaces may cause significant\n"
    "delays in applying the configuration.\n\n"
)
INVALID = "          ^\n% Invalid input detected at '^' marker.\n\n"
FAILED = (
    "\n          Failure Information\n---------------------------------------\n   VLANs failed to be configured : 1\n"
)
MIB = "1.3.6.1.2.1."
AGGREGATE = "port-channel 1"


@dataclass
class ToyPort:
    """A port's lines. `general`: VID -> tagged."""

    mode: str = "access"
    access: int = 1
    general: dict[int, bool] = field(default_factory=lambda: {1: False})
    pvid: int = 1
    tagged_only: bool = False
    filters: bool = True
    trunk: set[int] = field(default_factory=set)
    shut: bool = False
    speed: str = "auto"
    duplex: str = "auto"
    stp: bool = True
    eee: bool = False
    lag: int = 0
    lag_mode: str = "on"

    def works(self, vids: set[int]) -> dict[str, Any]:
        """The port's forwarding settings as a `PortState`."""
        if self.mode == "access":
            untagged, tagged, pvid = {self.access}, set[int](), self.access
        elif self.mode == "trunk":
            untagged, tagged, pvid = set[int](), self.trunk & vids, 1
        else:
            untagged = {vid for vid, tag in self.general.items() if not tag} & vids
            tagged, pvid = {vid for vid, tag in self.general.items() if tag} & vids, self.pvid
        general = self.mode == "general"
        return {
            "untagged_vids": untagged,
            "tagged_vids": tagged,
            "pvid": pvid,
            "acceptance": "tagged" if general and self.tagged_only else "all",
            "ingress_filtering": self.filters if general else True,
        }


def numbers(text: str) -> set[int]:
    found: set[int] = set()
    for part in text.split(","):
        first, _, last = part.partition("-")
        found |= set(range(int(first), int(last or first) + 1))
    return found


def listed(vids: Iterable[int]) -> str:
    return ",".join(map(str, sorted(vids)))


class ToyDell:
    """`old`: a 62xx; else N-series."""

    def __init__(self, driver: Driver, *, old: bool) -> None:
        self.driver, self.old = driver, old
        self.family = "dell_powerconnect_62xx" if old else "dell_n_series"
        self.names = [f"1/g{n}" if old else f"Gi1/0/{n}" for n in range(1, 6)]
        ports = tuple(Port("sw1", name, n, 1000) for n, name in enumerate(self.names, start=1))
        self.switch = Switch("sw1", self.family, "", "", 22, 161, "", "", "community", ports)  # type: ignore[arg-type]
        self.ports = {name: ToyPort() for name in self.names}
        self.aggregate = ToyPort()  # LAG 1, at bridge port 8
        self.vids = {1}
        self.vlan_names: dict[int, str] = {}
        self.statics: dict[tuple[int, bytes], str] = {}
        self.stp, self.saved = True, ""
        self.modes: list[str] = []  # the text between "(config" and ")#"
        self.port: str = ""

    @property
    def lag_name(self) -> str:
        """ifName of the LAG, which its prompt shows, too."""
        return "ch1" if self.old else "Po1"

    @property
    def prompt(self) -> str:
        return f"console({self.modes[-1]})#" if self.modes else "console#"

    # -- the command line

    def type(self, text: str) -> str:  # noqa: PLR0911  # a mode, an answer
        if text == "exit" and self.modes:
            self.modes.pop()
            return ""
        mode = self.modes[-1] if self.modes else "exec"
        if mode == "exec":
            return self._exec(text)
        if mode == "config":
            return self._config(text)
        named = re.fullmatch(r"config-(?:if-)?vlan(\d+)", mode)
        if named and text.startswith("name "):
            self.vlan_names[int(named[1])] = text
            return ""
        if mode.startswith("config-vlan"):
            return self._vlan(text)
        if mode.startswith("config-if-vlan"):
            return self._interface_vlan(text, int(mode.removeprefix("config-if-vlan")))
        return self._interface(text) if mode.startswith("config-if-") else INVALID

    def _exec(self, text: str) -> str:
        if text == "configure":
            self.modes.append("config")
            return ""
        if text == "show running-config":
            return self.running_config()
        if text == "copy running-config startup-config":
            return "\nThis operation may take a few minutes.\n\nAre you sure you want to save? (y/n) "
        return INVALID

    def answer(self, key: str) -> str:
        """The answer to the question whether to save."""
        self.saved = self.running_config() if key == "y" else self.saved
        return f"\n\nConfiguration {'' if key == 'y' else 'Not '}Saved!\n"

    def _config(self, text: str) -> str:  # noqa: PLR0911  # a line, an answer
        if self.old and text == "vlan database":
            self.modes.append("config-vlan")
            return ""
        if not self.old and re.fullmatch(r"(no )?vlan [\d,-]+", text):
            shown = self._vlan(text)
            self.modes += [] if shown or text.startswith("no ") else [f"config-vlan{text.removeprefix('vlan ')}"]
            return shown
        if text in {"spanning-tree", "no spanning-tree"}:
            self.stp = text == "spanning-tree"
            return ""
        found = re.fullmatch(r"interface vlan (\d+)", text)
        if found and int(found[1]) in self.vids:
            self.modes.append(f"config-if-vlan{found[1]}")
            return ""
        found = re.fullmatch(r"interface (.+)", text)
        name = self._named(found[1]) if found else ""
        if name:
            self.port = name
            self.modes.append(f"config-if-{name if name in self.ports else self.lag_name}")
            return ""
        found = re.fullmatch(r"(no )?mac address-table static ([0-9a-f:]{17}) vlan (\d+) interface (.+)", text)
        if found and not self.old and self._named(found[4]):
            return self._static(int(found[3]), found[2], "" if found[1] else self._named(found[4]))
        return INVALID

    def _named(self, text: str) -> str:
        if text == AGGREGATE:
            return text
        bare = text.removeprefix("ethernet ") if self.old else text
        return bare if bare in self.ports and (text != bare) == self.old else ""

    def _static(self, vid: int, mac: str, name: str) -> str:
        key = (vid, bytes.fromhex(mac.replace(":", "")))
        if vid not in self.vids or (not name and key not in self.statics) or (name and key in self.statics):
            return "ERROR: the entry could not be changed.\n"
        if name:
            self.statics[key] = name
        else:
            del self.statics[key]
        return ""

    def _interface_vlan(self, text: str, vid: int) -> str:
        found = re.fullmatch(r"bridge address ([0-9a-f:]{17}) (\S+ \S+) permanent", text)
        if found and self.old and self._named(found[2]):
            return self._static(vid, found[1], self._named(found[2]))
        found = re.fullmatch(r"no bridge address ([0-9a-f:]{17})", text)
        return self._static(vid, found[1], "") if found and self.old else INVALID

    def _vlan(self, text: str) -> str:
        found = re.fullmatch(r"(no )?vlan ([\d,-]+)", text)
        if not found:
            return INVALID
        vids = numbers(found[2])
        if found[1]:
            if 1 in vids or not vids <= self.vids:
                return "These VLANs do not exist: " + listed(vids - self.vids)
            self.vids -= vids
            self.statics = {key: name for key, name in self.statics.items() if key[0] not in vids}
            self.vlan_names = {vid: name for vid, name in self.vlan_names.items() if vid not in vids}
            for port in (*self.ports.values(), self.aggregate):
                port.general = {vid: tag for vid, tag in port.general.items() if vid not in vids}
                port.pvid = 1 if port.pvid in vids else port.pvid
                port.access = 1 if port.access in vids else port.access
        self.vids |= set() if found[1] else vids
        return ""

    def _interface(self, text: str) -> str:  # noqa: C901  # one case a command
        port = self.ports.get(self.port, self.aggregate)
        found = re.fullmatch(r"switchport mode (access|general|trunk)", text)
        if found:
            if self.old and found[1] != port.mode:
                fresh = ToyPort()
                port.general, port.pvid, port.access = fresh.general, 1, 1
                port.trunk, port.filters, port.tagged_only = fresh.trunk, True, False
            port.mode = found[1]
            return ""
        if "switchport general" in text:
            return self._general(port, text)
        if "switchport" in text:
            return self._access_or_trunk(port, text)
        flags = {"shutdown": "shut", "green-mode eee": "eee"}
        if text.removeprefix("no ") in flags and (text.endswith("shutdown") or not self.old):
            setattr(port, flags[text.removeprefix("no ")], not text.startswith("no "))
        elif text in {"spanning-tree disable", "no spanning-tree disable"}:
            port.stp = text.startswith("no ")
        elif re.fullmatch(r"speed (auto|10|100)" if self.old else r"speed auto( 10| 100| 1000)?", text):
            port.speed = text.removeprefix("speed ")
        elif self.old and re.fullmatch(r"duplex (auto|full)", text):
            port.duplex = text.removeprefix("duplex ")
        elif found := re.fullmatch(r"channel-group 1 mode (on|active)", text):
            port.lag, port.lag_mode = 1, found[1]
        elif text == "no channel-group" and port.lag:
            port.lag = 0
        else:
            return INVALID
        return ""

    def _access_or_trunk(self, port: ToyPort, text: str) -> str:
        access = re.fullmatch(r"switchport access vlan (\d+)|no switchport access vlan", text)
        trunk = re.fullmatch(r"switchport trunk allowed vlan (add )?([\d,-]+)", text)
        if not (access or trunk):
            return INVALID
        mode = "access" if access else "trunk"
        if self.old and port.mode != mode:
            return f"Interface not in {mode.title()} Mode.\n"
        if access:
            port.access = int(access[1] or 1)
        elif trunk:
            port.trunk = numbers(trunk[2]) | (port.trunk if trunk[1] else set())
        return ""

    def _general(self, port: ToyPort, text: str) -> str:  # noqa: PLR0911  # a line, an answer
        waits = self.old and port.mode != "general"
        found = re.fullmatch(
            r"switchport general allowed vlan (?:add ([\d,-]+)( tagged| untagged)?|remove ([\d,-]+))", text
        )
        if found:
            vids = numbers(found[1] or found[3])
            if waits:
                return "Interface not in General Mode.\n"
            if not vids <= self.vids:
                return FAILED
            port.general = {vid: tag for vid, tag in port.general.items() if vid not in vids}
            port.general |= dict.fromkeys(vids if found[1] else (), found[2] == " tagged")
            return WARNING if self.old else ""
        found = re.fullmatch(r"switchport general pvid (\d+)", text)
        if found:
            if waits:
                return "\nPort is not general port.\n"
            if int(found[1]) not in self.vids:
                return "Could not configure pvid.\n"
            port.pvid = int(found[1])
            return ""
        if waits:
            return "Interface not in General Mode.\n"
        if text.removeprefix("no ") == "switchport general ingress-filtering disable":
            port.filters = text.startswith("no ")
        elif text.removeprefix("no ") == "switchport general acceptable-frame-type tagged-only":
            port.tagged_only = not text.startswith("no ")
        else:
            return INVALID
        return ""

    # -- what it shows

    def running_config(self) -> str:
        title = (
            "PowerConnect 6224P, 3.3.7.3, VxWorks 6.5" if self.old else "Dell Networking N2024, 6.2.7.2, Linux 3.6.5"
        )
        version = title.split(", ")[1]
        lines = ["", "!Current Configuration:", f'!System Description "{title}"', f"!System Software Version {version}"]
        lines += ["!", "configure"]
        if len(self.vids) > 1:
            head = ["vlan database"] if self.old else []
            lines += [*head, f"vlan {listed(self.vids - {1})}", "exit"]
        for vid, named in sorted(self.vlan_names.items()):
            lines += [f"{'interface ' * self.old}vlan {vid}", named, "exit"]
        lines += ["stack", "member 1 1", "exit"] + ([] if self.stp else ["no spanning-tree"])
        for (vid, mac), name in sorted(self.statics.items()):
            dotted = ".".join(mac.hex()[n : n + 4] for n in (0, 4, 8)).upper()
            if self.old:
                lines += [f"interface vlan {vid}", f"bridge address {dotted} {self._full(name)} permanent", "exit"]
            else:
                lines.append(f"mac address-table static {dotted} vlan {vid} interface {name}")
        for name, port in (*self.ports.items(), (AGGREGATE, self.aggregate)):
            block = self._block(port)
            lines += ["!", f"interface {self._full(name)}", *block, "exit"] if block else []
        return "\n".join([*lines, "exit"]) + "\n"

    def _full(self, name: str) -> str:
        return f"ethernet {name}" if self.old and name in self.ports else name

    def _block(self, port: ToyPort) -> list[str]:
        bare = {vid for vid, tagged in port.general.items() if not tagged} - {1}
        tagged = {vid for vid, tagged in port.general.items() if tagged}
        lines = {
            f"channel-group {port.lag} mode {port.lag_mode}": port.lag,
            "shutdown": port.shut,
            f"speed {port.speed}": port.speed != "auto",
            "spanning-tree disable": not port.stp,
            "green-mode eee": port.eee,
            f"switchport mode {port.mode}": port.mode != "access",
            f"switchport access vlan {port.access}": port.access != 1,
            f"switchport general pvid {port.pvid}": port.pvid != 1,
            f"switchport general allowed vlan add {listed(bare)}": bare,
            f"switchport general allowed vlan add {listed(tagged)} tagged": tagged,
            "switchport general allowed vlan remove 1": 1 not in port.general,
            "switchport general acceptable-frame-type tagged-only": port.tagged_only,
            "switchport general ingress-filtering disable": not port.filters,
            f"switchport trunk allowed vlan {'add ' * self.old}{listed(port.trunk or {1})}": port.mode == "trunk"
            or port.trunk,
        }
        return [line for line, there in lines.items() if there]

    def _table(self, walk: Walk) -> dict[str, int | bytes]:
        ports = dict(enumerate(self.ports.values(), start=1))
        names = dict(enumerate(self.names, start=1))
        if any(port.lag for port in ports.values()):
            ports[8], names[8] = self.aggregate, self.lag_name
        works = {n: port.works(self.vids) for n, port in ports.items()}

        def members(*fields: str) -> dict[str, int | bytes]:
            found: dict[str, int | bytes] = {}
            for vid in self.vids:
                bits = sum(0x80 >> (n - 1) for n, port in works.items() if any(vid in port[f] for f in fields))
                found[str(vid)] = bytes([bits])
            return found

        tables: dict[str, dict[str, int | bytes]] = {
            "31.1.1.1.1": {str(n): name.encode() for n, name in names.items()},
            "2.2.1.2": {str(n): b"Unit: 1 Slot: 0 Port: %d Gigabit - Level" % n for n in works},
            "31.1.1.1.18": {str(n): b"" for n in works},
            "17.1.4.1.2": {str(n): n for n in works},
            "2.2.1.7": {str(n): 2 if port.shut else 1 for n, port in ports.items()},
            "17.7.1.4.3.1.5": {str(vid): 1 for vid in self.vids},
            "17.7.1.4.3.1.2": members("untagged_vids", "tagged_vids"),
            "17.7.1.4.3.1.4": members("untagged_vids"),
            "17.7.1.4.5.1.1": {str(n): port["pvid"] for n, port in works.items()},
            "17.7.1.4.5.1.2": {
                str(n): 2 if works[n]["acceptance"] == "tagged" or port.mode == "trunk" else 1
                for n, port in ports.items()
            },
            "17.7.1.4.5.1.3": {str(n): 1 if port["ingress_filtering"] else 2 for n, port in works.items()},
        }
        return tables[walk.oid.removeprefix(MIB)]

    # -- access for tests

    def execute(self, orders: Iterable[Command]) -> None:
        for order in orders:
            if not isinstance(order, Line):
                assert isinstance(order, AdminSet)
                self._put(resolve(self.switch, order, self.ask(FINDERS)).request)
                continue
            shown = self.type(order.text)
            shown += "".join(self.answer(reply) for pattern, reply in order.replies if re.search(pattern, shown))
            assert not self.driver.refusal(order, shown), (order, shown)
            assert re.search(order.prompt, self.prompt), (order, self.prompt)

    def _put(self, order: SnmpSet) -> None:
        for oid, value in order.objects:
            column, _, index = oid.removeprefix(MIB).rpartition(".")
            assert column == "2.2.1.7"
            self.ports[self.names[int(index) - 1]].shut = value == 2

    def ask(self, queries: Iterable[Query]) -> Answers:
        return {query: self.type(query.command) if isinstance(query, Show) else self._table(query) for query in queries}
