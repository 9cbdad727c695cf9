"""Answers that are too long for the reader, or for a path that loses IP fragments: shorter ones are asked for."""

from collections.abc import Iterator

import pytest

from eee_testbed.controller.transports.snmp import _PATIENCE, Agent, _Portion
from eee_testbed.controller.transports.snmp_access import SnmpAccess
from eee_testbed.lab.errors import Unreachable, Unreadable
from eee_testbed.lab.model import Secret
from tests.support.switches.udp_agent import ADDRESS, UdpAgent

EGRESS = "1.3.6.1.2.1.17.7.1.4.3.1.2"
ROWS = {f"{EGRESS}.{vid}": bytes([vid]) * 300 for vid in range(1, 61)}
PATIENCE = tuple((timeout_s / 10, tries) for timeout_s, tries in _PATIENCE)
ONE_FRAME_BYTE = 1472


@pytest.fixture
def secret(monkeypatch: pytest.MonkeyPatch) -> Secret:
    monkeypatch.setenv("TOY_COMMUNITY", "lab")
    return Secret(variable="TOY_COMMUNITY")


@pytest.fixture
def toy() -> Iterator[UdpAgent]:
    with UdpAgent(ROWS) as agent:
        yield agent


def manager(toy: UdpAgent, secret: Secret) -> Agent:
    return Agent(SnmpAccess("sw1", ADDRESS, toy.port, secret, None), PATIENCE)


@pytest.mark.parametrize("whole_byte", [65_507, ONE_FRAME_BYTE])
def test_a_walk_with_long_answers_is_whole(toy: UdpAgent, secret: Secret, whole_byte: int) -> None:
    toy.whole_byte = whole_byte
    agent = manager(toy, secret)
    assert agent.walk(EGRESS) == {str(vid): bytes([vid]) * 300 for vid in range(1, 61)}
    assert max(toy.sizes) > 4096
    assert len(agent.walk(EGRESS)) == len(ROWS)  # once more with all rows, as the answer may have been lost by chance
    toy.sizes.clear()
    assert len(agent.walk(EGRESS)) == len(ROWS)
    assert max(toy.sizes) <= min(4096, whole_byte)  # what a column needs is remembered


@pytest.mark.parametrize("whole_byte", [65_507, ONE_FRAME_BYTE])
def test_objects_with_long_answers_are_all_read(toy: UdpAgent, secret: Secret, whole_byte: int) -> None:
    toy.whole_byte = whole_byte
    found = manager(toy, secret).get([*ROWS, f"{EGRESS}.99"])
    assert found == ROWS


def test_answers_lost_by_chance_are_forgotten() -> None:
    portion = _Portion()
    portion.shrink(7, for_good=False)
    portion.succeeded()
    assert portion.limit is None
    portion.succeeded()
    portion.shrink(7, for_good=False)
    portion.shrink(1, for_good=False)
    portion.succeeded()
    assert portion.limit is None
    portion.shrink(7, for_good=False)  # the try after a success failed too
    portion.succeeded()
    assert portion.limit == 7


def test_as_much_as_came_before_is_asked_for_again_until_the_last_try_but_one(secret: Secret) -> None:
    """Silence is then more likely chance: one row an answer would make the table 30 times as long."""
    short = {f"1.3.6.1.2.1.31.1.1.1.1.{n}": f"gi{n}".encode() for n in range(1, 101)}
    with UdpAgent(short) as toy:
        agent = manager(toy, secret)
        agent.walk("1.3.6.1.2.1.31.1.1.1.1")
        toy.asked.clear()
        toy.ignored = PATIENCE[0][1] - 2
        assert len(agent.walk("1.3.6.1.2.1.31.1.1.1.1")) == len(short)
        assert set(toy.asked) == {30}
        toy.ignored = PATIENCE[0][1] - 1
        assert len(agent.walk("1.3.6.1.2.1.31.1.1.1.1")) == len(short)
        assert min(toy.asked) < 30


def test_other_columns_are_asked_for_as_before(secret: Secret) -> None:
    names = {f"1.3.6.1.2.1.31.1.1.1.1.{n}": f"gi{n}".encode() for n in range(1, 53)}
    with UdpAgent({**ROWS, **names}) as toy:
        agent = manager(toy, secret)
        agent.walk(EGRESS)
        toy.asked.clear()
        assert len(agent.walk("1.3.6.1.2.1.31.1.1.1.1")) == len(names)
        assert set(toy.asked) == {30}


def test_a_slow_agent_is_asked_for_everything_again(toy: UdpAgent, secret: Secret) -> None:
    toy.ignored = PATIENCE[0][1]
    assert len(manager(toy, secret).walk(EGRESS)) == len(ROWS)
    assert toy.asked[0] == 30


@pytest.mark.slow
def test_an_agent_that_was_slow_once_may_lose_as_many_requests_as_before(toy: UdpAgent, secret: Secret) -> None:
    """It is asked with long timeouts from then on: of a fifth that is lost, three in a row come every few walks."""
    agent = manager(toy, secret)
    toy.ignored = PATIENCE[0][1]
    agent.walk(EGRESS)
    for _ in range(2):
        toy.ignored = PATIENCE[0][1] - 1
        assert len(agent.walk(EGRESS)) == len(ROWS)


def test_one_row_that_does_not_fit_is_an_error(secret: Secret) -> None:
    with UdpAgent({f"{EGRESS}.1": b"\1" * 5000}) as toy, pytest.raises(Unreadable, match="sw1"):
        manager(toy, secret).walk(EGRESS)


@pytest.mark.slow
def test_an_agent_that_is_silent_is_unreachable(toy: UdpAgent, secret: Secret) -> None:
    toy.ignored = 1_000
    for read in (lambda agent: agent.walk(EGRESS), lambda agent: agent.get(list(ROWS))):
        with pytest.raises(Unreachable, match="did not answer"):
            read(manager(toy, secret))
