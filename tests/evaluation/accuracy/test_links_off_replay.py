"""HPL with links off, replayed: what is chosen, and what longer ways and shared channels cost."""

from eee_testbed.lab.folder import find_lab, load_lab
from eee_testbed.lab.topology import Topology
from eee_testbed.simulation.replay.replayed import replay
from evaluation.accuracy.links_off_replay import chosen, described, hpl, rows, sent_bytes

TOPOLOGY = Topology.of(load_lab(find_lab("virtual")))
JOB = hpl(400, 670_000)
SENT = sent_bytes(TOPOLOGY, JOB)


def test_the_last_choice_is_one_tree() -> None:
    every = chosen(TOPOLOGY, SENT, [1.001, 1.001, 100])
    assert [len(one.off) for one in every[::2]] == [0, 25]
    assert len(every) == 3
    assert len({frozenset(links) for _, links in every[-1].trees}) == 1


def test_a_tree_has_longer_ways() -> None:
    first, last = chosen(TOPOLOGY, SENT, [100])
    on, off = (replay(described(JOB, one, stores=False), 1, sleeping=False) for one in (first, last))
    assert off.hops > on.hops
    assert off.run_time_s > on.run_time_s
    assert off.channels == 10


def test_storing_frames_makes_longer_ways_cost_more() -> None:
    first, last = chosen(TOPOLOGY, SENT, [100])
    through, stored = (
        [replay(described(JOB, one, stores=stores), 1, sleeping=False).run_time_s for one in (first, last)]
        for stores in (False, True)
    )
    assert stored[0] > through[0]
    assert stored[1] - stored[0] > through[1] - through[0]


def test_a_row_names_the_busiest_channels() -> None:
    (row,) = rows(TOPOLOGY, JOB, chosen(TOPOLOGY, SENT, []))
    assert row["lost by sharing"] == "0.0 %"
    assert row["busiest channels"].count("from sw") == 2
