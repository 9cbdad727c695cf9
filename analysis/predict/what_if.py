"""What-if questions: EEE off, as measured, with another hold or mode; links off; a lower speed.

    off                                EEE off, all links at their speed
    measured                           the policy that was fitted
    deep,hold_us=100                   deep sleep (802.3az) after a hold
    fast,hold_us=10,phy=100GBASE-R     fast wake (802.3bj): wakes almost at once, and saves less
    hybrid,hold_us=1,deep_after_us=10  fast wake first, deep sleep after more idle time (Georgakoudis et al. 2019)
    coalescing,wait_us=100             a frame that finds the link asleep waits for others, up to this time
    deep,sleep_waits=no                a frame that arrives in Ts waits for Tw alone (Georgakoudis 2019, Table II)
    ...,off_links=sw1:gi1/0/23+5       links off, named by an end or a number
    ...,speed_mbps=100                 every link of the nodes and between switches at a lower speed

Times and powers that were not measured on the lab's links are those of a PHY's standard, by name.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from eee_testbed.lab.errors import LabError
from eee_testbed.lab.model import RATES_MBPS

Mode = Literal["off", "measured", "deep", "fast", "hybrid", "coalescing"]
MODES: Final[tuple[Mode, ...]] = ("off", "measured", "deep", "fast", "hybrid", "coalescing")


@dataclass(frozen=True, slots=True)
class Phy:
    """Times of a PHY: Ts, Tw of deep sleep and of fast wake (NaN: it has none), Tq and Tr.

    `profile` is the profile of the twin's engine that has the same times; a test holds both tables equal.
    """

    profile: str
    sleep_us: float
    wake_us: float
    fast_wake_us: float
    quiet_us: float
    refresh_us: float
    source: str


DEEP_FRACTION: Final = 0.1
FAST_FRACTION: Final = 0.6
"""Of a port's active power, in deep sleep and in fast wake: the papers assume them, without measurement."""

_MIWA: Final = "Miwa 2013, Table 1"
_GEORGAKOUDIS: Final = "Georgakoudis 2019, Tables I and VI; its Ts of 1.1 us is for 100 Gb/s"

PHYS: Final[Mapping[str, Phy]] = {
    "100BASE-TX": Phy("miwa-100BASE-TX", 200.0, 30.0, float("nan"), 20_000.0, 200.0, _MIWA),
    "1000BASE-T": Phy("miwa-1000BASE-T", 182.0, 16.0, float("nan"), 20_000.0, 198.0, _MIWA),
    "10GBASE-T": Phy("10GBASE-T", 2.88, 4.48, float("nan"), 39.68, 1.28, "IEEE 802.3-2022, clause 78"),
    "andujar-10G": Phy("andujar", 2.88, 4.16, float("nan"), float("inf"), 0.0, "Andujar 2023, section 3.1"),
    "25GBASE-R": Phy("georgakoudis-25GBASE-R", 1.1, 14.25, 0.34, 1_700.0, 16.9, _GEORGAKOUDIS),
    "40GBASE-R": Phy("georgakoudis-40GBASE-R", 1.1, 5.5, 0.34, 1_700.0, 5.9, _GEORGAKOUDIS),
    "100GBASE-R": Phy("georgakoudis-100GBASE-R", 1.1, 5.5, 0.34, 1_700.0, 5.9, _GEORGAKOUDIS),
}
"""By name. The papers give no Tq and Tr: those are of the standard's PHY at that speed, of copper from 25 Gb/s on."""

PAPER_LINK: Final = "andujar-10G"
"""The PHY of Andujar 2023, section 3.1."""


@dataclass(frozen=True, slots=True)
class WhatIf:
    """One question. None: as measured, or as the mode implies. `text` is its source.

    `sleep_waits`: a frame that arrives while a link falls asleep waits for the rest of Ts, then for Tw, as 802.3
    clause 78 has it for BASE-T and as Miwa saw; False: for Tw alone, as Georgakoudis' Table II charges it.
    """

    text: str
    mode: Mode
    hold_us: float | None = None
    deep_after_us: float | None = None
    wait_us: float | None = None
    phy: str = ""
    off_links: tuple[str, ...] = ()
    speed_mbps: int | None = None
    sleep_waits: bool = True

    @property
    def saves(self) -> bool:
        """Whether EEE is on."""
        return self.mode != "off"


