"""A switch of the twin as it comes from its box: at its factory address by SSH and telnet, and on a serial line.

Once its management address is set, everything at the factory address ends, in the middle of a session, and SSH and SNMP
are at the new address. A switch may insist on a new password for the factory's account.
"""

import asyncio
import os
import threading
import tty
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeVar

import asyncssh
from eee_engine import VirtualEngine

from eee_testbed.lab.model import SwitchFamily
from eee_testbed.twin.cli.shell import Ask, Cli, Reply, Session, Shell
from eee_testbed.twin.cli.ssh_face import SshFace
from eee_testbed.twin.families.ros.config import LocalUser
from eee_testbed.twin.families.ros.show_interfaces import config_of
from eee_testbed.twin.families.table import FAMILIES
from eee_testbed.twin.snmp.face import SnmpAccess, SnmpFace
from eee_testbed.twin.switch.device import Event, SwitchDevice
from eee_testbed.twin.switch.personality import DeviceSpec, User, password_digest

if TYPE_CHECKING:
    from eee_engine import UsmUser

SSH_PORT: Final = 2022
TELNET_PORT: Final = 2023
SNMP_PORT: Final = 2161
_IAC: Final = 0xFF
_ECHO_AND_NO_GO_AHEAD: Final = bytes([_IAC, 251, 1, _IAC, 251, 3])
_MODELS: Final[dict[SwitchFamily, str]] = {
    "dell_powerconnect_55xx": "PowerConnect 5524",
    "netgear_m4300": "M4300-28G",
}
_Got = TypeVar("_Got")


def addresses() -> tuple[str, str]:
    """The factory address and the new one, of this process alone."""
    number = os.getpid()
    net = f"127.{100 + number % 100}.{number // 100 % 250}"
    return f"{net}.1", f"{net}.2"


class _Forcing:
    """A command line that makes the factory's account change its password at its first login, as Cisco's SG do."""

    def __init__(self, cli: Any, device: SwitchDevice, account: User) -> None:
        self._cli = cli
        self._device = device
        self._account = account

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cli, name)

    def begin(self, session: Session) -> Reply:
        greeting = str(self._cli.begin(session))
        if session.user is None or not self._device.users()[session.user.name].accepts(self._account.password):
            return greeting

        def wanted(key: str) -> Reply:
            return Ask("Enter old password  : ", old, "secret", "*") if key in {"Y", "y"} else greeting

        def old(password: str) -> Reply:
            right = self._account.accepts(password)
            return Ask("Enter new password  : ", new, "secret", "*") if right else "wrong old password\n"

        def new(password: str) -> Reply:
            def again(repeated: str) -> Reply:
                if repeated != password or len(password) < 8:
                    return Ask("Password rejected: 8 characters at least.\nEnter new password  : ", new, "secret", "*")
                with self._device.change():
                    users = config_of(self._device).users
                    users[self._account.name] = LocalUser(password_digest(password), 15)
                return greeting

            return Ask("Confirm new password: ", again, "secret", "*")

        question = (
            "Please change your password from the default settings. Do you want to change the password (Y/N)[Y] ?"
        )
        return Ask(question, wanted)


@dataclass
class FactorySwitch:
    """A switch that a test meets. `serial` is the device of its console."""

    device: SwitchDevice
    old: str
    new: str
    host_key: asyncssh.SSHKey
    serial: str = ""
    moved: bool = False

    @property
    def saved(self) -> str:
        """Its startup configuration; empty: none."""
        return self.device.startup or ""

    @property
    def fingerprint(self) -> str:
        return str(self.host_key.get_fingerprint())


