"""The Python blocks of a page run in order, in one namespace, beside a run and a calibration with known values."""

from pathlib import Path
from typing import Any

import pytest

from tests.support import ROOT
from tests.support.data_set import write_small
from tests.support.doc_pages import Block, blocks_of, pages
from tests.support.measured.synthetic_run import write_measured


def python_of(page: Path) -> list[Block]:
    return [block for block in blocks_of(page) if block.language == "python" and "no-run" not in block.marks]


WITH_PYTHON = [page for page in pages() if python_of(page)]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `runs/study`, `calibration.yaml` and `data-set`."""
    folder = tmp_path_factory.mktemp("examples")
    write_measured(folder)
    write_small(folder / "data-set")
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("page", WITH_PYTHON, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_python_of_a_page_runs(page: Path, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place)
    names: dict[str, Any] = {"__name__": page.stem}
    for block in python_of(page):
        lines = "\n" * block.line + block.text  # so that a failure names the page's line
        exec(compile(lines, str(page), "exec", dont_inherit=True), names)  # noqa: S102 - that is what is tested
