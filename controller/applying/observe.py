"""Read the settings of switches with the queries of each family's driver, all switches at once."""

import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import replace
from typing import Final, TypeVar

from eee_testbed.controller.drivers.driver import ASPECTS, Aspect, Driver, EeeStatus, KeepsText
from eee_testbed.controller.drivers.table import driver_of
from eee_testbed.controller.model.lag_ports import with_lag_ports, without_bare_lags
from eee_testbed.controller.model.state import State, SwitchState
from eee_testbed.controller.transports.session import Connect, Session
from eee_testbed.controller.transports.switches import open_session
from eee_testbed.lab.errors import DeviceError
from eee_testbed.lab.model import Lab, Switch

ALL: Final[frozenset[Aspect]] = frozenset(ASPECTS)

_AT_ONCE: Final = 32  # switches; each costs a thread that mostly waits

_Found = TypeVar("_Found")

Threads = Callable[[int], Executor]
"""Makes so many threads."""


def _threads(count: int) -> Executor:
    return ThreadPoolExecutor(max_workers=count, thread_name_prefix="ask")


def observe_switch(
    switch: Switch, session: Session, aspects: frozenset[Aspect] = ALL, base: SwitchState | None = None
) -> SwitchState:
    """The settings of one switch as it shows them now. With fewer than all aspects, the rest is taken from `base`.

    Unreachable, Rejected or Unreadable name the switch.
    """
    driver = driver_of(switch)
    return driver.parse(switch, aspects, session.ask(driver.queries(switch, aspects)), base)


def read_switch(
    lab: Lab,
    switch: Switch,
    driver: Driver,
    session: Session,
    aspects: frozenset[Aspect] = ALL,
    base: SwitchState | None = None,
) -> SwitchState:
    """The same as a part of its lab's state, which has the ports of LAGs that switches do not show.

    Of all aspects also the text of its configuration (`SwitchState.text`).
    """
    if base is not None and "vlan" not in aspects:
        base = without_bare_lags(lab, switch.name, base)
    keeper = driver if isinstance(driver, KeepsText) and aspects == ALL else None
    asked = (*driver.queries(switch, aspects), *(() if keeper is None else keeper.text_queries(switch)))
    answers = session.ask(tuple(dict.fromkeys(asked)))
    shown = driver.parse(switch, aspects, answers, base)
    shown = shown if keeper is None else replace(shown, text=keeper.text(switch, answers))
    return with_lag_ports(lab, switch.name, shown, driver.capabilities)


def observe_lab(
    lab: Lab, connect: Connect = open_session, aspects: frozenset[Aspect] = ALL, base: State | None = None
) -> State:
    """The settings of every switch; with fewer than all aspects the rest is taken from `base`.

    Every switch is queried even if one fails; then the first error in the order of the inventory is raised.
    """
    found = ask_switches(
        lab,
        lambda switch, session: read_switch(
            lab, switch, driver_of(switch), session, aspects, base.switches[switch.name] if base is not None else None
        ),
        connect,
    )
    for outcome in found.values():
        if isinstance(outcome, DeviceError):
            raise outcome
    return State({name: state for name, state in found.items() if isinstance(state, SwitchState)})


def ask_switches(
    lab: Lab,
    question: Callable[[Switch, Session], _Found],
    connect: Connect = open_session,
    threads: Threads = _threads,
) -> Mapping[str, _Found | DeviceError]:
    """Ask every switch of a lab one question, all at once; by name its answer or its error.

    Sessions are closed when the question is answered, and all at once at a Ctrl-C, which ends the waiting in them.
    """
    sessions: list[Session] = []
    interrupted = threading.Event()

    def ask(switch: Switch) -> _Found | DeviceError:
        try:
            session = connect(switch)
        except DeviceError as error:
            return error
        sessions.append(session)
        try:
            if interrupted.is_set():  # while it was connecting, so it was not among those closed
                return DeviceError(switch.name, "not asked, as the command was interrupted.")
            return question(switch, session)
        except DeviceError as error:
            return error
        finally:
            session.close()

    with threads(min(_AT_ONCE, len(lab.switches))) as pool:
        try:
            asked = {switch.name: pool.submit(ask, switch) for switch in lab.switches}
            return {name: answer.result() for name, answer in asked.items()}
        except BaseException:  # a Ctrl-C while the threads start, too
            interrupted.set()
            pool.shutdown(wait=False, cancel_futures=True)
            for session in sessions:
                session.close()
            raise


def read_eee(switch: Switch, session: Session) -> Mapping[str, EeeStatus]:
    """EEE of each port as the switch shows it."""
    driver = driver_of(switch)
    return driver.eee(switch, session.ask(driver.eee_queries(switch)))
