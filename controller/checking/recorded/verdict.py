"""What came of a reading of a recording."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from lab.errors import LabError

Outcome = Literal["right", "refused", "misread"]
"""As the recording's own objects or its collector's own reading have it; an error in words; something else."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """`reading` is what was read of which `device`; `said` says why it was refused, or what differs."""

    recording: str
    device: str
    reading: str
    outcome: Outcome
    said: str = ""


def judge(recording: str, device: str, reading: str, read: Callable[[], object], expected: object) -> Verdict:
    """Compare a reading with what is expected; an error in words is a refusal. Any other error is a fault of ours."""
    try:
        found = read()
    except LabError as error:
        return Verdict(recording, device, reading, "refused", " ".join(str(error).split()))
    if found == expected:
        return Verdict(recording, device, reading, "right")
    return Verdict(recording, device, reading, "misread", f"read {found!r}, recorded is {expected!r}")


def judge_refusal(recording: str, device: str, reading: str, read: Callable[[], object]) -> Verdict:
    """A reading that has to be refused."""
    try:
        found = read()
    except LabError:
        return Verdict(recording, device, reading, "right")
    return Verdict(recording, device, reading, "misread", f"read {found!r}, which has to be refused")
