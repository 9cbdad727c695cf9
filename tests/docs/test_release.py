"""A release has one number and one date: in the changelog, the engine, the citation and the history's tags."""

import re
from typing import Final

from ruamel.yaml import YAML

from eee_testbed.record.checkout import git
from tests.support import ROOT

_HEADINGS: Final = re.findall(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
_DATED: Final = dict(re.findall(r"^\[([\d.]+)\] - (\d{4}-\d{2}-\d{2})$", "\n".join(_HEADINGS), re.MULTILINE))


def test_the_engine_has_the_number_of_the_newest_release() -> None:
    cargo = (ROOT / "engine" / "Cargo.toml").read_text(encoding="utf-8")
    numbers = re.findall(r'^version = "(.+)"$', cargo, re.MULTILINE)
    assert numbers == [next(iter(_DATED))]


def test_the_citation_is_of_the_newest_release() -> None:
    citation = YAML(typ="safe").load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert (citation["version"], str(citation["date-released"])) == next(iter(_DATED.items()))


def test_a_tag_has_a_heading_with_a_date() -> None:
    """Not the other way round: the heading is written first, and a clone may have no tags."""
    tags = git(ROOT, "tag", "--list", "v*")[0].split()
    assert set(tags) <= {f"v{number}" for number in _DATED}
