"""What came of a reading of a recording."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from eee_testbed.lab.errors import LabError

Outcome = Literal["right", "refused", "misread", "read", "unread"]
"""As the recording's own objects, its collector's own reading or a stated expectation have it; an error in words;
something else. read: nothing says what is right. unread: no reader knows the recording."""

Stated = Mapping[str, Mapping[str, Any]]
"""What a person states about a walk: `strip` and `counters`, each a mapping."""

_SHOWN_CHARACTERS: Final = 400
_MAC_BYTE: Final = 6


@dataclass(frozen=True, slots=True)
class Verdict:
    """`reading` is what was read of which `device`; `said` says why it was refused, what differs, or what was read."""

    recording: str
    device: str
    reading: str
    outcome: Outcome
    said: str = ""


def judge(recording: str, device: str, reading: str, read: Callable[[], object], expected: object) -> Verdict:
    """Compare a reading with what is expected; an error in words is a refusal. Any other error is a fault of ours."""
    try:
        value = read()
    except LabError as error:
        return Verdict(recording, device, reading, "refused", " ".join(str(error).split()))
    if value == expected:
        return Verdict(recording, device, reading, "right")
    return Verdict(recording, device, reading, "misread", f"read {value!r}, recorded is {expected!r}")


def judge_refusal(recording: str, device: str, reading: str, read: Callable[[], object]) -> Verdict:
    """A reading that has to be refused."""
    try:
        value = read()
    except LabError:
        return Verdict(recording, device, reading, "right")
    return Verdict(recording, device, reading, "misread", f"read {value!r}, which has to be refused")


def only_read(recording: str, device: str, reading: str, read: Callable[[], object]) -> Verdict:
    """A reading without anything to compare it with: the verdict shows what was read."""
    try:
        value = read()
    except LabError as error:
        return Verdict(recording, device, reading, "refused", " ".join(str(error).split()))
    words = in_words(value)
    return Verdict(
        recording,
        device,
        reading,
        "read",
        words if len(words) <= _SHOWN_CHARACTERS else f"{words[:_SHOWN_CHARACTERS]} ...",
    )


def in_words(value: object) -> str:
    """A reading for people."""
    if isinstance(value, Mapping):
        return "; ".join(f"{in_words(name)}: {in_words(held)}" for name, held in value.items()) or "nothing"
    if isinstance(value, set | frozenset):
        return ", ".join(map(in_words, sorted(value, key=lambda one: (not isinstance(one, int), one)))) or "nothing"
    if isinstance(value, list | tuple):
        return ", ".join(map(in_words, value)) or "nothing"
    if isinstance(value, bytes):
        return value.hex(":") if len(value) == _MAC_BYTE else value.decode("utf-8", "replace")
    if value is None or value == "":
        return "unknown" if value is None else "-"
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)
