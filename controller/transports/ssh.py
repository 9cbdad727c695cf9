"""Command lines over SSH: switches are logged in to as `controller.drivers.login` says, Linux machines run commands.

Reading and writing is our own (`controller.transports.terminal`), as libraries for command lines wait by sleeping and
guess from silence that a command has ended. Passwords are read at the moment of use and appear neither in logs nor in
arguments of programs. Opening a connection is retried; nothing else is.
"""

import logging
import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from eee_testbed.controller.drivers.driver import Driver, Line
from eee_testbed.controller.drivers.login import Login
from eee_testbed.controller.transports.command_line import CommandLine
from eee_testbed.controller.transports.host_keys import Trusted, changed, trusted
from eee_testbed.controller.transports.light_paramiko import paramiko
from eee_testbed.controller.transports.terminal import PATIENCE_S, Terminal
from eee_testbed.lab.credentials import check_private, read_secret
from eee_testbed.lab.errors import AccessDenied, DeviceError, Rejected, Unreachable
from eee_testbed.lab.model import Switch
from eee_testbed.lab.plain_text import decoded_lines

_ATTEMPTS: Final = 3
_CONNECT_S: Final = 5.0
_PAUSE_S: Final = 0.3  # between attempts: a switch that has just dropped a session needs a moment to free it
_COLUMNS: Final = 511  # wide enough that no switch breaks the line's echo; netmiko's choice
_ROWS: Final = 1000  # ditto
_ASKING_METHODS: Final = frozenset({"password", "keyboard-interactive"})
"""Methods by which a server asks for a password before the session begins."""

_NUDGE_S: Final = 2.0  # some switches say nothing before a key is pressed

_USER, _PASSWORD, _READY = r"(user ?name|user|login)\s*:\s*$", r"password\s*:\s*\**$", r"[>#]\s*$"

logging.getLogger("paramiko").addHandler(logging.NullHandler())  # its errors are ours to report, not standard error's


@dataclass(slots=True)
class TerminalLine:
    """A switch's command line in a terminal session."""

    switch: Switch
    driver: Driver
    terminal: Terminal
    client: paramiko.SSHClient
    _lost: bool = False

    def show(self, command: str) -> str:
        """What the switch prints; Rejected if it does not take the command.

        It is asked in privileged mode, even if earlier commands stopped in a deeper mode.
        """
        self._lost = True
        self._return_home()
        output = self.terminal.type_line(command)
        self._judge(Line(command), output)
        return output

    def execute(self, line: Line) -> tuple[int, int]:
        """Type a line once. After Rejected the session is back in privileged mode before anything else is typed."""
        self._return_home()
        sent_ns = time.monotonic_ns()
        output = self.terminal.type_line(line.text, line.replies)
        taken_ns = time.monotonic_ns()
        self._judge(line, output)
        return sent_ns, taken_ns

    def _return_home(self) -> None:
        if self._lost:
            self.terminal.home()
            self._lost = False

    def _judge(self, line: Line, output: str) -> None:
        refusal = self.driver.refusal(line, output)
        if not refusal and not self.terminal.is_at(line.prompt):
            refusal = output or f"no words, but the prompt {self.terminal.prompt}"
        if refusal:
            self._lost = True
            raise Rejected(self.switch.name, line.text, refusal)

    def close(self) -> None:
        """End it; harmless when it is over already."""
        self.client.close()


