"""Who a device is by its sysObjectID and sysDescr."""

import pytest

from eee_testbed.controller.drivers.makers import families_of, model_of, wrong_maker
from eee_testbed.controller.strips.makers import strip_families_of
from eee_testbed.controller.strips.table import METER_FAMILIES
from eee_testbed.lab.model import StripFamily, Switch, SwitchFamily


@pytest.mark.parametrize(
    ("number", "description", "families"),
    [
        ("674.10895.3030", "PowerConnect 5524", ("dell_powerconnect_55xx",)),
        ("4526.100.1.36", "M4300-28G ProSAFE 24-port 1G", ("netgear_m4300",)),
        ("674.10895.3000", "Dell EMC Networking N2048, 6.5", ("dell_n_series",)),
        ("9.1.1208", "Cisco IOS Software, C2960X", ("cisco_ios",)),
        ("9.6.1.85.24.1", "SG500-28 28-Port Gigabit", ("cisco_sg",)),
        ("89.1.1", "a switch", ("dell_powerconnect_55xx", "cisco_sg")),
        ("8072.3.2.10", "Linux node1", ()),
        ("67.1", "", ()),
        ("9.1.3215", "Catalyst 1200 Series Managed Switch, 24-port GE, 4x1G SFP (C1200-24T-4G)", ("cisco_sg",)),
        ("9.1.3250", "Cisco Catalyst 1300 Series Managed Switch, 12-port 10GE", ("cisco_sg",)),
        ("9.1.2862", "Cisco IOS Software, C1000 Software (C1000-UNIVERSALK9-M), Version 15.2(7)E", ("cisco_ios",)),
        ("9.1.9999", "", ("cisco_ios",)),
    ],
)
def test_families_are_those_of_the_model_or_else_of_the_maker(
    number: str, description: str, families: tuple[str, ...]
) -> None:
    assert families_of(f"1.3.6.1.4.1.{number}", description) == families
    assert families_of("", description) == ()


@pytest.mark.parametrize(
    ("description", "model"),
    [
        ("M4300-28G ProSAFE 24-port 1G, 12.0.13.8", "M4300-28G"),
        ("Dell EMC Networking N2048, 6.5.3, Linux", "N2048"),
        ("PowerConnect 5524", "PowerConnect 5524"),
        ("SG500-28 28-Port Gigabit Stackable Managed Switch", "SG500-28 28-Port Gigabit Stackable Manag"),
        ("", ""),
    ],
)
def test_a_model_is_what_its_family_calls_it_or_the_beginning(description: str, model: str) -> None:
    assert model_of(description) == model


@pytest.mark.parametrize(
    ("number", "families"),
    [
        ("318.1.3.4.6", ("apc_rpdu2", "apc_rpdu")),
        ("28507.58", ("gude",)),
        ("1718.4", ("servertech_sentry4", "servertech_sentry3")),
        ("31.1", ()),
    ],
)
def test_strips_are_known_by_their_maker(number: str, families: tuple[StripFamily, ...]) -> None:
    assert strip_families_of(f"1.3.6.1.4.1.{number}") == families
    assert set(families) <= set(METER_FAMILIES)


@pytest.mark.parametrize(
    ("family", "number", "description", "fits"),
    [
        ("cisco_sg", "9.1.3215", "Catalyst 1200 Series Managed Switch, 8-port GE (C1200-8T-E-2G)", True),
        ("cisco_ios", "9.1.3215", "Catalyst 1200 Series Managed Switch, 8-port GE (C1200-8T-E-2G)", False),
        ("cisco_sg", "9.1.2862", "Cisco IOS Software, C1000 Software (C1000-UNIVERSALK9-M)", False),
        ("cisco_ios", "9.1.2862", "Cisco IOS Software, C1000 Software (C1000-UNIVERSALK9-M)", True),
        ("cisco_sg", "9.1.9999", "a switch", False),
        ("cisco_sg", "9.6.1.95.10.1", "SG350-10 10-Port Gigabit Managed Switch", True),
        ("cisco_ios", "9.1.9999", "a switch", True),
    ],
)
def test_in_a_branch_of_two_families_the_model_decides(
    family: SwitchFamily, number: str, description: str, *, fits: bool
) -> None:
    switch = Switch("sw1", family, "", "192.0.2.1", 22, 161, "", "", "", ())
    assert (wrong_maker(switch, f"1.3.6.1.4.1.{number}", description) == "") is fits
