"""What a study takes from a calibration: a switch's watts, a node's, and the policy of links."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeVar

from eee_testbed.analysis.calibration import Estimate, LinkPolicy, NodePower, SwitchPower, load_calibration
from eee_testbed.analysis.report.findings.finding import with_unit
from eee_testbed.lab.errors import LabError

_Measured = TypeVar("_Measured", LinkPolicy, SwitchPower)

_TIMES: Final = (
    ("hold", "hold_us"),
    ("Ts", "sleep_us"),
    ("Tw", "wake_us"),
    ("fast wake", "fast_wake_us"),
    ("deep sleep after", "deep_after_us"),
)
"""Of a policy, as they are shown."""


@dataclass(frozen=True, slots=True)
class MeasuredPower:
    """A calibration's switch, and the policy of its links; None: it has none, or its links do not sleep.

    `node` is the first node that was measured both idle and busy; None: the calibration has none. `others` has the
    names of switches and links that were not taken.
    """

    file: str
    switch_name: str
    switch: SwitchPower
    policy: LinkPolicy | None
    note: str
    link_name: str = ""
    node_name: str = ""
    node: NodePower | None = None
    others: tuple[str, ...] = ()

    def taken(self) -> str:
        """Which parts of the calibration these are, with their intervals, in a sentence."""
        parts = [f"switch {self.switch_name}, base {_shown(self.switch.base_watt, 'W')}"]
        if self.policy is not None:
            times = [(name, getattr(self.policy, key)) for name, key in _TIMES]
            shown = ", ".join(f"{name} {_shown(one, 'us')}" for name, one in times if one is not None)
            parts.append(f"links of {self.link_name}, {shown}")
        if self.node is not None and self.node.loaded_watt is not None:
            idle, loaded = _shown(self.node.idle_watt, "W"), _shown(self.node.loaded_watt, "W")
            parts.append(f"node {self.node_name}, idle {idle}, busy {loaded}")
        also = f" Not taken: {', '.join(self.others)}." if self.others else ""
        return f"Taken from {Path(self.file).name}: {'; '.join(parts)}.{also}"


def read_power(given: str) -> MeasuredPower:
    """Of `FILE`, `FILE:SWITCH` or `FILE:SWITCH:LINK`; a name that is left out, or empty, is the first of the file.

    LabError if the file cannot be read, has no watts or not those names, or has links that coalesce.
    """
    path, switch_name, link_name = _parts(given)
    found = load_calibration(path)
    name, switch = _named("switch", switch_name, found.power.switches, path)
    if switch is None:
        raise LabError(f"{path} has no power of a switch: `eeectl fit` a run that measured one, and use its file.")
    link, policy = _named("link", link_name, found.links, path)
    if policy is not None and policy.kind == "coalescing":
        raise LabError(
            f"{path}: links of {link} coalesce, and programs are not replayed on those: fit links that do not, or name "
            "others as --power FILE:SWITCH:LINK."
        )
    sleeps = policy is not None and policy.kind != "off"
    measured = {name: one for name, one in found.power.nodes.items() if one.loaded_watt is not None}
    node_name, node = next(iter(measured.items()), ("", None))
    others = (*_without("switch", name, found.power.switches), *_without("links of", link, found.links))
    return MeasuredPower(
        str(path), name, switch, policy if sleeps else None, found.power.note, link, node_name, node, others
    )


def _parts(given: str) -> tuple[Path, str, str]:
    """A file's own name may have colons: the longest part that is a file is taken for one."""
    pieces = given.split(":")
    for count in range(len(pieces), 0, -1):
        path = Path(":".join(pieces[:count]))
        if path.is_file():
            break
    else:
        path, count = Path(pieces[0]), 1
    switch, _, link = ":".join(pieces[count:]).partition(":")
    return path, switch, link


def _named(what: str, name: str, known: Mapping[str, _Measured], path: Path) -> tuple[str, _Measured | None]:
    """That of a name; the first, if none is given; ("", None) if there is none."""
    if name and name not in known:
        raise LabError(f"{path} has no {what} '{name}': use one of {', '.join(known) or '(it has none)'}.")
    return (name, known[name]) if name else next(iter(known.items()), ("", None))


def _without(what: str, name: str, known: Iterable[str]) -> tuple[str, ...]:
    return tuple(f"{what} {other}" for other in known if other != name)


def _shown(one: Estimate, unit: str) -> str:
    return with_unit(one.interval, unit)
