"""Every page: its blocks are marked, its commands are known to the command line, its links and files exist."""

import re
from pathlib import Path

import pytest
from cyclopts.exceptions import CycloptsError
from ruamel.yaml import YAML

from eee_testbed.eeectl.application import parse
from eee_testbed.eeectl.reference.pages import PAGES
from eee_testbed.lab.folder import find_lab, load_lab
from eee_testbed.measuring.experiments.experiment import Experiment
from eee_testbed.simulation.description_file import read_description
from tests.support import ROOT
from tests.support.doc_pages import LANGUAGES, MARKS, blocks_of, eeectl_lines, pages

_LINK = re.compile(r"\]\(([^)#]+)(?:#[^)]*)?\)|src=\"([^\"]+)\"")
_FILE = re.compile(
    r"`((?:agents|analysis|benchmarks|controller|docs|eeectl|engine|experiments|inventory|lab|playbooks|record|regulation"
    r"|simulation|tests|twin)/[\w./-]*)`"
)
_OF_A_LAB = {"twin/truth.yaml"}
"""Paths in a lab's folder."""

_LONGEST_README = 150

by_page = pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= _LONGEST_README


@pytest.mark.slow
@pytest.mark.parametrize("name", PAGES)
def test_a_generated_page_is_up_to_date(name: str) -> None:
    assert (ROOT / name).read_text(encoding="utf-8") == PAGES[name](), "run `python -m eee_testbed.eeectl.reference`"


@by_page
def test_blocks_say_what_they_are(page: Path) -> None:
    for block in blocks_of(page):
        assert block.language in LANGUAGES, block.place
        assert block.marks <= MARKS, block.place


@by_page
def test_the_command_line_knows_every_command(page: Path) -> None:
    for block in blocks_of(page):
        if block.language != "sh":
            continue
        for words in eeectl_lines(block.text):
            if "--help" in words:
                continue
            try:
                parse(words, print_error=False)
            except CycloptsError as error:
                pytest.fail(f"{block.place}: eeectl {' '.join(words)}: {error}")


@by_page
def test_links_and_named_files_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for link, picture in _LINK.findall(text):
        target = link or picture
        if "://" not in target:
            assert (page.parent / target).exists(), f"{page.relative_to(ROOT)} links to {target}"
    for name in set(_FILE.findall(text)) - _OF_A_LAB:
        assert (ROOT / name).exists(), f"{page.relative_to(ROOT)} names {name}"


def test_the_page_about_the_twin_counts_the_shipped_labs_right() -> None:
    lines = (ROOT / "docs" / "how-to" / "virtual-lab.md").read_text(encoding="utf-8").splitlines()
    for name in ("virtual", "miwa", "koibuchi"):
        lab = load_lab(find_lab(name))
        row = next(line for line in lines if line.startswith(f"| `{name}` |"))
        counts = [int(cell) for cell in row.split("|")[2:6]]
        assert counts == [len(lab.switches), len(lab.hosts), len(lab.links), len(lab.strips)]


def test_the_experiment_in_the_reference_is_one() -> None:
    page = ROOT / "docs" / "reference" / "experiments.md"
    (block,) = [block for block in blocks_of(page) if block.language == "yaml"]
    experiment = Experiment.model_validate(YAML(typ="safe").load(block.text))
    assert set(experiment.factors) == {"eee", "sleep_us"}


def test_the_simulations_in_the_reference_are_some(tmp_path: Path) -> None:
    blocks = [block for block in blocks_of(ROOT / "docs" / "reference" / "simulation.md") if block.language == "yaml"]
    assert blocks
    for block in blocks:
        file = tmp_path / "simulation.yaml"
        file.write_text(block.text, encoding="utf-8")
        assert read_description(file).name in block.text
