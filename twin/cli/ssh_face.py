"""A switch's command line over real SSH: one listener per device, several sessions at once.

The family chooses the SSH authentication methods (`Cli.ssh_methods`): older ROS switches accept everyone with method
*none* and ask for name and password inside the session, others use SSH's password method; public keys work with both.
Requests to execute a command without a terminal session are refused, as these switches do [M].

Simplification: current ciphers and host-key types are offered, whereas real switches of that age offer only ones that
clients have long disabled; a client's key-exchange log could show it. Without power a connection is refused at once,
whereas a real one would time out.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
from typing import TYPE_CHECKING, Any, Final

import asyncssh

from eee_testbed.twin.cli.shell import Cli, Session, Shell
from eee_testbed.twin.machine.steer import Steering, listen_tcp

if TYPE_CHECKING:
    from eee_testbed.twin.switch.device import Event, SwitchDevice
    from eee_testbed.twin.switch.personality import User

_LINES: Final = re.compile(r"[^\r\n]*[\r\n]|[^\r\n]+")
"""Keys up to and with Enter. What was typed ahead waits until the line before it has printed all."""


class SshFace:
    """Serves one device while it is ready; closes every session when it goes down. Use it in one asyncio loop."""

    def __init__(
        self,
        device: SwitchDevice,
        cli: Cli,
        *,
        address: str,
        port: int,
        host_key: asyncssh.SSHKey,
    ) -> None:
        self.device = device
        self.cli = cli
        self.address = address
        self.port = port  # 0: any free port; the actual one after `start`
        self._host_key = host_key
        self._listener: asyncssh.SSHAcceptor | None = None
        self._steering: Steering | None = None
        self._connections: set[asyncssh.SSHServerConnection] = set()
        self.sessions: dict[int, Session] = {}  # by session number, from 1
        self._changed = asyncio.Event()
        self._keeper: asyncio.Task[None] | None = None
        self._stop_observing: Any = None
        self._rekeyed = False
        self._terminals: set[_Terminal] = set()

    async def start(self) -> None:
        """Listen whenever the device is ready, from now on. Raises OSError (address in use)."""
        loop = asyncio.get_running_loop()
        await self._listen_or_not()

        def noticed(_device: SwitchDevice, event: Event) -> None:
            if event == "sessions":
                loop.call_soon_threadsafe(self._drop)
            elif event == "answers":
                loop.call_soon_threadsafe(self._resume)
            elif event in {"power", "ready"}:
                loop.call_soon_threadsafe(self._changed.set)

        self._stop_observing = self.device.observe(noticed)
        self._keeper = asyncio.create_task(self._keep(), name=f"ssh {self.device.name}")

    async def stop(self) -> None:
        """Close the listener and all sessions; idempotent."""
        if self._stop_observing is not None:
            self._stop_observing()
            self._stop_observing = None
        if self._keeper is not None:
            self._keeper.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._keeper
            self._keeper = None
        await self._close()

    def use_key(self, key: asyncssh.SSHKey) -> None:
        """Use another host key from now on; drop open connections."""
        self._host_key = key
        self._rekeyed = True
        self._changed.set()

    def begun(self, terminal: _Terminal) -> None:
        """A terminal is open."""
        self._terminals.add(terminal)

    def opened(self, connection: asyncssh.SSHServerConnection) -> None:
        """A client connected."""
        self._connections.add(connection)

    def lost(self, connection: asyncssh.SSHServerConnection) -> None:
        """A client disconnected."""
        self._connections.discard(connection)

    def admit(self, peer: str) -> Session | None:
        """Open a session under the lowest free number; None if the switch has no session left."""
        number = next(n for n in range(1, len(self.sessions) + 2) if n not in self.sessions)
        if number > self.cli.session_limit:
            return None
        session = Session(self.device, self.cli.first_mode(), peer=peer, number=number, page_rows=self.cli.more.rows)
        self.sessions[number] = session
        self.device.sessions = tuple(self.sessions.values())
        return session

    def dismiss(self, terminal: _Terminal, session: Session) -> None:
        """A session has ended."""
        self._terminals.discard(terminal)
        self.sessions.pop(session.number, None)
        self.device.sessions = tuple(self.sessions.values())

    def _drop(self) -> None:
        for connection in tuple(self._connections):
            connection.abort()

    def _resume(self) -> None:
        for terminal in tuple(self._terminals):
            terminal.resume()

    async def _keep(self) -> None:
        while True:
            await self._changed.wait()
            self._changed.clear()
            await self._listen_or_not()

    async def _listen_or_not(self) -> None:
        if self._rekeyed or not self.device.ready:
            self._rekeyed = False
            await self._close()
        if self.device.ready and self._listener is None:
            listener, self._steering = listen_tcp(self.address, self.port)
            self.port = self.port or listener.getsockname()[1]
            self._listener = await asyncssh.listen(
                sock=listener,
                server_factory=lambda: _Server(self),
                server_host_keys=[self._host_key],
                encoding=None,
                line_editor=False,
                login_timeout=60,
                keepalive_interval=0,
            )

    async def _close(self) -> None:
        self._drop()
        if self._listener is not None:
            self._listener.close()
            await self._listener.wait_closed()
            self._listener = None
        if self._steering is not None:
            self._steering.close()
            self._steering = None


class _Server(asyncssh.SSHServer):
    """One connection: authentication."""

    def __init__(self, face: SshFace) -> None:
        self._face = face
        self._connection: asyncssh.SSHServerConnection | None = None
        self._user_name = ""
        self.user: User | None = None

    def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
        self._connection = conn
        self._face.opened(conn)

    def connection_lost(self, exc: Exception | None) -> None:
        del exc
        if self._connection is not None:
            self._face.lost(self._connection)

    def begin_auth(self, username: str) -> bool:
        self._user_name = username
        return "none" not in self._face.cli.ssh_methods(username)

    def password_auth_supported(self) -> bool:
        return "password" in self._face.cli.ssh_methods(self._user_name)

    def validate_password(self, username: str, password: str) -> bool:
        user = self._face.device.users().get(username)
        if user is None or not user.accepts(password):
            return False
        self.user = user
        return True

    def public_key_auth_supported(self) -> bool:
        return "publickey" in self._face.cli.ssh_methods(self._user_name)

    def validate_public_key(self, username: str, key: asyncssh.SSHKey) -> bool:
        user = self._face.device.users().get(username)
        data = key.public_data
        if user is None or not any(asyncssh.import_public_key(k).public_data == data for k in user.keys):
            return False
        self.user = user
        return True

    def session_requested(self) -> _Terminal | bool:
        if self._connection is None:
            return False
        peer = self._connection.get_extra_info("peername")[0]
        session = self._face.admit(peer)
        return _Terminal(self._face, session, self.user) if session is not None else False


class _Terminal(asyncssh.SSHServerSession[bytes]):
    """One terminal: bytes between the channel and a `Shell`, at the switch's pace."""

    def __init__(self, face: SshFace, session: Session, user: User | None) -> None:
        self._face = face
        self._session = session
        self._user = user
        self._keys: asyncio.Queue[str | None] = asyncio.Queue()  # None: a fault has ended, see `Shell.resume`
        self._channel: asyncssh.SSHServerChannel[bytes] | None = None
        self._task: asyncio.Task[None] | None = None

    def connection_made(self, chan: asyncssh.SSHServerChannel[bytes]) -> None:
        self._channel = chan
        self._face.begun(self)

    def resume(self) -> None:
        """Print an answer that was withheld."""
        self._keys.put_nowait(None)

    def pty_requested(self, term_type: str, term_size: tuple[int, int, int, int], term_modes: Any) -> bool:
        del term_type, term_modes
        self._session.columns = term_size[0] or 80
        return True

    def terminal_size_changed(self, width: int, height: int, pixwidth: int, pixheight: int) -> None:
        del height, pixwidth, pixheight
        self._session.columns = width or 80

    def shell_requested(self) -> bool:
        return True

    def exec_requested(self, command: str) -> bool:
        del command
        return False

    def subsystem_requested(self, subsystem: str) -> bool:
        del subsystem
        return False

    def session_started(self) -> None:
        self._task = asyncio.create_task(
            self._pump(), name=f"session {self._session.number} on {self._face.device.name}"
        )

    def data_received(self, data: bytes, datatype: asyncssh.DataType) -> None:
        del datatype
        self._keys.put_nowait(data.decode("latin-1"))

    def eof_received(self) -> bool:
        self._keys.put_nowait("")
        return True

    def break_received(self, msec: int) -> bool:
        del msec
        return True

    def connection_lost(self, exc: Exception | None) -> None:
        del exc
        self._face.dismiss(self, self._session)
        if self._task is not None:
            self._task.cancel()

    async def _pump(self) -> None:
        channel = self._channel
        if channel is None:
            return
        shell = Shell(self._face.cli, self._session, authenticated=self._user)
        await self._print(channel, shell)
        while not shell.closed:
            limit = self._face.cli.idle_timeout_s(self._session)
            try:
                keys = await asyncio.wait_for(self._keys.get(), limit or None)
            except TimeoutError:
                shell.time_out()
                await self._print(channel, shell)
                break
            if keys == "":
                break
            if keys is None:
                shell.resume()
                await self._print(channel, shell)
                continue
            for row in _LINES.findall(keys):
                for key in row:
                    shell.feed(key)
                await self._print(channel, shell)
                if shell.closed:
                    break
        channel.exit(0)

    async def _print(self, channel: asyncssh.SSHServerChannel[bytes], shell: Shell) -> None:
        """Print what the keys since the last call led to; what is ready at the same time goes out in one packet."""
        ready = ""
        for chunk in shell.take():
            character_s = self._face.device.pace.character_s
            delay_s = chunk.delay_s + character_s * len(chunk.text)
            if delay_s > 0:
                self._write(channel, ready)
                ready = ""
                await asyncio.sleep(delay_s)
            ready += chunk.text
        self._write(channel, ready)

    def _write(self, channel: asyncssh.SSHServerChannel[bytes], text: str) -> None:
        if text and not channel.is_closing():
            channel.write(text.encode("latin-1", "replace"))
