"""What-if questions: EEE off, as measured, with another hold or mode; links off; a lower speed.

    off                                EEE off, all links at their speed
    measured                           the policy that was fitted
    deep,hold_us=100                   deep sleep (802.3az) after a hold
    fast,hold_us=10,phy=100GBASE-R     fast wake (802.3bj): wakes almost at once, and saves less
    hybrid,hold_us=1,deep_after_us=10  fast wake first, deep sleep after more idle time (Georgakoudis et al. 2019)
    coalescing,wait_us=100             a frame that finds the link asleep waits for others, up to this time
    ...,off_links=sw1:gi1/0/23+5       links off, named by an end or a number
    ...,speed_mbps=100                 every link of the nodes and between switches at a lower speed

Times and powers that were not measured on the lab's links are those of a PHY's standard, by name.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from lab.errors import LabError
from lab.model import RATES_MBPS

Mode = Literal["off", "measured", "deep", "fast", "hybrid", "coalescing"]
MODES: Final[tuple[Mode, ...]] = ("off", "measured", "deep", "fast", "hybrid", "coalescing")


@dataclass(frozen=True, slots=True)
class Phy:
    """Times of a PHY, and the fraction of a port's power that remains asleep. NaN: it has no such mode."""

    sleep_us: float
    wake_us: float
    fast_wake_us: float
    deep_fraction: float
    fast_fraction: float
    source: str


PHYS: Final[Mapping[str, Phy]] = {
    "100BASE-TX": Phy(200.0, 30.0, float("nan"), 0.1, float("nan"), "Miwa 2013, Table 1"),
    "1000BASE-T": Phy(182.0, 16.0, float("nan"), 0.1, float("nan"), "Miwa 2013, Table 1"),
    "10GBASE-T": Phy(2.88, 4.48, float("nan"), 0.1, float("nan"), "IEEE 802.3-2022, clause 78"),
    "andujar-10G": Phy(2.88, 4.16, float("nan"), 0.1, float("nan"), "Andujar 2023, section 3.1"),
    "25GBASE-R": Phy(5.0, 14.25, 0.34, 0.1, 0.6, "Georgakoudis 2019, Table I; IEEE 802.3-2022, clause 78"),
    "40GBASE-R": Phy(1.1, 5.5, 0.34, 0.1, 0.6, "Georgakoudis 2019, Tables I and VI"),
    "100GBASE-R": Phy(1.1, 5.5, 0.34, 0.1, 0.6, "Georgakoudis 2019, Table VI"),
}
"""By name. The papers assume 0.1 of the active power for deep sleep and 0.6 for fast wake, without measurement."""


@dataclass(frozen=True, slots=True)
class WhatIf:
    """One question. None: as measured, or as the mode implies. `text` is its source."""

    text: str
    mode: Mode
    hold_us: float | None = None
    deep_after_us: float | None = None
    wait_us: float | None = None
    phy: str = ""
    off_links: tuple[str, ...] = ()
    speed_mbps: int | None = None

    @property
    def saves(self) -> bool:
        """Whether EEE is on."""
        return self.mode != "off"


_KEYS: Final = ("hold_us", "deep_after_us", "wait_us", "phy", "off_links", "speed_mbps")


@dataclass(slots=True)
class _Given:
    numbers: dict[str, float] = field(default_factory=dict)
    phy: str = ""
    off_links: tuple[str, ...] = ()
    speed_mbps: int | None = None


def parse_what_if(text: str) -> WhatIf:
    """Parse a question; LabError if it is invalid."""
    words = [word.strip() for word in text.split(",")]
    mode, given = next((mode for mode in MODES if mode == words[0]), None), _Given()
    if mode is None:
        if "=" not in words[0]:
            raise LabError(f"'{words[0]}' is not a mode: begin with one of {', '.join(MODES)}, as in deep,hold_us=100.")
        mode, words = "off", ["off", *words]
    for word in words[1:]:
        _take(text, word, given)
    _validate(text, mode, given)
    return WhatIf(
        text,
        mode,
        given.numbers.get("hold_us"),
        given.numbers.get("deep_after_us"),
        given.numbers.get("wait_us"),
        given.phy,
        given.off_links,
        given.speed_mbps,
    )


def _take(text: str, word: str, given: _Given) -> None:
    key, _, value = word.partition("=")
    if key not in _KEYS or not value:
        raise LabError(
            f"'{word}' in '{text}' is not a valid setting: use one of {', '.join(f'{key}=...' for key in _KEYS)}."
        )
    if key == "phy":
        if value not in PHYS:
            raise LabError(f"'{value}' in '{text}' is not a known PHY: use one of {', '.join(PHYS)}.")
        given.phy = value
    elif key == "off_links":
        given.off_links = tuple(name for name in value.split("+") if name)
    elif key == "speed_mbps":
        if not value.isdigit() or int(value) not in RATES_MBPS:
            raise LabError(f"'{value}' in '{text}' is not a speed: use one of {', '.join(map(str, RATES_MBPS))}.")
        given.speed_mbps = int(value)
    else:
        given.numbers[key] = _number(text, word, value)


def _number(text: str, word: str, value: str) -> float:
    try:
        number = float(value)
    except ValueError:
        number = float("nan")
    if not 0 <= number < float("inf"):
        raise LabError(f"'{word}' in '{text}' is not a time: give microseconds, 0 or more.")
    return number


def _validate(text: str, mode: Mode, given: _Given) -> None:
    """Check that the settings go with the mode."""
    needless = {"off": {"hold_us", "deep_after_us", "wait_us"}, "measured": {"hold_us", "deep_after_us", "wait_us"}}
    allowed = {"deep": {"hold_us"}, "fast": {"hold_us"}, "hybrid": {"hold_us", "deep_after_us"}}
    wrong = set(given.numbers) & needless.get(mode, set()) or set(given.numbers) - allowed.get(mode, set(given.numbers))
    if wrong:
        raise LabError(f"'{text}': {mode} has no {min(wrong)}: use another mode, or remove it.")
    if mode == "hybrid" and "deep_after_us" not in given.numbers:
        raise LabError(f"'{text}': add the idle time after which links sleep deeply, as in deep_after_us=10.")
    if mode == "coalescing" and "wait_us" not in given.numbers:
        raise LabError(f"'{text}': add how long a frame waits at most, as in wait_us=100.")
    if given.phy and mode in ("fast", "hybrid") and PHYS[given.phy].fast_wake_us != PHYS[given.phy].fast_wake_us:
        raise LabError(f"'{text}': {given.phy} has no fast wake: use 25GBASE-R, 40GBASE-R or 100GBASE-R.")
