"""The site's navigation is the README's table and the rest of the pages."""

import pytest

from tests.support import ROOT
from website.navigation import linked_pages, navigation

_README = """\
# A project

See [how](docs/how.md).

## Where to read on

| | |
| --- | --- |
| [Tutorial](docs/tutorial.md) | first steps |
| How-to | [install](docs/install.md), [again](docs/install.md#twice), [measure](docs/measure.md) |
| Inside | [map](MAP.md) |

## More

| Other | [table](docs/other.md) |
"""


def test_rows_are_sections_and_the_last_one_takes_what_no_row_has() -> None:
    pages = ["README.md", "docs/z.md", "docs/install.md", "docs/measure.md", "docs/tutorial.md", "MAP.md", "docs/a.md"]
    assert navigation(_README, pages) == [
        ("Tutorial", ("docs/tutorial.md",)),
        ("How-to", ("docs/install.md", "docs/measure.md")),
        ("Inside", ("MAP.md", "docs/a.md", "docs/z.md")),
    ]


def test_a_readme_without_the_table_is_refused() -> None:
    with pytest.raises(ValueError, match="Where to read on"):
        navigation("# A project\n", ["docs/a.md"])


def test_links_to_other_servers_are_no_pages() -> None:
    assert linked_pages("[a](b.md) [c](https://d.example/e.md) [f](g.svg) [h](../i.md#j)") == ["b.md", "../i.md"]


def test_this_projects_readme_has_the_sections() -> None:
    sections = navigation((ROOT / "README.md").read_text(encoding="utf-8"), [])
    assert {"Tutorial", "How-to guides", "Reference", "Explanation", "Inside"} <= {title for title, _ in sections}
