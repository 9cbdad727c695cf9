"""A Catalyst with Cisco IOS that executes orders; from Cisco's command references, shares nothing with the driver.

Sources: Catalyst 3750 command reference (switchport trunk: defaults, native and allowed VLANs), IE 2000 configuration
guide (default mode dynamic auto), Catalyst 2960-X guide (`power efficient-ethernet auto`), shows as in ntc-templates.
"""

from dataclasses import dataclass, field

INVALID = "                  ^\n% Invalid input detected at '^' marker.\n"
EVERY = set(range(1, 4095))
OLD = {1002: "fddi-default", 1003: "token-ring-default", 1004: "fddinet-default", 1005: "trnet-default"}
LONGEST_LINE = 254


@dataclass
class ToyPort:
    name: str
    shut: bool = False
    speed: str = "auto"
    receive: str = "off"
    eee: bool = False
    deaf: bool = False
    mode: str = "dynamic auto"
    encapsulation: str = "dot1q"
    access: int = 1
    native: int = 1
    allowed: set[int] = field(default_factory=lambda: set(EVERY))
    channel: int | None = None
    channel_mode: str = "on"
    nonegotiate: bool = False
    description: str = ""

    @property
    def short(self) -> str:
        return self.name.replace("GigabitEthernet", "Gi").replace("Port-channel", "Po")

    def like(self) -> tuple[object, ...]:
        """What the members of a channel have in common with it."""
        return self.mode, self.access, self.native, self.allowed, self.nonegotiate, self.encapsulation

    def members(self) -> tuple[set[int], int]:
        """VLANs that it carries, and the one of untagged frames."""
        if self.mode == "trunk":
            return set(self.allowed), self.native
        return {self.access}, self.access


def _set(text: str) -> set[int]:
    vids = set()
    for part in text.split(","):
        first, _, last = part.partition("-")
        vids |= set(range(int(first), int(last or first) + 1))
    if not vids <= EVERY:
        raise ValueError(text)
    return vids


def _ranges(vids: set[int]) -> str:
    parts = []
    for vid in sorted(vids):
        if vid - 1 not in vids:
            last = vid
            while last + 1 in vids:
                last += 1
            parts.append(str(vid) if last == vid else f"{vid}-{last}")
    return ",".join(parts)


