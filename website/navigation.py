"""The site's navigation, from the README's table "Where to read on": no other list is kept."""

import re
from collections.abc import Iterable, Iterator
from typing import Final

HOME: Final = "README.md"
_HEADING: Final = "## Where to read on"
_LINK: Final = re.compile(r"\[([^]]+)\]\(([^)#:]+\.md)(?:#[^)]*)?\)")

Section = tuple[str, tuple[str, ...]]
"""A heading, and paths of its pages relative to the checkout."""


def navigation(readme: str, pages: Iterable[str]) -> list[Section]:
    """The rows of the README's table; pages that no row links to follow in the last one, in the order of their paths.

    ValueError if the README has no such table.
    """
    sections = list(_rows(readme))
    if not sections:
        raise ValueError(f'README.md has no table below "{_HEADING}": the site takes its navigation from it.')
    listed = {HOME, *(page for _, linked in sections for page in linked)}
    title, linked = sections[-1]
    sections[-1] = title, (*linked, *sorted(set(pages) - listed))
    return sections


def linked_pages(text: str) -> list[str]:
    """Paths of the Markdown files that a page links to, as it has them."""
    return [path for _, path in _LINK.findall(text)]


def _rows(readme: str) -> Iterator[Section]:
    _, _, rest = readme.partition(_HEADING)
    for line in rest.partition("\n## ")[0].splitlines():
        linked = linked_pages(line)
        if line.startswith("|") and linked:
            title = line.split("|")[1].strip()
            yield _LINK.sub(r"\1", title), tuple(dict.fromkeys(linked))
