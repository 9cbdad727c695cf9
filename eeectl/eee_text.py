"""EEE of a lab's links as text: links that differ one a line, then the others in groups that are alike."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from eee_testbed.controller.checking.eee_links import EeeEnd, EeeLink, Finding

_GAP: Final = "  "
_MEANS: Final[dict[Finding, str]] = {
    "contradictory": "shown as in force, and also as off or not supported: see the EEE commands of its switch",
    "one-sided": "on at one end only, so neither end may sleep",
    "not in force": "on, and not in force although the link is up: the other end does not advertise it",
    "unknown": "no switch at this link reports EEE",
    "in force": "on and in force",
    "on": "on; its switch does not report whether it is in force",
    "off": "off",
}
"""In the order in which they are shown."""

_SHUT: Final[dict[Finding, str]] = {"one-sided": "on at one end only", "not in force": "on", "unknown": "not reported"}


def eee_text(lab: str, links: Sequence[EeeLink], width: int, *, name_shut: bool) -> str:
    """The whole answer, in lines of at most `width` characters unless a link's name is longer."""
    lines = [_title(lab, links), ""]
    odd = [link for finding in _MEANS for link in links if link.differs and link.finding == finding]
    if odd:
        lines += [*_table(odd), ""]
    others = [link for link in links if not link.differs]
    for heading, names in _groups(link for link in others if name_shut or link.state != "shut"):
        lines += [f"{heading}:", *_columns(names, width)]
    shut = [link for link in others if link.state == "shut"]
    if shut and not name_shut:
        counts = Counter(link.finding for link in shut)
        counted = ", ".join(f"{counts[finding]} {_shut_words(finding)}" for finding in _MEANS if counts[finding])
        lines.append(f"{len(shut)} shut, EEE {counted}; --all names them")
    return "\n".join(lines)


def _title(lab: str, links: Sequence[EeeLink]) -> str:
    states = Counter(link.state for link in links)
    counts = ", ".join(f"{states[state]} {state}" for state in ("up", "down", "shut", "unknown") if states[state])
    odd = sum(link.differs for link in links)
    verdict = f"{odd} need{'s' if odd == 1 else ''} a look" if odd else "no link needs a look"
    return f"EEE on lab {lab}: {len(links)} links ({counts}); {verdict}."


def _table(links: Sequence[EeeLink]) -> Iterator[str]:
    """A line for each link under a header, then what each finding means."""
    rows = [("LINK", "STATE", "EEE AT ITS ENDS", "FINDING")]
    rows += [(eee_link.link.name, _state(eee_link), _ends(eee_link), eee_link.finding) for eee_link in links]
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    for row in rows:
        yield _GAP.join(cell.ljust(size) for cell, size in zip(row, widths, strict=True)).rstrip()
    for finding in dict.fromkeys(eee_link.finding for eee_link in links):
        yield f"{finding}: {_MEANS[finding]}."


def _shut_words(finding: Finding) -> str:
    return _SHUT.get(finding, _MEANS[finding])


def _groups(links: Iterable[EeeLink]) -> Iterable[tuple[str, list[str]]]:
    """Heading and names of each group; links that are up come first."""
    groups: dict[tuple[str, Finding, str], list[str]] = {}
    for eee_link in links:
        groups.setdefault((_state(eee_link), eee_link.finding, _hold(eee_link)), []).append(eee_link.link.name)
    order = list(_MEANS)

    def place(key: tuple[str, Finding, str]) -> tuple[bool, int]:
        return key[0] in {"shut", "down"}, order.index(key[1])

    for state, finding, hold in sorted(groups, key=place):
        names = groups[state, finding, hold]
        means = _shut_words(finding) if state in {"shut", "down"} else _MEANS[finding]
        yield f"{len(names)} {state}, EEE {means}{f', hold {hold}' if hold else ''}", names


def _columns(names: Sequence[str], width: int) -> list[str]:
    """Names in as many columns as fit, row by row."""
    size = max(map(len, names)) + len(_GAP)
    count = max(1, width // size)
    rows = [names[at : at + count] for at in range(0, len(names), count)]
    return [_GAP + "".join(name.ljust(size) for name in row).rstrip() for row in rows]


def _state(link: EeeLink) -> str:
    if link.state == "unknown":
        return "state unknown"
    if link.state != "up" or not link.rate_mbps:
        return link.state
    return f"up at {link.rate_mbps / 1000:g} Gb/s" if link.rate_mbps >= 1000 else f"up at {link.rate_mbps} Mb/s"


def _ends(link: EeeLink) -> str:
    return ", ".join(f"{end.end.device} {_end(end)}" for end in link.ends)


def _end(end: EeeEnd) -> str:
    if end.status is None:
        return "?"
    return "on" if end.status.enabled else "off"


def _hold(link: EeeLink) -> str:
    """Hold of the ends on which EEE is on; empty where switches do not report it."""
    holds = dict.fromkeys(end.status.hold_us for end in link.ends if end.status is not None and end.status.enabled)
    texts = [f"{hold} us" for hold in holds if hold is not None]
    return " and ".join(texts)
