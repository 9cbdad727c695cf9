"""Model and firmware of the switches of a run, from what a real family's driver reads."""

from collections.abc import Sequence
from pathlib import Path

from eee_testbed.controller.drivers.driver import Answers, Command, Query, Show
from eee_testbed.controller.drivers.table import driver_of
from eee_testbed.controller.transports.session import Acknowledged
from eee_testbed.lab.errors import Unreachable
from eee_testbed.lab.model import Switch
from eee_testbed.measuring.experiments.identities import CHANGED, FACT, changes_said, identities, noted
from tests.support.labs.toy_lab import small_lab

_SHOWN = {
    "show version": "SW version    4.1.0.20 ( date  01-Jan-2018 time  00:00:00 )\nBoot version    1.0.0.3",
    "show system": "System Description:                       PowerConnect 5524\nSystem Up Time: 0",
}


class _Session:
    def __init__(self, shown: dict[str, str]) -> None:
        self.shown = shown

    def ask(self, queries: Sequence[Query]) -> Answers:
        return {query: self.shown.get(query.command, "") for query in queries if isinstance(query, Show)}

    def send(self, order: Command) -> Acknowledged:
        raise AssertionError(f"a question changes nothing: {order}")

    def close(self) -> None:
        pass


def test_switches_that_say_what_they_are_are_kept_and_the_others_cost_nothing(tmp_path: Path) -> None:
    def connect(switch: Switch) -> _Session:
        if switch.name == "sw2":
            raise Unreachable("sw2", "no response.")
        return _Session(_SHOWN if switch.name == "sw1" else {})

    found = identities(small_lab(tmp_path), connect, driver_of)
    assert found == {"sw1": {"model": "PowerConnect 5524", "firmware": "4.1.0.20"}}


def test_a_run_that_is_resumed_keeps_what_its_first_begin_found_beside_what_changed() -> None:
    old, new = {"model": "M4300", "firmware": "12.0.19.6"}, {"model": "M4300", "firmware": "12.0.20.1"}
    facts = dict(noted({}, {"sw1": old, "sw2": old}, 1))
    assert facts == {FACT: {"sw1": old, "sw2": old}}
    assert noted(facts, {"sw1": old}, 2) == {}, "a switch that does not answer changed nothing"
    added = noted(facts, {"sw1": new, "sw2": old}, 3)
    assert added == {CHANGED: [{"time_ns": 3, "switches": {"sw1": new}}]}
    assert [*changes_said(added)] == [
        "sw1 says that it is M4300 12.0.20.1, which it did not when this run began: its run.yaml has both."
    ]
    facts |= added
    assert noted(facts, {"sw1": new, "sw2": old}, 4) == {}, "it was noted already"
    again = noted(facts, {"sw1": old}, 5)
    assert [change["time_ns"] for change in again[CHANGED]] == [3, 5]
    assert facts[FACT] == {"sw1": old, "sw2": old}
    assert [*changes_said(noted({}, {"sw1": old}, 1))] == []
