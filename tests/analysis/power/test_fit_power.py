"""Andujar's parameters from a fitted switch and node: they depend on how many ports the lab has connected."""

import pytest

from eee_testbed.analysis.calibration import Estimate, NodePower, PortPower, SwitchPower
from eee_testbed.analysis.power.fit_power import andujar_power
from eee_testbed.lab.model import CableKind, End, Lab, Link


def _exactly(value: float) -> Estimate:
    return Estimate(value=value, low=value, high=value)


def _lab(counts: dict[CableKind, int]) -> Lab:
    kinds = [kind for kind, count in counts.items() for _ in range(count)]
    links = tuple(
        Link(number, End("sw1", f"p{number}"), End(f"n{number}", "eth0"), 1_000, kind, switchable=False)
        for number, kind in enumerate(kinds, 1)
    )
    return Lab("toy", "", "", "", (), (), links, (), ())


def _switch(**more: object) -> SwitchPower:
    fields: dict[str, object] = {
        "base_watt": _exactly(26.0),
        "port_by_mbps": {1_000: PortPower(link_watt=_exactly(0.6))},
        "drift_watt": 0.0,
        "noise_watt": 0.0,
        "explained_fraction": 1.0,
        "window_count": 40,
    }
    return SwitchPower.model_validate({**fields, **more})


NODES = {"n01": NodePower(idle_watt=_exactly(150.0), loaded_watt=_exactly(300.0))}


@pytest.mark.parametrize(("count", "port_watt", "fraction"), [(24, 1.683, 0.356), (48, 1.142, 0.526)])
def test_the_base_is_shared_by_the_ports_that_the_lab_has_connected(
    count: int, port_watt: float, fraction: float
) -> None:
    """As the paper counts: 180 W of 36 connected ports are 5 W each, of which 0.816 are the ports' (section 2.4)."""
    found = andujar_power(_lab({"copper": count}), {"sw1": _switch()}, NODES, [])
    assert found is not None
    assert found.port_watt.value == pytest.approx(port_watt, abs=1e-3)
    assert found.ports_fraction.value == pytest.approx(fraction, abs=1e-3)


def test_the_papers_own_switch() -> None:
    port = {1_000: PortPower(link_watt=_exactly(147.0 / 36))}
    found = andujar_power(
        _lab({"copper": 36}), {"sw1": _switch(base_watt=_exactly(33.0), port_by_mbps=port)}, NODES, []
    )
    assert found is not None
    assert found.port_watt.value == pytest.approx(5.0)
    assert found.ports_fraction.value == pytest.approx(0.816, abs=1e-3)


def test_ports_of_several_kinds_count_with_their_own_powers() -> None:
    by_kind = {
        kind: {1_000: PortPower(cable_watt=_exactly(watt / 2), link_watt=_exactly(watt / 2))}
        for kind, watt in (("copper", 0.5), ("fibre", 2.0))
    }
    found = andujar_power(
        _lab({"copper": 10, "fibre": 4}), {"sw1": _switch(port_by_mbps={}, port_by_kind=by_kind)}, NODES, []
    )
    assert found is not None
    assert found.port_watt.value == pytest.approx((26.0 + 5.0 + 8.0) / 14)


def test_without_the_labs_inventory_or_the_power_of_its_ports_there_are_no_parameters() -> None:
    assert andujar_power(None, {"sw1": _switch()}, NODES, []) is None
    assert andujar_power(_lab({"copper": 4}), {"sw1": _switch(port_by_mbps={})}, NODES, []) is None
