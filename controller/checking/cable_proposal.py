"""Propose the cables of a rack from what its switches see: LLDP first, then learned addresses and link states. Pure.

A cable is proposed where nothing that was seen contradicts it: what both its ends announce agrees, or one end alone
hears the other. A host that announces nothing is where its address was learned, if all switches were asked, and that is
one port only and no cable between switches. What was seen and not understood becomes a remark, and so does what cannot
be seen: the ends of shut ports.

Never seen are a cable's kind and whether it may be switched off. Proposed are copper, and that cables between switches
may be, those to hosts not. LAGs are not told from parallel cables.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from eee_testbed.controller.checking.neighbours import Directory, Sight, as_text, one_line
from eee_testbed.controller.drivers.lldp_shows import Neighbour
from eee_testbed.lab.model import End, Host, Lab

Source = Literal["both ends", "one end", "address"]

_HEAD: Final = "end_a,end_b,rate_mbps,kind,switchable"
_ABOUT: Final = """\
# Proposed from what the switches saw. Lines with a question mark are what was not seen, or not understood.
# Not seen anywhere: `kind` (copper, dac, fibre), `switchable` (may eeectl turn it off), and LAGs (column `lag`).
"""
_SHOWN_ENDS: Final = 4


@dataclass(frozen=True, slots=True)
class SeenCable:
    """A cable that was seen, and by what; `rate_mbps` is the most that both ends can do."""

    a: End
    b: End
    rate_mbps: int
    source: Source


@dataclass(frozen=True, slots=True)
class Remark:
    """What a person has to look at: the end of a cable, or a device, and what was seen there."""

    where: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Proposal:
    """Cables in the order of the inventory's ports, and what is left to find out."""

    cables: tuple[SeenCable, ...]
    remarks: tuple[Remark, ...]


def propose(lab: Lab, sights: Mapping[str, Sight]) -> Proposal:
    """The cables that the switches see. The lab's own links are not looked at."""
    return _Proposer(lab, sights).proposal()