class ToyIos:
    """`knows_isl`: a model that also supports ISL, so that the trunk encapsulation must be configured."""

    def __init__(self, names: list[str], *, knows_isl: bool = False, channels: dict[str, int] | None = None) -> None:
        self.ports = {name: ToyPort(name, encapsulation="negotiate" if knows_isl else "dot1q") for name in names}
        for name, number in (channels or {}).items():
            self.ports[name].channel = number
            aggregate = f"Port-channel{number}"
            self.ports.setdefault(aggregate, ToyPort(aggregate, encapsulation=self.ports[name].encapsulation))
        self.knows_isl = knows_isl
        self.vlans = {1}
        self.names: dict[int, str] = {}
        self.statics: dict[tuple[int, str], str] = {}
        self.no_stp: set[int] = set()
        self.saved = ""
        self.where: list[str] = []
        self.asks = ""

    @property
    def prompt(self) -> str:
        return "sw1" + (f"({self.where[-1]})#" if self.where else "#")

    def type(self, line: str) -> str:
        """What it prints until its next prompt, or until its question, which is in `asks` then."""
        if self.asks:
            self.asks = ""
            self.saved = self.running()
            return "Building configuration...\n[OK]\n"
        if len(line) > LONGEST_LINE:
            return INVALID
        words = line.split()
        try:
            return self._read_line(words)
        except (ValueError, IndexError, KeyError):
            return INVALID

    def _read_line(self, words: list[str]) -> str:  # noqa: C901, PLR0911, PLR0912 - one case a command
        match words:
            case ["end"] if self.where:
                self.where = []
            case ["exit"] if self.where:
                self.where.pop()
            case ["configure", "terminal"] if not self.where:
                self.where = ["config"]
                return "Enter configuration commands, one per line.  End with CNTL/Z.\n"
            case ["copy", "running-config", "startup-config"] if not self.where:
                self.asks = "Destination filename [startup-config]? "
            case ["show", *what] if not self.where:
                return self._show(" ".join(what))
            case _ if not self.where:
                return INVALID
            case ["no", "interface", name] if name.startswith("Port-channel"):
                assert not any(f"Port-channel{port.channel}" == name for port in self.ports.values()), name
                del self.ports[name]
            case ["interface", name]:
                self.port = self.ports[name]
                self.where = ["config", "config-if"]
            case ["vlan", vid]:
                if int(vid) in OLD or int(vid) not in EVERY:
                    return "%Failed to create VLANs " + vid + "\n"
                self.vlans.add(int(vid))
                self.vlan = int(vid)
                self.where = ["config", "config-vlan"]
            case ["no", "vlan", vid]:
                if int(vid) == 1:
                    return "%Default VLAN 1 may not be deleted.\n"
                self.vlans.discard(int(vid))
                self.names.pop(int(vid), None)
            case ["name", name] if self.where[-1] == "config-vlan":
                self.names[self.vlan] = name
            case ["spanning-tree", "vlan", vids]:
                self.no_stp -= _set(vids)
            case ["no", "spanning-tree", "vlan", vids]:
                self.no_stp |= _set(vids)
            case ["mac", "address-table", "static", mac, "vlan", vid, "interface", name]:
                self.statics[int(vid), self._mac(mac)] = self.ports[name].name
            case ["no", "mac", "address-table", "static", mac, "vlan", vid, "interface", name]:
                if self.statics.get((int(vid), self._mac(mac))) != name:
                    return "%MAC address could not be removed\n"
                del self.statics[int(vid), self._mac(mac)]
            case _ if self.where[-1] == "config-if":
                return self._interface(words)
            case _:
                return INVALID
        return ""

    @staticmethod
    def _mac(text: str) -> str:
        if [len(part) for part in text.split(".")] != [4, 4, 4]:
            raise ValueError(text)
        int(text.replace(".", ""), 16)
        return text

    def _interface(self, words: list[str]) -> str:
        said = self._set_port(words)
        for port in self.ports.values():
            if self.port.name == f"Port-channel{port.channel}" and "switchport" in words:
                one = self.port
                port.mode, port.access, port.native, port.allowed = one.mode, one.access, one.native, set(one.allowed)
                port.nonegotiate, port.encapsulation = one.nonegotiate, one.encapsulation
        return said

    def _make_channel(self, name: str, first: ToyPort) -> str:
        """The interface of a channel that gets its first port: it is as that port, and stays when all have left."""
        if name in self.ports:
            return ""
        vlans = {key: getattr(first, key) for key in ("encapsulation", "mode", "access", "native", "nonegotiate")}
        self.ports[name] = ToyPort(name, **vlans, allowed=set(first.allowed))
        return f"Creating a port-channel interface {name}\n"

    def _set_port(self, words: list[str]) -> str:  # noqa: C901, PLR0911, PLR0912, PLR0915 - one case a command
        port = self.port
        if words[0] == "switchport" and port.channel is not None:
            return "Command rejected: the port is a member of a port-channel\n"
        match words:
            case ["channel-group", number, "mode", "on" | "active" as mode]:
                said = self._make_channel(f"Port-channel{number}", port)
                aggregate = self.ports[f"Port-channel{number}"]
                if port.like() != aggregate.like():
                    return f"Command rejected ({aggregate.short}, {port.short}): the port is not compatible\n"
                port.channel, port.channel_mode = int(number), mode
                return said
            case ["no", "channel-group"]:
                port.channel = None
            case ["description", *text]:
                port.description = " ".join(text)
            case ["no", "description"]:
                port.description = ""
            case ["shutdown"]:
                port.shut = True
            case ["no", "shutdown"]:
                port.shut = False
            case ["speed", "10" | "100" | "1000" | "auto" as speed]:
                port.speed = speed
            case ["flowcontrol", "receive", "on" | "off" | "desired" as receive]:
                port.receive = receive
            case ["power", "efficient-ethernet", "auto"]:
                port.eee = True
            case ["no", "power", "efficient-ethernet", "auto"]:
                port.eee = False
            case ["spanning-tree", "bpdufilter", "enable"]:
                port.deaf = True
            case ["no", "spanning-tree", "bpdufilter"]:
                port.deaf = False
            case ["switchport", "mode", "access"]:
                port.mode = "static access"
            case ["switchport", "mode", "trunk"]:
                if port.encapsulation == "negotiate":
                    return (
                        'Command rejected: An interface whose trunk encapsulation is "Auto" can not be configured to '
                        '"trunk" mode.\n'
                    )
                port.mode = "trunk"
            case ["switchport", "mode", "dynamic", "auto" | "desirable" as kind]:
                if port.nonegotiate:
                    return "Command rejected: Conflict between 'nonegotiate' and 'dynamic' status.\n"
                port.mode = f"dynamic {kind}"
            case ["switchport", "trunk", "encapsulation", "dot1q" | "negotiate" as word] if self.knows_isl:
                if word == "negotiate" and port.mode == "trunk":
                    return "Command rejected: a port in trunk mode does not negotiate its encapsulation.\n"
                port.encapsulation = word
            case ["no", "switchport", "nonegotiate"]:
                port.nonegotiate = False
            case ["switchport", "nonegotiate"]:
                if port.mode.startswith("dynamic"):
                    return "Command rejected: Conflict between 'nonegotiate' and 'dynamic' status.\n"
                port.nonegotiate = True
            case ["switchport", "access", "vlan", vid]:
                port.access = int(vid)
                if port.access not in self.vlans:
                    self.vlans.add(port.access)
                    return f"% Access VLAN does not exist. Creating vlan {vid}\n"
            case ["switchport", "trunk", "native", "vlan", vid]:
                port.native = int(vid)
            case ["switchport", "trunk", "allowed", "vlan", "none"]:
                port.allowed = set()
            case ["switchport", "trunk", "allowed", "vlan", "all"]:
                port.allowed = set(EVERY)
            case ["switchport", "trunk", "allowed", "vlan", "add", vids]:
                port.allowed |= _set(vids)
            case ["switchport", "trunk", "allowed", "vlan", "remove", vids]:
                port.allowed -= _set(vids)
            case ["switchport", "trunk", "allowed", "vlan", vids]:
                port.allowed = _set(vids)
            case _:
                return INVALID
        return ""

    def _show(self, what: str) -> str:
        if what == "running-config":
            return self.running()
        if what == "vlan brief":
            return self._vlan_brief()
        if what == "interfaces switchport":
            return "\n".join(self._switchport(port) for port in self.ports.values())
        return INVALID

    def running(self) -> str:
        lines = ["Building configuration...", "", "Current configuration : 4711 bytes", "!", "version 15.2", "!"]
        lines += ["hostname sw1", "!", "spanning-tree mode pvst", "spanning-tree extend system-id"]
        if self.no_stp:
            lines.append(f"no spanning-tree vlan {_ranges(self.no_stp)}")
        for vid in sorted(self.vlans - {1}):
            lines += ["!", f"vlan {vid}", *([f" name {self.names[vid]}"] if vid in self.names else [])]
        for port in self.ports.values():
            lines += ["!", f"interface {port.name}", *(f" {line}" for line in self._running_port(port))]
        lines += ["!", "interface Vlan1", " ip address 192.0.2.1 255.255.255.0", "!", "ip classless"]
        lines += [
            f"mac address-table static {mac} vlan {vid} interface {name}"
            for (vid, mac), name in sorted(self.statics.items())
        ]
        return "\n".join([*lines, "!", "line vty 0 4", " login local", "!", "end", ""])

    def _running_port(self, port: ToyPort) -> list[str]:
        lines = [f"description {port.description}"] if port.description else []
        if port.channel is None:
            if port.access != 1:
                lines.append(f"switchport access vlan {port.access}")
            if port.native != 1:
                lines.append(f"switchport trunk native vlan {port.native}")
            if port.allowed != EVERY:
                lines.append(f"switchport trunk allowed vlan {_ranges(port.allowed) or 'none'}")
            if not port.mode.startswith("dynamic"):
                lines.append(f"switchport mode {port.mode.removeprefix('static ')}")
            if port.nonegotiate:
                lines.append("switchport nonegotiate")
            if self.knows_isl and port.encapsulation == "dot1q":
                lines.append("switchport trunk encapsulation dot1q")
        lines += ["shutdown"] if port.shut else []
        lines += [f"speed {port.speed}"] if port.speed != "auto" else []
        lines += [f"flowcontrol receive {port.receive}"] if port.receive != "off" else []
        lines += ["power efficient-ethernet auto"] if port.eee else []
        lines += [f"channel-group {port.channel} mode {port.channel_mode}"] if port.channel is not None else []
        lines += ["spanning-tree bpdufilter enable"] if port.deaf else []
        return lines

    def _vlan_brief(self) -> str:
        rows = ["VLAN Name                             Status    Ports", "---- " + "-" * 32 + " --------- " + "-" * 31]
        for vid in sorted(self.vlans):
            name = "default" if vid == 1 else f"VLAN{vid:04}"
            held = [port.short for port in self.ports.values() if port.mode != "trunk" and port.access == vid]
            rows.append(f"{vid:<4} {name:32} active    {', '.join(held[:4])}")
            rows += [" " * 48 + ", ".join(held[n : n + 4]) for n in range(4, len(held), 4)]
        rows += [f"{vid} {name:32} act/unsup " for vid, name in OLD.items()]
        return "\n".join(rows) + "\n"

    def _switchport(self, port: ToyPort) -> str:
        state = "down" if port.shut else "trunk" if port.mode == "trunk" else "static access"
        allowed = "ALL" if port.allowed == EVERY else _ranges(port.allowed).upper() or "NONE"
        atoms = allowed.split(",")
        rows = [",".join(atoms[n : n + 9]) for n in range(0, len(atoms), 9)]
        return "\n".join(
            [
                f"Name: {port.short}",
                "Switchport: Enabled",
                f"Administrative Mode: {port.mode}",
                f"Operational Mode: {state}",
                f"Administrative Trunking Encapsulation: {port.encapsulation}",
                f"Negotiation of Trunking: {'On' if port.mode.startswith('dynamic') else 'Off'}",
                f"Access Mode VLAN: {port.access} ({'default' if port.access == 1 else f'VLAN{port.access:04}'})",
                f"Trunking Native Mode VLAN: {port.native} ({'default' if port.native == 1 else 'Inactive'})",
                "Administrative Native VLAN tagging: enabled",
                "Voice VLAN: none",
                "Operational private-vlan: none",
                "Trunking VLANs Enabled: " + ",\n     ".join(rows),
                "Pruning VLANs Enabled: 2-1001",
                "Capture Mode Disabled",
                "Capture VLANs Allowed: ALL",
                "",
                "Protected: false",
                "Appliance trust: none",
                "",
            ]
        )
