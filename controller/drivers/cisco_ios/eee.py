"""EEE of a port as Cisco IOS shows it. Pure.

The layout of `show eee capabilities` and `show eee status` is that of published samples of a Catalyst (genieparser);
words that are not among them are unknown, not "no".
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from eee_testbed.controller.drivers.driver import Answers, Show

_EEE_FIELD = "EEE(efficient-ethernet)"
_OFF_LINE = "no power efficient-ethernet auto"
_ON_LINE = "power efficient-ethernet auto"


def eee_commands(interface: str) -> tuple[str, str]:
    """The shows of one interface, named in full."""
    return f"show eee capabilities interface {interface}", f"show eee status interface {interface}"


@dataclass(frozen=True, slots=True)
class PortEee:
    """What both shows of a port say; None where they do not.

    `in_asic`: enabled there. A port whose ASIC cannot do EEE does not support it, whatever its PHY can.
    `active`: operational, so both ends negotiated it.
    """

    supported: bool | None
    in_asic: bool | None
    active: bool | None
    partner: bool | None

    @classmethod
    def of(cls, answers: Answers, interface: str) -> Self:
        """From the answers to `eee_commands`."""
        capabilities, status = (_text(answers, command) for command in eee_commands(interface))
        able, partner = _says_yes(_field(capabilities, _EEE_FIELD)), _says_yes(_field(capabilities, "Link Partner"))
        asic = (_field(capabilities, "ASIC/Interface") or "").lower()
        operational = _field(status, _EEE_FIELD)
        incapable = "eee incapable" in asic or "not capable" in asic
        return cls(
            supported=False if incapable else able,
            in_asic=False
            if incapable
            else True
            if "eee enabled" in asic
            else False
            if "eee disabled" in asic
            else None,
            active=None if operational is None else operational.lower().startswith("operational"),
            partner=partner,
        )

    def enabled(self, lines: Sequence[str], *, default: bool) -> bool:
        """Whether EEE is on, with these lines in the port's configuration.

        Without a line about EEE what the switch shows overrides the `default`, which is an assumption.
        """
        if _OFF_LINE in lines or _ON_LINE in lines:
            return _OFF_LINE not in lines
        if self.active or self.supported is False:
            return bool(self.active)
        return default if self.in_asic is None else self.in_asic


def _text(answers: Answers, command: str) -> str:
    answer = answers.get(Show(command))
    return answer if isinstance(answer, str) else ""


def _says_yes(text: str | None) -> bool | None:
    """Yes or no; None for other words, such as those about a partner that has not answered yet."""
    first = re.match(r"yes\b|no(?:t enabled)?\s*$", text or "", re.IGNORECASE)
    return None if first is None else first[0].lower() == "yes"


def _field(text: str, name: str) -> str | None:
    match = re.search(rf"^\s*{re.escape(name)}\s*:\s*(.+?)\s*$", text, re.MULTILINE)
    return match[1] if match else None
