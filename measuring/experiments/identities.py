"""What the switches of a run say that they are: model and firmware, which papers name."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from eee_testbed.controller.applying.observe import ask_switches
from eee_testbed.controller.drivers.driver import Driver
from eee_testbed.controller.transports.session import Connect, Session
from eee_testbed.lab.errors import DeviceError
from eee_testbed.lab.model import Lab, Switch

FACT: Final = "switches"
"""The fact of a run that has them, as its first begin found them."""

CHANGED: Final = "switches_changed"
"""The fact of a run that was resumed: a list of `time_ns` and `switches`, those that then said something else."""

Identities = Mapping[str, Mapping[str, str]]


def identities(lab: Lab, connect: Connect, driver_of: Callable[[Switch], Driver]) -> Identities:
    """Model and firmware by switch. Those that do not answer, or say neither, are left out: a run goes on without.

    Serial numbers are not kept, as run folders are given away.
    """

    def identity(switch: Switch, session: Session) -> Mapping[str, str]:
        driver = driver_of(switch)
        said = driver.identity(switch, session.ask(driver.identity_queries(switch)))
        return {"model": said.model, "firmware": said.firmware}

    answers = ask_switches(lab, identity, connect)
    found = {name: answer for name, answer in answers.items() if not isinstance(answer, DeviceError)}
    return {name: said for name, said in found.items() if any(said.values())}


def noted(facts: Mapping[str, Any], found: Identities, time_ns: int) -> Mapping[str, Any]:
    """The facts to add to a run's. What an earlier begin found stays, and what differs from it is noted beside it."""
    if FACT not in facts:
        return {FACT: found}
    before = [*facts.get(CHANGED, ())]
    known = dict(facts[FACT])
    for one in before:
        known |= one["switches"]
    changed = {name: said for name, said in found.items() if known.get(name) != said}
    return {CHANGED: [*before, {"time_ns": time_ns, "switches": changed}]} if changed else {}


def changes_said(facts: Mapping[str, Any]) -> Iterator[str]:
    """A sentence on each switch that says something else than at an earlier begin, from the facts to add."""
    for name, said in (facts[CHANGED][-1]["switches"] if CHANGED in facts else {}).items():
        firmware = " ".join(filter(None, (said.get("model"), said.get("firmware"))))
        yield f"{name} says that it is {firmware}, which it did not when this run began: its run.yaml has both."
