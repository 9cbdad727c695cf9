"""Studies: one file becomes many simulations, whole or reduced; the shipped ones have the papers' numbers of them."""

from pathlib import Path

import pytest
from eee_engine import network_facts

from eee_testbed.analysis.predict.topologies import TABLE_3, TABLE_4
from eee_testbed.lab.errors import ExperimentError
from eee_testbed.simulation.studies.expand import cases_of, drawn, workload_axes
from eee_testbed.simulation.studies.study import is_study, read_study
from tests.support import ROOT
from tests.support.studies import TINY, tiny

_WHOLE = {
    "andujar": 111,
    "beyond-bounds": 150,
    "beyond-gating": 27,
    "beyond-rates": 24,
    "beyond-routings": 72,
    "beyond-sizes": 50,
    "beyond-switches": 18,
    "koibuchi-lab": 3,
    "miwa-lab": 10,
    "georgakoudis-multi": 1440,
    "georgakoudis-single": 2520,
    "tcep": 66,
}
"""Cases of each shipped study."""

STUDIES = sorted((ROOT / "studies").glob("*.yaml"))


def test_values_of_axes_are_laid_over_each_other(tmp_path: Path) -> None:
    study = read_study(tiny(tmp_path))
    cases = cases_of(study, tmp_path, whole=True)
    assert [case.key for case in cases] == [
        "network=ring,program=stencil,links=always-on",
        "network=ring,program=stencil,links=deep",
        "network=square,program=stencil,links=always-on",
    ]
    awake, asleep, _ = cases
    assert (awake.sleeps, asleep.sleeps) == (False, True)
    assert awake.awake_key == asleep.awake_key
    programs = asleep.description.programs
    assert programs is not None
    assert programs.cycle_ns == 1.6
    assert programs.jobs[0].placement == "random"
    assert workload_axes(study) == ["program"]


def test_a_reduced_set_cuts_what_it_says(tmp_path: Path) -> None:
    study = read_study(tiny(tmp_path))
    cases = cases_of(study, tmp_path, whole=False)
    assert [case.labels["network"] for case in cases] == ["ring", "ring"]
    assert {tuple(case.description.seeds) for case in cases} == {(1,)}
    programs = cases[0].description.programs
    assert programs is not None
    assert programs.jobs[0].program.steps == 1  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("routing: dor", "routing: nowhere", "is not a valid simulation with network ring"),
        ("always-on: {}\n", "", "compares network=ring,program=stencil,links=deep with nothing"),
        ("keep: {network: [ring]}", "keep: {network: [star]}", "the axis network has no value star"),
        ("keep: {network: [ring]}", "keep: {cable: [red]}", "there is no axis cable"),
        ("axes:", "surprise: 1\naxes:", "is unknown here"),
        ("axes:", "shows: [sizes]\naxes:", "shows sizes needs an axis size; add it, or leave sizes out"),
        ("leaves_out:", "forgets:", "leaves_out: is missing"),
    ],
)
def test_mistakes_are_sentences(tmp_path: Path, old: str, new: str, sentence: str) -> None:
    text = TINY.replace(old, new)
    assert text != TINY
    with pytest.raises(ExperimentError, match=sentence):
        cases_of(read_study(tiny(tmp_path, text)), tmp_path, whole=True)


def test_a_simulation_is_no_study(tmp_path: Path) -> None:
    assert is_study(tiny(tmp_path))
    assert not is_study(tiny(tmp_path, "name: tiny\nloads: [0.1]\n"))


@pytest.mark.parametrize("path", STUDIES, ids=lambda path: path.stem)
def test_shipped_studies_have_their_cases(path: Path) -> None:
    study = read_study(path)
    counts = {whole: len(cases_of(study, path.parent, whole=whole)) for whole in (False, True)}
    assert counts[True] == _WHOLE[path.stem]
    assert counts[False] <= counts[True]


def test_the_networks_of_andujar_have_the_papers_nodes_and_ports() -> None:
    path = ROOT / "studies" / "andujar.yaml"
    cases = cases_of(read_study(path), path.parent, whole=True)
    networks = {case.labels["network"]: case.description.network.form() for case in cases}
    facts = [network_facts(form) for form in networks.values()]
    assert [(one["nodes"], 2 * one["links"] + one["nodes"]) for one in facts] == [
        (one.nodes, one.network_ports) for one in (*TABLE_3, *TABLE_4)
    ]


def test_mixes_have_4096_ranks_and_fewer_are_the_first_of_more() -> None:
    mixes = read_study(ROOT / "studies" / "georgakoudis-multi.yaml").mixes
    assert mixes is not None
    every = drawn(mixes)
    sizes = [[int(job["name"].rsplit("-", 1)[1]) for job in one["programs"]["jobs"]] for one in every]
    assert [sum(each) for each in sizes] == [4096] * 20
    assert {size for each in sizes for size in each} == {256, 512, 1024}
    assert drawn(mixes.model_copy(update={"count": 3})) == every[:3]
    without = drawn(mixes.model_copy(update={"without": ["kripke"]}))
    assert not any("kripke" in job["name"] for one in without for job in one["programs"]["jobs"])
