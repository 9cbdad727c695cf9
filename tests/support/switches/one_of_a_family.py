"""One switch of each family that has a text or is a machine, as a session drives it, and its whole configuration.

The twins of the 55xx and the M4300 obey real command lines; the others are the toys of their drivers' laws.
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from eee_testbed.controller.drivers.cisco_ios.driver import CiscoIos
from eee_testbed.controller.drivers.driver import AdminSet, Line, Show
from eee_testbed.controller.drivers.fastpath.driver import DELL_N_SERIES, DELL_POWERCONNECT_62XX, NETGEAR_M4300
from eee_testbed.controller.drivers.linux_bridge.driver import LinuxBridge
from eee_testbed.controller.drivers.places import FINDERS, resolve
from eee_testbed.controller.drivers.ros.driver import DELL_55XX_DRIVER
from eee_testbed.controller.transports.session import Acknowledged
from eee_testbed.lab.model import Port, Switch
from tests.support.switches.m4300_face import Face
from tests.support.switches.ros_face import RosFace
from tests.support.switches.toy_dell import ToyDell
from tests.support.switches.toy_ethtool import Nic
from tests.support.switches.toy_ios import ToyIos
from tests.support.switches.toy_linux import ToyLinux

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from eee_testbed.controller.drivers.driver import Answers, Command, Driver, Query


@dataclass(frozen=True)
class OneSwitch:
    """Five ports: two for hosts, two for a LAG, one beside it. `text` is everything that the switch is set to."""

    switch: Switch
    driver: Driver
    run: Callable[[Iterable[Command]], None]
    ask: Callable[[Iterable[Query]], Answers]
    text: Callable[[], str]
    close: Callable[[], None] = lambda: None


@dataclass(frozen=True)
class OneSession:
    """`controller.transports.session.Session` to it."""

    one: OneSwitch

    def ask(self, queries: Sequence[Query]) -> Answers:
        return self.one.ask(queries)

    def send(self, order: Command) -> Acknowledged:
        sent_ns = time.monotonic_ns()
        self.one.run([order])
        return Acknowledged(order, sent_ns, time.monotonic_ns())

    def close(self) -> None:
        return


def a_switch(name: str, family: str, ports: Sequence[str]) -> Switch:
    numbered = tuple(Port(name, port, _number(port), 1000) for port in ports)
    return Switch(name, family, "", "", 22, 161, "admin", "", "community", numbered)  # type: ignore[arg-type]


def _number(port: str) -> int:
    return int(re.findall(r"\d+", port)[-1])


def ros(name: str, found: Sequence[str]) -> OneSwitch:
    face = RosFace()
    face.setup(*found)
    switch = a_switch(name, "dell_powerconnect_55xx", [f"gi1/0/{n}" for n in (1, 2, 5, 6, 7)])
    run = _with_sets(switch, face, face.execute)
    return OneSwitch(switch, DELL_55XX_DRIVER, run, face.ask, face.device.personality.render, face.close)


def m4300(name: str, found: Sequence[str]) -> OneSwitch:
    face = Face()
    face.setup("configure", *found)
    switch = a_switch(name, "netgear_m4300", [f"1/0/{n}" for n in (1, 2, 5, 6, 7)])
    return OneSwitch(
        switch, NETGEAR_M4300, _with_sets(switch, face, face.execute), face.ask, face.device.personality.render
    )


def _with_sets(switch: Switch, face: Any, execute: Callable[[Iterable[Command]], None]) -> Any:
    def run(orders: Iterable[Command]) -> None:
        for order in orders:
            known = resolve(switch, order, face.ask(FINDERS)).request if isinstance(order, AdminSet) else order
            execute([known])

    return run


def dell(name: str, found: Mapping[str, Mapping[str, Any]], *, old: bool) -> OneSwitch:
    driver = DELL_POWERCONNECT_62XX if old else DELL_N_SERIES
    toy = ToyDell(driver, old=old)
    toy.switch = replace(toy.switch, name=name, ports=tuple(replace(port, switch=name) for port in toy.switch.ports))
    for port, values in found.items():
        for key, value in values.items():
            setattr(toy.ports[port], key, value)
            toy.vids |= value if key == "trunk" else set()
    return OneSwitch(toy.switch, driver, toy.execute, toy.ask, toy.running_config)


def ios(name: str, found: Sequence[str]) -> OneSwitch:
    full = [f"GigabitEthernet1/0/{n}" for n in range(1, 6)]
    toy, driver = ToyIos(full), CiscoIos()

    def run(orders: Iterable[Command]) -> None:
        for order in orders:
            assert isinstance(order, Line)
            refusal = driver.refusal(order, toy.type(order.text))
            assert not refusal, (order, refusal)
            assert re.search(order.prompt, toy.prompt), (order, toy.prompt)

    for line in ("configure terminal", *found, "end") if found else ():
        toy.type(line)
    return OneSwitch(
        a_switch(name, "cisco_ios", full), driver, run, lambda queries: _shows(toy.type, queries), toy.running
    )


def linux(name: str, found: Mapping[str, Nic]) -> OneSwitch:
    ports = [f"swp{n}" for n in range(1, 6)]
    toy = ToyLinux({port: found.get(port, Nic()) for port in ports})

    def run(orders: Iterable[Command]) -> None:
        for order in orders:
            assert isinstance(order, Line)
            toy.run(order.text)

    def text() -> str:
        own = sorted((vid, sorted(flags)) for vid, flags in toy.own.items())
        rows: list[object] = [toy.stp, own, sorted(toy.statics.items())]
        for port, nic in sorted(toy.nics.items()):
            vlans = {vid: sorted(flags) for vid, flags in sorted(nic.vlans.items())}
            rows.append((port, replace(nic, vlans={}), vlans))
        return "\n".join(map(repr, rows))

    return OneSwitch(
        a_switch(name, "linux_bridge", ports), LinuxBridge(), run, lambda queries: _shows(toy.run, queries), text
    )


def _shows(show: Callable[[str], str], queries: Iterable[Query]) -> Answers:
    return {query: show(query.command) for query in queries if isinstance(query, Show)}
