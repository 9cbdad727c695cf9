"""A toy Linux switch: executes `bridge` and `ip` as Debian's kernel 6.1 did when it was watched, and prints JSON.

It knows as much of the shell as a switch's administrator needs: lists with && and ||, a `for` over words, an `if` over
a `grep`. Shares nothing with the driver.
"""

import json
import re
import shlex
from dataclasses import dataclass, field

from tests.support.switches.toy_ethtool import Failed, Nic, ethtool


@dataclass
class ToyLinux:
    nics: dict[str, Nic]
    stp: bool = True
    filtering: bool = True
    own: dict[int, set[str]] = field(default_factory=lambda: {1: {"PVID", "Egress Untagged"}})
    statics: dict[tuple[str, int], str] = field(default_factory=dict)

    def run(self, text: str) -> str:
        """What a command line prints; Failed if it fails."""
        text = text.strip()
        if loop := re.fullmatch(r"for (\w+) in ([^;]+); do (.*?); done 2>&1; true", text, re.DOTALL):
            return "".join(self._each(loop, forgiving=True))
        output = ""
        for part in _split(text):
            if loop := re.fullmatch(r"for (\w+) in ([^;]+); do (.*); done", part):
                output += "".join(self._each(loop, forgiving=False))
            elif choice := re.fullmatch(r"if (.*); then (.*); else (.*); fi", part):
                output += self._branch(choice[2] if self._holds(choice[1]) else choice[3])
            else:
                output += self._command(part)
        return output

    def _branch(self, text: str) -> str:
        """Commands after each other, of which the last has to hold, each of them some with &&."""
        *before, last = text.split("; ")
        for commands in before:
            try:
                self.run(commands)
            except Failed:
                continue
        return self.run(last)

    def _each(self, loop: re.Match[str], *, forgiving: bool) -> list[str]:
        said = []
        for word in shlex.split(loop[2]):
            body = loop[3].replace(f"${loop[1]}", word)
            if forgiving:
                for command in body.split("; "):
                    try:
                        said.append(self._command(command))
                    except Failed as failure:
                        said.append(f"{failure}\n")
                continue
            test, action, last = body.split(" || ")
            assert last == "exit 1"
            if not self._holds(test):
                self._command(action)
        return said

    def _holds(self, test: str) -> bool:
        command, pattern = re.fullmatch(r'(.*) \| grep -Eq "(.*)"', test).groups()  # type: ignore[union-attr]
        try:
            return any(re.search(pattern, line) for line in self._command(command).splitlines())
        except Failed:
            return False

    def _command(self, text: str) -> str:
        words = [word for word in shlex.split(text) if word != "2>/dev/null"]
        if words[0] == "true":
            return ""
        if words[0] == "echo":
            return " ".join(words[1:]) + "\n"
        if words[0] == "ethtool":
            return ethtool(self.nics, words[1:])
        shown = self._show(words)
        if shown is None:
            self._change(words)
        return shown or ""

    def _show(self, words: list[str]) -> str | None:
        match words:
            case ["ip", "-j", "-d", "link", "show"]:
                return json.dumps(self._links())
            case ["ip", "-o", "link", "show", "master", bond]:
                if bond not in self.nics:
                    raise Failed(f'Error: argument "{bond}" is wrong: Device does not exist')
                inside = (name for name, nic in self.nics.items() if nic.master == bond)
                return "".join(f"9: {name}: <BROADCAST,SLAVE> mtu 1500 master {bond} state DOWN\n" for name in inside)
            case ["bridge", "-j", "vlan", "show"]:
                return json.dumps([{"ifname": n, "vlans": _listed(v)} for n, v in self._all_vlans().items() if v])
            case ["bridge", "vlan", "show", "dev", name, "vid", vid]:
                held = self._all_vlans()[name].get(int(vid))
                row = "" if held is None else f"{name:<18}{vid}{' '.join(['', *sorted(held)])}\n"
                return f"port              vlan-id  \n{row}"
            case ["bridge", "-j", "fdb", "show", "br", "br0", "state", "static"]:
                return json.dumps([_entry(*key, port) for key, port in self.statics.items()])
        return None

    def _change(self, words: list[str]) -> None:
        match words:
            case ["ip", "link", "add", name, "type", "bond", "mode", "balance-xor", *_] if name not in self.nics:
                self.nics[name] = Nic(up=False, master="", vlans={}, modes=())
            case ["ip", "link", "del", "dev", name]:
                if name not in self.nics:
                    raise Failed(f'Cannot find device "{name}"')
                assert name.startswith("bond"), "only bonds come and go"
                assert not any(nic.master == name for nic in self.nics.values())
                del self.nics[name]
            case ["ip", "link", "set", "dev", name, "nomaster"]:
                nic = self.nics[name]
                nic.up = nic.up and not nic.master.startswith("bond")  # a bond closes what it lets go
                nic.master = ""
                nic.vlans.clear()
            case ["ip", "link", "set", "dev", name, "master", master]:
                self._enslave(self.nics[name], master)
            case ["ip", "link", "set", "dev", name, "up" | "down" as way]:
                self.nics[name].up = way == "up"
            case ["ip", "link", "set", "dev", "br0", "type", "bridge", "stp_state", "0" | "1" as on]:
                self.stp = on == "1"
            case ["bridge", "vlan", "add" | "del" as verb, "dev", name, "vid", span, *flags]:
                self._vlan(verb, name, span, flags)
            case ["bridge", "fdb", verb, *rest]:
                self._fdb(verb, rest)
            case _:
                raise AssertionError(f"the toy does not know: {words}")

    def _enslave(self, nic: Nic, master: str) -> None:
        assert master in {"br0", *self.nics}, f"{master} is not there"
        if nic.up or nic.master:
            raise Failed("Error: Device can not be enslaved while up.")
        nic.master = master
        nic.up = master.startswith("bond")
        if master == "br0":
            nic.vlans[1] = {"PVID", "Egress Untagged"}  # vlan_default_pvid

    # -- VLANs and entries

    def _all_vlans(self) -> dict[str, dict[int, set[str]]]:
        return {name: nic.vlans for name, nic in self.nics.items() if nic.master == "br0"} | {"br0": self.own}

    def _vlan(self, verb: str, name: str, span: str, flags: list[str]) -> None:
        assert ("self" in flags) == (name == "br0"), "a bridge's own VLANs are its `self`"
        vlans = self._all_vlans()[name]
        first, _, last = span.partition("-")
        vids = range(int(first), int(last or first) + 1)
        assert "pvid" not in flags or len(vids) == 1, "Invalid argument: a range with a PVID"
        for vid in vids:
            if verb == "del":
                vlans.pop(vid, None)
                continue
            if "pvid" in flags:
                for held in vlans.values():
                    held.discard("PVID")
            vlans[vid] = {word for flag, word in (("pvid", "PVID"), ("untagged", "Egress Untagged")) if flag in flags}

    def _fdb(self, verb: str, words: list[str]) -> None:
        if verb == "flush":
            assert words[:3] == ["dev", "br0", "brport"]
            assert words[6:] == ["static"]
            port, vid = words[3], int(words[5])
            self.statics = {key: at for key, at in self.statics.items() if (at, key[1]) != (port, vid)}
            return
        mac, _, port, _, *rest = words
        assert rest[:-2] == (["static"] if verb == "replace" else []), rest
        vid = int(rest[-1])
        if vid not in self.nics[port].vlans:
            raise Failed("RTNETLINK answers: Invalid argument")
        if verb == "replace":
            self.statics[mac, vid] = port
        elif self.statics.pop((mac, vid), None) != port:
            raise Failed("RTNETLINK answers: No such file or directory")

    # -- interfaces

    def _links(self) -> list[dict[str, object]]:
        info = {"info_kind": "bridge", "info_data": {"stp_state": int(self.stp), "vlan_filtering": int(self.filtering)}}
        links: list[dict[str, object]] = [{"ifname": "lo", "flags": ["LOOPBACK", "UP"]}]
        links.append({"ifname": "br0", "flags": ["BROADCAST", "UP"], "linkinfo": info})
        for name, nic in self.nics.items():
            flags = ["BROADCAST", "MULTICAST", *(["UP", "LOWER_UP"] if nic.up else [])]
            links.append({"ifname": name, "flags": flags, "master": nic.master})
        return links


def _split(text: str) -> list[str]:
    """Parts between && that are not inside a loop or a choice."""
    parts, depth, start = [], 0, 0
    for token in re.finditer(r"\bfor \w+ in\b|\bif (?:bridge|ip)\b|\bdone\b|\bfi\b| && ", text):
        word = token[0]
        if word == " && " and depth == 0:
            parts.append(text[start : token.start()])
            start = token.end()
        elif word.startswith(("for", "if")):
            depth += 1
        elif word in {"done", "fi"}:
            depth -= 1
    return [part.strip() for part in (*parts, text[start:])]


def _entry(mac: str, vid: int, port: str) -> dict[str, object]:
    return {"mac": mac, "ifname": port, "vlan": vid, "flags": [], "master": "br0", "state": "static"}


def _listed(vlans: dict[int, set[str]]) -> list[dict[str, object]]:
    return [{"vlan": vid, **({"flags": sorted(flags)} if flags else {})} for vid, flags in sorted(vlans.items())]
