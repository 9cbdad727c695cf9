"""A switch of the twin without sockets: lines are typed into its shell as a session types them."""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence

from eee_engine import VirtualEngine

from eee_testbed.controller.drivers.driver import AdminSet, Command, Driver, Line, SnmpSet
from eee_testbed.lab.model import Switch
from eee_testbed.twin.cli.session import Cli
from eee_testbed.twin.cli.shell import Session, Shell
from eee_testbed.twin.switch.device import SwitchDevice
from eee_testbed.twin.switch.personality import DeviceSpec, Family, User


class TypedFace(ABC):
    """One switch for many examples: `reset` takes it back to the factory."""

    def __init__(
        self, switch: Switch, base_mac: str, family: Family, cli: Callable[[SwitchDevice], Cli], driver: Driver
    ) -> None:
        self.engine = VirtualEngine(seed=1)
        spec = DeviceSpec(switch.name, switch.family, switch.model, bytes.fromhex(base_mac), (), 1.0)
        self.now_s = 0.0
        self.device = SwitchDevice(spec, family, self.engine, clock_s=lambda: self.now_s)
        self.device.power_on()
        self.now_s = 2.0
        self.device.poll()
        self._new_cli, self._driver = cli, driver
        self.reset()

    def reset(self) -> None:
        with self.device.change():
            self.device.personality.config = self.device.personality.factory()
        self.device.faults.refuse = {}
        self.device.faults.ignore_writes = False
        cli = self._new_cli(self.device)
        session = Session(self.device, cli.first_mode(), peer="127.0.0.1", number=1, page_rows=0)
        self._cli, self._shell = cli, Shell(cli, session, authenticated=User("admin", "secret"))
        self._shell.take()
        self.typed: list[str] = []

    @property
    def prompt(self) -> str:
        return self._cli.prompt(self._shell.session).strip()

    def type(self, text: str, replies: Sequence[tuple[str, str]] = ()) -> str:
        """What appears between the echo and the next prompt."""
        shown = self._keys(text + "\r")
        for pattern, reply in replies:
            if re.search(pattern, shown, re.IGNORECASE):
                shown += self._keys(reply.replace("\n", "\r"))
        return shown.partition("\n")[2].rpartition("\n")[0]

    def setup(self, *lines: str) -> None:
        """Lines from privileged mode, each of which the switch takes."""
        for line in lines:
            assert self.type(line) == "", line
        self.type("end")

    def _keys(self, text: str) -> str:
        for key in text:
            self._shell.feed(key)
        return "".join(chunk.text for chunk in self._shell.take()).replace("\r\n", "\n")

    def execute(self, orders: Iterable[Command], each: Callable[[], None] = lambda: None) -> None:
        """As a session does: a refusal stops it, and the prompt has to be the expected one. `each` runs after each."""
        for order in orders:
            if isinstance(order, Line):
                refusal = self._driver.refusal(order, self.type(order.text, order.replies))
                assert not refusal, (order, refusal)
                assert order.prompt, order
                assert re.search(order.prompt, self.prompt), (order, self.prompt)
                self.typed.append(order.text)
            else:
                self.put(order)
            each()

    @abstractmethod
    def put(self, order: SnmpSet | AdminSet) -> None: ...