class _Faces:
    """Everything that listens, in one loop."""

    def __init__(self, switch: FactorySwitch, make_cli: Callable[[], Cli], console: User | None) -> None:
        self._switch = switch
        self._make_cli = make_cli
        self._console = console
        self._streams: set[asyncio.StreamWriter] = set()
        self._face = self._ssh(switch.old)
        self._telnet: asyncio.Server | None = None
        self._master = -1
        self._numbers = iter(range(10, 99))
        self._moving: asyncio.Task[None] | None = None

    def _ssh(self, address: str) -> SshFace:
        switch = self._switch
        return SshFace(switch.device, self._make_cli(), address=address, port=SSH_PORT, host_key=switch.host_key)

    def _shell(self, user: User | None) -> Shell:
        cli, device = self._make_cli(), self._switch.device
        session = Session(device, cli.first_mode(), peer="", number=next(self._numbers), page_rows=cli.more.rows)
        return Shell(cli, session, authenticated=user)

    async def start(self) -> None:
        await self._face.start()
        self._telnet = await asyncio.start_server(self._serve_telnet, self._switch.old, TELNET_PORT)
        self._master, slave = os.openpty()
        tty.setraw(slave)
        self._switch.serial = os.ttyname(slave)
        self._slave = slave  # open, or the line would hang up between sessions
        shell = self._shell(self._console)

        def typed() -> None:
            for key in os.read(self._master, 4096).decode("latin-1"):
                shell.feed(key)
            os.write(self._master, _printed(shell))

        asyncio.get_running_loop().add_reader(self._master, typed)
        loop = asyncio.get_running_loop()

        def noticed(_device: SwitchDevice, event: Event) -> None:
            if event == "config":
                loop.call_soon_threadsafe(self._move_if_told)

        self._switch.device.observe(noticed)

    def _move_if_told(self) -> None:
        config: Any = self._switch.device.personality.config
        lines = (getattr(config, "management_address", ""), *getattr(config, "exec_lines", {}).values())
        if not self._switch.moved and any(self._switch.new in line for line in lines):
            self._switch.moved = True
            self._moving = asyncio.create_task(self._move())

    async def _move(self) -> None:
        await self._leave()
        self._face = self._ssh(self._switch.new)
        await self._face.start()

    async def _leave(self) -> None:
        await self._face.stop()
        if self._telnet is not None:
            self._telnet.close()
        for stream in self._streams:
            stream.close()

    async def stop(self) -> None:
        asyncio.get_running_loop().remove_reader(self._master)
        os.close(self._master)
        os.close(self._slave)
        if self._moving is not None:
            await self._moving
        await self._leave()

    async def _serve_telnet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._streams.add(writer)
        shell = self._shell(None)
        writer.write(_ECHO_AND_NO_GO_AHEAD + _printed(shell))
        with suppress(ConnectionError):
            while not shell.closed and (data := await reader.read(4096)):
                for key in _without_options(data).decode("latin-1"):
                    shell.feed(key)
                writer.write(_printed(shell))
                await writer.drain()
        writer.close()
        self._streams.discard(writer)


def _printed(shell: Shell) -> bytes:
    return "".join(chunk.text for chunk in shell.take()).encode("latin-1")


def _without_options(data: bytes) -> bytes:
    """Keys without telnet's answers to options, three bytes each."""
    kept = bytearray()
    at = 0
    while at < len(data):
        if data[at] == _IAC:
            at += 3
        else:
            kept.append(data[at])
            at += 1
    return bytes(kept)


@contextmanager
def factory_switch(
    family: SwitchFamily,
    account: User,
    *,
    forced: bool = False,
    console: User | None = None,
    communities: dict[str, Any] | None = None,
    users: "Sequence[UsmUser]" = (),
) -> Iterator[FactorySwitch]:
    """A switch with the factory's account; `forced`: it wants a new password; `console`: who the serial line is."""
    kit = FAMILIES[family]
    now_s = [0.0]
    spec = DeviceSpec("sw1", family, _MODELS[family], bytes.fromhex("02ee0b000000"), (account,), 1.0)
    device = SwitchDevice(spec, kit.family, VirtualEngine(seed=1), clock_s=lambda: now_s[0])
    device.power_on()
    now_s[0] = 2.0
    device.poll()
    old, new = addresses()
    switch = FactorySwitch(device, old, new, asyncssh.generate_private_key("ssh-ed25519"))

    def make_cli() -> Cli:
        cli = kit.cli(device)
        return _Forcing(cli, device, account) if forced else cli  # type: ignore[return-value]

    access = SnmpAccess(communities or {}, users)
    snmp = SnmpFace(device, kit.snmp, address=new, port=SNMP_PORT, access=access)
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="factory switch")
    thread.start()

    def await_(work: Coroutine[Any, Any, _Got]) -> _Got:
        return asyncio.run_coroutine_threadsafe(work, loop).result(30)

    async def made() -> _Faces:
        faces = _Faces(switch, make_cli, console)
        await faces.start()
        return faces

    try:
        faces = await_(made())
        try:
            yield switch
        finally:
            await_(faces.stop())
    finally:
        snmp.close()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
