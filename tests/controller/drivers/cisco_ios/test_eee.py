"""EEE of a Catalyst: what operates beats what is assumed (layout of genieparser's samples, values ours)."""

import pytest

from eee_testbed.controller.drivers.driver import Query, Show
from tests.controller.drivers.cisco_ios.test_ios_law import DRIVER, switch_of

NO = " no power efficient-ethernet auto\n"


def _shown(name: str, able: str, asic: str, status: str) -> dict[Query, str]:
    line = f"\tASIC/Interface         :  {asic}\n" if asic else ""
    return {
        Show(f"show eee capabilities interface {name}"): f"{name}\n\tEEE(efficient-ethernet):  {able}\n\n{line}",
        Show(f"show eee status interface {name}"): f"{name} is up\n\tEEE(efficient-ethernet):  {status}\n",
    }


@pytest.mark.parametrize(
    ("line", "default", "able", "asic", "status", "supported", "enabled"),
    [
        ("", None, "yes (1000T auto)", "EEE Capable/EEE Enabled", "Operational", True, True),
        ("", None, "yes (1000T auto)", "EEE Capable/EEE Enabled", "Disagreed", True, True),
        ("", None, "yes (1000T auto)", "EEE Capable/EEE Disabled", "Disabled", True, False),
        ("", True, "yes (1000T auto)", "EEE Capable/EEE Disabled", "Disabled", True, False),  # no default beats it
        ("", None, "yes (1000T auto)", "", "Operational", True, True),  # models without the line about the ASIC
        ("", None, "yes (1000T auto)", "", "Disagreed", True, False),
        ("", True, "yes (1000T auto)", "", "", True, True),
        ("", True, "yes (1000T auto)", "EEE Incapable/None", "Disagreed", False, False),
        ("", None, "no", "EEE Incapable/None", "Disabled", False, False),
        (NO, True, "yes (1000T auto)", "EEE Capable/EEE Disabled", "Disabled", True, False),
        (" power efficient-ethernet auto\n", None, "yes (1000T auto)", "", "", True, True),
        ("", None, "", "", "", None, False),  # it says nothing
    ],
)
def test_what_a_catalyst_shows_of_eee_beats_a_default(
    line: str,
    *,
    default: bool | None,
    able: str,
    asic: str,
    status: str,
    supported: bool | None,
    enabled: bool,
) -> None:
    name = "GigabitEthernet1/0/3"
    quirks = {} if default is None else {"eee_default": default}
    switch = switch_of(["Gi1/0/3"], **quirks)
    running = f"interface {name}\n switchport mode trunk\n{line}!\nend\n"
    answers = {Show("show running-config"): running, **_shown(name, able, asic, status)}
    found = DRIVER.eee(switch, answers)["Gi1/0/3"]
    assert (found.supported, found.enabled) == (supported, enabled)
    assert DRIVER.parse(switch, frozenset({"energy"}), answers, None).ports["Gi1/0/3"].eee is enabled


def test_the_state_of_eee_is_asked_for_unless_the_default_is_known() -> None:
    asked = {
        query.command
        for query in DRIVER.queries(switch_of(["Gi1/0/3"]), frozenset({"energy"}))
        if isinstance(query, Show)
    }
    assert "show eee status interface GigabitEthernet1/0/3" in asked
    known = DRIVER.queries(switch_of(["Gi1/0/3"], eee_default=False), frozenset({"energy"}))
    assert known == (Show("show running-config"),)
