"""What tests see of a page."""

from pathlib import Path

import pytest
from cyclopts.exceptions import CycloptsError

from eee_testbed.eeectl.application import parse
from tests.support import ROOT
from tests.support.doc_pages import blocks_of, eeectl_lines, pages

_PAGE = """\
# A page

```sh
eeectl lab up virtual     # a comment
```

1. In a list:

   ```sh no-run
   cd /tmp && eeectl lab status | head -3; eeectl plan "my lab" \\
       --every-step > plan.txt
   ```
"""


def test_blocks_have_language_marks_and_text_without_their_indentation() -> None:
    page = ROOT / "docs" / "tutorial.md"
    assert page in pages()
    first = next(blocks_of(page))
    assert (first.language, first.marks) == ("sh", frozenset())
    assert first.text.startswith(". .venv/bin/activate\n")


def test_marks_and_indented_blocks(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(_PAGE, encoding="utf-8")
    one, other = blocks_of(page)
    assert (one.line, one.marks, other.line, other.marks) == (3, frozenset(), 9, {"no-run"})
    assert other.text.startswith("cd /tmp")
    assert [*eeectl_lines(one.text)] == [["lab", "up", "virtual"]]
    assert [*eeectl_lines(other.text)] == [["lab", "status"], ["plan", "my lab", "--every-step"]]


def test_a_block_that_is_not_closed_is_an_error(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```sh\neeectl status\n", encoding="utf-8")
    with pytest.raises(AssertionError, match="line 1 is not closed"):
        list(blocks_of(page))


@pytest.mark.parametrize("words", [["link", "of", "sw1:gi1/0/11"], ["apply", "virtual", "--yess"], ["probe"]])
def test_the_parser_refuses_what_a_page_must_not_say(words: list[str]) -> None:
    with pytest.raises(CycloptsError):
        parse(words, print_error=False)
