"""A study's experiments are valid for the lab that they were designed for."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eee_testbed.analysis.interval import Interval
from eee_testbed.controller.planning.regulate import joined
from eee_testbed.lab.errors import LabError
from eee_testbed.lab.folder import find_lab, load_lab
from eee_testbed.lab.topology import Topology
from eee_testbed.lab.yaml_source import YamlSource
from eee_testbed.measuring.experiments.experiment_file import experiment_of, read_experiment
from eee_testbed.measuring.experiments.validation import order_for, validate_experiment
from eee_testbed.measuring.study.design import (
    LOAD_SHARES,
    PILOT,
    StudiedProgram,
    beside_holds,
    cards_alone,
    design,
    edges,
    stream_of,
    traffic,
)
from eee_testbed.measuring.study.folder import Aim, Block, StudyFolder


@pytest.mark.parametrize("name", ["virtual", "koibuchi", "miwa", "example"])
def test_every_experiment_is_valid_for_its_lab(name: str) -> None:
    lab = load_lab(find_lab(name))
    made = design(lab, PILOT)
    assert len(made.experiments) + len(made.left_out) >= 4
    probes, *_, last = made.experiments
    more = [traffic(lab, last)] if "power" in last["measure"] else []
    pair = probes["measure"]["probe"]["from"], probes["measure"]["probe"]["to"]
    more += [edges(probes, pair, (-5.0, 1_300.0), number) for number in (1, 2)]
    names = [content["name"] for content in (*made.experiments, *more)]
    assert len(set(names)) == len(names)
    assert ("ports-alone" in names) == (name != "miwa")  # one switch has no trunk
    for content in (*made.experiments, *more):
        source = YamlSource(content["name"], content)
        experiment = experiment_of(source)
        validate_experiment(experiment, lab, source)
        assert order_for(experiment)


@pytest.mark.parametrize("name", ["virtual", "koibuchi", "example"])
def test_load_for_the_power_of_traffic_runs_without_eee_on_its_whole_path(name: str) -> None:
    """Most switches have no LPI counters, so what sleeps beside a load is unknown; near line rate, a meter sees it."""
    lab = load_lab(find_lab(name))
    power = next(content for content in design(lab, PILOT).experiments if "power" in content["measure"])
    power = traffic(lab, power)
    experiment = experiment_of(YamlSource(power["name"], power))
    hosts = power["measure"]["power"]["hosts"]
    slots = order_for(experiment)
    loaded = [slot.levels for slot in slots if slot.levels["load_mbps"]]
    assert loaded
    assert {levels["eee"] for levels in loaded} == {"off"}
    assert {levels["link"] for levels in loaded} == {"on"}
    most_mbps = max(float(levels["load_mbps"]) for levels in loaded)
    assert most_mbps >= max(LOAD_SHARES) * min(lab.host(host).rate_mbps for host in hosts)
    assert set(hosts) <= set(power["factors"]["eee"]["links"])
    homes = {Topology.of(lab).homes[host].device for host in hosts}
    without_eee = {lab.find_link(link).number for link in power["factors"]["eee"]["links"] if link not in hosts}
    for number, trunk in Topology.of(lab).trunks.items():
        assert number in without_eee or not {trunk.a.device, trunk.b.device} <= homes
    # The same stage is also measured without load, and with EEE: one thing changes at a time.
    still = [(slot.levels["link"], slot.levels["eee"]) for slot in slots if not slot.levels["load_mbps"]]
    assert ("on", "on") in still
    assert ("on", "off") in still


def test_loads_of_an_edited_power_experiment_do_not_disturb_those_for_traffic() -> None:
    lab = load_lab(find_lab("virtual"))
    power = dict(next(content for content in design(lab, PILOT).experiments if "power" in content["measure"]))
    power["factors"] = {**power["factors"], "load_mbps": [0, 100]}
    power["skip"] = [*power["skip"], {"link": "off", "load_mbps": 100}, {"eee": "on", "load_mbps": 100}]
    made = traffic(lab, power)
    source = YamlSource(made["name"], made)
    validate_experiment(experiment_of(source), lab, source)
    assert made["factors"]["load_mbps"] == [0, 450, 900]
    assert 100 not in [one.get("load_mbps") for one in made["skip"]]


@pytest.mark.parametrize("name", ["virtual", "koibuchi", "example"])
def test_switching_links_off_leaves_all_hosts_connected(name: str) -> None:
    lab = load_lab(find_lab(name))
    topology = Topology.of(lab)
    for content in design(lab, PILOT).experiments:
        links = content["factors"].get("link", {"links": ()})["links"]
        off = {lab.find_link(link).number for link in links}
        assert joined(topology, topology.trunks.keys() - off)
        assert all(topology.trunks[number].switchable for number in off)


def test_every_metered_switch_of_every_family_has_ports_that_are_switched() -> None:
    lab = load_lab(find_lab("virtual"))
    power = next(content for content in design(lab, PILOT).experiments if "power" in content["measure"])
    links = [lab.find_link(name) for name in power["factors"]["link"]["links"]]
    ends = Counter(end.device for link in links for end in (link.a, link.b))
    fed = {outlet.feeds for outlet in lab.outlets}
    assert set(ends) == {switch.name for switch in lab.switches} & fed
    assert min(ends.values()) >= 1


def test_echoes_near_edges_are_of_one_pair_with_eee_on_and_differ_from_block_to_block() -> None:
    probes = design(load_lab(find_lab("virtual")), PILOT).experiments[0]
    first, second = (edges(probes, ("n01", "n03"), (900.0, 1_300.0), number) for number in (1, 2))
    for content in (first, second):
        assert content["factors"]["eee"]["levels"] == ["on"]
        assert "to" not in content["factors"]
        probe = content["measure"]["probe"]
        assert (probe["from"], probe["to"], probe["gap_us"]) == ("n01", "n03", [900.0, 1_300.0])
    assert first["seed"] != second["seed"]


def test_echoes_go_between_two_hosts_at_one_switch_first() -> None:
    lab = load_lab(find_lab("virtual"))
    probe = design(lab, PILOT).experiments[0]
    homes = Topology.of(lab).homes
    pair = (probe["measure"]["probe"]["from"], probe["measure"]["probe"]["to"])
    assert len({homes[host].device for host in pair}) == 1
    assert probe["factors"]["to"] == [pair[1]]


def test_where_ports_alone_may_sleep_eee_is_off_at_both_hosts_and_varied_at_the_trunks_between() -> None:
    lab = load_lab(find_lab("virtual"))
    alone = next(one for one in design(lab, PILOT).experiments if one["name"] == "ports-alone")
    homes = Topology.of(lab).homes
    source, far = alone["measure"]["probe"]["from"], alone["measure"]["probe"]["to"]
    switches = {homes[host].device for host in (source, far)}
    assert len(switches) == 2
    assert alone["factors"]["cards"]["links"] == [source, far]
    assert alone["factors"]["cards"]["levels"] == ["off"]
    trunks = [lab.find_link(name) for name in alone["factors"]["eee"]["links"]]
    assert trunks
    assert all({link.a.device, link.b.device} == switches for link in trunks)


@pytest.mark.parametrize("name", ["virtual", "miwa"])
def test_where_cards_alone_may_sleep_another_host_streams_to_both(name: str) -> None:
    lab = load_lab(find_lab(name))
    probes = design(lab, PILOT).experiments[0]
    alone = cards_alone(lab, probes, 240.0)
    source = YamlSource(alone["name"], alone)
    experiment = experiment_of(source)
    validate_experiment(experiment, lab, source)
    probe = experiment.measure.probe
    assert probe is not None
    assert probe.stream_every_us == 240.0
    targets = alone["factors"]["to"]
    assert probe.stream_from not in (probe.source, *targets)
    homes = Topology.of(lab).homes
    assert {homes[target].device for target in targets} == {homes[probe.source].device}
    assert alone["factors"]["eee"] == probes["factors"]["eee"]


def test_without_a_third_host_no_stream_is_planned() -> None:
    lab = load_lab(find_lab("miwa"))
    two = replace(lab, hosts=lab.hosts[:2])
    probes = design(lab, PILOT, hosts=("n01", "n02")).experiments[0]
    assert stream_of(two, probes) == ("", ())
    with pytest.raises(LabError, match="no host of miwa is left to stream"):
        cards_alone(two, probes, 240.0)
    three = replace(lab, hosts=lab.hosts[:3])
    alone = cards_alone(three, design(three, PILOT).experiments[0], 240.0)
    assert (alone["factors"]["to"], alone["measure"]["probe"]["stream_from"]) == (["n02"], "n03")


def test_in_a_lab_of_one_switch_echoes_go_to_two_hosts() -> None:
    assert len(design(load_lab(find_lab("miwa")), PILOT).experiments[0]["factors"]["to"]) == 2


def test_in_a_lab_of_one_switch_power_is_measured_awake_and_asleep() -> None:
    made = design(load_lab(find_lab("miwa")), PILOT)
    power = next(one for one in made.experiments if one["name"] == "power-staged")
    assert "link" not in power["factors"]
    assert set(power["measure"]["power"]["hosts"]) <= set(power["factors"]["eee"]["links"])
    assert any("only what EEE saves" in sentence for sentence in made.left_out)
    loaded = traffic(load_lab(find_lab("miwa")), power)
    assert all(one["eee"] == "on" for one in loaded["skip"]), "load is measured with EEE off"


def test_named_hosts_take_part_and_unknown_ones_are_refused() -> None:
    lab = load_lab(find_lab("virtual"))
    made = {one["name"]: one for one in design(lab, PILOT, hosts=("n05", "n06")).experiments}
    program = made["alltoall-eee"]["measure"]["program"]
    assert program["hosts"] == ["n05", "n06"]
    with pytest.raises(LabError, match="no host n99"):
        design(lab, PILOT, hosts=("n99",))


@pytest.mark.parametrize("name", ["virtual", "miwa"])
def test_a_named_program_has_the_place_of_alltoall(name: str) -> None:
    lab = load_lab(find_lab(name))
    own = StudiedProgram("npb", {"folder": "/shared/bin"}, 2, ("npb",), 60.0, {"benchmark": ["cg", "is"]})
    made = {str(one["name"]): one for one in design(lab, PILOT, "root", ("n01", "n02"), (own,)).experiments}
    assert "alltoall-eee" not in made
    for experiment in ("program-eee", *(["links-off"] if "links-off" in made else [])):
        source = YamlSource("the command line", dict(made[experiment]))
        validate_experiment(experiment_of(source), lab, source)
        program = made[experiment]["measure"]["program"]
        assert program["name"] == "npb"
        assert program["ranks_per_host"] == 2
        assert program["figures"] == ["npb"]
        assert made[experiment]["factors"]["benchmark"] == ["cg", "is"]
    assert made["program-eee"]["factors"]["eee"]["levels"] == ["on", "off"]
    assert next(iter(made)) == "probe-sweep"


def test_a_study_folder_can_be_reopened(tmp_path: Path) -> None:
    lab = load_lab(find_lab("virtual"))
    made = StudyFolder.create(tmp_path, "virtual", lab.name, design(lab, PILOT), Aim(0.01, 90.0))
    found = StudyFolder.open(made.path)
    assert found == made
    for name in found.names:
        experiment, _ = read_experiment(found.experiment(name))
        assert experiment.name == name
        assert found.state_of(name) == "none"
    assert list(found.all_runs()) == []
    assert list(found.blocks) == []
    found.add_block(Block(kind="probe-sweep", time_s=12.0))
    found.add_block(Block(kind="links-off", time_s=3.0))
    found.see({"a": (2.0, 0.5)})
    assert [one.kind for one in found.blocks] == ["probe-sweep", "links-off"]
    assert [one.seen for one in found.blocks] == [{}, {"a": (2.0, 0.5)}]
    with pytest.raises(LabError, match="is not a study"):
        StudyFolder.open(tmp_path)


def _program(*pauses_us: int) -> dict[str, object]:
    return {"name": "alltoall-eee", "factors": {"sleep_us": list(pauses_us or PILOT.sleeps_us), "array_byte": [1_024]}}


def _pauses(program: object) -> list[int]:
    return list(program["factors"]["sleep_us"])  # type: ignore[index]


@given(st.lists(st.tuples(st.floats(50.0, 5_000.0), st.floats(0.0, 0.099)), max_size=4))
def test_no_pause_is_near_a_hold_that_is_known(drawn: list[tuple[float, float]]) -> None:
    holds_us = [Interval.plus_minus(hold, hold * share) for hold, share in drawn]
    pauses_us = _pauses(beside_holds(_program(), holds_us))
    assert pauses_us == sorted(set(pauses_us))
    for hold_us in holds_us:
        assert not any(0.91 * hold_us.low < pause < 1.09 * hold_us.high for pause in pauses_us)
    kept = set(pauses_us) & set(PILOT.sleeps_us)
    for pause in set(PILOT.sleeps_us) - kept:
        below, above = (
            max(one for one in (0, *pauses_us) if one < pause),
            min(one for one in (*pauses_us, 10_000) if one > pause),
        )
        assert any(below <= hold_us.value <= above for hold_us in holds_us), "only what is near a hold goes"


def test_pauses_are_left_as_they_are_near_a_hold_that_is_hardly_known_and_in_an_edited_file() -> None:
    vague, known = Interval(1_000.0, 700.0, 1_400.0), Interval(1_000.0, 990.0, 1_010.0)
    assert beside_holds(_program(), [vague]) == _program()
    assert beside_holds(_program(0, 1_000), [known]) == _program(0, 1_000)
    assert _pauses(beside_holds(_program(), [known]))[2:5] == [750, 891, 1_111]
