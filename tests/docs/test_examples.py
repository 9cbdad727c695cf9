"""The Python blocks of a page run in order, in one namespace."""

from pathlib import Path
from typing import Any

import pytest

from tests.support import ROOT
from tests.support.doc_pages import Block, blocks_of, pages


def python_of(page: Path) -> list[Block]:
    return [block for block in blocks_of(page) if block.language == "python" and "no-run" not in block.marks]


WITH_PYTHON = [page for page in pages() if python_of(page)]


@pytest.mark.parametrize("page", WITH_PYTHON, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_python_of_a_page_runs(page: Path) -> None:
    names: dict[str, Any] = {"__name__": page.stem}
    for block in python_of(page):
        lines = "\n" * block.line + block.text  # so that a failure names the page's line
        exec(compile(lines, str(page), "exec", dont_inherit=True), names)  # noqa: S102 - that is what is tested
