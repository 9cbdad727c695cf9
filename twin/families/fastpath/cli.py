"""The command line of an M4300: modes, prompts, messages.

``% Invalid input detected at '^' marker.`` was seen on M4300 12.0 (which prints ``% Unrecognized command`` after a `?`
without result; here both print the former); ``Command not found / Incomplete command.`` and ``Ambiguous command`` are
from the CLI manual. Messages for refused changes are [M]; it is certain that an accepted line prints nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from eee_testbed.twin.cli.shell import Mode, More
from eee_testbed.twin.families.fastpath.layout import MORE
from eee_testbed.twin.families.fastpath.shows.statistics import Statistics
from eee_testbed.twin.families.fastpath.table import grammar
from eee_testbed.twin.families.fastpath.transmitters import Transmitters

if TYPE_CHECKING:
    from eee_testbed.twin.cli.grammar import Fault, HelpItem
    from eee_testbed.twin.cli.shell import Session, SshMethod
    from eee_testbed.twin.families.fastpath.personality import FastpathPersonality
    from eee_testbed.twin.switch.device import SwitchDevice
    from eee_testbed.twin.switch.personality import Refused

_INVALID = "% Invalid input detected at '^' marker."
_INCOMPLETE = "Command not found / Incomplete command. Use ? to list commands."
_AMBIGUOUS = "Ambiguous command"
_REFUSALS = {
    "no-vlan": "VLAN ID not found.",
    "default-vlan": "The default VLAN cannot be changed or deleted.",
    "full": "ERROR: Table is full.",
    "in-lag": "ERROR: Port is already a member of another port-channel.",
    "not-in-lag": "ERROR: Port is not a member of this port-channel.",
    "no-entry": "ERROR: Entry does not exist.",
    "no-energy-detect": "ERROR: Energy-detect mode is not supported on this port.",
}
HELP_CHARACTERS = 24


class FastpathCli:
    """See `twin.cli.shell.Cli`. One per device: it holds the device's state outside its configuration."""

    more = More(MORE, rows=23)
    session_limit = 5  # manual: five SSH sessions

    def __init__(self, device: SwitchDevice, statistics: Statistics | None = None) -> None:
        self.device = device
        self.statistics = statistics if statistics is not None else Statistics(device)
        self._transmitters = Transmitters(device)
        self.grammar = grammar(sum(not p.is_lag for p in device.ports))

    def ssh_methods(self, user: str) -> frozenset[SshMethod]:
        """Return SSH's password method, and public keys (`ip ssh pubkey-auth`)."""
        account = self.device.users().get(user)
        return frozenset({"password", "publickey"} if account is not None and account.keys else {"password"})

    def login_prompts(self) -> tuple[str, str, str]:
        """Not used: SSH asks."""
        return "User:", "Password:", "*"

    def login_failed(self) -> str:
        """Not used: SSH refuses."""
        return "\nInvalid login.\n"

    def begin(self, session: Session) -> str:
        """Begin in user exec, whatever the user's privilege."""
        session.info["statistics"] = self.statistics
        session.modes = [self.first_mode()]
        return "\n"

    def first_mode(self) -> Mode:
        """Return user exec."""
        return Mode("user")

    def prompt(self, session: Session) -> str:
        """``(name) >``, ``(name) #``, ``(name) (Config)#``; the name is the model until a hostname is set."""
        personality = cast("FastpathPersonality", self.device.personality)
        name = personality.config.hostname or self.device.spec.model
        mode = session.mode
        where = {
            "config": "(Config)#",
            "vlan": "(Vlan)#",
            "line": "(Config-line)#",
            "if": f"(Interface {mode.about.get('text', '')})#",
            "exec": "#",
            "user": ">",
        }[mode.name]
        return f"({name}) {where}"

    def modes(self, session: Session) -> tuple[str, ...]:
        """Return the present mode only: FASTPATH does not fall back to the mode above [M]."""
        return (session.mode.name,)

    def rewrite(self, session: Session, line: str) -> tuple[str | None, str]:
        """Return the line as it is: this family has no prefixes."""
        del session
        return None, line

    def fault(self, session: Session, fault: Fault, line: str) -> str:
        """Return the message for a line that is not a command."""
        if fault.kind == "incomplete":
            return f"\n{_INCOMPLETE}\n\n"
        if fault.kind == "ambiguous":
            return f"\n{_AMBIGUOUS}\n\n"
        return self.invalid(session, fault.column if line else 0)

    def invalid(self, session: Session, column: int) -> str:
        """Point at a column of the line just typed."""
        return " " * (len(self.prompt(session)) + column) + f"^\n{_INVALID}\n\n"

    def refused(self, session: Session, refused: Refused) -> str:
        """Return the message for a refused change; a value out of range is invalid input at the last word."""
        if refused.reason == "bad-value" and session.history:
            line = session.history[-1]
            return self.invalid(session, len(line) - len(line.split()[-1]))
        return _REFUSALS.get(refused.reason, f"ERROR: {refused.sentence}") + "\n\n"

    def help(self, session: Session, items: list[HelpItem], line: str) -> str:
        """Print two columns between empty lines."""
        del session, line
        rows = (f"{i.word:<{HELP_CHARACTERS}} {i.help}".rstrip() for i in items)
        return "\n" + "".join(row + "\n" for row in rows) + "\n"

    def ctrl_z(self, session: Session) -> None:
        """Return to privileged exec."""
        session.return_to("exec")

    def idle_timeout_s(self, session: Session) -> float:
        """Five minutes (manual: `sshcon timeout`, default 5)."""
        del session
        return 300.0

    def timed_out(self) -> str:
        """[M]."""
        return "\nSession timed out.\n"
