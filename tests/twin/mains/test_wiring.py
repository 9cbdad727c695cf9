"""The shipped labs' inventories fit the truth files and the twin's strips."""

from dataclasses import replace

import pytest

from eee_testbed.lab.errors import LabError
from eee_testbed.lab.folder import load_lab
from eee_testbed.lab.model import Lab
from eee_testbed.twin.mains.mains import Mains
from eee_testbed.twin.mains.wiring import Racked, RackedNode, RackedSwitch, wire, wire_sensors
from eee_testbed.twin.strips import Strip
from eee_testbed.twin.truth.truth import Truth
from eee_testbed.twin.truth.truth_file import load_truth
from tests.support import ROOT
from tests.support.twin.fake_ledgers import FakeLedgers
from tests.support.twin.strip_bench import RecordingAgent

INVENTORY = ROOT / "inventory"


def wired(lab: Lab, truth: Truth) -> tuple[Mains, dict[str, Strip], FakeLedgers]:
    ids = {s.name: range(1000 * index, 1000 * index + len(s.ports)) for index, s in enumerate(lab.switches)}
    nics = {host.name: 100_000 + index for index, host in enumerate(lab.hosts)}
    ledgers = FakeLedgers(
        {port: "active" for ports in ids.values() for port in ports} | dict.fromkeys(nics.values(), "active")
    )
    mains, strips = wire(
        lab,
        truth,
        ledgers,
        Racked(
            switches={switch: RackedSwitch(ports, lambda: False) for switch, ports in ids.items()},
            nodes={node: RackedNode(nic, lambda: 0.0) for node, nic in nics.items()},
            cables=[],
        ),
        clock_s=lambda: 0.0,
        on_power=lambda _device, _on: None,
        wake=lambda _delay_s: None,
    )
    return mains, strips, ledgers


def shipped(name: str) -> tuple[Lab, Truth]:
    return load_lab(INVENTORY / name), load_truth(INVENTORY / name / "twin" / "truth.yaml")


@pytest.mark.parametrize("name", ["virtual", "miwa", "koibuchi"])
def test_a_shipped_lab_can_be_wired(name: str) -> None:
    lab, truth = shipped(name)
    mains, strips, ledgers = wired(lab, truth)
    agents = {switch.name: RecordingAgent() for switch in lab.switches}
    wire_sensors(mains, lab, truth, agents=agents, uptime_s=dict.fromkeys(agents, lambda: 5.0))
    ledgers.run(1.0)
    mains.tick(1.0)
    report = mains.report()
    assert set(report["devices"]) == {device.name for device in (*lab.switches, *lab.hosts)}
    assert all(device["ac_watt"] > 10 for device in report["devices"].values())
    assert all(device["outlets"] for device in report["devices"].values())
    assert set(strips) == {strip.name for strip in lab.strips}
    shown = {name for name, agent in agents.items() if agent.column("1.3.6.1.2.1.99.1.1.1.4")}
    assert shown == {s.name for s in lab.switches if truth.switch(s.name, s.family).power_sensor}


def test_a_strip_with_outlets_that_its_model_lacks_is_named() -> None:
    lab, truth = shipped("miwa")
    strip = replace(lab.strips[0], outlet_count=99)
    with pytest.raises(LabError, match="pdu1 has 99 outlets, but model Expert Power Control 8226 has 12"):
        wired(replace(lab, strips=(strip,)), truth)


def test_an_override_for_nothing_is_named() -> None:
    lab, truth = shipped("miwa")
    nodes = truth.nodes.model_copy(update={"overrides": {"n77": {"eee_capable": False}}})
    with pytest.raises(LabError, match=r"nodes\.overrides\.n77 names a device"):
        wired(lab, truth.model_copy(update={"nodes": nodes}))
