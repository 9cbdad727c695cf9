"""Faults of one switch, without sockets: when they start, what a session sees, how they are mended."""

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from eee_testbed.lab.errors import LabError
from eee_testbed.twin.cli.session import Session
from eee_testbed.twin.cli.shell import Shell
from eee_testbed.twin.families.table import FAMILIES
from eee_testbed.twin.faults.faults import Faults
from eee_testbed.twin.switch.device import SwitchDevice
from eee_testbed.twin.switch.personality import DeviceSpec, User
from tests.support.twin.fake_engine import FakeEngine

if TYPE_CHECKING:
    from collections.abc import Callable

FAMILY = FAMILIES["dell_powerconnect_55xx"]
PORT = ("configure", "interface gi1/0/1")


class Bench:
    """One switch, one session without paging, and the faults of a lab with nothing else."""

    def __init__(self) -> None:
        spec = DeviceSpec(
            name="sw1",
            family="dell_powerconnect_55xx",
            model="PowerConnect 5524",
            base_mac=bytes(6),
            users=(User("admin", "good"),),
        )
        self.now_s = 0.0
        self.device = SwitchDevice(spec, FAMILY.family, FakeEngine(), clock_s=lambda: self.now_s)
        self.boot()
        self.events: list[str] = []
        self.device.observe(lambda _, event: self.events.append(event))
        self.soon: list[Callable[[], None]] = []
        self.keys: list[tuple[str, bool]] = []
        topology: Any = SimpleNamespace(devices={"sw1": self.device}, nics={})
        mains: Any = None
        self.faults = Faults(
            topology,
            mains,
            {},
            power=self.plug,
            later=lambda _delay, call: call(),
            soon=self.soon.append,
            rekey=lambda name, other: self.keys.append((name, other)),
        )
        self.log_in()

    def boot(self) -> None:
        self.device.power_on()
        self.now_s += 1000.0
        self.device.poll()

    def plug(self, _name: str, on: bool) -> None:  # noqa: FBT001 - as the mains call it
        if on:
            self.boot()
        else:
            self.device.power_off()

    def log_in(self) -> None:
        cli = FAMILY.cli(self.device)
        session = Session(self.device, cli.first_mode(), peer="127.0.0.1", number=1, page_rows=cli.more.rows)
        self.device.sessions = (session,)
        self.shell = Shell(cli, session, authenticated=User("admin", "good"))
        self.shell.take()
        self.type("terminal datadump")

    def type(self, *lines: str) -> str:
        for key in "".join(f"{line}\r" for line in lines):
            self.shell.feed(key)
        return self.read()

    def read(self) -> str:
        return "".join(chunk.text for chunk in self.shell.take())

    def inject(self, kind: str, **arguments: Any) -> str:
        return self.faults.inject({"kind": kind, "target": "sw1", **arguments})["sentence"]

    def run_soon(self) -> None:
        calls, self.soon[:] = tuple(self.soon), []
        for call in calls:
            call()

    @property
    def running(self) -> str:
        return self.device.personality.render()


@pytest.fixture
def bench() -> Bench:
    return Bench()


def _silent(shown: str) -> bool:
    return not shown.rstrip().endswith("#")


def test_a_hanging_session_has_executed_the_line_and_answers_when_mended(bench: Bench) -> None:
    bench.type(*PORT)
    bench.inject("hang")
    assert _silent(bench.type("description one"))
    assert _silent(bench.type("description two"))
    assert "description one" in bench.running
    (fault,) = bench.faults.active()
    bench.faults.clear(fault["number"])
    assert bench.events[-1] == "answers"
    bench.shell.resume()
    assert bench.read().rstrip().endswith("#")
    assert "description two" in bench.running
    assert not bench.type("description three").rstrip().endswith("three")


def test_a_hanging_session_that_ended_is_no_longer_a_fault(bench: Bench) -> None:
    bench.inject("hang")
    bench.type("show vlan")
    assert len(bench.faults.active()) == 1
    bench.device.sessions = ()
    assert bench.faults.active() == []


