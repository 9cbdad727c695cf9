"""Drawn labs of any size: each host has a cable and an outlet, and what is not shut joins all switches in one tree."""

import csv
import io

import networkx as nx
import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from eee_testbed.lab.errors import LabError
from eee_testbed.twin.drawing.files import draw
from eee_testbed.twin.drawing.models import MODELS
from eee_testbed.twin.drawing.plan import SHAPES, Plan, Shape, joined
from eee_testbed.twin.drawing.sizing import FAMILIES, sized
from eee_testbed.twin.families.table import FAMILIES as WITH_A_TWIN
from tests.support.laws import law


def _sized(switches: int, hosts: int, links: int = 1, shape: Shape = "complete") -> Plan:
    return sized("toy", switches=switches, hosts=hosts, families=FAMILIES[:1], links=links, shape=shape, subnet=7)


def test_every_family_with_a_twin_can_be_drawn() -> None:
    assert set(FAMILIES) == set(WITH_A_TWIN)


@law(60)
@given(st.integers(1, 9), st.integers(2, 60), st.integers(1, 4), st.sampled_from(SHAPES))
def test_a_drawn_lab_is_whole(switches: int, hosts: int, links: int, shape: Shape) -> None:
    try:
        plan = _sized(switches, hosts, links, shape)
    except LabError:  # no model has as many ports
        degree = max(sum(index in pair for pair in joined(switches, shape)) for index in range(switches))
        event("refused")
        assert -(-hosts // switches) + degree * links > max(model.copper_count for model in MODELS)
        return
    files = draw(plan, "", ())
    names = {*map(plan.switch_name, range(switches)), *map(plan.host_name, range(hosts))}
    cables = list(csv.DictReader(io.StringIO(files["cables.csv"])))
    ends = [row[end] for row in cables for end in ("end_a", "end_b")]
    assert len(ends) == len(set(ends)), "a port takes one cable"
    outlets = list(csv.DictReader(io.StringIO(files["outlets.csv"])))
    assert {row["feeds"] for row in outlets} == names
    assert len({(row["strip"], row["outlet"]) for row in outlets}) == len(outlets) == len(names)
    shut = {f"{plan.switch_name(index)}:{port}" for index in range(switches) for port in plan.shut_ports(index)}
    up = [row for row in cables if row["end_a"] not in shut]
    assert all((row["end_a"] in shut) == (row["end_b"] in shut) for row in cables)
    graph = nx.Graph([(row["end_a"].split(":")[0], row["end_b"].split(":")[0]) for row in up])
    assert set(graph) == names
    assert len(up) == len(names) - 1, "more cables than a tree has would loop frames"
    assert nx.is_connected(graph)


@pytest.mark.parametrize(
    ("switches", "hosts", "links", "says"),
    [
        (0, 4, 1, "0 switches"),
        (2, 1, 1, "1 hosts"),
        (2, 251, 1, "251 hosts"),
        (2, 4, 0, "0 links"),
        (2, 100, 1, "51 ports"),
        (40, 40, 2, "79 ports"),
    ],
)
def test_a_size_that_nothing_holds_is_refused(switches: int, hosts: int, links: int, says: str) -> None:
    with pytest.raises(LabError, match=says):
        _sized(switches, hosts, links)


def test_families_are_dealt_in_equal_parts() -> None:
    plan = sized("toy", switches=5, hosts=4, families=FAMILIES, links=1, shape="ring", subnet=7)
    assert [model.family for model in plan.switches] == [FAMILIES[0]] * 3 + [FAMILIES[1]] * 2
