"""Commands after ``--``: whatever they are, options of theirs are not eeectl's."""

import pytest

from eee_testbed.eeectl.after_dashes import AfterDashes, split, takes_command
from eee_testbed.eeectl.cli import run


def taking(program: str = "", *, command: AfterDashes = ()) -> None:
    """A verb that runs a command."""


def plain(program: str = "") -> None:
    """A verb that runs none."""


@pytest.mark.parametrize(
    ("tokens", "given", "command"),
    [
        (["bench", "--lab", "a"], ["bench", "--lab", "a"], {}),
        (["bench", "--", "lmp", "-in", "x"], ["bench"], {"command": ("lmp", "-in", "x")}),
        (["bench", "--", "sh", "--", "--lab"], ["bench"], {"command": ("sh", "--", "--lab")}),
        (["bench", "hpl", "--"], ["bench", "hpl"], {"command": ()}),
    ],
)
def test_words_after_dashes_are_the_command(
    tokens: list[str], given: list[str], command: dict[str, tuple[str, ...]]
) -> None:
    assert split(taking, tokens) == (given, command)


@pytest.mark.parametrize("verb", [plain, None])
def test_other_verbs_get_all_words(verb: object) -> None:
    assert split(plain if verb else None, ["exec", "n01", "--", "ls"]) == (["exec", "n01", "--", "ls"], {})
    assert not takes_command(plain)
    assert takes_command(taking)


@pytest.mark.parametrize(
    ("words", "status", "says"),
    [
        (["bench", "alltoall", "--", "/shared/halo"], 1, "both program alltoall and the command /shared/halo"),
        (["sweep"], 1, "no program is named"),
        (["sweep", "--set", "words=/shared/a", "--", "/shared/b"], 1, "both --set words and the command /shared/b"),
        (["bench"], 1, "no program is named"),
        (["study", "--lab", "nowhere", "--", "/shared/halo", "--lab", "virtual"], 1, "no lab 'nowhere'"),
        (["study", "nowhere", "--", "/shared/halo", "-n", "3"], 1, "no lab 'nowhere'"),
    ],
)
def test_verbs_that_run_a_program_take_one(
    words: list[str], status: int, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(words) == status
    assert says in capsys.readouterr().err