class _Proposer:
    def __init__(self, lab: Lab, sights: Mapping[str, Sight]) -> None:
        self._lab = lab
        self._sights = sights
        self._directory = Directory(lab.hosts, sights)
        self._rates = {End(port.switch, port.name): port.rate_mbps for switch in lab.switches for port in switch.ports}
        self._rates |= {End(host.name, host.interface): host.rate_mbps for host in lab.hosts}
        self._claims = dict(self._claimed())
        self._several = {end for end, heard in self._heard() if heard.several}
        self._remarks: dict[End, str] = {}
        self._cables: dict[End, SeenCable] = {}  # by each of its ends

    def _heard(self) -> Iterator[tuple[End, Neighbour]]:
        for switch in self._lab.switches:
            if switch.name in self._sights:
                neighbours = self._sights[switch.name].neighbours
                yield from (
                    (End(switch.name, port.name), neighbours[port.name])
                    for port in switch.ports
                    if port.name in neighbours
                )

    def _claimed(self) -> Iterator[tuple[End, End]]:
        """Each port and who announces itself there; of a switch whose port is unknown the one that hears it alone."""
        claims = {end: who for end, heard in self._heard() if (who := self._directory.who(heard)) is not None}
        for end, who in claims.items():
            back = [other for other, seen in claims.items() if seen == end and other.device == who.device]
            yield end, back[0] if not who.port and len(back) == 1 else who

    def proposal(self) -> Proposal:
        self._join_all()
        for end, heard in self._heard():
            if end not in self._claims:
                self._remarks.setdefault(end, _strange(heard))
        for end in self._linked():
            if end not in self._cables:
                self._remarks.setdefault(end, self._silent(end))
        order = {end: place for place, end in enumerate(self._rates)}
        cables = sorted(set(self._cables.values()), key=lambda cable: order[cable.a])
        remarks = [Remark(str(end), one_line(said)) for end, said in self._remarks.items()]
        return Proposal(tuple(cables), (*remarks, *self._unseen()))

    def _join_all(self) -> None:
        for end, there in self._claims.items():
            if self._claims.get(there) == end and end not in self._cables:
                self._add(end, there, "both ends")
        for end in self._claims:
            if end not in self._cables:
                self._join(end)
        if self._sights.keys() != {switch.name for switch in self._lab.switches}:
            return  # an address was perhaps learned from a switch that was not asked
        for host in self._lab.hosts:
            if End(host.name, host.interface) not in self._cables:
                self._locate(host)

    def _join(self, end: End) -> None:
        """A cable whose other end announces nothing back, if nothing contradicts it."""
        there = self._claims[end]
        if there not in self._rates:
            self._remarks[end] = f"hears {there.device}, at a port that cannot be told"
            return
        if there in self._several:
            self._remarks[end] = f"hears {there}, which hears several neighbours"
            return
        others = [other for other, who in self._claims.items() if who == there and other != end]
        answer = self._claims.get(there)
        if others or answer is not None:
            rivals = [f"{other} hears it too" for other in others]
            rivals += [f"it hears {answer}"] if answer is not None else []
            self._remarks[end] = f"hears {there}, which is in doubt: {', '.join(rivals)}"
            return
        self._add(end, there, "one end")

    def _add(self, a: End, b: End, source: Source) -> None:
        cable = SeenCable(a, b, min(self._rates[a], self._rates[b]), source)
        self._cables[a] = self._cables[b] = cable

    def _locate(self, host: Host) -> None:
        """The port where a host's address was learned, if no cable to a switch or another host is there."""
        at = [
            End(name, port)
            for name, sight in self._sights.items()
            for port in sorted(sight.learned.get(host.mac, ()))
            if End(name, port) not in self._claims and not self._shared(name, port, host)
        ]
        if len(at) == 1 and at[0] in self._rates and at[0] not in self._cables:
            self._add(at[0], End(host.name, host.interface), "address")

    def _shared(self, switch: str, port: str, host: Host) -> bool:
        """Whether another host's address was learned there too: a device that forwards is behind the port."""
        learned = self._sights[switch].learned
        return any(port in learned.get(other.mac, ()) for other in self._lab.hosts if other.mac != host.mac)

    def _linked(self) -> Iterator[End]:
        for switch in self._lab.switches:
            sight = self._sights.get(switch.name)
            yield from (End(switch.name, port) for port, up in (sight.link if sight else {}).items() if up)

    def _silent(self, end: End) -> str:
        learned = self._sights[end.device].learned
        here = sorted(mac.hex(":") for mac, ports in learned.items() if end.port in ports)
        more = f" and {len(here) - _SHOWN_ENDS} more" if len(here) > _SHOWN_ENDS else ""
        behind = f"; behind it {', '.join(here[:_SHOWN_ENDS])}{more}" if here else ""
        return f"has a link, but no LLDP neighbour{behind}"

    def _unseen(self) -> Iterator[Remark]:
        for host in self._lab.hosts:
            end = End(host.name, host.interface)
            if end not in self._cables:
                yield Remark(str(end), "no switch sees it")
        for switch in self._lab.switches:
            sight = self._sights.get(switch.name)
            if sight is None:
                yield Remark(switch.name, "was not asked")
                continue
            shut = [port.name for port in switch.ports if port.name not in sight.link]
            if shut and sight.link:
                yield Remark(switch.name, f"nothing can be seen of shut ports: {', '.join(shut)}")


def _strange(heard: Neighbour) -> str:
    if heard.several:
        names = (f"{one.name or as_text(one.chassis)}, port {as_text(one.port)}" for one in heard.several)
        return f"hears several neighbours, so nothing proves which one its cable leads to: {'; '.join(names)}"
    return f"hears {heard.name or as_text(heard.chassis)}, port {as_text(heard.port)}, which hosts.yml does not list"


def cables_csv(lab: Lab, proposal: Proposal) -> str:
    """The text of cables.csv; remarks are comments with a question mark."""
    hosts = {host.name for host in lab.hosts}
    lines = [_HEAD, *_ABOUT.splitlines()]
    for cable in proposal.cables:
        switchable = "no" if hosts & {cable.a.device, cable.b.device} else "yes"
        lines.append(f"{cable.a},{cable.b},{cable.rate_mbps},copper,{switchable}")
        if cable.source != "both ends" and not (cable.source == "one end" and switchable == "no"):
            lines.append(f"# ? the line above is known from {_KNOWN_FROM[cable.source]} only")
    lines += (question(f"{remark.where} {remark.sentence}") for remark in proposal.remarks)
    return "\n".join([*lines, ""])


def question(text: str) -> str:
    """A comment of a table with a question mark; without double quotes, which a reader of CSV would obey."""
    return "# ? " + one_line(text).replace('"', "'")


_KNOWN_FROM: Final[Mapping[Source, str]] = {
    "both ends": "what both its ends announce",
    "one end": "what one end announces",
    "address": "the port where the host's address was learned",
}
