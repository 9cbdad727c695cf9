"""Experiments' files: every mistake is reported at once, with file, line, key and remedy."""

from pathlib import Path

import pytest

from eee_testbed.lab.errors import ExperimentError
from eee_testbed.lab.folder import find_lab, load_lab
from eee_testbed.measuring.experiments.experiment import Experiment
from eee_testbed.measuring.experiments.experiment_file import read_experiment
from eee_testbed.measuring.experiments.measuring import begun_of
from eee_testbed.measuring.experiments.validation import links_of, order_for, probe_of, program_of, validate_experiment
from tests.support import ROOT

_SHIPPED = sorted((ROOT / "experiments").glob("*.yaml"))

_GOOD = """\
name: good
lab: virtual
factors:
  eee: {links: [n01, n02], levels: [on, off]}
  sleep_us: [0, 100]
measure:
  program:
    name: alltoall
    parameters: {iterations: 10}
    hosts: [n01, n02]
blocks: 2
slow: [eee]
"""


def _read(tmp_path: Path, text: str) -> Experiment:
    path = tmp_path / "x.yaml"
    path.write_text(text, encoding="utf-8")
    experiment, source = read_experiment(path)
    validate_experiment(experiment, load_lab(find_lab(experiment.lab)), source)
    return experiment


def _mistakes(tmp_path: Path, text: str) -> list[tuple[int, str, str]]:
    with pytest.raises(ExperimentError) as raised:
        _read(tmp_path, text)
    assert all(problem.file == str(tmp_path / "x.yaml") and problem.remedy for problem in raised.value.problems)
    return [(problem.line, problem.key, problem.sentence) for problem in raised.value.problems]


@pytest.mark.parametrize("path", _SHIPPED, ids=lambda path: path.stem)
def test_every_shipped_experiment_fits_its_lab(path: Path) -> None:
    experiment, source = read_experiment(path)
    validate_experiment(experiment, load_lab(find_lab(experiment.lab)), source)
    assert order_for(experiment)
    assert path.stem == experiment.name


def test_on_and_off_are_strings_and_levels_reach_the_program(tmp_path: Path) -> None:
    experiment = _read(tmp_path, _GOOD)
    assert experiment.factors["eee"].levels == ("on", "off")
    slot = next(slot for slot in order_for(experiment) if slot.levels["sleep_us"] == 100)
    _, parameters, placement = program_of(experiment, slot.levels)
    values = parameters.model_dump()
    assert (values["sleep_us"], values["iterations"], placement.hosts) == (100, 10, ("n01", "n02"))
    assert begun_of(experiment, slot, 7).plain()["parameters"]["sleep_us"] == 100
    assert Experiment.model_validate(experiment.model_dump(mode="json", by_alias=True)) == experiment


