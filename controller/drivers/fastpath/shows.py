"""What FASTPATH switches say besides their configuration: refusals, EEE of a port, who they are. Pure.

``show green-mode`` by the CLI manual 202-11997 ("Green Ethernet Commands"), ``show version`` by M4300, ICOS and
EdgeSwitch recordings.
"""

import re
from collections.abc import Mapping

from eee_testbed.controller.drivers.driver import EeeStatus, Identity, Line
from eee_testbed.controller.drivers.fastpath.config import clean
from eee_testbed.lab.errors import Unreadable
from eee_testbed.lab.model import Switch

SAVED = "Configuration Saved!"
_NO_REFUSALS = (
    re.compile(r"Warning: The use of large numbers of VLANs or interfaces may cause significant"),
    re.compile(r"delays in applying the configuration\."),
)
"""What a PowerConnect 62xx says to every list of VLANs that it takes (its transcripts)."""

_REFUSED_SHOW = re.compile(r"% |Error\b|Command not found|Incomplete command|Ambiguous command", re.IGNORECASE)
_FIELD = re.compile(r"(?P<label>[^.].*?)\.{2,}\s*(?P<value>.*)")
_CHIP = re.compile(r"BCM-?\d+\w*")
"""What some ICOS switches give as their machine model (AS4610-54P, DNI-3448P): the chip that switches."""

GREEN = "show green-mode"
VERSION = "show version"


def refusal(line: Line, output: str, save: str) -> str:
    """What is wrong with a line: any text at all, but for warnings; of saving, that nothing says it was done.

    Of a show, what begins as refusals do.
    """
    complaints = [text for text in clean(output) if not any(known.match(text) for known in _NO_REFUSALS)]
    if line.text == save:
        return "" if SAVED in complaints else "\n".join(complaints) or "no word that the configuration was saved"
    if line.text.startswith("show "):
        return "\n".join(text for text in complaints if _REFUSED_SHOW.match(text))
    return "\n".join(complaints)


def fields(switch: Switch, command: str, text: str) -> Mapping[str, str]:
    """``Label......... value`` lines; the first of a label counts. Unreadable if there are none."""
    values: dict[str, str] = {}
    for line in clean(text):
        match = _FIELD.fullmatch(line)
        if match:
            values.setdefault(match["label"], match["value"])
    if not values:
        raise Unreadable(switch.name, command, text)
    return values


def eee_of_port(switch: Switch, port: str, text: str) -> EeeStatus:
    """``show green-mode PORT``.

    It does not say whether EEE is in force. The partner's wake time comes from LLDP; without one the partner's EEE is
    unknown.
    """
    command = f"{GREEN} {port}"
    values = fields(switch, command, text)
    mode = values.get("EEE Admin Mode", "")
    if mode not in {"Enabled", "Disabled"}:
        raise Unreadable(switch.name, command, text)
    idle_us = _whole(switch, command, values, "Transmit Idle Time")
    partner_us = _whole(switch, command, values, "Remote Tw_sys_tx (usec)")
    return EeeStatus(
        supported=True,
        enabled=mode == "Enabled",
        active=None,
        partner=True if partner_us else None,
        hold_us=idle_us or None,
        wake_us=_whole(switch, command, values, "Tw_sys_tx (usec)"),
    )


def _whole(switch: Switch, command: str, values: Mapping[str, str], label: str) -> int | None:
    text = values.get(label)
    if text is None:
        return None
    if not text.isdecimal():
        raise Unreadable(switch.name, command, f"{label}: {text}")
    return int(text)


def identity_of_version(switch: Switch, text: str) -> Identity:
    """``show version``: fields with dots."""
    values = fields(switch, VERSION, text)
    named = (values.get("Machine Model", ""), values.get("Machine Type", ""), values.get("System Description", ""))
    model = next((name.split(",")[0].strip() for name in named if name and not _CHIP.fullmatch(name)), "")
    firmware = values.get("Software Version", "")
    if not model or not firmware:
        raise Unreadable(switch.name, VERSION, text)
    return Identity(model=model, firmware=firmware, serial=values.get("Serial Number", ""))
