"""The real Open vSwitch, one for a whole module."""

from collections.abc import Iterator

import pytest

from tests.support.needs import needs, needs_root
from tests.support.switches import ovs_rack


def _skip_without_rights() -> None:
    needs_root("Open vSwitch")
    needs("ovs-vswitchd")


@pytest.fixture(scope="module")
def single() -> Iterator[ovs_rack.Rack]:
    """One switch with four hosts."""
    _skip_without_rights()
    with ovs_rack.Rack(ovs_rack.ovs_lab(1, (), (4,))) as rack:
        yield rack


@pytest.fixture(scope="module")
def ring() -> Iterator[ovs_rack.Rack]:
    """Four switches in a ring with a diagonal and a doubled cable, two hosts on each of three."""
    _skip_without_rights()
    edges = ((0, 1), (0, 1), (1, 2), (2, 3), (3, 0), (0, 2))
    with ovs_rack.Rack(ovs_rack.ovs_lab(4, edges, (2, 2, 1, 1))) as rack:
        yield rack
