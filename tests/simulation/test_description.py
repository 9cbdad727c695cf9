"""Simulations' files: networks have the sizes of their formulas, mistakes are named with line, key and remedy."""

import re
from pathlib import Path
from typing import Any, get_args

import pytest
from eee_engine import SimulationError, network_facts, prove_deadlock_free, zero_load_cycles

from eee_testbed.lab.errors import ExperimentError
from eee_testbed.lab.folder import find_lab, load_lab
from eee_testbed.simulation.description import Description, Router
from eee_testbed.simulation.description_file import read_description
from eee_testbed.simulation.kinds import PATTERNS, ROUTINGS, RoutingName, TrafficName

_FILE = """\
name: small
network: {kind: torus, radix: [4, 4]}
routing: dor
loads: [0.1, 0.2]
"""


def _read(folder: Path, text: str) -> Description:
    path = folder / "file.yaml"
    path.write_text(text, encoding="utf-8")
    return read_description(path)


def _mistakes(folder: Path, text: str) -> str:
    with pytest.raises(ExperimentError) as caught:
        _read(folder, text)
    return str(caught.value)


@pytest.mark.parametrize(
    ("network", "routers", "nodes", "links"),
    [
        ("{kind: torus, radix: [4, 4, 4]}", 64, 64, 192),
        ("{kind: mesh, radix: [4, 3], concentration: 2}", 12, 24, 17),
        ("{kind: k_ary_tree, k: 4, levels: 3}", 48, 64, 128),
        ("{kind: fat_tree, ports: 8}", 80, 128, 256),
        ("{kind: tree, children: [4, 4, 8], parents: [1, 4, 4]}", 80, 128, 256),
        ("{kind: tree, children: [24, 24, 8], parents: [1, 24, 24]}", 960, 4608, 9216),
        ("{kind: dragonfly, concentration: 2, group: [4], global_links: 2, groups: 9}", 36, 72, 90),
        ("{kind: hyperx, sizes: [8, 8], concentration: 8}", 64, 512, 448),
        ("{kind: graph, routers: 2, nodes: [0, 1, 1], links: [[0, 1], [0, 1]]}", 2, 3, 2),
    ],
)
def test_networks_have_their_sizes(tmp_path: Path, network: str, routers: int, nodes: int, links: int) -> None:
    found = _read(tmp_path, _FILE.replace("{kind: torus, radix: [4, 4]}", network))
    facts = network_facts(found.network.form())
    assert (facts["routers"], facts["nodes"], facts["links"]) == (routers, nodes, links)


def test_a_lab_is_a_network(tmp_path: Path) -> None:
    found = _read(tmp_path, _FILE.replace("{kind: torus, radix: [4, 4]}", "{kind: lab, lab: virtual}"))
    lab = load_lab(find_lab("virtual"))
    facts = network_facts(found.network.form())
    assert (facts["routers"], facts["nodes"]) == (len(lab.switches), len(lab.hosts))
    assert facts["links"] == len(lab.links) - len(lab.hosts)
    assert prove_deadlock_free(found.network.form(), "up_down", 1) is None


def test_latency_without_traffic_is_tceps(tmp_path: Path) -> None:
    text = _FILE.replace(
        "{kind: torus, radix: [4, 4]}", "{kind: hyperx, sizes: [8, 8], concentration: 8, link_latency: 10}"
    )
    found = _read(tmp_path, text + "router: {speedup: 3}\n")
    assert zero_load_cycles(found.network.form(), found.routing, found.router.form()) == pytest.approx(23.25)


