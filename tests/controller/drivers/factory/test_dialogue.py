"""First logins: questions as switches ask them, and what is typed."""

import re

import pytest

from eee_testbed.controller.drivers.factory.dialogue import PATTERNS, Account, Answer, Dialogue, complaint
from eee_testbed.lab.errors import AccessDenied

_FACTORY = Account("cisco", "old-word")
_WANTED = Account("admin", "new-word")


def _asked(dialogue: Dialogue, row: str) -> Answer | None:
    """The answer to an unfinished row, found as a terminal finds it."""
    index = next(index for index, pattern in enumerate(PATTERNS) if re.search(pattern, row, re.IGNORECASE))
    return dialogue.answer(index, row)


def _typed(*rows: str) -> tuple[list[str], Dialogue]:
    dialogue = Dialogue("sw1", _FACTORY, _WANTED)
    answers = [_asked(dialogue, row) for row in rows]
    assert answers[-1] is None  # at the prompt
    return [answer.text for answer in answers if answer is not None], dialogue


@pytest.mark.parametrize("prompt", ["console>", "(M4300-28G) >", "switch#", "Switch> "])
def test_a_plain_login(prompt: str) -> None:
    typed, dialogue = _typed("User Name:", "Password:", prompt)
    assert typed == ["cisco", "old-word"]
    assert not dialogue.changed


def test_a_console_in_the_middle_of_a_login_that_somebody_began() -> None:
    typed, _ = _typed("Password:", "User Name:", "Password:", "console>")
    assert typed == ["old-word", "cisco", "old-word"]


def test_a_forced_change_with_yes_or_no_old_and_new_password() -> None:
    change = "Do you want to change the password (Y/N)[Y] ?"
    rows = ("User Name:", "Password:", change, "Enter old password  : ", "Enter new password  : ")
    typed, dialogue = _typed(*rows, "Confirm new password: ", "switch#")
    assert typed == ["cisco", "old-word", "Y", "old-word", "new-word", "new-word"]
    assert dialogue.changed
    answer = _asked(Dialogue("sw1", _FACTORY, _WANTED), change)
    assert answer is not None
    assert not answer.enter  # it would answer the next question


def test_a_forced_change_of_the_name_too_and_another_login_afterwards() -> None:
    rows = ("Username: ", "Password: ", "Enter new username: ", "Enter new password: ", "Confirm new password: ")
    typed, _ = _typed(*rows, "User Name:", "Password:", "switch#")
    assert typed == ["cisco", "old-word", "admin", "new-word", "new-word", "admin", "new-word"]


def test_a_change_without_a_new_name_logs_in_anew_as_the_factorys_account() -> None:
    typed, _ = _typed("User:", "Password:", "New password:", "Re-enter password:", "User:", "Password:", "(x) >")
    assert typed == ["cisco", "old-word", "new-word", "new-word", "cisco", "new-word"]


def test_wizards_are_declined() -> None:
    typed, _ = _typed("Would you like to enter the initial configuration dialog? [yes/no]: ", "Switch>")
    assert typed == ["no"]
    typed, _ = _typed("Would you like to run the setup wizard (answer within 60 seconds)? [Y/N] ", "console>")
    assert typed == ["N"]
    typed, _ = _typed("Would you like to terminate autoinstall? [yes]: ", "Switch>")
    assert typed == ["yes"]


def test_a_refused_login_and_a_refused_new_password_are_told_apart() -> None:
    dialogue = Dialogue("sw1", _FACTORY, _WANTED)
    for row in ("User:", "Password:", "User:", "Password:", "User:"):
        _asked(dialogue, row)
    with pytest.raises(AccessDenied, match=r"does not let 'cisco' in.*give --user"):
        _asked(dialogue, "Password:")
    with pytest.raises(AccessDenied, match="it asks for an account: give --user"):
        _asked(Dialogue("sw1", Account("", ""), _WANTED), "User Name:")
    dialogue = Dialogue("sw1", _FACTORY, _WANTED)
    for row in ("New password:", "Confirm new password:"):
        _asked(dialogue, row)
    with pytest.raises(AccessDenied, match="does not take the inventory's user and password"):
        _asked(dialogue, "New password:")


def test_what_is_typed_is_in_no_representation() -> None:
    assert "new-word" not in repr(_WANTED)
    answer = _asked(Dialogue("sw1", _FACTORY, _WANTED), "Password:")
    assert answer is not None
    assert "old-word" not in repr(answer)
    assert "old-word" not in answer.doing


@pytest.mark.parametrize(
    "said",
    [
        "% Unrecognized command",
        "                ^\n% Invalid input detected at '^' marker.\n",
        "Command not found / Incomplete command. Use ? to list commands.",
        "ERROR: Table is full.",
        "% bad parameter value",
        "Could not set the password: too short",
    ],
)
def test_complaints(said: str) -> None:
    assert complaint(said)


@pytest.mark.parametrize(
    "said",
    [
        "",
        "The SSH service is generating a private RSA key.",
        "% Generating 2048 bit RSA keys, keys will be non-exportable...\n[OK] (elapsed time was 1 seconds)",
        "%SSH-5-ENABLED: SSH 2.0 has been enabled",
        "RSA key generation started, this may take a few minutes...",
    ],
)
def test_words_that_are_no_complaint(said: str) -> None:
    assert not complaint(said)
