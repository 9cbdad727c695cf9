"""The first login to a switch from its box, over SSH, telnet or a serial console, with the factory's account.

Here netmiko has its place. It opens all three kinds of line and negotiates telnet's options. It knows which families
let everyone in by the SSH method *none*, which key their Enter is, and how each gets into privileged mode and stops
paging. Its pauses cost nothing where a switch is met once. It does not know forced changes of the password: its telnet
login types the old password at any question with that word. So questions are answered by our own table
(`controller.drivers.factory.dialogue`), and lines are typed once by `controller.transports.terminal`.

Secrets are in no log: netmiko's logger, which writes what it types at debug level, is silenced. They are in no error:
what libraries say is replaced, and secrets in what a switch says are starred out.
"""

import logging
import os
import select
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from tempfile import NamedTemporaryFile
from typing import Any, Final, Literal

import netmiko
import paramiko
from netmiko.exceptions import NetmikoBaseException

from eee_testbed.controller.drivers.driver import Line
from eee_testbed.controller.drivers.factory.dialogue import PATTERNS, Account, Dialogue, complaint
from eee_testbed.controller.transports.host_keys import fingerprint
from eee_testbed.controller.transports.terminal import PATIENCE_S, Channel, Terminal
from eee_testbed.lab.errors import AccessDenied, DeviceError, HostKeyChanged, Rejected, Unreachable, Unreadable

logging.getLogger("netmiko").setLevel(logging.CRITICAL)

_CONNECT_S: Final = 5.0
_NUDGE_S: Final = 2.0  # a console says nothing before a key is pressed
_NUDGES: Final = 5
_PAUSE_S: Final = 1.0  # between attempts at an address where nothing answers yet
_LINE_S: Final = 120.0  # an old switch makes its SSH keys for a minute, without a word
_CTRL_Z: Final = "\x1a"  # back to privileged mode
_PORTS: Final = {"ssh": 22, "telnet": 23}


@dataclass(frozen=True, slots=True)
class Way:
    """How a switch from its box is reached: `where` is its factory address, or the serial device on this machine."""

    kind: Literal["ssh", "telnet", "serial"]
    where: str
    port: int = 0
    """TCP port; 0: the protocol's own."""

    baud: int = 9600

    @property
    def tcp_port(self) -> int:
        """The TCP port in force."""
        return self.port or _PORTS.get(self.kind, 0)

    def __str__(self) -> str:
        if self.kind == "serial":
            return f"the serial console {self.where} ({self.baud} baud)"
        return f"{self.where}:{self.tcp_port} ({'SSH' if self.kind == 'ssh' else 'telnet'})"


def seen_key(device: str, address: str, port: int, patience_s: float = 0.0) -> paramiko.PKey:
    """The SSH host key that the server at an address shows; nobody logs in.

    Attempts go on until `patience_s` has passed, at least one: a switch whose address was just changed, or that makes
    keys, needs some seconds. Unreachable after that.
    """
    end_s = time.monotonic() + patience_s
    while True:
        try:
            with socket.create_connection((address, port), timeout=_CONNECT_S) as connection:
                transport = paramiko.Transport(connection)
                try:
                    transport.start_client(timeout=_CONNECT_S)
                    return transport.get_remote_server_key()
                finally:
                    transport.close()
        except (OSError, EOFError, paramiko.SSHException) as error:
            if time.monotonic() >= end_s:
                reason = getattr(error, "strerror", None) or str(error) or "it closed the connection"
                sentence = f"no SSH server answers at {address}:{port} ({reason}): check cables, power and addresses."
                raise Unreachable(device, sentence) from error
        time.sleep(_PAUSE_S)  # no event to wait for: nothing is connected


class FactoryLine:
    """The command line of a switch from its box, in privileged mode. Use it as `open_factory_line` gives it."""

    def __init__(
        self, device: str, netmiko_line: Any, channel: Channel, hide: Callable[[str], str], *, changed_password: bool
    ) -> None:
        self.device = device
        self.changed_password = changed_password
        """Whether the switch insisted on a new password for the factory's account."""

        self._line = netmiko_line
        self._channel = channel
        self._hide = hide
        self._terminal = self._settled(_LINE_S)

    def _settled(self, patience_s: float) -> Terminal:
        terminal = Terminal(self.device, self._channel, enter=self._line.RETURN, patience_s=patience_s)
        terminal.answer("", doing="looking for the prompt")
        terminal.settle("looking for the prompt")
        return terminal

    def hasten(self, patience_s: float) -> None:
        """Shorten the wait for answers from now on: the next line may end the session."""
        with hidden(self.device, self._hide):
            self._terminal = self._settled(patience_s)

    def type(self, line: Line, masked: str) -> None:
        """Type a line once. Rejected with `masked` in its place if the switch refuses it, Unreachable if it is lost."""
        with hidden(self.device, self._hide):
            try:
                refusal = complaint(self._terminal.type_line(line.text, line.replies))
            except Unreadable as error:
                refusal = f"an unexpected question, {error.output.strip()}"
            if refusal:
                raise Rejected(self.device, masked, self._hide(refusal))


