"""Times of links by the name of a PHY: what IEEE 802.3 gives from 25 Gb/s on, and what it does not give.

The times are those of the engine's PHY profiles, which the twin has, too. `LINKS` names those from 25 Gb/s on with
their source; a row without times says why. The standard has no watts.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any, Final

from eee_engine import phy_profiles

_CLAUSE: Final = "IEEE 802.3-2022, clause 78"
_FAST_ALONE: Final = "fast wake alone: no optical PHY from 25 Gb/s on, and none of 50, 200 or 400 Gb/s, has deep sleep"


@dataclass(frozen=True, slots=True)
class StandardLink:
    """A PHY's rate, and the source of its times; `lacks` says what the standard does not give, and is empty if nothing.

    `timed` False: there are no times at all, so that such links are simulated awake alone.
    """

    gbps: int
    source: str
    lacks: str = ""
    timed: bool = True


LINKS: Final[Mapping[str, StandardLink]] = {
    "25GBASE-KR": StandardLink(25, _CLAUSE),
    "25GBASE-R": StandardLink(25, _CLAUSE, _FAST_ALONE),
    "40GBASE-KR4": StandardLink(40, _CLAUSE),
    "40GBASE-R": StandardLink(40, _CLAUSE, _FAST_ALONE),
    "50GBASE-R": StandardLink(50, _CLAUSE, _FAST_ALONE),
    "100GBASE-KR4": StandardLink(100, _CLAUSE),
    "100GBASE-R": StandardLink(100, _CLAUSE, _FAST_ALONE),
    "128G": StandardLink(128, "none", "802.3 has no rate of 128 Gb/s (128GFC is Fibre Channel)", timed=False),
    "200GBASE-R": StandardLink(200, _CLAUSE, _FAST_ALONE),
    "400GBASE-R": StandardLink(400, _CLAUSE, _FAST_ALONE),
    "800GBASE-R": StandardLink(
        800, "none", "802.3-2022 ends at 400 Gb/s, and no public text was found with times of 802.3df-2024", timed=False
    ),
}  # fmt: skip
"""By the name of the PHY."""

_KEYS: Final = ("phy", "mode", "hold_us", "deep_after_us", "ends_sleep")
_PLACES: Final = ("links", "node_links", "card_links")
_MOST_AMOUNT: Final = 1e9
"""Of a time or of bytes: more is refused here or by the description."""

_RATE_TOLERANCE: Final = 0.15
"""Rates of a PHY and of a description's links differ by no more."""


class WrongLink(Exception):
    """A PHY's name does not give the links that are asked for: a sentence about the key at `place`, and a remedy."""

    def __init__(self, place: str, sentence: str, remedy: str) -> None:
        super().__init__(f"{sentence}; {remedy}")
        self.place, self.sentence, self.remedy = place, sentence, remedy


def with_times(fragment: Mapping[str, Any]) -> dict[str, Any]:
    """A simulation's file with cycles in place of a PHY's name and microseconds; WrongLink if they do not fit.

    >>> links = {"phy": "400GBASE-R", "mode": "fast", "hold_us": 1.0}
    >>> with_times({"programs": {"cycle_ns": 0.32, "flit_byte": 16}, "links": links})["links"]
    {'mode': 'fast', 'hold': 3125, 'fast_wake': 1062}
    """
    timed = dict(fragment)
    for place in _PLACES:
        given = fragment.get(place)
        if isinstance(given, Mapping) and "phy" in given:
            timed[place] = _links(place, given, fragment)
    return timed


def _links(place: str, given: Mapping[str, Any], fragment: Mapping[str, Any]) -> dict[str, Any]:
    """Without a mode the links never sleep."""
    for key in given:
        if key not in _KEYS:
            raise WrongLink(f"{place}.{key}", "is not a key beside phy", f"write some of {', '.join(_KEYS)}")
    name, mode = given["phy"], given.get("mode", "off")
    known = LINKS.get(name) if isinstance(name, str) else None
    profile = phy_profiles().get(name) if isinstance(name, str) else None
    if profile is None and (known is None or known.timed):
        raise WrongLink(f"{place}.phy", f"there is no PHY {name}", f"write one of {', '.join(LINKS)}")
    gbps = float(known.gbps) if known is not None else (profile or {})["speed_mbps"] / 1e3
    cycle_us = _cycle_us(place, name, gbps, fragment)
    if mode == "off":
        return {}
    if profile is None:
        raise WrongLink(
            f"{place}.phy", f"{name} has no times of sleep ({known.lacks if known else ''})", "leave mode out"
        )
    return _times(place, given, profile, cycle_us)


def _cycle_us(place: str, name: str, gbps: float, fragment: Mapping[str, Any]) -> float:
    """Length of a cycle; WrongLink if the links of the programs are not as fast as the PHY."""
    programs = fragment.get("programs")
    cycle_ns, flit_byte = (
        programs.get(key) if isinstance(programs, Mapping) else None for key in ("cycle_ns", "flit_byte")
    )
    if (
        not isinstance(cycle_ns, int | float)
        or not isinstance(flit_byte, int)
        or not (0 < cycle_ns <= _MOST_AMOUNT and 0 < flit_byte <= _MOST_AMOUNT)
    ):
        raise WrongLink(f"{place}.phy", "needs programs with cycle_ns and flit_byte", "write them, or times in cycles")
    rate = 8 * flit_byte / cycle_ns
    if abs(rate - gbps) > _RATE_TOLERANCE * gbps:
        raise WrongLink(
            f"{place}.phy", f"{name} has {gbps:g} Gb/s, and {flit_byte} bytes in {cycle_ns:g} ns are {rate:.3g} Gb/s",
            "correct programs.cycle_ns, or name another PHY",
        )  # fmt: skip
    return cycle_ns / 1e3


def _times(place: str, given: Mapping[str, Any], profile: Mapping[str, float], cycle_us: float) -> dict[str, Any]:
    mode, name = given["mode"], given["phy"]

    def cycles(time_us: Any, key: str) -> int:
        if not isinstance(time_us, int | float) or isinstance(time_us, bool) or not 0 <= time_us <= _MOST_AMOUNT:
            raise WrongLink(f"{place}.{key}", f"{time_us} is not a time", "write microseconds from 0 on")
        return round(time_us / cycle_us)

    times: dict[str, Any] = {"mode": mode, "hold": cycles(given.get("hold_us", 0.0), "hold_us")}
    if mode in ("deep", "hybrid"):
        if not profile["sleep_us"]:
            raise WrongLink(
                f"{place}.mode", f"{name} has no deep sleep: 802.3 gives it fast wake alone", "write mode: fast"
            )
        for key in ("sleep", "wake", "wake_during_sleep"):
            times[key] = cycles(profile[f"{key}_us"], key)
        if isfinite(profile["quiet_us"]):
            times |= {key: cycles(profile[f"{key}_us"], key) for key in ("quiet", "refresh")}
        times |= {"ends_sleep": given["ends_sleep"]} if "ends_sleep" in given else {}
    if mode in ("fast", "hybrid"):
        if not profile["fast_wake_us"]:
            raise WrongLink(f"{place}.mode", f"{name} has no fast wake", "write mode: deep")
        times["fast_wake"] = cycles(profile["fast_wake_us"], "fast_wake")
    if mode == "hybrid":
        times["deep_after"] = cycles(given.get("deep_after_us", 0.0), "deep_after_us")
    return times
