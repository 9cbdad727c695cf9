"""Costs of messages by name: which messages each set sends at once, and how it sends larger ones."""

from pathlib import Path

import pytest

from eee_testbed.simulation.replay.hosts import HostsName
from eee_testbed.simulation.replay.program import write_program
from eee_testbed.simulation.replay.rank_calls import ProgramWriter
from eee_testbed.simulation.replay.replayed import replay
from tests.support.replays import DEEP, described

_LATE_NS = 1_000_000
"""When the receive is posted; every eager sender is free before, and its message has come."""

_SWITCHES_NS = 20
"""Crossing both switches takes less than this, without the bytes."""


def _ends(folder: Path, hosts: HostsName, size: int) -> tuple[int, int]:
    """When the sender and the receiver of a message end, ns."""
    writer = ProgramWriter("late", 2, "written by hand")
    writer.rank(0).send(1, size)
    writer.rank(1).compute(_LATE_NS)
    writer.rank(1).receive(0, size)
    for rank in range(2):
        writer.rank(rank).finish()
    path = folder / "late.replay"
    write_program(path, writer.program())
    job = {"program": {"kind": "file", "path": str(path)}, "placement": "given", "nodes": [0, 4]}
    ran = replay(described(job, programs={"hosts": hosts}), 1, sleeping=False)
    sender, receiver = ran.ranks["finished_ticks"]
    assert sender is not None
    assert receiver is not None
    return sender, receiver


@pytest.mark.parametrize(
    ("hosts", "eager_byte"),
    [("ompi-tcp", 65_480), ("ompi-openib", 12_232), ("tracer", 8_192), ("codes", 8_191), ("smpi", 65_535)],
)
def test_the_largest_eager_message_of_each_set(hosts: HostsName, eager_byte: int, tmp_path: Path) -> None:
    for size in (eager_byte - 1, eager_byte):
        assert _ends(tmp_path, hosts, size)[0] < _LATE_NS
    assert _ends(tmp_path, hosts, eager_byte + 1)[0] > _LATE_NS


def test_a_card_reads_a_large_message_of_openib(tmp_path: Path) -> None:
    sender, receiver = _ends(tmp_path, "ompi-openib", 1 << 20)
    # What reads it, the message, and the word that frees its sender; a flit of 16 bytes a nanosecond.
    assert 0 < receiver - _LATE_NS - (1 << 20) / 16 < 3 * _SWITCHES_NS
    assert 0 < sender - receiver < _SWITCHES_NS


@pytest.mark.parametrize(("hosts", "packets"), [("free", 0), ("ompi-tcp", 49)])
def test_acknowledgements_wake_the_other_direction(hosts: HostsName, packets: int, tmp_path: Path) -> None:
    writer = ProgramWriter("one way", 2, "written by hand")
    writer.rank(0).compute(_LATE_NS)
    writer.rank(0).send(1, 12_744)  # with Open MPI's 56 bytes 100 packets of 8 flits of 16 bytes
    writer.rank(1).receive(0, 12_744)
    for rank in range(2):
        writer.rank(rank).finish()
    path = tmp_path / "one-way.replay"
    write_program(path, writer.program())
    job = {"program": {"kind": "file", "path": str(path)}, "placement": "given", "nodes": [0, 4]}
    description = described(job, programs={"hosts": hosts}, links=DEEP, node_links=DEEP)
    ran = replay(description, 1, sleeping=True)
    assert ran.packets == 100 + packets
    # The last one comes when the program has ended. Each link wakes once: from a node and to one, and the other way.
    woken = ran.node_shares.wake * 32 * ran.run_time_s * 1e9 / DEEP["wake"]
    assert round(woken) == (4 if packets else 2)
