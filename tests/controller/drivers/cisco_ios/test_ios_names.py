"""Lists of VLANs as IOS writes them."""

import pytest

from eee_testbed.controller.drivers.cisco_ios.names import read_vids


def test_a_list_of_vlans() -> None:
    assert read_vids("1,11-13, 20") == {1, 11, 12, 13, 20}


@pytest.mark.parametrize("text", ["0", "4095", "1-99999999999", "13-11", "x", "1-2-3"])
def test_what_is_no_list_of_vlans_is_refused_at_once(text: str) -> None:
    with pytest.raises(ValueError, match="VLAN"):
        read_vids(text)
