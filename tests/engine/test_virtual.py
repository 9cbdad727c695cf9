"""Laws of the virtual engine, seen through Python."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pytest
from eee_engine import FabricError, VirtualEngine, phy_profiles
from hypothesis import given
from hypothesis import strategies as st

from tests.support.laws import law

US = 1_000_000
MS = 1_000 * US
S = 1_000 * MS
BIT_NS_AT_1G = 1


def mac(number: int) -> bytes:
    return bytes([2, 0, 0, 0, 0, number])


BROADCAST = b"\xff" * 6


def frame(to: bytes, source: bytes, size_byte: int = 60, *, vid: int | None = None) -> bytes:
    tag = b"" if vid is None else b"\x81\x00" + vid.to_bytes(2, "big")
    head = to + source + tag + b"\x88\xb5"
    return head + bytes(size_byte - len(head))


@dataclass(frozen=True, slots=True)
class Star:
    engine: VirtualEngine
    switch: int
    ports: list[int]
    hosts: list[int]
    cables: list[int]


def star(hosts: int = 3, *, seed: int = 1, eee: bool = False, ring_frames: int = 1024) -> Star:
    """Hosts on one switch at 1 Gb/s over 2 m, links up well before 10 s."""
    engine = VirtualEngine(seed=seed)
    made = engine.add_switch(
        "sw",
        phys=["1000BASE-T"] * hosts,
        port_names=[f"p{number}" for number in range(hosts)],
        base_mac=mac(200),
        latency_us=2.0,
    )
    nics = [engine.add_host(f"h{number}", mac=mac(number), ring_frames=ring_frames) for number in range(hosts)]
    cables = [engine.connect(nic, port) for nic, port in zip(nics, made["ports"], strict=True)]
    for port in (*nics, *made["ports"]):
        engine.set_port(port, eee=eee)
    engine.run_until(10 * S)
    return Star(engine, made["switch"], made["ports"], nics, cables)


def test_a_frame_takes_serialization_propagation_and_latency() -> None:
    bed = star()
    sent = frame(mac(1), mac(0), 1_000)
    bed.engine.send(bed.hosts[0], 10 * S, sent)
    bed.engine.send(bed.hosts[1], 10 * S, frame(mac(0), mac(1)))
    arrivals = [(host, at, data) for host, at, data in bed.engine.run_until(11 * S) if host == bed.hosts[1]]
    wire_ns = (8 + 1_000 + 4) * 8 * BIT_NS_AT_1G
    cable_ns = 2 * 5
    assert arrivals == [(bed.hosts[1], 10 * S + (2 * (wire_ns + cable_ns) + 2_000) * 1_000, sent)]


def test_a_sleeping_link_adds_its_wake_up() -> None:
    def journey_ps(*, eee: bool) -> int:
        bed = star(eee=eee)
        for port in (*bed.hosts, *bed.ports):
            bed.engine.set_lpi(port, mode="deep", timing={"hold_us": 10.0, "sleep_us": 182.0, "wake_us": 60.0})
        bed.engine.send(bed.hosts[0], 20 * S, frame(mac(1), mac(0)))
        arrivals = bed.engine.run_until(21 * S)
        return next(at for host, at, _ in arrivals if host == bed.hosts[1]) - 20 * S

    assert journey_ps(eee=True) - journey_ps(eee=False) == 2 * 60 * US


def test_only_members_of_the_vlan_get_a_broadcast_and_the_trunk_carries_a_tag() -> None:
    bed = star(4)
    engine, ports = bed.engine, bed.ports
    engine.set_vlan(bed.switch, 11, members=[ports[0], ports[1], ports[3]], untagged=[ports[0], ports[1]])
    engine.set_port_vlan(ports[0], pvid=11)
    sent = frame(BROADCAST, mac(0))
    engine.send(bed.hosts[0], 11 * S, sent)
    got = {host: data for host, _, data in engine.run_until(12 * S)}
    tagged = sent[:12] + b"\x81\x00\x00\x0b" + sent[12:]
    assert got == {bed.hosts[1]: sent, bed.hosts[3]: tagged}
    assert engine.vlans(bed.switch)[11] == ([ports[0], ports[1], ports[3]], [ports[0], ports[1]])


def test_a_tag_that_a_host_sends_is_read() -> None:
    bed = star()
    engine, ports = bed.engine, bed.ports
    engine.set_vlan(bed.switch, 7, members=ports, untagged=[ports[1]])
    engine.send(bed.hosts[0], 11 * S, frame(BROADCAST, mac(0), 64, vid=7))
    got = {host: data for host, _, data in engine.run_until(12 * S)}
    assert got[bed.hosts[1]] == frame(BROADCAST, mac(0), 60)
    assert got[bed.hosts[2]] == frame(BROADCAST, mac(0), 64, vid=7)


def test_a_full_ring_delays_and_loses_nothing() -> None:
    bed = star(ring_frames=2)
    for number in range(40):
        bed.engine.send(bed.hosts[0], 11 * S, frame(mac(1), mac(0), 100 + number))
    arrivals = [data for host, _, data in bed.engine.run_until(12 * S) if host == bed.hosts[1]]
    assert [len(data) for data in arrivals] == [100 + number for number in range(40)]


Sends = st.lists(
    st.tuples(st.integers(0, 3), st.sampled_from([0, 1, 2, 3, None]), st.integers(60, 1_514), st.integers(0, 2 * MS)),
    max_size=60,
)


def play(sends: Sequence[tuple[int, int | None, int, int]], *, seed: int) -> tuple[Star, list[tuple[int, int, bytes]]]:
    bed = star(4, seed=seed, eee=True)
    for source, to, size_byte, after_ps in sends:
        target = BROADCAST if to is None else mac(to)
        bed.engine.send(bed.hosts[source], 12 * S + after_ps, frame(target, mac(source), size_byte))
    return bed, bed.engine.run_until(12 * S + MS)


@law(30)
@given(Sends)
def test_no_frame_appears_or_vanishes(sends: list[tuple[int, int | None, int, int]]) -> None:
    bed, _ = play(sends, seed=1)
    for at_ps in (12 * S + MS, 12 * S + 2 * MS, 13 * S):
        bed.engine.run_until(at_ps)
        frames = bed.engine.frames()
        accounted = frames["delivered"] + frames["consumed"] + frames["dropped"] + frames["in_flight"]
        assert frames["offered"] + frames["copies"] == accounted
    assert frames["in_flight"] == 0
    assert frames["offered"] == len(sends)


@law(20)
@given(Sends)
def test_time_in_state_adds_up(sends: list[tuple[int, int | None, int, int]]) -> None:
    bed, _ = play(sends, seed=1)
    for entry in bed.engine.ports_time_in_state([*bed.hosts, *bed.ports]):
        parts = ("down_ps", "active_ps", "sleep_ps", "quiet_ps", "refresh_ps", "wake_ps", "fast_ps")
        assert sum(entry[part] for part in parts) == entry["total_ps"] == bed.engine.now_ps()  # type: ignore[literal-required]
        assert sum(entry["up_by_mbps"].values()) + entry["down_ps"] == entry["total_ps"]


@law(20)
@given(Sends, st.integers(0, 2**64 - 1))
def test_the_same_calls_give_the_same_frames(sends: list[tuple[int, int | None, int, int]], seed: int) -> None:
    assert play(sends, seed=seed)[1] == play(sends, seed=seed)[1]


def test_deliveries_come_in_order_of_time() -> None:
    _, arrivals = play([(source, None, 1_514, 0) for source in range(4)] * 5, seed=1)
    times = [at for _, at, _ in arrivals]
    assert times == sorted(times)
    assert len(arrivals) == 60


def test_the_past_is_closed() -> None:
    bed = star()
    with pytest.raises(FabricError, match="has passed"):
        bed.engine.send(bed.hosts[0], 10 * S - 1, frame(mac(1), mac(0)))


def test_refusals_say_what_and_where() -> None:
    bed = star()
    engine, host, port = bed.engine, bed.hosts[0], bed.ports[0]
    with pytest.raises(FabricError, match="no port 999"):
        engine.port(999)
    with pytest.raises(FabricError, match="no host's NIC"):
        engine.send(port, 11 * S, frame(mac(1), mac(0)))
    with pytest.raises(FabricError, match="14 bytes"):
        engine.send(host, 11 * S, b"short")
    with pytest.raises(FabricError, match="6 bytes"):
        engine.add_host("h", mac=b"12345")
    with pytest.raises(FabricError, match="hold_ms"):
        engine.set_lpi(port, timing={"hold_ms": 1.0})  # type: ignore[arg-type]
    with pytest.raises(FabricError, match="wake_us is -1"):
        engine.set_lpi(port, timing={"wake_us": -1.0})
    with pytest.raises(FabricError, match="LPI mode"):
        engine.set_lpi(port, mode="nap")  # type: ignore[arg-type]
    with pytest.raises(FabricError, match="seconds is NaN"):
        engine.set_interruption(port, seconds=float("nan"))
    with pytest.raises(FabricError, match="acceptable"):
        engine.set_port_vlan(port, acceptable="none")  # type: ignore[arg-type]
    assert issubclass(FabricError, ValueError)


def test_profiles_hold_the_standard_times() -> None:
    gigabit = phy_profiles()["1000BASE-T"]
    assert (gigabit["speed_mbps"], gigabit["wake_us"]) == (1_000.0, 16.5)
    assert phy_profiles()["10GBASE-R"]["wake_us"] == 0.0


def test_power_off_takes_links_and_configuration() -> None:
    bed = star()
    bed.engine.set_vlan(bed.switch, 5, members=bed.ports, untagged=[])
    bed.engine.set_power(bed.switch, on=False)
    assert not bed.engine.port(bed.hosts[0])["oper_up"]
    bed.engine.set_power(bed.switch, on=True)
    bed.engine.run_until(20 * S)
    assert bed.engine.port(bed.hosts[0])["oper_up"]
    assert list(bed.engine.vlans(bed.switch)) == [1]


def test_static_and_learned_addresses_are_distinguished() -> None:
    bed = star()
    bed.engine.set_static(bed.switch, 1, mac(9), bed.ports[2])
    bed.engine.send(bed.hosts[0], 10 * S, frame(BROADCAST, mac(0)))
    bed.engine.run_until(15 * S)
    rows = {row["mac"]: row for row in bed.engine.fdb(bed.switch)}
    assert (rows[mac(9)]["static"], rows[mac(9)]["port"]) == (True, bed.ports[2])
    assert (rows[mac(0)]["static"], rows[mac(0)]["port"]) == (False, bed.ports[0])
    assert rows[mac(0)]["age_s"] == pytest.approx(5.0, abs=1e-3)
    bed.engine.flush_fdb(bed.switch)
    assert [row["mac"] for row in bed.engine.fdb(bed.switch)] == [mac(9)]


def test_many_threads_may_call_at_once() -> None:
    bed = star()

    def work(number: int) -> int:
        for _ in range(200):
            bed.engine.set_port_vlan(bed.ports[number % 3], pvid=1)
            bed.engine.port(bed.ports[number % 3])
            bed.engine.run_until(bed.engine.now_ps() + 1)
        return number

    with ThreadPoolExecutor(6) as pool:
        assert list(pool.map(work, range(6))) == list(range(6))
    assert bed.engine.now_ps() > 10 * S