@pytest.mark.parametrize(
    ("old", "new", "parts"),
    [
        ("[4, 4]", "[4, 0]", ("file.yaml:2", "network.radix.1", "greater than or equal to 1")),
        ("routing: dor", "routing: fastest", ("file.yaml:3", "routing", "'dor'")),
        ("loads: [0.1, 0.2]", "loads: [1.5]", ("file.yaml:4", "loads.0", "less than or equal to 1")),
        ("loads: [0.1, 0.2]", "", ("either loads, a curve or programs", "write loads")),
        ("loads: [0.1, 0.2]", "loads: [0.1]\nspeed: 3", ("file.yaml:5", "speed", "unknown here", "routing, router")),
        ("[4, 4]}", "[4, 4], k: 3}", ("file.yaml:2", "network.k", "write one of kind, radix, concentration, trunk")),
        ("loads: [0.1, 0.2]", "loads: [0.1]\nlinks: {hold_us: 3}", ("links.hold_us", "write one of mode, hold, sleep")),
        ("loads: [0.1, 0.2]", "loads: []", ("file.yaml:4", "loads", "at least 1 item")),
        ("[4, 4]}", "[4, 4], link_latency: 1000000}", ("file.yaml:2", "network.link_latency", "equal to 65535")),
        ("routing: dor", "routing: dor\nseeds: [9223372036854775808]", ("seeds.0", "less than 9223372036854775808")),
        ("loads: [0.1, 0.2]", "loads: [0.1]\nenergy: {idle_pj_per_bit: .inf}", ("energy.idle_pj_per_bit", "finite")),
        ("loads: [0.1, 0.2]", "loads: [0.1]\nprecision: {most_cycles: 1000}", ("80 batches", "most_cycles: 16000")),
        ("loads: [0.1, 0.2]", "curve: {lowest: 0.5, highest: 0.5}", ("curve rises", "write lowest below 0.5")),
        ("{kind: torus, radix: [4, 4]}", "{kind: tree, children: [4, 4], parents: [1]}", ("1 numbers of parents",)),
        ("{kind: torus, radix: [4, 4]}", "{kind: tree, children: [4, 4], parents: [2, 2]}", ("one parent, not 2",)),
        ("loads: [0.1, 0.2]", "loads: [0.1]\ntraffic: {kind: tornado}", ("file.yaml:5", "traffic", "base and digits")),
        ("loads: [0.1, 0.2]", "loads: [0.1]\nconsolidation: {epoch: 10000}", ("one by one", "most_cycles: 2000000")),
        ("loads: [0.1, 0.2]", "loads: [0.1]\nconsolidation: {}\nstages: {}", ("by TCEP or by SLaC",)),
        ("routing: ", "links: {mode: deep}\nconsolidation: {}\nrouting: ", ("packet engine alone", "cut_through")),
        ("routing: ", "links: {mode: deep}\nstages: {}\nrouting: ", ("packet engine alone, with TCEP",)),
        ("loads: [0.1, 0.2]", "loads: [0.1]\nstages: {}", ("one by one", "most_cycles: 500000")),
        ("loads: [0.1, 0.2]", "loads: [0.1]\ntraffic: {shares: [1]}", ("file.yaml:5", "neither shares nor packets")),
        (
            "loads: [0.1, 0.2]",
            "loads: [0.1]\ntraffic: {kind: jobs, sizes: [8, 8], within: uniform, packets: [1, 1]}",
            ("write shares",),
        ),
        (
            "loads: [0.1, 0.2]",
            "loads: [0.1]\ntraffic: {kind: jobs, sizes: [8, 8], within: uniform, shares: [1]}",
            ("2 jobs need as many shares; 1",),
        ),
        (
            "loads: [0.1, 0.2]",
            "loads: [0.1]\ntraffic: {kind: jobs, sizes: [8, 8], within: uniform, shares: [1, 1], packets_of: node}",
            ("write packets",),
        ),
        (
            "loads: [0.1, 0.2]",
            "curve: {}\ntraffic: {kind: jobs, sizes: [8, 8], within: uniform, shares: [1, 1], packets: [1, 1]}",
            ("batches have no curve",),
        ),
        ("kind: torus, ", "", ("file.yaml:2", "network", "kind")),
        ("name: small", "name: [", ("not YAML",)),
    ],
)
def test_mistakes_are_named(tmp_path: Path, old: str, new: str, parts: tuple[str, ...]) -> None:
    text = _mistakes(tmp_path, _FILE.replace(old, new))
    assert all(part in text for part in parts), text


def test_a_missing_file_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(ExperimentError, match="cannot be read"):
        read_description(tmp_path / "none.yaml")


@pytest.mark.parametrize(
    ("addition", "engine", "why"),
    [
        ("", "flit", "not for it: switching is wormhole"),
        ("router: {switching: cut_through, speedup: 1}", "flit", "speedup is 1"),
        ("router: {switching: cut_through}", "packet", "at least 8 packets"),
        ("router: {switching: cut_through, packet_flits: 8}", "flit", "less than 8 packets (64 flits)"),
        ("router: {switching: cut_through}\nlinks: {mode: deep, coalesce: 10}", "flit", "links coalesce"),
        ("router: {switching: cut_through, packet_flits: 8}\nengine: packet", "packet", "as asked"),
        ("router: {switching: cut_through}\nstages: {off_after: 9}", "flit", "links are turned off"),
    ],
)
def test_auto_picks_the_engine_and_says_why(tmp_path: Path, addition: str, engine: str, why: str) -> None:
    found = _read(tmp_path, _FILE + addition + "\n")
    assert found.chosen_engine == engine
    assert why in found.engine_choice[1]


def test_every_kind_is_in_its_table() -> None:
    assert tuple(ROUTINGS) == get_args(RoutingName)
    assert tuple(PATTERNS) == get_args(TrafficName)
    with pytest.raises(SimulationError) as caught:
        zero_load_cycles({"kind": "tree", "children": [2], "parents": [1]}, "fastest", Router().form())
    assert set(ROUTINGS) <= set(re.findall(r"\w+", str(caught.value)))


def _numbers(schema: Any) -> list[tuple[str, Any]]:
    """Every whole number of a JSON schema, with what is allowed."""
    found: list[tuple[str, Any]] = []

    def walk(place: str, one: Any) -> None:
        if isinstance(one, dict):
            if one.get("type") == "integer":
                found.append((place, one))
            for key, below in one.items():
                walk(f"{place}.{key}", below)
        elif isinstance(one, list):
            for below in one:
                walk(place, below)

    walk("", schema)
    return found


def test_every_number_has_bounds_that_an_engine_can_hold() -> None:
    numbers = _numbers(Description.model_json_schema())
    assert len(numbers) > 60
    for place, one in numbers:
        assert "minimum" in one or "exclusiveMinimum" in one, place
        assert one.get("maximum", one.get("exclusiveMaximum", 1 << 64)) < 1 << 64, place


def test_the_engine_refuses_a_channel_longer_than_it_can_hold() -> None:
    for latency in (0, 65_536, 1 << 40):
        for form in (
            {"kind": "tree", "children": [2], "parents": [1], "link_latency": latency},
            {"kind": "graph", "routers": 2, "nodes": [0, 1], "edges": [(0, 1, latency)]},
        ):
            with pytest.raises((SimulationError, OverflowError)):
                network_facts(form)


def test_an_unknown_key_of_a_program_is_named_with_those_that_exist(tmp_path: Path) -> None:
    file = tmp_path / "x.yaml"
    file.write_text(
        "name: x\nnetwork: {kind: torus, radix: [4]}\nrouting: dor\nrouter: {vcs: 2}\n"
        "programs:\n  cycle_ns: 1\n  flit_byte: 8\n  jobs: [{program: {kind: stencil, grid: [2, 2]}}]\n",
        encoding="utf-8",
    )
    with pytest.raises(ExperimentError, match=r"program\.grid: is unknown here; write one of kind, "):
        read_description(file)