@dataclass(slots=True)
class ExecLine:
    """A Linux machine: every line is a command of its own; its exit status says whether it was taken."""

    switch: Switch
    driver: Driver
    client: paramiko.SSHClient
    patience_s: float

    def show(self, command: str) -> str:
        """What the command prints; Rejected if it fails."""
        return self._run(Line(command))

    def execute(self, line: Line) -> tuple[int, int]:
        """Run a command once."""
        sent_ns = time.monotonic_ns()
        self._run(line)
        return sent_ns, time.monotonic_ns()

    def _run(self, line: Line) -> str:
        name = self.switch.name
        try:
            transport = self.client.get_transport()
            if transport is None:
                raise Unreachable(name, f"the session was over before '{line.text}' was sent.")
            with transport.open_session(timeout=self.patience_s) as channel:
                channel.settimeout(self.patience_s)
                channel.set_combine_stderr(True)
                channel.exec_command(line.text)
                output = decoded_lines(channel.makefile("rb").read())
                status = channel.recv_exit_status() if channel.exit_status_ready() or channel.eof_received else -1
        except TimeoutError as error:
            sentence = f"'{line.text}' did not end within {self.patience_s:g} s: look at it, then read it back."
            raise Unreachable(name, sentence) from error
        except (paramiko.SSHException, OSError, EOFError) as error:
            raise Unreachable(name, f"the session broke while it ran '{line.text}' ({error}): read it back.") from error
        if status == -1:
            raise Unreachable(name, f"the session broke while it ran '{line.text}': read it back.")
        refusal = output.strip() or f"exit status {status}" if status else self.driver.refusal(line, output)
        if refusal:
            raise Rejected(name, line.text, refusal)
        return output

    def close(self) -> None:
        """End it; harmless when it is over already."""
        self.client.close()


def open_line(switch: Switch, driver: Driver, patience_s: float = PATIENCE_S) -> CommandLine:
    """Log in. AccessDenied and HostKeyChanged at once, Unreachable after some attempts."""
    with trusted(switch) as trusted_keys:
        for attempt in range(_ATTEMPTS):
            try:
                if driver.login:
                    return _open_terminal(switch, driver.login, driver, trusted_keys, patience_s)
                return ExecLine(switch, driver, _connect(switch, trusted_keys, patience_s), patience_s)
            except DeviceError as error:
                if type(error) is not Unreachable or attempt == _ATTEMPTS - 1:
                    raise
            time.sleep(_PAUSE_S)  # no event to wait for: the switch is not connected
    raise AssertionError("the last attempt returns or raises")


def _connected(switch: Switch) -> socket.socket:
    try:
        connection = socket.create_connection((switch.address, switch.ssh_port), timeout=_CONNECT_S)
    except OSError as error:
        where = f"{switch.address}:{switch.ssh_port}"
        reason = "no answer" if isinstance(error, TimeoutError) else error.strerror or str(error)
        sentence = f"no SSH server answers at {where} ({reason}): check power, cable and ansible_host."
        raise Unreachable(switch.name, sentence) from error
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def _denied(switch: Switch, why: object) -> AccessDenied:
    means = switch.key_file or str(switch.password or "the SSH agent")
    return AccessDenied(switch.name, f"does not let {switch.user} in with {means} ({why}): correct the inventory.")


def _translated(switch: Switch, error: BaseException) -> DeviceError:
    """Our error for one of paramiko's."""
    if isinstance(error, paramiko.BadHostKeyException):
        return changed(switch, error)
    if isinstance(error, paramiko.AuthenticationException):
        return _denied(switch, error)
    reason = " ".join(str(error).split()) or type(error).__name__
    return Unreachable(switch.name, f"the SSH login failed ({reason}): check its SSH server and sessions.")


def _password(switch: Switch) -> str | None:
    return read_secret(switch.password, switch.name) if switch.password else None


def _key_file(switch: Switch) -> str | None:
    if switch.key_file:
        check_private(switch.key_file, switch.name)
    return switch.key_file or None


class _AsksInside(paramiko.auth_strategy.AuthStrategy):
    """The method *none*, for servers that ask for name and password inside the session."""

    def __init__(self, user: str) -> None:
        super().__init__(paramiko.SSHConfig())
        self._source = paramiko.auth_strategy.NoneAuth(user)

    def get_sources(self) -> Iterator[paramiko.auth_strategy.AuthSource]:
        """The one way in."""
        yield self._source