def test_placement_can_be_a_factor(tmp_path: Path) -> None:
    text = _GOOD.replace("  sleep_us: [0, 100]", "  host_count: [1, 2]\n  ranks_per_host: [1, 4]")
    experiment = _read(tmp_path, text)
    placements = {
        (len(program_of(experiment, slot.levels)[2].hosts), program_of(experiment, slot.levels)[2].ranks_per_host)
        for slot in order_for(experiment)
    }
    assert placements == {(1, 1), (1, 4), (2, 1), (2, 4)}


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ("hosts: [n01, n02]", "hosts: [n01, n99]", (10, "measure.program.hosts.1", "unknown host n99")),
        ("[on, off]", "[on, of]", (4, "factors.eee", "'of' is not a level of eee")),
        ("[on, off]", "[on, on]", (4, "factors.eee", "a level is listed twice")),
        ("[n01, n02], l", "[n01, n77], l", (4, "factors.eee.links", "lab virtual has no link 'n77'")),
        (
            "  sleep_us",
            "  hold_us: {links: [n01], levels: [0]}\n  sleep_us",
            (5, "factors.hold_us.links", "sw1 is a dell"),
        ),
        ("blocks: 2", "blocks: none", (11, "blocks", "Input should be a valid integer")),
        ("blocks: 2", "blokcs: 2", (11, "blokcs", "is unknown here")),
        ("name: alltoall", "name: allreduce", (8, "measure.program.name", "unknown program allreduce")),
        (
            "iterations: 10",
            "iteratoins: 10",
            (9, "measure.program.parameters.iteratoins", "is not a parameter of the program"),
        ),
        ("sleep_us: [0, 100]", "sleep_us: [0, far]", (5, "factors.sleep_us", "Input should be a valid integer")),
        ("sleep_us: [0, 100]", "sleep: [0, 100]", (5, "factors.sleep", "is not a parameter of the program")),
        ("hosts: [n01, n02]", "hosts: [n01, n01]", (7, "measure.program", "a host is listed twice")),
        ("slow: [eee]", "slow: [hold]", (0, "", "unknown factor hold")),
        ("  program:", "  idle: {window_s: 3}\n  program:", (6, "measure", "`measure` needs exactly one entry")),
        ("blocks: 2", "format: 9", (11, "format", "Input should be 1")),
        ("name: good", "name: [", (3, "", "is not YAML")),
        ("name: good\n", "", (0, "name", "is missing")),
    ],
)
def test_a_mistake_is_reported_with_its_line_and_key(
    tmp_path: Path, old: str, new: str, found: tuple[int, str, str]
) -> None:
    assert old in _GOOD
    line, key, sentence = found
    mistakes = _mistakes(tmp_path, _GOOD.replace(old, new, 1))
    assert any(key == at and said.startswith(sentence) for _, at, said in mistakes), mistakes
    assert any(number == line or not line for number, at, _ in mistakes if at == key), mistakes


def test_all_mistakes_are_reported_at_once(tmp_path: Path) -> None:
    text = _GOOD.replace("[n01, n02], l", "[n01, n77], l").replace("hosts: [n01, n02]", "hosts: [n98, n99]")
    assert len(_mistakes(tmp_path, text)) == 3


def test_a_missing_file_is_reported_in_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(ExperimentError, match="cannot be read"):
        read_experiment(tmp_path / "none.yaml")


def test_a_probe_takes_its_target_from_a_factor_and_links_only_what_can_be_regulated(tmp_path: Path) -> None:
    text = """\
name: p
lab: virtual
factors: {to: [n02, n03], link: {links: [n01], levels: [on, off]}}
measure: {probe: {from: n01, to: n02, count: 5}}
"""
    assert _mistakes(tmp_path, text)[0][1] == "factors.link.links"
    experiment = _read(tmp_path, text.replace(", link: {links: [n01], levels: [on, off]}", ""))
    assert {probe_of(experiment, slot.levels).target for slot in order_for(experiment)} == {"n02", "n03"}


def test_a_power_window_holds_at_least_two_samples(tmp_path: Path) -> None:
    text = "name: p\nlab: virtual\nmeasure: {power: {window_s: 1.5}}\n"
    assert _mistakes(tmp_path, text)[0][2].startswith("a power window must hold at least two samples")
    assert _read(tmp_path, text + "sampling: {period_s: 0.5}\n").measure.what == "power"


def test_groups_of_links_select_the_links_of_their_name(tmp_path: Path) -> None:
    lab = load_lab(find_lab("virtual"))
    experiment = _read(tmp_path, _GOOD)
    counts = {}
    for group in ("hosts", "trunks", "all"):
        factor = experiment.factors["eee"].model_copy(update={"links": group})
        counts[group] = len(links_of(lab, factor))
    assert counts == {"hosts": 12, "trunks": 30, "all": 42}


def test_figures_are_read_with_the_file(tmp_path: Path) -> None:
    text = _GOOD.replace(
        "    hosts: [n01, n02]", "    hosts: [n01, n02]\n    figures: [npb, 'rate=Rate: (\\S+) Gflop/s']"
    )
    program = _read(tmp_path, text).measure.program
    assert program is not None
    assert [rule.name for rule in program.reader.rules] == ["time", "operations", "rate"]
    ((_, _, sentence),) = _mistakes(tmp_path, text.replace(" Gflop/s", ""))
    assert "figure rate has no unit after its value" in sentence
