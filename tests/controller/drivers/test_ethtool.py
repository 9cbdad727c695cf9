"""What `ethtool` says of ports: settings do not depend on light, nor on the words of a C library."""

import pytest

from eee_testbed.controller.drivers.ethtool import read_eee, read_links
from eee_testbed.lab.errors import Unreadable


def _link(port: str, *, kind: str, modes: str, advertised: str, negotiates: bool, speed: str) -> str:
    return (
        f"== {port}\nSettings for {port}:\n\tSupported ports: [ {kind} ]\n\tSupported link modes:   {modes}\n"
        "\tSupports auto-negotiation: Yes\n"
        f"\tAdvertised link modes:  {advertised}\n\tAdvertised auto-negotiation: {'Yes' if negotiates else 'No'}\n"
        f"\tSpeed: {speed}\n\tDuplex: Full\n\tPort: {kind}\n\tAuto-negotiation: {'on' if negotiates else 'off'}\n"
        f"\tLink detected: {'no' if 'Unknown' in speed else 'yes'}\n"
        f"Pause parameters for {port}:\nAutonegotiate:\toff\nRX:\t\toff\nTX:\t\toff\n"
    )


@pytest.mark.parametrize("kind", ["FIBRE", "Direct Attach Copper"])
@pytest.mark.parametrize("advertised", ["1000baseX/Full", "10000baseCR/Full", "Not reported"])
def test_a_module_has_one_setting_with_and_without_light(kind: str, advertised: str) -> None:
    modes = "1000baseX/Full\n\t                        10000baseCR/Full"
    found = {
        read_links(
            "sw1", ["sfp1"], _link("sfp1", kind=kind, modes=modes, advertised=advertised, negotiates=False, speed=speed)
        )["sfp1"].speed_mbps
        for speed in ("Unknown!", "1000Mb/s", "10000Mb/s")
    }
    assert found == {None}


def test_a_copper_port_without_negotiation_keeps_its_speed_without_a_link() -> None:
    modes = "100baseT/Full\n\t                        1000baseT/Full"
    found = {
        read_links(
            "sw1",
            ["lan1"],
            _link("lan1", kind="Twisted Pair", modes=modes, advertised="100baseT/Full", negotiates=False, speed=speed),
        )["lan1"].speed_mbps
        for speed in ("Unknown!", "100Mb/s")
    }
    assert found == {100}


@pytest.mark.parametrize(
    "words",
    [
        "netlink error: Not supported",
        "netlink error: Operation not supported",
        "Cannot get EEE settings: Not supported",
        "Cannot get EEE settings: Operation not supported",
        "netlink error: No data available",
        "Cannot get device pause settings: Function not implemented",
    ],
)
def test_what_is_not_supported_is_understood_in_the_words_of_every_c_library(words: str) -> None:
    eee = read_eee(
        "sw1", ["lan1", "lan2"], f"== lan1\nEEE settings for lan1:\n\tEEE status: disabled\n== lan2\n{words}\n"
    )
    assert (eee["lan1"].supported, eee["lan2"].supported) == (True, False)
    link = _link(
        "lan1", kind="TP", modes="1000baseT/Full", advertised="1000baseT/Full", negotiates=True, speed="1000Mb/s"
    )
    assert not read_links("sw1", ["lan1"], f"{link.partition('Pause')[0]}{words}\n")["lan1"].flow_control


def test_other_failures_are_not_taken_for_a_missing_feature() -> None:
    with pytest.raises(Unreadable):
        read_eee("sw1", ["lan1"], "== lan1\nnetlink error: No such device\n")