_KEYS: Final = ("hold_us", "deep_after_us", "wait_us", "phy", "sleep_waits", "off_links", "speed_mbps")


@dataclass(slots=True)
class _Given:
    numbers: dict[str, float] = field(default_factory=dict)
    phy: str = ""
    off_links: tuple[str, ...] = ()
    speed_mbps: int | None = None
    sleep_waits: bool = True


def parse_what_if(text: str) -> WhatIf:
    """Parse a question; LabError if it is invalid.

    >>> asked = parse_what_if("deep,hold_us=100,off_links=25+26")
    >>> asked.mode, asked.hold_us, asked.off_links
    ('deep', 100.0, ('25', '26'))
    >>> parse_what_if("speed_mbps=100").mode
    'off'
    """
    words = [word.strip() for word in text.split(",")]
    mode, settings = next((mode for mode in MODES if mode == words[0]), None), _Given()
    if mode is None:
        if "=" not in words[0]:
            raise LabError(f"'{words[0]}' is not a mode: begin with one of {', '.join(MODES)}, as in deep,hold_us=100.")
        mode, words = "off", ["off", *words]
    for word in words[1:]:
        _take(text, word, settings)
    _validate(text, mode, settings)
    return WhatIf(
        text,
        mode,
        settings.numbers.get("hold_us"),
        settings.numbers.get("deep_after_us"),
        settings.numbers.get("wait_us"),
        settings.phy,
        settings.off_links,
        settings.speed_mbps,
        settings.sleep_waits,
    )


def _take(text: str, word: str, settings: _Given) -> None:
    key, _, value = word.partition("=")
    if key not in _KEYS or not value:
        raise LabError(
            f"'{word}' in '{text}' is not a valid setting: use one of {', '.join(f'{key}=...' for key in _KEYS)}."
        )
    if key == "phy":
        if value not in PHYS:
            raise LabError(f"'{value}' in '{text}' is not a known PHY: use one of {', '.join(PHYS)}.")
        settings.phy = value
    elif key == "sleep_waits":
        if value not in ("yes", "no"):
            raise LabError(
                f"'{word}' in '{text}' is neither yes nor no: does a frame that arrives in Ts wait for its end?"
            )
        settings.sleep_waits = value == "yes"
    elif key == "off_links":
        settings.off_links = tuple(name for name in value.split("+") if name)
    elif key == "speed_mbps":
        if not value.isdigit() or int(value) not in RATES_MBPS:
            raise LabError(f"'{value}' in '{text}' is not a speed: use one of {', '.join(map(str, RATES_MBPS))}.")
        settings.speed_mbps = int(value)
    else:
        settings.numbers[key] = _number(text, word, value)


def _number(text: str, word: str, value: str) -> float:
    try:
        number = float(value)
    except ValueError:
        number = float("nan")
    if not 0 <= number < float("inf"):
        raise LabError(f"'{word}' in '{text}' is not a time: give microseconds, 0 or more.")
    return number


def _validate(text: str, mode: Mode, settings: _Given) -> None:
    """Check that the settings go with the mode."""
    needless = {"off": {"hold_us", "deep_after_us", "wait_us"}, "measured": {"hold_us", "deep_after_us", "wait_us"}}
    allowed = {"deep": {"hold_us"}, "fast": {"hold_us"}, "hybrid": {"hold_us", "deep_after_us"}}
    wrong = set(settings.numbers) & needless.get(mode, set()) or set(settings.numbers) - allowed.get(
        mode, set(settings.numbers)
    )
    if wrong:
        raise LabError(f"'{text}': {mode} has no {min(wrong)}: use another mode, or remove it.")
    if not settings.sleep_waits and mode in ("off", "fast"):
        raise LabError(f"'{text}': {mode} has no Ts: remove sleep_waits, or use a mode that sleeps deeply.")
    if mode == "hybrid" and "deep_after_us" not in settings.numbers:
        raise LabError(f"'{text}': add the idle time after which links sleep deeply, as in deep_after_us=10.")
    if mode == "coalescing" and "wait_us" not in settings.numbers:
        raise LabError(f"'{text}': add how long a frame waits at most, as in wait_us=100.")
    if (
        settings.phy
        and mode in ("fast", "hybrid")
        and PHYS[settings.phy].fast_wake_us != PHYS[settings.phy].fast_wake_us
    ):
        raise LabError(f"'{text}': {settings.phy} has no fast wake: use 25GBASE-R, 40GBASE-R or 100GBASE-R.")
