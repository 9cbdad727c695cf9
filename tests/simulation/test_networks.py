"""A lab's network: its trees, and trunks that are off."""

from typing import Any

import pytest
from eee_engine import network_facts, prove_deadlock_free

from eee_testbed.lab.errors import LabError
from eee_testbed.lab.folder import find_lab, load_lab
from eee_testbed.lab.topology import Topology
from eee_testbed.simulation.networks import OfLab

TOPOLOGY = Topology.of(load_lab(find_lab("virtual")))
HOSTS = list(TOPOLOGY.hosts)
STAR = sorted(
    min(number for number, link in TOPOLOGY.trunks.items() if {link.a.device, link.b.device} == {"sw1", other})
    for other in ("sw2", "sw3", "sw4", "sw5", "sw6")
)
OTHERS = sorted(TOPOLOGY.trunks.keys() - set(STAR))


def lab(trees: list[dict[str, Any]], off: list[int]) -> OfLab:
    return OfLab.model_validate({"kind": "lab", "lab": "virtual", "trees": trees, "off": off})


def test_trunks_that_are_off_are_no_links() -> None:
    form = lab([{"hosts": HOSTS, "links": STAR}], OTHERS).form()
    assert network_facts(form)["links"] == 5
    assert form["trees"] == [[0, 1, 2, 3, 4]]
    assert prove_deadlock_free(form, "trees", 2) is None


def test_hosts_keep_to_their_tree() -> None:
    form = lab([{"hosts": HOSTS[:4], "links": STAR}, {"hosts": HOSTS[4:], "links": STAR}], OTHERS[1:]).form()
    assert form["tree_of_node"] == [0] * 4 + [1] * 8
    assert form["trees"][0] == form["trees"][1]
    assert len(form["trees"][0]) == 5


@pytest.mark.parametrize(
    ("trees", "off", "part"),
    [
        ([{"hosts": HOSTS, "links": STAR}], [99], "virtual has no trunks 99"),
        ([{"hosts": HOSTS, "links": STAR}], STAR[:1], "which are off"),
        ([{"hosts": HOSTS[1:], "links": STAR}], [], "n01 are in no tree"),
        ([{"hosts": HOSTS, "links": STAR}, {"hosts": ["n01"], "links": STAR}], [], "n01 is in trees 1 and 2"),
    ],
)
def test_what_does_not_fit_is_named(trees: list[dict[str, Any]], off: list[int], part: str) -> None:
    with pytest.raises(LabError, match=part):
        lab(trees, off).form()
