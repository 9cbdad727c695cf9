from collections.abc import Callable
from typing import Any

import pytest

from eee_testbed.twin.cli.shell import Session, Shell
from eee_testbed.twin.families.ros import FAMILY, RosCli
from eee_testbed.twin.switch.device import SwitchDevice
from eee_testbed.twin.switch.personality import DeviceSpec, User
from tests.support.twin.fake_engine import FakeEngine

ADMIN = User("admin", "secret")


class Clock:
    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


class Terminal:
    """A user at a shell: types lines and returns what appeared, as one string."""

    def __init__(self, device: SwitchDevice, *, user: User | None = ADMIN, rows: int = 0) -> None:
        self.cli = RosCli(device)
        self.session = Session(device, self.cli.first_mode(), peer="127.0.0.1", number=1, page_rows=rows)
        self.shell = Shell(self.cli, self.session, authenticated=user)
        self.greeting = self.read()

    def read(self) -> str:
        self.chunks = self.shell.take()
        return "".join(c.text for c in self.chunks)

    def keys(self, text: str) -> str:
        for key in text:
            self.shell.feed(key)
        return self.read()

    def do(self, *lines: str) -> str:
        """Type lines; the answers to all of them, echo and prompts removed."""
        answers = ""
        for line in lines:
            shown = self.keys(line + "\r")
            shown = shown.partition("\r\n")[2]
            answers += shown.rpartition("\n")[0] + "\n" if "\n" in shown else ""
        return answers.replace("\r\n", "\n").replace("\r", "")

    @property
    def prompt(self) -> str:
        return self.cli.prompt(self.session)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def engine() -> Any:
    return FakeEngine()


@pytest.fixture
def device(engine: Any, clock: Clock) -> SwitchDevice:
    spec = DeviceSpec(
        "sw1", "dell_powerconnect_55xx", "PowerConnect 5524", bytes.fromhex("02ee01000001"), (ADMIN,), boot_s=30.0
    )
    made = SwitchDevice(spec, FAMILY, engine, clock_s=clock)
    made.power_on()
    clock.now_s += 30
    made.poll()
    assert made.ready
    return made


@pytest.fixture
def terminal(device: SwitchDevice) -> Terminal:
    return Terminal(device)


@pytest.fixture
def make_terminal(device: SwitchDevice) -> Callable[..., Terminal]:
    return lambda **options: Terminal(device, **options)