@contextmanager
def hidden(device: str, hide: Callable[[str], str]) -> Iterator[None]:
    """Errors of a device as they are, but without secrets, in their chain neither."""
    try:
        yield
    except Rejected:
        raise
    except DeviceError as error:
        kind = AccessDenied if isinstance(error, AccessDenied) else Unreachable
        raise kind(device, hide(str(error)).removeprefix(f"{device}: ")) from None


@contextmanager
def open_factory_line(
    device: str,
    netmiko_type: str,
    way: Way,
    login: Account,
    wanted: Account,
    *,
    key: paramiko.PKey | None = None,
    hide: Callable[[str], str],
) -> Iterator[FactoryLine]:
    """Log in with the factory's account, changing its password to the wanted one if the switch insists.

    `key` is the host key that a person confirmed, for SSH; `hide` stars secrets out. AccessDenied if the account is
    refused, HostKeyChanged if the server shows another key, Unreachable for everything else.
    """
    with _trusting(way, key) as trusted_keys:
        line = _made(device, netmiko_type, way, login, trusted_keys)
        try:
            channel = _connected(device, line, way, login)
            with hidden(device, hide):
                dialogue = Dialogue(device, login, wanted)
                _answer_questions(device, line, channel, dialogue)
                _prepare(device, line)
                opened = FactoryLine(device, line, channel, hide, changed_password=dialogue.changed)
            yield opened
        finally:
            _close(line, way)


@contextmanager
def _trusting(way: Way, key: paramiko.PKey | None) -> Iterator[str]:
    """A file with the one key that is trusted at the factory address."""
    with NamedTemporaryFile("w", encoding="utf-8", prefix="known_hosts.") as file:
        if key is not None:
            host = way.where if way.tcp_port == _PORTS["ssh"] else f"[{way.where}]:{way.tcp_port}"
            file.write(f"{host} {key.get_name()} {key.get_base64()}\n")
            file.flush()
        yield file.name


def _made(device: str, netmiko_type: str, way: Way, login: Account, keys_file: str) -> Any:
    """Netmiko's object for the family, over any kind of line; nothing is opened yet."""
    common: dict[str, Any] = {
        "device_type": netmiko_type + ("_telnet" if way.kind == "telnet" else ""),
        "username": login.user,
        "password": login.password,
        "secret": login.password,
        "conn_timeout": _CONNECT_S,
        "auth_timeout": PATIENCE_S,
        "banner_timeout": PATIENCE_S,
        "auto_connect": False,
    }
    if way.kind == "ssh":
        common |= {"ssh_strict": True, "alt_host_keys": True, "alt_key_file": keys_file}
    if way.kind == "serial" and not _is_terminal(way.where):
        raise Unreachable(device, f"{way.where} is not a serial port of this machine: name another.")
    # The family's class, whatever the line: netmiko has most families' for SSH alone.
    line = netmiko.ssh_dispatcher(netmiko_type)(host=way.where, port=way.tcp_port, **common)
    if way.kind == "serial":
        # Its constructor takes ports that the system lists: neither links nor what a console server's client offers.
        line.protocol = way.kind
        line.serial_settings |= {"port": way.where, "baudrate": way.baud}
    for handler in ("special_login_handler", "telnet_login", "serial_login"):
        setattr(line, handler, _nothing)
    return line


def _is_terminal(path: str) -> bool:
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return os.isatty(descriptor)
    finally:
        os.close(descriptor)


def _nothing(*_: Any, **__: Any) -> str:
    """Do nothing: `_answer_questions` logs in."""
    return ""


