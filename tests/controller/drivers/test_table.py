from dataclasses import replace
from typing import Any

import pytest

from eee_testbed.controller.drivers.table import driver_of
from eee_testbed.lab.errors import PlanError
from eee_testbed.lab.folder import find_lab, load_lab


def test_a_family_without_a_driver_is_refused_by_name() -> None:
    unknown: Any = "token_ring"
    switch = replace(load_lab(find_lab("miwa")).switches[0], family=unknown)
    with pytest.raises(PlanError, match="sw1: family token_ring has no driver; use one of dell_powerconnect_55xx"):
        driver_of(switch)
