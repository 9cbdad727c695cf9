"""The topology in the engine is that of the cable table."""

from eee_engine import VirtualEngine

from lab.folder import find_lab, load_lab
from twin.network.topology import lay_out
from twin.truth.truth import load_truth


def test_switches_know_the_switches_at_the_other_ends_of_their_cables_once_those_have_booted() -> None:
    folder = find_lab("virtual")
    lab = load_lab(folder)
    now_s = [0.0]
    topology = lay_out(
        lab,
        load_truth(folder / "twin" / "truth.yaml"),
        VirtualEngine(),
        password="password",
        public_key="ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFakeKeyForTestsOnlyAAAAAAAAAAAAAAAAAAAAAAAA x",
        clock_s=lambda: now_s[0],
    )

    def seen() -> dict[tuple[str, str], tuple[str, str]]:
        return {
            (name, port.name): (neighbour.system_name, neighbour.port_name)
            for name, device in topology.devices.items()
            for port in device.ports
            if (neighbour := device.neighbours(port.number)) is not None
        }

    assert seen() == {}
    for device in topology.devices.values():
        device.power_on()
    now_s[0] = 1_000.0
    for device in topology.devices.values():
        device.poll()
    ends = {
        (here.device, here.port): (there.device, there.port)
        for link in lab.trunks()
        for here, there in ((link.a, link.b), (link.b, link.a))
    }
    assert seen() == ends
    topology.devices["sw1"].power_off()
    assert seen() == {here: there for here, there in ends.items() if there[0] != "sw1"}
