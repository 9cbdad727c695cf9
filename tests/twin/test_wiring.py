"""The shipped labs' inventories fit the truth files and the strips that the twin can be."""

import sys
from pathlib import Path

import pytest

from controller.inventory import load_lab
from twin.truth import load_truth
from twin.wiring import RackedNode, RackedSwitch, wire, wire_sensors

sys.path.insert(0, str(Path(__file__).parent))
from ledger_book import Book
from strip_bench import KeepingAgent

INVENTORY = Path(__file__).resolve().parents[2] / "inventory"


@pytest.mark.parametrize("name", ["virtual", "miwa", "koibuchi"])
def test_a_shipped_lab_can_be_wired(name: str) -> None:
    lab, truth = load_lab(INVENTORY / name), load_truth(INVENTORY / name / "twin" / "truth.yaml")
    ids = {
        switch.name: range(1000 * index, 1000 * index + len(switch.ports)) for index, switch in enumerate(lab.switches)
    }
    nics = {host.name: 100_000 + index for index, host in enumerate(lab.hosts)}
    book = Book({port: "active" for ports in ids.values() for port in ports} | dict.fromkeys(nics.values(), "active"))
    told: list[tuple[str, bool]] = []
    mains, strips = wire(
        lab,
        truth,
        book,
        switches={switch: RackedSwitch(ports, lambda: False) for switch, ports in ids.items()},
        nodes={node: RackedNode(nic, lambda: 0.0) for node, nic in nics.items()},
        cables=[],
        clock_s=lambda: 0.0,
        on_power=lambda device, on: told.append((device, on)),
        wake=lambda _delay_s: None,
    )
    agents = {switch.name: KeepingAgent() for switch in lab.switches}
    wire_sensors(mains, lab, truth, agents=agents, uptime_s=dict.fromkeys(agents, lambda: 5.0))
    book.run(1.0)
    mains.tick(1.0)
    report = mains.report()
    assert set(report["devices"]) == set(ids) | set(nics)
    assert all(device["ac_watt"] > 10 for device in report["devices"].values())
    assert all(device["outlets"] for device in report["devices"].values())
    shown = {name for name, agent in agents.items() if agent.column("1.3.6.1.2.1.99.1.1.1.4")}
    assert shown == {s.name for s in lab.switches if truth.switch(s.name, s.family).power_sensor}
    assert set(strips) == {strip.name for strip in lab.strips}
    assert not truth.unknown_overrides(switches=set(ids), nodes=set(nics), strips=set(strips))
