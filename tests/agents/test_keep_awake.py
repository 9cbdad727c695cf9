"""The stream that keeps links awake: one way, evenly, and honest about rounds that came late."""

import json
import signal
from collections.abc import Callable

import pytest

from eee_testbed.agents.keep_awake import COLUMNS, main
from eee_testbed.agents.stream import AgentError
from tests.support.nodes.agent_nodes import Node, Pair, Run, Running

Start = Callable[..., Running]


def _frames(node: Node) -> tuple[int, int]:
    """(received, sent) by the node's interface."""
    (link,) = json.loads(node.ip("-statistics", "link", "show", node.interface))
    return link["stats64"]["rx"]["packets"], link["stats64"]["tx"]["packets"]


@pytest.mark.slow
def test_frames_go_one_way_and_rounds_add_up(own_pair: Pair, start_agent: Start) -> None:
    received, sent = _frames(own_pair.b)
    agent = start_agent(own_pair.a, "keep_awake", own_pair.b.address, "--every-us", "2000")
    for _ in range(3):
        agent.line_with('"rows"')
    agent.signal(signal.SIGTERM)
    ended = agent.ended()
    assert (ended.status, ended.errors) == (0, "")
    told = ended.recording
    assert told.summary["ended_by"] == "SIGTERM"
    assert told.summary["rounds"] == sum(told.column("rounds"))
    assert told.summary["late"] == sum(told.column("late")) <= told.summary["rounds"]
    assert max(told.column("longest_ns")) >= 2_000_000
    assert not any(told.column("refused"))
    received, sent = (after - before for after, before in zip(_frames(own_pair.b), (received, sent), strict=True))
    assert received == told.summary["rounds"]
    assert sent <= received / 20, "a host on which nothing listens says so about once a second"


@pytest.mark.slow
def test_rounds_that_were_missed_are_late_and_not_made_up_for(own_pair: Pair, start_agent: Start) -> None:
    agent = start_agent(own_pair.a, "keep_awake", own_pair.b.address, "--every-us", "1000")
    agent.line_with('"rows"')
    agent.signal(signal.SIGSTOP)
    before, _ = _frames(own_pair.b)
    own_pair.a.run("ping", "-q", "-c", "2", "-i", "1", own_pair.b.address)  # more than a second passes
    agent.signal(signal.SIGCONT)
    agent.line_with('"rows"')
    agent.signal(signal.SIGTERM)
    told = agent.ended().recording
    assert max(told.column("longest_ns")) >= 900_000_000
    assert sum(told.column("late")) >= 1
    after, _ = _frames(own_pair.b)
    assert after - before < told.summary["rounds"] + 10


@pytest.mark.slow
def test_a_refused_frame_is_counted_and_no_end(own_pair: Pair, start_agent: Start) -> None:
    agent = start_agent(own_pair.a, "keep_awake", own_pair.b.address, "192.0.2.1", "--every-us", "5000")
    agent.line_with('"rows"')
    agent.signal(signal.SIGINT)
    told = agent.ended().recording
    assert sum(told.column("refused")) == told.summary["rounds"], "there is no route to one of the two"
    assert {column.name for column in COLUMNS} >= {"refused", "late", "rounds"}


@pytest.mark.parametrize("words", [["127.0.0.1", "--every-us", "5"], ["127.0.0.1", "--every-us", "2e6"]])
def test_a_wrong_pace_is_refused(words: list[str]) -> None:
    with pytest.raises(AgentError, match="--every-us is 20 to"):
        main(words)


def test_an_unknown_host_is_refused_in_a_sentence(own_pair: Pair, run_agent: Run) -> None:
    ended = run_agent(own_pair.a, "keep_awake", "no.such.host.invalid", "--every-us", "250")
    assert ended.status == 1
    assert "no.such.host.invalid' does not resolve" in ended.errors
