"""What a switch asks at its first login, and what is typed at it: a wizard, name and password, a forced new password.

Questions are told by their unfinished row. Words of the wizards and of forced changes are from memory of transcripts,
and taken loosely; that Cisco's small-business switches force a change, and in which order they ask (yes or no, the old
password, the new one twice), is from Cisco's page on their password settings. A question that is not in the table stays
unanswered.
"""

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Final, Literal

from eee_testbed.lab.errors import AccessDenied

Kind = Literal["no", "yes", "user", "password", "old password", "new user", "new password", "key yes", "ready"]


@dataclass(frozen=True, slots=True)
class Account:
    """A name and a password, which is never shown."""

    user: str
    password: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Answer:
    """What is typed at a question; `doing` says it without the secret."""

    text: str = field(repr=False)
    doing: str
    enter: bool = True


_QUESTIONS: Final[tuple[tuple[str, Kind], ...]] = (
    (r"initial configuration dialog\b.*\[yes/no\]\s*:?\s*$", "no"),
    (r"terminate autoinstall\b.*\[yes(/no)?\]\s*:?\s*$", "yes"),
    (r"\bwizard\b.*[\[(]y/n[\])]\s*:?\s*$", "no"),
    (r"\bchange\b.*\bpassword\b.*\(y/n\)\s*(\[[yn]\])?\s*\??\s*$", "key yes"),
    (r"\b(old|current) password\s*:\s*\**$", "old password"),
    (r"\bnew user ?name\s*:\s*$", "new user"),
    (r"\b(confirm|verify|re-?enter|re-?type|again)\b.*:\s*\**$", "new password"),
    (r"\bnew\b.*\bpassword\s*:\s*\**$", "new password"),
    (r"\b(user ?name|user|login)\s*:\s*$", "user"),
    (r"\bpassword\s*:\s*\**$", "password"),
    (r"[>#]\s*$", "ready"),
)
"""Patterns of the unfinished row, the first that matches counts; case is ignored."""

PATTERNS: Final = tuple(pattern for pattern, _ in _QUESTIONS)

_MOST_ANSWERS: Final = {"user": 3, "password": 2, "old password": 1, "new user": 1, "new password": 2}
"""How often a question may come before its answer counts as refused, else three times. A console may stand in the
middle of a login that somebody began, so a name and a password may be wanted once more."""


class Dialogue:
    """One first login. `login` is the factory's account, `wanted` the one that the switch shall have."""

    def __init__(self, device: str, login: Account, wanted: Account) -> None:
        self._device = device
        self._login = login
        self._wanted = wanted
        self._asked: Counter[Kind] = Counter()
        self.changed = False
        """Whether the switch made us give it a new password."""

    def answer(self, index: int, said: str) -> Answer | None:
        """The answer to the question of that index in `PATTERNS`; None at a prompt: the login is done.

        AccessDenied if an answer was refused; `said` is what the switch printed, for the error.
        """
        kind = _QUESTIONS[index][1]
        if kind == "ready":
            return None
        self._asked[kind] += 1
        if kind == "user" and not self._login.user:
            raise AccessDenied(self._device, "it asks for an account: give --user and --password-file.")
        if self._asked[kind] > _MOST_ANSWERS.get(kind, 3):
            raise AccessDenied(self._device, self._refusal(kind, said))
        if kind == "new password":
            return self._renewed()
        text, doing = {
            "no": ("no" if "yes/no" in PATTERNS[index] else "N", "declining the wizard"),
            "yes": ("yes", "ending autoinstall"),
            "key yes": ("Y", "agreeing to change the password"),
            "user": (self._login.user, "naming the account"),
            "password": (self._login.password, "giving the password"),
            "old password": (self._login.password, "giving the factory's password"),
            "new user": (self._wanted.user, "naming the new account"),
        }[kind]
        return Answer(text, doing, enter=kind != "key yes")

    def _renewed(self) -> Answer:
        """The new password. A switch that wants another login afterwards gets the new account."""
        if not self.changed:
            self.changed = True
            user = self._wanted.user if self._asked["new user"] else self._login.user
            self._login = Account(user, self._wanted.password)
            for kind in ("user", "password"):
                self._asked[kind] = 0
        return Answer(self._wanted.password, "giving the new password")

    def _refusal(self, kind: Kind, said: str) -> str:
        rows = " / ".join(row.strip() for row in said.splitlines() if row.strip())[-200:]
        if kind in {"new password", "new user"}:
            return f"it does not take the inventory's user and password as new ones, and says '{rows}': choose others."
        name = f"'{self._login.user}'" if self._login.user else "us"
        return f"it does not let {name} in, and says '{rows}': give --user and --password-file."


_COMPLAINT: Final = re.compile(
    r"^\s*%(?! ?(key|generating|the key|you already|\w+-\d-|\S+-[ni]-))|\b(invalid|unrecogni[sz]ed|ambiguous)\b"
    r"|\berror\b|\bincomplete command\b|\bcommand not found\b|\bnot supported\b"
    r"|\b(failed|could not|cannot)\b|\bbad parameter\b",
    re.IGNORECASE,
)


def complaint(output: str) -> str:
    """What is wrong with a line of a first contact, in the switch's words; empty if it took it.

    Lines that make keys talk, so that words alone are no refusal, unlike those of an everyday session.
    """
    return "\n".join(row.strip() for row in output.splitlines() if _COMPLAINT.search(row))
