"""Queries of many switches at once, with toy sessions: all are sent, and all sessions are closed, whatever fails."""

import signal
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from eee_testbed.controller.applying.observe import ask_switches
from eee_testbed.controller.drivers.driver import Answers, Command, Query
from eee_testbed.controller.transports.session import Acknowledged
from eee_testbed.lab.errors import DeviceError, Unreachable
from eee_testbed.lab.model import Lab, Switch


def _lab(count: int) -> Lab:
    switches = tuple(
        Switch(f"s{n}", "cisco_sg", "SG", f"192.0.2.{n}", 22, 161, "admin", "", "", ()) for n in range(1, count + 1)
    )
    return Lab("toy", "/", "192.0.2.0/24", "198.51.100.0/24", switches, (), (), (), ())


class _Session:
    def __init__(self) -> None:
        self.closed = threading.Event()

    def ask(self, queries: Sequence[Query]) -> Answers:
        raise NotImplementedError

    def send(self, order: Command) -> Acknowledged:
        raise NotImplementedError

    def close(self) -> None:
        self.closed.set()


def _ctrl_c() -> None:
    """As the terminal does it: a signal that also ends a wait of the main thread, which interrupt_main() does not."""
    signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)


def test_answers_and_faults_are_keyed_by_switch() -> None:
    opened: dict[str, _Session] = {}

    def connect(switch: Switch) -> _Session:
        if switch.name == "s2":
            raise Unreachable("s2", "no response.")
        return opened.setdefault(switch.name, _Session())

    def question(switch: Switch, _: object) -> str:
        if switch.name == "s3":
            raise Unreachable("s3", "gone.")
        return switch.address

    found = ask_switches(_lab(4), question, connect)
    assert list(found) == ["s1", "s2", "s3", "s4"]
    assert [found["s1"], found["s4"]] == ["192.0.2.1", "192.0.2.4"]
    assert [found[name].device for name in ("s2", "s3") if isinstance(found[name], DeviceError)] == ["s2", "s3"]
    assert all(session.closed.is_set() for session in opened.values())


def test_ctrl_c_while_threads_start_closes_the_sessions_that_wait() -> None:
    session, asking, in_vain = _Session(), threading.Event(), threading.Event()

    class Interrupted(ThreadPoolExecutor):
        def submit(self, *arguments: Any, **options: Any) -> Any:
            super().submit(*arguments, **options)
            assert asking.wait(20.0)
            raise KeyboardInterrupt

    def question(switch: Switch, _: object) -> str:
        asking.set()
        if not session.closed.wait(20.0):
            in_vain.set()
        raise Unreachable(switch.name, "closed.")

    with pytest.raises(KeyboardInterrupt):
        ask_switches(_lab(3), question, lambda _: session, Interrupted)
    assert session.closed.is_set()
    assert not in_vain.is_set()


def test_a_session_that_opens_after_ctrl_c_is_closed_unasked() -> None:
    session, given_up = _Session(), threading.Event()
    asked: list[str] = []

    class GivenUpOn(ThreadPoolExecutor):
        def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: FBT001, FBT002 - as there
            given_up.set()
            super().shutdown(wait, cancel_futures=cancel_futures)

    def connect(_: Switch) -> _Session:
        _ctrl_c()
        assert given_up.wait(20.0)
        return session

    def question(switch: Switch, _: object) -> str:
        asked.append(switch.name)
        return switch.name

    with pytest.raises(KeyboardInterrupt):
        ask_switches(_lab(1), question, connect, GivenUpOn)
    assert session.closed.wait(20.0)
    assert asked == []


def test_ctrl_c_closes_every_session_and_so_ends_the_waiting() -> None:
    sessions = {name: _Session() for name in ("s1", "s2", "s3")}
    asking = threading.Barrier(len(sessions))

    def question(switch: Switch, _: object) -> str:
        if asking.wait() == 0:
            _ctrl_c()
        assert sessions[switch.name].closed.wait(20.0), "it was not closed"
        raise Unreachable(switch.name, "closed.")

    with pytest.raises(KeyboardInterrupt):
        ask_switches(_lab(3), question, lambda switch: sessions[switch.name])
    assert all(session.closed.is_set() for session in sessions.values())