def _connect(
    switch: Switch, trusted_keys: Trusted, patience_s: float, *, asks_inside: bool = False
) -> paramiko.SSHClient:
    """Connect and authenticate as far as SSH itself asks for it."""
    password, key_file = _password(switch), _key_file(switch)
    strategy = _AsksInside(switch.user) if asks_inside and not key_file and not switch.ssh_agent else None
    client = paramiko.SSHClient()
    client.load_host_keys(trusted_keys.file)
    client.set_missing_host_key_policy(paramiko.RejectPolicy())
    try:
        client.connect(
            trusted_keys.name,  # at port 22 in the file of known hosts; the socket is connected already
            username=switch.user,
            password=password,
            key_filename=key_file,
            allow_agent=switch.ssh_agent,
            look_for_keys=False,
            sock=_connected(switch),
            banner_timeout=patience_s,
            auth_timeout=patience_s,
            auth_strategy=strategy,
        )
    except paramiko.auth_strategy.AuthFailure as failure:
        client.close()
        why = failure.result[-1].result
        if (
            isinstance(why, paramiko.BadAuthenticationType)
            and password
            and not _ASKING_METHODS.isdisjoint(why.allowed_types)
        ):
            # Some servers refuse a second request for authentication on one connection.
            return _connect(switch, trusted_keys, patience_s)
        raise _translated(switch, why if isinstance(why, BaseException) else failure) from failure
    except (paramiko.SSHException, OSError, EOFError) as error:
        client.close()
        raise _translated(switch, error) from error
    return client


def _open_terminal(
    switch: Switch, login: Login, driver: Driver, trusted_keys: Trusted, patience_s: float
) -> TerminalLine:
    client = _connect(switch, trusted_keys, patience_s, asks_inside=login.asks_inside)
    try:
        channel = client.invoke_shell(term="vt100", width=_COLUMNS, height=_ROWS)
        terminal = Terminal(switch.name, channel, enter=login.enter, patience_s=patience_s)
        _log_in(switch, terminal, _password(switch))
        _become_privileged(switch, terminal)
        for command in login.paging_off:
            terminal.type_line(command)
    except (paramiko.SSHException, OSError, EOFError) as error:
        client.close()
        raise _translated(switch, error) from error
    except DeviceError:
        client.close()
        raise
    return TerminalLine(switch, driver, terminal, client)


def _log_in(switch: Switch, terminal: Terminal, password: str | None) -> None:
    """Answer the questions of a login inside the session, if there are any, and learn the prompt."""
    doing = "logging in"
    asked = False
    nudges = 0
    while True:
        prompt = terminal.expect((_USER, _PASSWORD, _READY), doing=doing, timeout_s=_NUDGE_S if nudges < 3 else None)
        if prompt is None:
            nudges += 1
            terminal.answer("", doing=doing)
        elif prompt == 2:
            break
        elif prompt == 1 and not asked:
            asked = True
            terminal.answer(password or "", doing=doing)
        elif asked:
            shown_text = " ".join(terminal.heard().split())
            raise _denied(switch, f"it says '{shown_text}'")
        else:
            terminal.answer(switch.user, doing=doing)
    terminal.settle(doing)


def _become_privileged(switch: Switch, terminal: Terminal) -> None:
    if terminal.prompt.endswith("#"):
        return
    doing = "entering privileged mode"
    terminal.answer("enable", doing=doing)
    if terminal.expect((_PASSWORD, _READY), doing=doing) == 0:
        secret = read_secret(switch.enable, switch.name) if switch.enable else ""
        terminal.answer(secret, doing=doing)
        if terminal.expect((_PASSWORD, _READY), doing=doing) == 0:
            terminal.answer("", doing=doing)
    if not terminal.settle(doing).endswith("#"):
        sentence = f"does not let {switch.user} into privileged mode: give enable_password_file, or another user."
        raise AccessDenied(switch.name, sentence)
