"""A calibration as text: a name and a unit for every value."""

from collections.abc import Iterator, Mapping
from typing import get_args

import pytest
from pydantic import BaseModel

from eee_testbed.analysis.calibration import LinkPolicy, PortPower, PowerPart, ProgramTime, SwitchPower
from eee_testbed.analysis.calibration_names import NAMES
from eee_testbed.eeectl.calibration_text import INTERVAL, calibration_text
from tests.support.measured.synthetic_run import about, calibration

PARTS = (LinkPolicy, SwitchPower, PowerPart.model_fields["andujar"].annotation, ProgramTime)


def _models(annotation: object) -> Iterator[type[BaseModel]]:
    """A model, and the models of its fields."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
        for field in annotation.model_fields.values():
            yield from _models(field.annotation)
    for inner in get_args(annotation):
        yield from _models(inner)


@pytest.mark.parametrize("key", sorted({k for part in PARTS for model in _models(part) for k in model.model_fields}))
def test_every_key_of_a_calibration_has_a_name(key: str) -> None:
    assert key in NAMES or key in {"value", "low", "high", "symptoms", "unknown", "warnings"}


def test_values_have_names_units_and_intervals() -> None:
    lines = [" ".join(line.split()) for line in calibration_text(calibration()).splitlines()]
    assert lines[0] == INTERVAL
    for expected in (
        "EEE policy of path n01 - n02",
        "idle time before sleep (hold) 1000 us (995 to 1005)",
        "power of switch sw1",
        "port at 1000 Mb/s:",
        "share of these two left in LPI 20 % (19.6 to 20.4)",
        "a bit per interface, as NetPowerBench counts: 15 pJ (10.5 to 19.5)",
        "share of the spread that is explained 97 %",
        "power of node n01",
        "idle 150 W (147 to 153)",
        "run time of alltoall 4x1 under EEE",
        "gaps and wakes:",
        "worst 3 %",
        "on configurations that were not fitted yes",
    ):
        assert expected in lines, expected
    paths_of_keys = [line for line in lines if "_" in line and "mega_" not in line and not line.startswith("family ")]
    assert paths_of_keys == []


def test_ports_are_named_by_cable_and_speed() -> None:
    ports: Mapping[str, Mapping[int, PortPower]] = {"fibre": {10_000: PortPower(link_watt=about(1.3))}}
    known = calibration()
    switch = known.power.switches["sw1"].model_copy(update={"port_by_mbps": {}, "port_by_kind": ports})
    shown = calibration_text(calibration(power=PowerPart(switches={"sw1": switch})))
    lines = shown.splitlines()
    at = lines.index("  port with fibre:")
    assert lines[at + 1] == "    port at 10000 Mb/s:"
    assert lines[at + 2].startswith("      more with link, without EEE ")


def test_lines_fit_a_terminal_of_100_columns() -> None:
    assert max(map(len, calibration_text(calibration()).splitlines())) <= 100
