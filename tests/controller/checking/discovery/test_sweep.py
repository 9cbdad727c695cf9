"""Which addresses are asked, and that what answers is found in their order."""

import pytest

from eee_testbed.controller.checking.discovery.sweep import SILENT_S, addresses_of, longest_s, sweep
from eee_testbed.lab.errors import LabError


def test_every_host_address_of_a_network_is_asked() -> None:
    assert addresses_of("192.0.2.0/30") == ("192.0.2.1", "192.0.2.2")
    assert addresses_of("192.0.2.9/32") == ("192.0.2.9",)
    assert len(addresses_of("10.0.0.0/20")) == 4094
    assert longest_s(254, 50) == pytest.approx(254 / 50 + SILENT_S)


@pytest.mark.parametrize(
    ("network", "said"),
    [
        ("10.0.0.0/19", "10.0.0.0/19 has 8192 addresses, and at most 4096 are asked"),
        ("192.0.2.1/24", "is not a network"),
        ("rack", "is not a network"),
    ],
)
def test_other_networks_are_refused(network: str, said: str) -> None:
    with pytest.raises(LabError, match=said):
        addresses_of(network)


def test_who_answers_is_found_in_the_order_of_addresses() -> None:
    asked = addresses_of("192.0.2.0/24")
    found = sweep(asked, lambda address: address if address.endswith("7") else None, per_s=1e6)
    assert found == tuple(address for address in asked if address.endswith("7"))


def test_an_error_ends_the_sweep_before_the_next_address() -> None:
    asked: list[str] = []

    def ask(address: str) -> None:
        asked.append(address)
        raise LabError("the secret cannot be read.")

    with pytest.raises(LabError, match="cannot be read"):
        sweep(addresses_of("192.0.2.0/24"), ask, per_s=1e-3)
    assert asked == ["192.0.2.1"]