def _connected(device: str, line: Any, way: Way, login: Account, *, none_first: bool = True) -> Channel:
    """Open the line; SSH authenticates as far as it asks for it before a session begins."""
    try:
        line.establish_connection()
    except (paramiko.SSHException, NetmikoBaseException, OSError, EOFError) as error:
        inner: BaseException = error
        while inner.__cause__ or inner.__context__:
            inner = inner.__cause__ or inner.__context__ or inner
        if isinstance(inner, paramiko.BadHostKeyException):
            raise HostKeyChanged(device, f"{way} shows another host key, {fingerprint(inner.key)}.") from None
        if none_first and isinstance(inner, paramiko.BadAuthenticationType) and "password" in inner.allowed_types:
            # The family's usual server asks inside the session; this one is set to ask before.
            line._get_ssh_client_instance = paramiko.SSHClient  # noqa: SLF001 - what netmiko's classes override
            return _connected(device, line, way, login, none_first=False)
        if isinstance(inner, paramiko.AuthenticationException):
            raise _refused(device, way, login) from None
        reason = getattr(inner, "strerror", None) or type(inner).__name__
        raise Unreachable(device, f"nothing answers at {way} ({reason}): check power, cable and address.") from None
    return _channel_of(line, way)


def _refused(device: str, way: Way, login: Account) -> AccessDenied:
    return AccessDenied(device, f"{way} does not let '{login.user}' in: give --user and --password-file.")


def _answer_questions(device: str, line: Any, channel: Channel, dialogue: Dialogue) -> None:
    terminal = Terminal(device, channel, enter=line.RETURN)
    doing = "logging in"
    nudges = 0
    while True:
        shown = terminal.expect(PATTERNS, doing=doing, timeout_s=_NUDGE_S if nudges < _NUDGES else None)
        if shown is None:
            nudges += 1
            terminal.answer("", doing=doing)
            continue
        answer = dialogue.answer(shown, terminal.heard())
        if answer is None:
            terminal.settle(doing)
            return
        terminal.answer(answer.text, doing=answer.doing, enter=answer.enter)


def _prepare(device: str, line: Any) -> None:
    """Privileged mode, and no paging, in the family's way."""
    try:
        line.write_channel(line.RETURN)  # the dialogue has read the prompt that netmiko waits for
        line.session_preparation()
        line.enable()
    except (NetmikoBaseException, ValueError, OSError, EOFError) as error:
        sentence = (
            f"it does not go into privileged mode ({type(error).__name__}): give an account that may, or type the "
            "lines that --print shows at its console."
        )
        raise AccessDenied(device, sentence) from None


def _close(line: Any, way: Way) -> None:
    """Close what is open of a line, however far it came."""
    if way.kind == "ssh":
        # The client alone: closing its channel sends a message, which fails where the switch ends the session just now.
        if (client := getattr(line, "remote_conn_pre", None)) is not None:
            client.close()
    elif line.remote_conn is not None:
        if way.kind == "serial":
            with suppress(OSError):
                line.write_channel(f"{_CTRL_Z}logout{line.RETURN}")  # a console would stay where it was left
        line.remote_conn.close()


def _channel_of(line: Any, way: Way) -> Channel:
    if way.kind == "telnet":
        return _TelnetChannel(line.remote_conn)
    if way.kind == "serial":
        return _SerialChannel(line.remote_conn)
    channel: Channel = line.remote_conn
    return channel


class _TelnetChannel:
    """What a terminal needs, of netmiko's telnet connection."""

    def __init__(self, telnet: Any) -> None:
        self._telnet = telnet
        self._timeout_s: float | None = None

    def settimeout(self, timeout: float | None, /) -> None:
        self._timeout_s = timeout
        self._telnet.get_socket().settimeout(timeout)

    def sendall(self, s: bytes, /) -> None:
        self._telnet.write(s)

    def recv(self, nbytes: int, /) -> bytes:
        del nbytes  # all that is there
        end_s = None if self._timeout_s is None else time.monotonic() + self._timeout_s
        while True:
            try:
                data: bytes = self._telnet.read_very_lazy()
            except EOFError:
                return b""
            if data:
                return data
            left_s = None if end_s is None else max(0.0, end_s - time.monotonic())
            if not select.select([self._telnet.get_socket()], [], [], left_s)[0]:
                raise TimeoutError
            self._telnet.fill_rawq()
            self._telnet.process_rawq()  # options of the protocol are answered here, and are no data

    def recv_ready(self) -> bool:
        return bool(select.select([self._telnet.get_socket()], [], [], 0.0)[0])


class _SerialChannel:
    """What a terminal needs, of a serial line."""

    def __init__(self, port: Any) -> None:
        self._port = port

    def settimeout(self, timeout: float | None, /) -> None:
        self._port.timeout = timeout

    def sendall(self, s: bytes, /) -> None:
        self._port.write(s)
        self._port.flush()

    def recv(self, nbytes: int, /) -> bytes:
        data: bytes = self._port.read(max(1, min(nbytes, self._port.in_waiting)))
        if not data:
            raise TimeoutError
        return data

    def recv_ready(self) -> bool:
        return bool(self._port.in_waiting)
