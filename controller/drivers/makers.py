"""Is a switch of the maker that its family in the inventory stands for? By sysObjectID and sysDescr (SNMPv2-MIB). Pure.

The number after 1.3.6.1.4.1 is the maker's (IANA, private enterprise numbers). Makers rebrand: each family has every
maker whose switches are known to have its command line. Families of one maker are told apart by the model that sysDescr
names, if it names one of theirs.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Final

from eee_testbed.controller.drivers.driver import Answers, Walk
from eee_testbed.controller.drivers.mib_rows import rows_of, text_of
from eee_testbed.lab.model import Switch, SwitchFamily

SYSTEM: Final = Walk("1.3.6.1.2.1.1", "system")
_ENTERPRISES: Final = "1.3.6.1.4.1."
_MODEL_CHARACTERS: Final = 40
_BRANCHES: Final[Mapping[SwitchFamily, tuple[str, ...]]] = {
    "dell_powerconnect_55xx": ("674", "89"),  # Dell, Radlan
    "cisco_sg": ("9.6.1", "3955", "89"),  # Cisco small business, Linksys, Radlan
    "netgear_m4300": ("4526", "4413", "7244", "674"),  # Netgear, Broadcom and Ubiquiti, Quanta, Dell
    "dell_powerconnect_62xx": ("674",),
    "dell_n_series": ("674",),
    "cisco_ios": ("9.1", "9.12"),
}
_BY_MODEL: Final[Mapping[SwitchFamily, tuple[str, ...]]] = {"cisco_sg": ("9.1",)}
"""Branches where a family has only the models that it knows by name: Cisco moved the successors of its small-business
switches (Catalyst 1200 and 1300) into the branch of its IOS products (Catalyst 1000 among them)."""

_MODELS: Final[Mapping[SwitchFamily, re.Pattern[str]]] = {
    "cisco_sg": re.compile(r"\b(?:Cisco )?Catalyst 1[23]00\b|\bC1[23]00-\d"),
    "dell_powerconnect_55xx": re.compile(r"\bPowerConnect 55(24|48)P?\b"),
    "dell_powerconnect_62xx": re.compile(r"\bPowerConnect 62(24|48)[FP]?\b"),
    "dell_n_series": re.compile(r"\bN[1-4]\d{3}[A-Z]*(-ON)?\b"),
    "netgear_m4300": re.compile(r"\bM4300-"),
}
"""How a family's models call themselves in sysDescr; a family without an entry is not told apart from others."""

_SYSTEMS: Final[Mapping[SwitchFamily, re.Pattern[str]]] = {
    "cisco_ios": re.compile(r"\bCisco IOS\b|\bIOS-XE\b|\bIOS \(tm\)|\bCisco Internetwork Operating System\b"),
}
"""Families that name their software there, whatever the model."""


def said_of(answers: Answers) -> tuple[str, str]:
    """SysObjectID and sysDescr in the answer to `SYSTEM`; empty where they are missing."""
    rows = rows_of(answers, SYSTEM)
    return text_of(rows.get("2.0", "")).strip("."), " ".join(text_of(rows.get("1.0", "")).split())


def families_of(object_id: str, description: str) -> tuple[SwitchFamily, ...]:
    """The families that a switch may be of, likeliest first: by the model that it names, else by its maker."""
    number = object_id.removeprefix(_ENTERPRISES)
    made = [family for family in _BRANCHES if _is_made(family, number, description)] if object_id else []
    named = [family for family in made if family in _named(description)]
    return tuple(named or made)


def model_of(description: str) -> str:
    """What a switch's sysDescr calls its model: the words that a family knows, else its beginning."""
    for models in _MODELS.values():
        found = models.search(description)
        if found is not None:
            rest = re.match(r"[^\s,]*", description[found.end() :])
            return found[0] + (rest[0] if rest is not None else "")
    return description.partition(",")[0][:_MODEL_CHARACTERS].strip()


def _named(description: str) -> list[SwitchFamily]:
    """Families of which a switch says that it is one."""
    return [family for words in (_MODELS, _SYSTEMS) for family, said in words.items() if said.search(description)]


def _is_made(family: SwitchFamily, number: str, description: str) -> bool:
    """Whether a number is of a family's makers."""
    by_model = family in _named(description) and _below(number, _BY_MODEL.get(family, ()))
    return by_model or _below(number, _BRANCHES.get(family, ()))


def _below(number: str, branches: Iterable[str]) -> bool:
    return any(f"{number}.".startswith(f"{branch}.") for branch in branches)


def wrong_maker(switch: Switch, object_id: str, description: str) -> str:
    """What is wrong, as a sentence; empty if the switch fits its family, or if it does not say."""
    if switch.family not in _BRANCHES or not object_id:
        return ""
    right_maker = _is_made(switch.family, object_id.removeprefix(_ENTERPRISES), description)
    named = _named(description)
    if right_maker and (not named or switch.family in named):
        return ""
    remedy = f"`family: {named[0]}`" if len(named) == 1 and named[0] != switch.family else "`family`"
    return (
        f"it is no {switch.family}: it calls itself '{description[:80]}' (sysObjectID {object_id}); correct {remedy} "
        "in hosts.yml."
    )
