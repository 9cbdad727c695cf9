"""Recorders that lack a right are found before a run begins, and none is left behind."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from eee_testbed.lab.errors import DeviceError, Rejected
from eee_testbed.lab.model import Host
from eee_testbed.measuring.experiments.experiment import Recordings
from eee_testbed.measuring.experiments.recordings import require_rights

_HOSTS = [
    Host(name, "lab", "127.0.0.1", 22, f"198.18.0.{number}", bytes(6), "eth0", 1000, 1500)
    for number, name in enumerate(("n01", "n02"), 1)
]


class _Stream:
    """An agent that says why it cannot begin, if its host is one of `refusing`."""

    refusing: tuple[str, ...] = ()
    running: list[str]
    asked: list[str]
    users: list[str]

    def __init__(
        self, host: Host, agent: str, words: Sequence[str], take: Callable[[bytes], None], user: str = ""
    ) -> None:
        del words, take
        self.host, self.agent = host, agent
        self.users.append(user)

    def begin(self) -> None:
        self.running.append(self.host.name)

    def await_first(self) -> None:
        if self.host.name in self.refusing:
            raise Rejected(self.host.name, self.agent, "Operation not permitted")

    def ask_to_end(self) -> None:
        self.asked.append(self.host.name)

    def end(self) -> None:
        self.running.remove(self.host.name)


@pytest.fixture
def streams() -> Iterator[Any]:
    stream = type("Stream", (_Stream,), {"running": [], "asked": [], "users": []})
    yield stream
    assert stream.running == []


def test_a_missing_right_is_named_with_the_option_that_gives_it(streams: Any) -> None:
    streams.refusing = ("n02",)
    with pytest.raises(DeviceError, match="n02: idle_gaps needs CAP_NET_RAW there: give --agent-user root"):
        require_rights(_HOSTS, Recordings(gaps=True), streams)


def test_recorders_that_may_are_started_once_and_ended(streams: Any) -> None:
    require_rights(_HOSTS, Recordings(gaps=True, nodes=True, user="root"), streams)
    assert streams.users == ["root"] * 4


def test_recorders_end_together(streams: Any) -> None:
    """Each takes a quarter of a second to write down what the kernel still has: of many hosts that would be seconds."""

    class EndsWhenAllAreAsked(streams):  # type: ignore[misc]
        def end(self) -> None:
            assert sorted(self.asked) == ["n01", "n02"]
            super().end()

    require_rights(_HOSTS, Recordings(gaps=True), EndsWhenAllAreAsked)


def test_without_recorders_no_host_is_asked(streams: Any) -> None:
    require_rights(_HOSTS, Recordings(traffic=True), streams)
    assert streams.users == []
