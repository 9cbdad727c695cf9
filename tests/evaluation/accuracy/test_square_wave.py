"""How often a link may go off under load that comes and goes, told from a run's events."""

from collections.abc import Iterable
from typing import Any

from eee_testbed.record.event_kinds import EventKind
from tests.support.labs.square_wave import Wave, long_rests

_LINK = "sw1 - sw2"


def _events(*turns: tuple[int, int]) -> Iterable[dict[str, Any]]:
    """A link is active for so many epochs and then not for so many, and so on."""
    for active, not_needed in turns:
        yield from [{"kind": EventKind.LOOP_EPOCH}] * active
        yield {"kind": EventKind.LOOP_DECIDED, "link": _LINK, "before": "active", "after": "shadow"}
        yield {"kind": EventKind.LOOP_DECIDED, "link": _LINK, "before": "shadow", "after": "off"}
        yield from [{"kind": EventKind.LOOP_EPOCH}] * not_needed
        yield {"kind": EventKind.LOOP_DECIDED, "link": _LINK, "before": "off", "after": "waking"}
        yield {"kind": EventKind.LOOP_DECIDED, "link": _LINK, "before": "waking", "after": "active"}


def test_a_rest_of_a_hundred_deactivation_epochs_is_long() -> None:
    assert long_rests(_events((2, 199), (4, 30)), 2) == {_LINK: 0}
    assert long_rests(_events((2, 200), (4, 30)), 2) == {_LINK: 1}


def test_a_rest_is_long_beside_what_the_link_had_to_be_active() -> None:
    soon = [(2**number, 30) for number in range(1, 8)]
    assert long_rests(_events(*soon, (256, 1000)), 2) == {_LINK: 0}
    assert long_rests(_events(*soon, (256, 1024)), 2) == {_LINK: 1}


def test_only_long_rests_excuse_a_link_that_goes_off_more_often_than_doubling_allows() -> None:
    wave = Wave(1000, 30, {_LINK: 12}, {_LINK: 12}, 10, 10, 0, (), (), rests={_LINK: 2})
    assert wave.most_offs(_LINK) == 12
    assert not wave.faults
    assert Wave(1000, 30, {_LINK: 13}, {_LINK: 12}, 10, 10, 0, (), (), rests={_LINK: 2}).faults
