"""Help and reference agree with the code; `tests/docs` compares the generated pages."""

from pydantic import BaseModel, ConfigDict, Field

from eee_testbed.eeectl.application import app
from eee_testbed.eeectl.reference.commands import command_sections, command_table
from eee_testbed.eeectl.reference.models import key_table, prose
from eee_testbed.eeectl.verb_table import VERBS


def test_the_help_of_a_verb_is_shown_before_it_is_loaded() -> None:
    for verb in VERBS:
        assert app[verb.name].help.splitlines()[0] == verb.help


def test_every_command_has_a_section_with_its_own_words() -> None:
    paths = [row.split("`")[1] for row in command_table().splitlines() if row.startswith("| [`")]
    sections = command_sections()
    assert {verb.name for verb in VERBS} == {path.split()[1] for path in paths}
    for path in paths:
        assert f"\n## {path}\n" in f"\n{sections}"


def test_a_literal_block_of_a_docstring_becomes_a_fenced_one() -> None:
    assert prose("A file::\n".replace("::", ".") + "\n::\n\n    a: 1\n    b: 2\n\nMore.") == (
        "A file.\n\n```yaml\na: 1\nb: 2\n```\n\nMore.\n"
    )


class _Sample(BaseModel):
    model_config = ConfigDict(populate_by_name=True)

    source: str = Field(alias="from")
    levels: tuple[int, ...] = Field(default=(), description="a | b")
    share: float = Field(default=0.5, ge=0, le=1)


def test_a_model_is_shown_as_a_file_has_it() -> None:
    rows = key_table(_Sample).splitlines()
    assert rows[2:] == [
        "| `from` | text | required |  |",
        "| `levels` | list of integer |  | a \\| b |",
        "| `share` | number, ≥ 0, ≤ 1 | `0.5` |  |",
    ]