def test_only_lines_that_change_the_configuration_are_counted(bench: Bench) -> None:
    assert "at change 2" in bench.inject("drop", at_change=2)
    bench.type("show vlan", *PORT, "description one", "show vlan", "nonsense")
    assert bench.soon == []
    assert len(bench.faults.active()) == 1
    shown = bench.type("description two")
    assert _silent(shown)
    assert "description two" in bench.running
    bench.run_soon()
    assert "sessions" in bench.events
    assert bench.faults.active() == []
    bench.log_in()
    assert bench.type("show vlan").rstrip().endswith("#")


def test_changes_by_snmp_count_too(bench: Bench) -> None:
    bench.inject("ignore", at_change=2)
    for name in ("one", "two", "three"):
        with bench.device.change():
            bench.device.personality.set_alias(1, name)
    assert "one" in bench.running
    assert "two" not in bench.running
    bench.run_soon()
    assert [fault["sentence"] for fault in bench.faults.active()] == ["sw1 accepts changes and ignores them"]
    bench.faults.clear(None)
    with bench.device.change():
        bench.device.personality.set_alias(1, "four")
    assert "four" in bench.running


def test_a_reboot_at_a_change_loses_the_change(bench: Bench) -> None:
    bench.inject("reboot", at_change=1)
    assert _silent(bench.type(*PORT, "description lost"))
    bench.run_soon()
    assert not bench.device.ready
    bench.boot()
    assert "lost" not in bench.running
    assert bench.faults.active() == []


def test_a_plug_pulled_at_a_change_is_put_back_by_clear(bench: Bench) -> None:
    bench.inject("power", on=False, at_change=1)
    bench.type(*PORT, "description lost")
    bench.run_soon()
    assert not bench.device.powered
    bench.faults.clear(None)
    assert bench.device.ready
    with pytest.raises(LabError, match="--at-change"):
        bench.inject("power", on=True, at_change=1)


def test_a_waiting_fault_can_be_cancelled_and_replaced(bench: Bench) -> None:
    bench.inject("drop", at_change=1)
    bench.inject("drop", at_change=3)
    bench.type(*PORT, "description one")
    assert bench.soon == []
    bench.faults.clear(None)
    assert bench.faults.active() == []
    bench.type("description two", "description three")
    assert bench.soon == []


def test_a_prompt_comes_after_garbage_and_the_same_again(bench: Bench) -> None:
    bench.inject("garble", answers=2)
    first = bench.type("show vlan")
    again = Bench()
    true = again.type("show vlan")
    again.inject("garble", answers=2)
    assert again.type("show vlan") == first != true
    assert first.rstrip().endswith("#")
    assert len(bench.faults.active()) == 1
    assert bench.type("show spanning-tree") != again.type("terminal datadump")
    assert bench.faults.active() == []
    assert bench.type("show vlan") == true


def test_some_garbage_stands_inside_the_answer(bench: Bench) -> None:
    bench.inject("garble")
    answers = [bench.type("show vlan") for _ in range(20)]
    assert any("Created by" in answer for answer in answers)
    assert any("Created by" not in answer for answer in answers)
    bench.faults.clear(None)
    assert bench.type("show vlan") == Bench().type("show vlan")


def test_a_switch_pages_although_paging_is_off(bench: Bench) -> None:
    bench.inject("page")
    more = FAMILY.cli(bench.device).more.prompt
    assert bench.type("show interfaces status").endswith(more)
    bench.shell.feed(" ")
    assert bench.read()
    bench.shell.feed("q")
    bench.read()
    bench.faults.clear(None)
    assert bench.type("show interfaces status").rstrip().endswith("#")


def test_passwords_change_and_are_restored(bench: Bench) -> None:
    bench.inject("password")
    assert not bench.device.users()["admin"].accepts("good")
    bench.faults.clear(None)
    assert bench.device.users()["admin"].accepts("good")


def test_the_host_key_changes_and_is_restored(bench: Bench) -> None:
    bench.inject("rekey")
    bench.faults.clear(None)
    assert bench.keys == [("sw1", True), ("sw1", False)]


@pytest.mark.parametrize(
    ("kind", "arguments"), [("hang", {"at_change": 0}), ("garble", {"answers": 0}), ("explode", {})]
)
def test_invalid_requests_are_refused(bench: Bench, kind: str, arguments: dict[str, int]) -> None:
    with pytest.raises(LabError):
        bench.inject(kind, **arguments)
    assert bench.faults.active() == []
