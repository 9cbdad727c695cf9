from typing import Any, ClassVar

import eee_engine
import pytest
from eee_engine import VirtualEngine

from eee_testbed.twin.cli.shell import Session, Shell
from eee_testbed.twin.families.fastpath import FAMILY, FastpathCli
from eee_testbed.twin.families.fastpath.shows.statistics import Statistics
from eee_testbed.twin.switch.device import SwitchDevice
from eee_testbed.twin.switch.personality import DeviceSpec, User

ADMIN = User("admin", "secret")


class Clock:
    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> Any:
        return self.now_s


class Alarm:
    """Stands in for `threading.Timer`: rings when the test calls `ring`."""

    made: ClassVar[list[Any]] = []

    def __init__(self, seconds: Any, ring: Any) -> None:
        self.seconds, self.ring, self.daemon, self.waiting = seconds, ring, False, False
        Alarm.made.append(self)

    def start(self) -> Any:
        self.waiting = True

    def cancel(self) -> Any:
        self.waiting = False


class Terminal:
    """A user at a shell: types lines and returns what appeared between the line and the next prompt."""

    def __init__(self, device: SwitchDevice, cli: Any, *, user: Any = ADMIN, rows: Any = 0) -> None:
        self.cli = cli
        self.session = Session(device, cli.first_mode(), peer="127.0.0.1", number=1, page_rows=rows)
        self.shell = Shell(cli, self.session, authenticated=user)
        self.greeting = self.read()

    def read(self) -> Any:
        return "".join(c.text for c in self.shell.take()).replace("\r\n", "\n")

    def keys(self, text: Any) -> Any:
        for key in text:
            self.shell.feed(key)
        return self.read()

    def do(self, *lines: Any) -> Any:
        answers = ""
        for line in lines:
            shown = self.keys(line + "\r").partition("\n")[2]
            answers += shown.rpartition("\n")[0] + "\n" if "\n" in shown else ""
        return answers

    @property
    def prompt(self) -> Any:
        return self.cli.prompt(self.session)


def make_device(engine: VirtualEngine, clock: Any, *, startup: Any = "", model: Any = "M4300-28G", **spec: Any) -> Any:
    options = {"boot_s": 30.0, **spec}
    described = DeviceSpec("sw5", "netgear_m4300", model, bytes.fromhex("02ee05000000"), (ADMIN,), **options)
    return SwitchDevice(described, FAMILY, engine, startup=startup, clock_s=clock)


def boot(device: SwitchDevice, clock: Any) -> Any:
    device.power_on()
    clock.now_s += device.spec.boot_s
    device.poll()
    return device


@pytest.fixture
def clock() -> Any:
    return Clock()


@pytest.fixture
def engine() -> Any:
    return eee_engine.VirtualEngine(seed=1)


@pytest.fixture
def device(engine: VirtualEngine, clock: Any) -> Any:
    return boot(make_device(engine, clock), clock)


@pytest.fixture
def alarms() -> Any:
    Alarm.made.clear()
    return Alarm.made


@pytest.fixture
def cli(device: SwitchDevice, clock: Any, alarms: list[Any]) -> Any:
    del alarms
    return FastpathCli(device, Statistics(device, clock_s=clock, alarm=Alarm))


@pytest.fixture
def terminal(device: SwitchDevice, cli: Any) -> Any:
    return Terminal(device, cli)


@pytest.fixture
def enabled(terminal: Any) -> Any:
    assert terminal.do("enable") == ""
    return terminal


@pytest.fixture
def reboot(device: SwitchDevice, clock: Any) -> Any:
    """Lose and regain power."""

    def again() -> Any:
        device.power_off()
        return boot(device, clock)

    return again


@pytest.fixture
def another(clock: Any) -> Any:
    """Make further booted devices, each on its own engine."""

    def make(**options: Any) -> Any:
        return boot(make_device(eee_engine.VirtualEngine(seed=2), clock, **options), clock)

    return make
