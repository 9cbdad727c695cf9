"""Lines of exec modes that ask a question or change the session: enable, paging, saving, reload, logout.

The save and logout questions are from transcripts of FASTPATH switches; the output after a yes is partly [M]. An answer
other than y counts as no.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from eee_testbed.twin.cli.grammar import Command
from eee_testbed.twin.cli.shell import Ask

if TYPE_CHECKING:
    from collections.abc import Callable

    from eee_testbed.twin.cli.grammar import Match
    from eee_testbed.twin.cli.shell import Handler, Reply, Session
    from eee_testbed.twin.families.fastpath.personality import FastpathPersonality

_SAVE = (
    "\nThis operation may take a few minutes.\n"
    "Management interfaces will not be available during this time.\n\n"
    "Are you sure you want to save? (y/n) "
)
_SAVED_TEXT = "\nConfig file 'startup-config' created successfully .\n\n\nConfiguration Saved!\n"
_UNSAVED_TEXT = "\nThe system has unsaved changes.\nWould you like to save them now? (y/n) "
_RESET = "\nAre you sure you would like to reset the system? (y/n) "


def _yes(answer: str) -> bool:
    return answer in {"y", "Y"}


def _enable(session: Session, _match: Match[Any]) -> Reply:
    if session.user is not None and session.user.privilege < 15:
        return "\nThe user's privilege level does not allow this command.\n\n"
    session.enter("exec")
    return ""


def _disable(session: Session, _match: Match[Any]) -> Reply:
    session.return_to("user")
    return ""


def _end(session: Session, _match: Match[Any]) -> Reply:
    session.return_to("exec")
    return ""


def _paging(session: Session, match: Match[Any]) -> Reply:
    session.page_rows = match.get("count", 24)
    return ""


def _no_pager(session: Session, match: Match[Any]) -> Reply:
    session.page_rows = 0 if match.negated else 24
    return ""


def _save(session: Session, match: Match[Any]) -> Reply:
    if match.has("confirm"):
        return _saved(session)
    return Ask(_SAVE, lambda answer: _saved(session) if _yes(answer) else "\nConfiguration Not Saved!\n")


def _saved(session: Session) -> Reply:
    session.device.save_startup()
    return _SAVED_TEXT


def _unsaved(session: Session) -> bool:
    personality = cast("FastpathPersonality", session.device.personality)
    return not personality.saved_is_running(session.device.startup)


def _after_unsaved(session: Session, then: Callable[[], Reply]) -> Reply:
    """Offer to save unsaved changes, then continue."""
    if not _unsaved(session):
        return then()

    def answered(answer: str) -> Reply:
        if _yes(answer):
            session.device.save_startup()
        return then()

    return Ask(_UNSAVED_TEXT, answered)


def _logout(session: Session, _match: Match[Any]) -> Reply:
    def out() -> Reply:
        session.end()
        return ""

    if session.mode.name == "user":
        return out()
    return _after_unsaved(session, out)


def _exit(session: Session, match: Match[Any]) -> Reply:
    """Go from privileged to user exec, and from there log out."""
    if len(session.modes) == 1:
        return _logout(session, match)
    session.leave()
    return ""


def _reload(session: Session, _match: Match[Any]) -> Reply:
    def reset(answer: str) -> Reply:
        if not _yes(answer):
            return "\nReset aborted.\n"
        session.end()
        session.device.reload()
        return ""

    return _after_unsaved(session, lambda: Ask(_RESET, reset))


def _clear_config(session: Session, _match: Match[Any]) -> Reply:
    def cleared(answer: str) -> Reply:
        if not _yes(answer):
            return "\nConfiguration Not Cleared!\n"
        device = session.device
        with device.change():
            device.personality.config = device.personality.factory()
        return "\nClearing configuration. Please wait for login prompt.\n"

    return Ask("\nAre you sure you want to clear the configuration? (y/n) ", cleared)


def _erase_startup(session: Session, match: Match[Any]) -> Reply:
    del match

    def erased(answer: str) -> Reply:
        if _yes(answer):
            session.device.erase_startup()
        return ""

    return Ask("\nAre you sure you want to clear the startup-config? (y/n) ", erased)


def _make_key(_session: Session, match: Match[Any]) -> Reply:
    """Keys are there from the first start, and the switch asks [M]. Simplification: the twin keeps its host key."""
    kind = match.keywords[-1].upper()

    def answered(answer: str) -> Reply:
        return f"\n{kind} key generation started, this may take a few minutes...\n" if _yes(answer) else ""

    return Ask(f"\nDo you want to overwrite the existing {kind} keys? (y/n): ", answered)


_EXEC = frozenset({"exec"})
_USER = frozenset({"user"})
_ALL = frozenset({"user", "exec"})

COMMANDS: tuple[Command[Handler], ...] = (
    Command("enable", _enable, _USER, "Enter into user privilege mode."),
    Command("disable", _disable, _EXEC, "Leave privileged mode."),
    Command("end", _end, frozenset({"config", "if", "vlan", "line"}), "To exit to privileged mode."),
    Command("terminal length <count:rows>", _paging, _ALL, "Set the number of terminal lines."),
    Command("no terminal length", _paging, _ALL, "Set the number of terminal lines."),
    Command("[no] pager", _no_pager, _ALL, "Enable/Disable paging."),
    Command("write memory [confirm]", _save, _EXEC, "Save the running configuration."),
    Command(
        "copy (system:running-config nvram:startup-config|running-config startup-config) [confirm]",
        _save,
        _EXEC,
        "Copy the running configuration to the startup configuration.",
    ),
    Command("clear config", _clear_config, _EXEC, "Clear the configuration."),
    Command("erase startup-config", _erase_startup, _EXEC, "Erase the startup configuration."),
    Command("crypto key generate (rsa|dsa)", _make_key, frozenset({"config"}), "Generate SSH host keys."),
    Command("reload", _reload, _EXEC, "Reset the switch."),
    Command("logout", _logout, _ALL, "Exit this session. Any unsaved changes are lost."),
    Command("quit", _logout, _ALL, "Exit this session. Any unsaved changes are lost."),
    Command("exit", _exit, _ALL, "To exit from the mode."),
)
