"""Verified means verified: after a rollback the configuration's text is what it was, on every family, twice in a row.

A switch of each family stands beside a Linux switch: two cables that may be a LAG, one beside them, two hosts each.
"""

from __future__ import annotations

import difflib
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import pytest

from eee_testbed.controller.applying.apply import Aim, Applicable, Options, apply
from eee_testbed.controller.applying.history import read_history, take_back, to_take_back
from eee_testbed.controller.applying.put_back import as_it_was
from eee_testbed.controller.applying.rounds import Stop
from eee_testbed.controller.applying.statefolder import StateFolder
from eee_testbed.controller.applying.work import Backend, Work, at_work
from eee_testbed.controller.drivers.driver import Command, Line
from eee_testbed.controller.planning.limits import Abilities, abilities_of
from eee_testbed.controller.planning.plan_text import lost_lines
from eee_testbed.controller.planning.rollback import Position, Return
from eee_testbed.controller.planning.wishes import (
    Eee,
    FlowControl,
    LinkOff,
    LinkOn,
    LinkSpeed,
    MultiTree,
    SetUpLag,
    TakeDownLag,
    Wish,
)
from eee_testbed.lab.errors import Rejected
from eee_testbed.lab.lags import lags_of
from eee_testbed.lab.model import End, Host, Lab, Link
from tests.support.labs.toy_lab import Quiet
from tests.support.switches.one_of_a_family import OneSession, OneSwitch, dell, ios, linux, m4300, ros
from tests.support.switches.toy_ethtool import Nic

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator


_NAMED: Final = 'vlan name 50 "before"'
FOUND: Final[dict[str, Callable[[], OneSwitch]]] = {
    "55xx, factory": lambda: ros("sw1", ()),
    "55xx, a trunk": lambda: ros(
        "sw1",
        (
            *("vlan database", "vlan 50", "exit", "interface vlan 50", "name before", "exit"),
            *("interface gi1/0/7", "switchport mode trunk", "switchport trunk allowed vlan add 50"),
        ),
    ),
    "M4300, factory": lambda: m4300("sw1", ()),
    "M4300, trunks": lambda: m4300(
        "sw1",
        (
            *("exit", "vlan database", "vlan 50", _NAMED, "exit", "configure"),
            *("interface 1/0/7", "switchport mode trunk", "exit", "interface 1/0/9", "switchport mode trunk", "exit"),
            *("interface 1/0/1", "switchport mode access", "switchport access vlan 1", "port-security max-static 7"),
        ),
    ),
    "62xx, factory": lambda: dell("sw1", {}, old=True),
    "N-series, factory": lambda: dell("sw1", {}, old=False),
    "N-series, a trunk": lambda: dell("sw1", {"Gi1/0/5": {"mode": "trunk", "trunk": {1, 50}, "shut": True}}, old=False),
    "IOS, factory": lambda: ios("sw1", ()),
    "IOS, access and trunks": lambda: ios(
        "sw1",
        (
            *("vlan 50", "name before", "exit"),
            *("interface GigabitEthernet1/0/1", "switchport mode access"),
            *("interface GigabitEthernet1/0/5", "switchport mode trunk", "switchport trunk allowed vlan 1,50"),
            *("switchport nonegotiate",),
        ),
    ),
    "Linux": lambda: linux("sw1", {}),
}


@pytest.fixture(params=FOUND, ids=str)
def one(request: pytest.FixtureRequest) -> Iterator[OneSwitch]:
    made = FOUND[request.param]()
    yield made
    made.close()


class Bench:
    """A lab of the switch and a Linux switch, and what was done to it."""

    def __init__(self, one: OneSwitch, *, lagged: bool) -> None:
        other = linux("sw2", {})
        self.own = {"sw1": one, "sw2": other}
        self.lab = _lab(one, other, lagged=lagged)
        driver_of = {name: own.driver for name, own in self.own.items()}
        self.abilities: Abilities = abilities_of(self.lab, lambda switch: driver_of[switch.name].capabilities)
        self.backend = Backend(
            lambda switch: OneSession(self.own[switch.name]),
            lambda switch: driver_of[switch.name],
            self.abilities,
            patience_s=5.0,
            pauses_s=(0.001,),
            fresh_s=60.0,
        )

    def texts(self) -> dict[str, str]:
        return {name: own.text() for name, own in self.own.items()}

    def work(self, command: str) -> Any:
        return at_work(self.lab, self.backend, command, Quiet(), Stop())

    def change(self, aim: Aim) -> Applicable:
        """Apply something; returns its plan."""
        plans: list[Applicable] = []
        with self.work("apply") as work:
            result = apply(work, aim, None, lambda plan: plans.append(plan) is None, Options("apply"))
        assert result.ending == "applied", (result.sentence, result.cause, getattr(result.cause, "changes", ""))
        return plans[0]

    def roll_back(self) -> str:
        """Roll back the last change that stands; returns the sentence of it."""
        with self.work("rollback") as work:
            return as_it_was(self._take_back(work), "before")

    def _take_back(self, work: Work) -> tuple[str, ...]:
        (last,) = to_take_back(read_history(StateFolder.of(self.lab)), None, every=False, operand="bench")
        return take_back(work, last)


