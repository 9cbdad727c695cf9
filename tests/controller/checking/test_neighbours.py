"""Names of neighbours as LLDP shows them: with a domain behind them, or cut."""

import pytest

from eee_testbed.controller.checking.neighbours import whole_name

_KNOWN = ("switch-in-rack-1", "switch-in-rack-2", "sw1", "sw10")


@pytest.mark.parametrize(
    ("shown", "meant"),
    [
        ("sw1", "sw1"),
        ("sw10.lab.example.org", "sw10"),
        ("switch-in-rack-2 ...", "switch-in-rack-2"),
        ("switch-in-rac ...", None),
        ("sw", None),
        ("core", None),
    ],
)
def test_a_name_means_the_one_device_that_it_may_belong_to(shown: str, meant: str | None) -> None:
    assert whole_name(shown, _KNOWN) == meant
