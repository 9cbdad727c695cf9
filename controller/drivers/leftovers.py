"""What stays in a switch's configuration when every setting is as it was before, and what takes it away. Pure.

A driver reaches the same settings by more than one text: a port that a plan had in general mode and that is in VLAN 1
alone again does what a port in access mode does. So each family that has a configuration lists here every kind of line
that its driver writes (`LineTable`) and that no setting of `SwitchState` holds. After a rollback the lines that were
there before are typed again, and those that are new are taken away. Frames notice nothing: settings are the same at
both ends, lines that wait for the port's mode to come go before that mode, all others after it.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, TypeVar

from eee_testbed.controller.model.config_text import WHOLE_SWITCH, ConfigText, LostLine

_Held = TypeVar("_Held")


VIDS: Final = r"(?P<vids>\d{1,4}(?:-\d{1,4})?(?:,\d{1,4}(?:-\d{1,4})?)*)"
"""A list of VLANs in a pattern."""


def vlan_block(vid: int | str) -> str:
    """The block of one VLAN: its name."""
    return f"vlan {vid}"


@dataclass(frozen=True, slots=True)
class Rule:
    """One kind of line. `pattern` fits the whole line.

    A group `vids` is a list of VLANs: the line counts as one for each VLAN of it. `undo` takes the line away; in it
    and in `key`, `{name}` stands for a group of the pattern. Empty: nothing takes it away.
    """

    pattern: str
    undo: str = ""
    key: str = ""
    """What the line sets, if others set it too: typing one replaces the other. Empty: lines of this pattern do."""

    mode: str = ""
    """Counts in this switchport mode only; empty: always."""

    typed: bool = True
    """Whether it can be typed again as it stands."""

    guards: bool = False
    """Keeps frames out that another line may keep out, too: typed before others, and taken away after them."""


@dataclass(frozen=True, slots=True)
class _Line:
    """A line that a rule knows."""

    text: str
    rule: Rule
    groups: Mapping[str, str]

    @property
    def key(self) -> str:
        return self.rule.key.format(**self.groups) or self.rule.pattern

    @property
    def undo(self) -> str:
        return self.rule.undo.format(**self.groups)


@dataclass(frozen=True)
class LineTable:
    """What a family's driver writes besides settings, for ports (LAGs too), the whole switch, and VLANs.

    `mode` fits the line of a port's switchport mode, with a group `mode`; `factory_mode` is that without such a line.
    `lines_wait`: lines of another mode are taken and wait for theirs; else a change of mode forgets them.
    `lost`: by setting of a port, lines that a change of it replaces; typing them again would restart the link.
    """

    port: tuple[Rule, ...]
    mode: Rule
    factory_mode: str
    switch: tuple[Rule, ...] = ()
    vlan: tuple[Rule, ...] = ()
    lost: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    lines_wait: bool = True

    def read(self, blocks: Mapping[str, Sequence[str]]) -> ConfigText:
        """Of each block the lines that a rule knows, one for each VLAN of a list."""
        kept = {name: tuple(line.text for line in self._lines(name, lines)) for name, lines in blocks.items()}
        lost = {
            name: tuple(
                LostLine(setting, line)
                for line in lines
                for setting, patterns in self.lost.items()
                if any(re.fullmatch(pattern, line) for pattern in patterns)
            )
            for name, lines in blocks.items()
            if self._rules(name) == self._port_rules
        }
        return ConfigText(_filled(kept), _filled(lost))

    def back(self, now: ConfigText, wanted: ConfigText) -> Mapping[str, tuple[str, ...]]:
        """By block what to type so that its lines are again those of `wanted`; ports first, then the switch."""
        names = sorted(now.blocks.keys() | wanted.blocks.keys(), key=lambda name: (name == WHOLE_SWITCH, name))
        typed = {name: self._back(name, now.blocks.get(name, ()), wanted.blocks.get(name, ())) for name in names}
        return _filled(typed)

    def _back(self, name: str, now: Sequence[str], wanted: Sequence[str]) -> tuple[str, ...]:
        had, has = (_by_key(self._lines(name, lines)) for lines in (wanted, now))
        differing = [key for key in {**has, **had} if had.get(key) != has.get(key)]
        gone = [
            (line.rule, line.undo, line.rule.guards)
            for key in differing
            if key not in had
            for line in has[key]
            if line.undo
        ]
        missing = [
            (line.rule, line.text, -line.rule.guards)
            for key in differing
            for line in had.get(key, ())
            if line.rule.typed
        ]
        steps = list(dict.fromkeys([*gone, *missing]))
        aim, start = self._mode(had), self._mode(has)
        if not self.lines_wait and aim != start:  # the other modes' lines are forgotten
            steps = [step for step in steps if step[0].mode in ("", aim)]
        steps.sort(key=lambda step: (self._turn(step[0], aim, changes=aim != start), step[2]))
        return tuple(text for _, text, _ in steps)

    def _turn(self, rule: Rule, aim: str, *, changes: bool) -> int:
        if rule is self.mode:
            return 1
        return 0 if changes and self.lines_wait and rule.mode == aim else 2

    def _mode(self, lines: Mapping[str, Sequence[_Line]]) -> str:
        return next((line.groups["mode"] for line in lines.get(self.mode.pattern, ())), self.factory_mode)

    @cached_property
    def _port_rules(self) -> tuple[Rule, ...]:
        return (self.mode, *self.port)

    def _rules(self, block: str) -> tuple[Rule, ...]:
        if block == WHOLE_SWITCH:
            return self.switch
        return self.vlan if re.fullmatch(r"vlan \d+", block) else self._port_rules

    def _lines(self, block: str, lines: Iterable[str]) -> Iterator[_Line]:
        for line in lines:
            matches = ((rule, re.fullmatch(rule.pattern, line)) for rule in self._rules(block))
            rule, match = next(((rule, match) for rule, match in matches if match), (None, None))
            if rule is None or match is None:
                continue
            groups = {name: value or "" for name, value in match.groupdict().items()}
            if groups.get("vids", "1").isdecimal():
                yield _Line(line, rule, groups)
                continue
            first, last = match.span("vids")
            yield from self._lines(block, (f"{line[:first]}{vid}{line[last:]}" for vid in _vids(groups["vids"])))


def _by_key(lines: Iterable[_Line]) -> dict[str, list[_Line]]:
    found: dict[str, list[_Line]] = {}
    for line in lines:
        found.setdefault(line.key, []).append(line)
    return found


def _filled(blocks: Mapping[str, tuple[_Held, ...]]) -> dict[str, tuple[_Held, ...]]:
    return {name: lines for name, lines in blocks.items() if lines}


def _vids(text: str) -> Iterator[int]:
    for part in text.split(","):
        first, _, last = part.partition("-")
        yield from range(int(first), int(last or first) + 1)