def _lab(one: OneSwitch, other: OneSwitch, *, lagged: bool) -> Lab:
    pops = not one.driver.capabilities.multi_untagged
    hosts = tuple(
        Host(f"n{n}", "lab", "", 22, f"198.19.0.{n}", bytes((2, 0, 0, 0, 0, n)), "eth0", 1000, 1500, pops_tags=pops)
        for n in range(1, 5)
    )
    names = [[port.name for port in own.switch.ports] for own in (one, other)]
    ends = [(End(f"sw{1 + n // 2}", names[n // 2][n % 2]), End(hosts[n].name, "eth0")) for n in range(4)]
    ends += [(End("sw1", names[0][n]), End("sw2", names[1][n])) for n in (2, 3, 4)]
    links = tuple(Link(n, a, b, 1000, "copper", switchable=True) for n, (a, b) in enumerate(ends, start=1))
    members = {links[4]: 1, links[5]: 1} if lagged else {}
    lags = lags_of([(link, members.get(link), link.number) for link in links], frozenset(), _refuse)
    switches = (one.switch, other.switch)
    return Lab("bench", "", "198.18.0.0/16", "198.19.0.0/16", switches, hosts, links, (), (), lags)


def _refuse(_line: int, _key: str, sentence: str, _remedy: str) -> None:
    raise ValueError(sentence)


def chain(bench: Bench) -> list[Wish]:
    """Everything that a family can do to a lab, one after the other."""
    lab = bench.lab
    if lab.lags:
        name = lab.lags[0].link.name
        return [SetUpLag(name), MultiTree(), TakeDownLag(name)]
    one, other = (link.name for link in list(lab.trunks())[:2])
    wishes: list[Wish] = [MultiTree(), LinkOff(one), LinkOn(one), LinkSpeed((other,), 100)]
    every = [own.driver.capabilities for own in bench.own.values()]
    if all(able.eee_settable for able in every):
        wishes.append(Eee((one, other), on=True, may_flap=True))
    if all(able.flow_control_settable for able in every):
        wishes.append(FlowControl((one,), on=True))
    return wishes


def same(now: dict[str, str], before: dict[str, str], what: str) -> None:
    for name, text in before.items():
        rows = list(difflib.unified_diff(text.splitlines(), now[name].splitlines(), lineterm="", n=0))
        assert not rows, (what, name, rows)


@pytest.mark.slow
@pytest.mark.parametrize("lagged", [False, True], ids=["links", "lag"])
def test_the_text_after_a_rollback_is_that_before(one: OneSwitch, lagged: bool) -> None:  # noqa: FBT001
    bench = Bench(one, lagged=lagged)
    for turn in ("first", "second"):
        texts = []
        for step in chain(bench):
            texts.append(bench.texts())
            bench.change(step)
        while texts:
            assert bench.roll_back() == "the lab is as it was before"
            same(bench.texts(), texts.pop(), f"{turn} turn, change {len(texts) + 1}")


def test_what_a_rollback_cannot_restore_is_named_before_and_after() -> None:
    """A restricted list of speeds: with it the link would restart once more, when no proof is made any longer."""
    bench = Bench(linux("sw1", {"swp3": Nic(modes=(10, 100, 1000), advertised=(100, 1000))}), lagged=False)
    link = next(iter(bench.lab.trunks()))
    bench.change(chain(bench)[0])
    planned = lost_lines(bench.change(LinkSpeed((link.name,), 100)))
    assert planned == ("`advertise 100 1000 Mb/s` of sw1:swp3",)
    assert bench.roll_back() == (
        "every setting of the lab is as it was before, but the text of its configurations is not "
        "(sw1 swp3: `advertise 100 1000 Mb/s` is gone)"
    )
    assert bench.roll_back().endswith("(sw1 swp3: `advertise 100 1000 Mb/s` is gone)"), "it is gone ever since"


def test_a_line_that_a_switch_refuses_stays_and_is_named() -> None:
    able = dell("sw1", {}, old=False)

    def run(orders: Iterable[Command]) -> None:
        for order in orders:
            if isinstance(order, Line) and order.text == "switchport mode access":
                able.run([Line("exit"), Line("exit")])
                raise Rejected("sw1", order.text, "not today")
            able.run([order])

    bench = Bench(replace(able, run=run), lagged=False)
    bench.change(chain(bench)[0])
    said = bench.roll_back()
    assert said.startswith("every setting of the lab is as it was before, but the text of its configurations is not")
    assert "sw1 Gi1/0/1: `switchport mode general` is new" in said
    (last,) = (one for one in read_history(StateFolder.of(bench.lab)) if one.number == 1)
    assert last.standing == "taken back"


def test_a_restore_takes_lines_back_where_no_setting_differs() -> None:
    """Such as a run whose last level is the state before it: a port in general mode does what it did in access mode."""
    able = dell("sw1", {}, old=False)
    bench = Bench(able, lagged=False)
    with bench.work("run") as work:
        home, before = work.executor.observe(), bench.texts()
        able.run([Line(text) for text in ("configure", "interface Gi1/0/5", "switchport mode general", "exit", "exit")])
        assert bench.texts() != before
        found = work.executor.observe()
        back = Return(Position(found, found, ()), home)
        result = apply(work, back, None, lambda _: True, Options("restore"))
        assert (result.ending, result.stays) == ("applied", ())
        same(bench.texts(), before, "restored")
        assert apply(work, back, None, lambda _: True, Options("restore")).ending == "nothing to do"
