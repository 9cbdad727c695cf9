"""The design matrix of a switch's stages: a column for each power that the windows may determine. Pure."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from eee_testbed.analysis.interval import Floats, NotEnoughData
from eee_testbed.analysis.power.stage_window import PortCounts, StageWindow

_MOST_LEFT_OVER: Final = 1e-6

What = Literal["base", "cabled", "enabled", "link", "left", "lpi", "bit", "packet", "carrying"]
TRAFFIC: Final[tuple[What, ...]] = ("bit", "packet", "carrying")


class Name(NamedTuple):
    """What a column counts, of which kind of ports, at which speed."""

    what: What
    kind: str = ""
    mbps: int = 0


class Columns:
    """The design matrix, column by column with names, and which of them the windows determine."""

    def __init__(self, windows: Sequence[StageWindow]) -> None:
        self.windows = windows
        self.values: dict[Name, Floats] = {Name("base"): np.ones(len(windows))}
        self.unknown: list[str] = []

    def add(self, name: Name, values: Sequence[float], missing: str = "") -> bool:
        """Add a column unless it is a linear combination of the others; else note what is missing."""
        column = np.array(values, dtype=float)
        size = float(np.abs(column).max(initial=0.0))
        if size > 0:
            others = self.scaled
            unit = column / size
            away = unit - others @ np.linalg.lstsq(others, unit, rcond=None)[0]
            if float(np.abs(away).max()) > _MOST_LEFT_OVER:
                self.values[name] = column
                return True
        if missing:
            self.unknown.append(missing)
        return False

    @property
    def matrix(self) -> Floats:
        """Shape (windows, columns)."""
        return np.column_stack(list(self.values.values()))

    @property
    def scaled(self) -> Floats:
        """The matrix with columns of a maximum of 1."""
        scaled: Floats = self.matrix / np.abs(self.matrix).max(axis=0)
        return scaled

    @property
    def states(self) -> NDArray[np.int64]:
        """A number for each window, the same for windows with equal ports; traffic counts by its order of size."""
        return _numbered(np.round(self.scaled, 2))

    @property
    def stages(self) -> NDArray[np.int64]:
        """A number for each window, the same for windows with equal ports, whatever traffic they carried."""
        still = [place for place, name in enumerate(self.values) if name.what not in TRAFFIC]
        return _numbered(np.round(self.scaled[:, still], 2))


def _numbered(rows: Floats) -> NDArray[np.int64]:
    return np.unique(rows, axis=0, return_inverse=True)[1].ravel().astype(np.int64)


def of_kind(kinds: Sequence[str], kind: str) -> str:
    """Words that tell ports of a kind from others, where there are several kinds: ' with dac'."""
    return f" with {kind}" if len(kinds) > 1 else ""


def columns_of(windows: Sequence[StageWindow]) -> Columns:
    """All powers that these windows determine.

    NotEnoughData if no link can be told from the base, neither with and without its link nor awake and asleep.
    """
    columns = Columns(windows)
    kinds = sorted({kind for window in windows for kind in window.ports})
    speeds = {kind: speeds_of(windows, kind) for kind in kinds}
    if not any(speeds.values()):
        columns.unknown.append("No port was ever up: bring links up to learn what they draw.")
    hidden = _add_links(columns, speeds)
    for kind in kinds:
        _add_stages(columns, kind, speeds[kind], of_kind(kinds, kind))
    if hidden and not any(name.what in ("link", "lpi") for name in columns.values):
        raise NotEnoughData(
            f"as many ports at {', '.join(hidden)} were up in all windows, so base and port are one: shut some."
        )
    _add_traffic(columns, speeds)
    return columns


def speeds_of(windows: Sequence[StageWindow], kind: str) -> tuple[int, ...]:
    """Speeds, Mb/s, at which ports of a kind were ever up."""
    ports = [window.ports[kind] for window in windows if kind in window.ports]
    return tuple(sorted({mbps for counts in ports for mbps, count in counts.up_by_mbps.items() if count > 0}))


def set_speeds_of(windows: Sequence[StageWindow], kind: str) -> tuple[int, ...]:
    """Speeds, Mb/s, that enabled ports of a kind were ever set to; 0: they negotiate it."""
    ports = [window.ports[kind] for window in windows if kind in window.ports]
    return tuple(sorted({mbps for counts in ports for mbps, count in counts.enabled_by_mbps.items() if count > 0})) or (
        0,
    )


def _counts(windows: Sequence[StageWindow], kind: str, count: Callable[[PortCounts], float]) -> list[float]:
    return [count(window.ports[kind]) if kind in window.ports else 0.0 for window in windows]


def _at_speed(counts: Callable[[PortCounts], Mapping[int, float]], mbps: int) -> Callable[[PortCounts], float]:
    return lambda ports: counts(ports).get(mbps, 0.0)


def _add_links(columns: Columns, speeds: Mapping[str, tuple[int, ...]]) -> Sequence[str]:
    """Links; those that are up in all windows, or with others, are in the base, and are returned in words."""
    hidden = []
    for kind, every in speeds.items():
        for mbps in every:
            added = columns.add(
                Name("link", kind, mbps),
                _counts(columns.windows, kind, _at_speed(lambda counts: counts.up_by_mbps, mbps)),
            )
            if not added:
                hidden.append(f"{mbps} Mb/s{of_kind(tuple(speeds), kind)}")
    columns.unknown += [
        f"Ports at {speed} were up in equal numbers, or together with others: their power is in the base and in theirs."
        for speed in hidden
    ]
    return hidden


def _add_stages(columns: Columns, kind: str, speeds: Sequence[int], where: str) -> None:
    windows = columns.windows
    for mbps in set_speeds_of(windows, kind):
        at = f"{where} set to {mbps} Mb/s" if mbps else where
        columns.add(
            Name("enabled", kind, mbps),
            _counts(windows, kind, _at_speed(lambda counts: counts.enabled_by_mbps, mbps)),
            f"No window had enabled ports{at} without link: the power of a link includes the enabled port."
            if speeds
            else f"All windows had equally many enabled ports{at}: their power is in the base.",
        )
    columns.add(
        Name("cabled", kind),
        _counts(windows, kind, lambda counts: counts.cabled),
        f"All windows had the same cables{where}: the power of a port that is cabled and shut is in the base.",
    )
    columns.add(
        Name("left", kind),
        _counts(windows, kind, lambda counts: counts.left),
        f"No port{where} was measured shut both before and after it was up: its residual power is unknown.",
    )
    for mbps in speeds:
        columns.add(
            Name("lpi", kind, mbps),
            _counts(windows, kind, _at_speed(lambda counts: counts.lpi_by_mbps, mbps)),
            f"No windows differ in low-power idle of ports{where} at {mbps} Mb/s: measure with EEE on and off.",
        )


def _add_traffic(columns: Columns, speeds: Mapping[str, tuple[int, ...]]) -> None:
    """Bits, then packets, then what a port draws once it carries traffic, however much."""
    windows = columns.windows
    bits = [window.rate_bps for window in windows]
    if not columns.add(Name("bit"), bits, "No window had traffic: bits and packets are unknown."):
        return
    packets = [window.rate_pps for window in windows]
    counted = [pps for pps in packets if pps is not None]
    if len(counted) == len(packets):
        columns.add(
            Name("packet"),
            counted,
            "All traffic had one packet size: the energy of a bit includes its share of a packet.",
        )
    else:
        columns.unknown.append("The switch does not count frames: the energy of a bit includes its share of a packet.")
    for kind, every in speeds.items():
        for mbps in every:
            carrying = _counts(windows, kind, _at_speed(lambda counts: counts.carrying_by_mbps, mbps))
            if any(carrying):
                columns.add(
                    Name("carrying", kind, mbps),
                    carrying,
                    f"What a port{of_kind(tuple(speeds), kind)} at {mbps} Mb/s draws once it carries traffic, however "
                    "much, is in its link, bits or packets: measure it without traffic and at several rates.",
                )
