"""The command line of a PowerConnect 55xx: modes, prompts, messages.

Prompts `console>`, `console#`, `console(config)#`, `console(config-if)#` with a trailing blank (transcripts of a
3548; FASTPATH has none). Error messages from drivers and profiles that expect them: `% Unrecognized command`, `%
Incomplete command`, `% Ambiguous command`, `% bad parameter value`, `% Wrong number of parameters or invalid range,
size or characters entered`, `VLAN was not created by user.`

Login: without `ip ssh password-auth` (the default) SSH accepts everyone with method *none*, and the session asks
`User Name:` and `Password:`, as netmiko's driver for this family expects. A user who has a public key is offered that
method instead, so that `none` cannot bypass it; a real switch decides for all users at once [M].
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eee_testbed.twin.cli.grammar import Command, Fault, Grammar, HelpItem, Match
from eee_testbed.twin.cli.shell import Handler, Mode, More, Reply, Session, SshMethod
from eee_testbed.twin.families.ros import exec_commands
from eee_testbed.twin.families.ros.personality import CONFIG_COMMANDS
from eee_testbed.twin.families.ros.show_interfaces import config_of
from eee_testbed.twin.families.ros.table import ConfigHandler, Enter, Leave, Where
from eee_testbed.twin.families.ros.tokens import tokens

if TYPE_CHECKING:
    from eee_testbed.twin.switch.device import SwitchDevice
    from eee_testbed.twin.switch.personality import Refused

_PROMPTS = {
    "user": ">",
    "exec": "#",
    "config": "(config)#",
    "vlandb": "(config-vlan)#",
    "if": "(config-if)#",
    "ifvlan": "(config-if)#",
    "line": "(config-line)#",
}
_FAULTS = {
    "incomplete": "% Incomplete command",
    "ambiguous": "% Ambiguous command",
    "unrecognised": "% Unrecognized command",
    "bad-value": "% bad parameter value",
    "excess": "% Wrong number of parameters or invalid range, size or characters entered",
}
_REFUSALS = {
    "no-vlan": "VLAN was not created by user.",
    "default-vlan": "Default VLAN can't be deleted.",  # [M]
    "bad-value": "% bad parameter value",
}


class RosCli:
    """See `twin.cli.shell.Cli`."""

    more = More("More: <space>,  Quit: q, One line: <return> ", rows=24)
    session_limit = 5  # [M]

    def __init__(self, device: SwitchDevice) -> None:
        self._device = device
        rows = [Command(c.pattern, _on_device(c.run), c.modes, c.help) for c in CONFIG_COMMANDS]
        self.grammar: Grammar[Handler] = Grammar((*exec_commands.COMMANDS, *rows), tokens(device.ports))

    def ssh_methods(self, user: str) -> frozenset[SshMethod]:
        """Return the SSH methods: see the docstring of this module."""
        config = config_of(self._device)
        if not config.ssh_server:
            return frozenset()
        account = self._device.users().get(user)
        methods: set[SshMethod] = set()
        if config.ssh_pubkey_auth and config.pubkey_auto_login and account is not None and account.keys:
            methods.add("publickey")
        if config.ssh_password_auth:
            methods.add("password")
        return frozenset(methods or {"none"})

    def login_prompts(self) -> tuple[str, str, str]:
        """Return the prompts; stars hide the password (netmiko's notes on this family)."""
        return "User Name:", "Password:", "*"

    def login_failed(self) -> str:
        """[M]."""
        return "authentication failed\n"

    def begin(self, session: Session) -> str:
        """Enter the first mode after the login."""
        high = session.user is not None and session.user.privilege == 15
        session.modes = [Mode("exec" if high else "user")]
        return "\n"

    def first_mode(self) -> Mode:
        """Return the mode before the login."""
        return Mode("user")

    def prompt(self, session: Session) -> str:
        """Return host name (`console` without one) and mode."""
        name = config_of(self._device).hostname or "console"
        mark = _PROMPTS[session.mode.name]
        if session.mode.about.get("range"):
            mark = "(config-if-range)#"
        return f"{name}{mark} "

    def modes(self, session: Session) -> tuple[str, ...]:
        """Return this mode and global configuration: commands of the latter also work in a sub-mode, and leave it."""
        name = session.mode.name
        return (name,) if name in {"user", "exec", "config"} else (name, "config")

    def rewrite(self, session: Session, line: str) -> tuple[str | None, str]:
        """Handle `do COMMAND` in configuration."""
        first, _, rest = line.lstrip().partition(" ")
        if first == "do" and rest.strip() and session.mode.name not in {"user", "exec"}:
            return "exec", rest
        return None, line

    def fault(self, session: Session, fault: Fault, line: str) -> str:
        """Return the message for a line that is not a command."""
        del session, line
        return f"{_FAULTS[fault.kind]}\n"

    def refused(self, session: Session, refused: Refused) -> str:
        """Return the message for a refusal; a reason without a message of its own keeps the neutral sentence."""
        del session
        return f"{_REFUSALS.get(refused.reason, refused.sentence)}\n"

    def help(self, session: Session, items: list[HelpItem], line: str) -> str:
        """Print two columns [M]."""
        del session, line
        width = max(20, *(len(i.word) for i in items))
        return "".join(f"  {i.word:<{width}} {i.help}".rstrip() + "\n" for i in items)

    def ctrl_z(self, session: Session) -> None:
        """Return to privileged exec."""
        session.return_to("exec")

    def idle_timeout_s(self, session: Session) -> float:
        """`exec-timeout` of `line ssh`; ten minutes by default (recording of `show line`)."""
        del session
        return float(config_of(self._device).exec_timeout_s)

    def timed_out(self) -> str:
        """[M]."""
        return "The CLI session was closed due to inactivity.\n"


def _on_device(run: ConfigHandler) -> Handler:
    """Wrap a configuration handler for a session: on the device's configuration, with its lock and observers."""

    def handler(session: Session, match: Match[Any]) -> Reply:
        device = session.device
        with device.change():
            outcome = run(Where(config_of(device), device.ports, session.mode.about), match)
        if isinstance(outcome, Enter):
            session.return_to("config")
            session.enter(outcome.mode, **outcome.about)
        elif outcome is Leave.UP:
            session.leave()
        elif outcome is Leave.END:
            session.return_to("exec")
        return outcome if isinstance(outcome, str) else ""

    return handler
