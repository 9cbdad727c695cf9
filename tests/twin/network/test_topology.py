"""The topology in the engine is that of the cable table, and its devices learn it from each other's LLDP frames."""

from eee_engine import VirtualEngine

from eee_testbed.lab.folder import find_lab, load_lab
from eee_testbed.twin.network.topology import Topology, lay_out
from eee_testbed.twin.switch.personality import Neighbour
from eee_testbed.twin.truth.truth_file import load_truth

S_PS = 10**12


class _Lab:
    """The shipped lab on a clock that jumps; its switches have booted."""

    def __init__(self) -> None:
        folder = find_lab("virtual")
        self.lab = load_lab(folder)
        self.engine = VirtualEngine()
        self.topology: Topology = lay_out(
            self.lab,
            load_truth(folder / "twin" / "truth.yaml"),
            self.engine,
            password="password",
            public_key="ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFakeKeyForTestsOnlyAAAAAAAAAAAAAAAAAAAAAAAA x",
            clock_s=lambda: self.now_s,
        )
        self.now_s = 0.0
        for device in self.topology.devices.values():
            device.power_on()
        self.run(1_000.0)
        self.boot()

    def boot(self) -> None:
        for device in self.topology.devices.values():
            device.poll()

    def run(self, seconds: float) -> list[tuple[int, int, bytes]]:
        self.now_s += seconds
        return self.engine.run_until(int(self.now_s * S_PS))

    def seen(self) -> dict[tuple[str, str], Neighbour]:
        return {
            (name, port.name): neighbour
            for name, device in self.topology.devices.items()
            for port in device.ports
            if not port.is_lag
            for neighbour in device.neighbours(port.number)
        }

    def true(self) -> dict[tuple[str, str], tuple[str, str]]:
        """Ends of cables with link at switches, and the system name and port ID of who is at the other end."""
        macs = {host.name: host.mac.hex(":") for host in self.lab.hosts}
        return {
            (here.device, here.port): (there.device, macs.get(there.device, there.port))
            for link in self.lab.links
            if self.topology.link_state(link, cut=False) in {"up", "blocked"}
            for here, there in ((link.a, link.b), (link.b, link.a))
            if here.device not in macs
        }


def test_switches_hear_the_switches_and_hosts_at_the_other_ends_of_their_cables() -> None:
    lab = _Lab()
    assert lab.seen() == {}
    lab.run(10.0)
    whole = lab.true()
    assert {end: (seen.system_name, seen.port) for end, seen in lab.seen().items()} == whole
    assert len(whole) > len(lab.lab.hosts)
    assert {seen.capabilities for seen in lab.seen().values()} == {"B", "H"}
    lab.topology.devices["sw1"].power_off()
    left = {here: there for here, there in whole.items() if "sw1" not in {here[0], there[0]}}
    assert {end: (seen.system_name, seen.port) for end, seen in lab.seen().items()} == left


def test_a_host_gets_what_its_switch_announces_every_thirty_seconds_and_nothing_else() -> None:
    lab = _Lab()
    lab.run(100.0)
    frames = lab.run(60.0)
    assert len(frames) == 2 * len(lab.lab.hosts)
    assert {frame[:6] + frame[12:14] for _, _, frame in frames} == {bytes.fromhex("0180c200000e88cc")}
    assert all(b"sw" in frame for _, _, frame in frames)


def test_a_name_given_to_a_switch_reaches_its_neighbours() -> None:
    lab = _Lab()
    lab.run(10.0)
    sw1 = lab.topology.devices["sw1"]
    with sw1.change():
        sw1.personality.config.hostname = "renamed"
    lab.run(1.0)
    assert {seen.system_name for end, seen in lab.seen().items() if lab.true()[end][0] == "sw1"} == {"renamed"}
