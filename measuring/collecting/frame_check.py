"""Whether frame counters count: octets held against frames. Pure but for what it remembers of the last readings.

An agent may have a counter that stays 0 for ever, or stands still (64-bit frame columns of Cisco SG300 and SG350). A
column is believed only as long as its frames can have carried the octets of the same port and direction: no frame, even
one that a host's card has merged, has more than 65,535 bytes (the length field of IP).

Simplification. Octets and frames are polled one after the other, so a port's octets may run ahead of its frames by what
passes in between. A port whose frames counted has a credit of up to 1 GiB, 8 s at 1 Gb/s; a counter that stops later is
noticed after as much. On a port whose unicast counter counts, a multicast or broadcast counter that stays 0 cannot be
distinguished from one that has nothing to count.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from eee_testbed.measuring.collecting.port_counters import Numbers

_DIRECTIONS: Final = ("in", "out")
_CASTS: Final = ("unicast", "multicast", "broadcast")
_LARGEST_FRAME_BYTE: Final = 65_535
_UNEXPLAINED_BYTE: Final = 2**20
_CREDIT_BYTE: Final = 2**30


def counts_nothing(wide: Numbers, narrow: Numbers, *, frames: bool) -> bool:
    """Whether a 64-bit column has to be replaced by the 32-bit one of the same counter, as both are now.

    The 32-bit counter is the low half of the other (RFC 2863), so 0 beside a number proves it. Frames are also taken
    from the 32-bit column as long as the 64-bit one has not counted anything: it wraps after 48 min at 1 Gb/s at the
    earliest. Octets wrap in seconds, so for them there has to be a proof.
    """
    proved = any(a == 0 and b for a, b in zip(wide, narrow, strict=True))
    return proved or (frames and not any(wide) and any(value is not None for value in narrow))


class FrameCheck:
    """Compares what each port's octet and frame counters have counted, in each direction, reading by reading."""

    def __init__(self) -> None:
        self._last: dict[tuple[str, int], tuple[int, dict[str, int]]] = {}
        self._unexplained_byte: dict[tuple[str, int], float] = {}
        self._moved: dict[tuple[str, int], set[str]] = {}

    def wrong(self, counters: Mapping[str, Numbers], marks: Sequence[str]) -> Mapping[str, Collection[int]]:
        """Frame counters that cannot be true, by name, with the positions of the ports where they cannot.

        They are those that stood still while octets were counted, or all of the direction if none did. `marks` are
        those of the ports' readings: one that was reset starts again.
        """
        wrong_ports: dict[str, set[int]] = {}
        for direction in _DIRECTIONS:
            names = [name for cast in _CASTS if (name := f"{direction}_{cast}_frame") in counters]
            for port, mark in enumerate(marks):
                if mark == "reset":
                    self._forget((direction, port))
                octets = counters[f"{direction}_byte"][port] if f"{direction}_byte" in counters else None
                frames = {name: value for name in names if (value := counters[name][port]) is not None}
                if octets is not None and frames:
                    for name in self._stood_still((direction, port), octets, frames):
                        wrong_ports.setdefault(name, set()).add(port)
        return wrong_ports

    def _forget(self, place: tuple[str, int]) -> None:
        for known in (self._last, self._unexplained_byte, self._moved):
            known.pop(place, None)

    def _stood_still(self, place: tuple[str, int], octets: int, frames: dict[str, int]) -> Collection[str]:
        nothing = dict.fromkeys(frames, 0)
        first = (octets if any(frames.values()) else 0, frames if any(frames.values()) else nothing)
        octets_before, frames_before = self._last.get(place, first)
        steps = {name: value - frames_before.get(name, value) for name, value in frames.items()}
        moved = self._moved.setdefault(place, set())
        moved.update(name for name, step in steps.items() if step)
        unexplained_byte = self._unexplained_byte.get(place, 0.0)
        unexplained_byte += octets - octets_before - _LARGEST_FRAME_BYTE * sum(steps.values())
        self._last[place] = octets, frames
        self._unexplained_byte[place] = max(unexplained_byte, -_CREDIT_BYTE)
        if unexplained_byte <= _UNEXPLAINED_BYTE:
            return ()
        self._forget(place)
        return frames.keys() - moved or frames.keys()
