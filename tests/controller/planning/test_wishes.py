"""Wishes outlive the program in journals: each is read back as it was written."""

from typing import Annotated, Final, get_args

import pytest
from pydantic import Field, TypeAdapter

from eee_testbed.controller.planning.wishes import (
    Eee,
    FlowControl,
    LinkLevels,
    LinkOff,
    LinkOn,
    LinkSpeed,
    MultiTree,
    Regulated,
    SetUpLag,
    TakeDownLag,
    Wish,
)

_WISHES: Final[dict[str, Wish]] = {
    '{"policy":"one","roots":["sw1"],"trees_per_switch":1,"trees":[[["sw1"],[4]]],"off":[5],"statics":"needed",'
    '"kind":"multi-tree"}': MultiTree("one", ("sw1",), trees=((("sw1",), frozenset({4})),), off=(5,)),
    '{"link":"sw1:lag1--sw2:lag1","leave":false,"may_lose":true,"kind":"link off"}': LinkOff(
        "sw1:lag1--sw2:lag1", may_lose=True
    ),
    '{"link":"sw1:t1--sw2:t1","may_lose":false,"kind":"link on"}': LinkOn("sw1:t1--sw2:t1"),
    '{"links":["a","b"],"level":"half","kind":"link levels"}': LinkLevels(("a", "b"), "half"),
    '{"links":["a"],"speed_mbps":null,"kind":"link speed"}': LinkSpeed(("a",), None),
    '{"links":["a"],"on":true,"hold_us":300,"may_flap":true,"kind":"eee"}': Eee(("a",), True, 300, True),
    '{"links":["a"],"on":false,"may_flap":false,"kind":"flow control"}': FlowControl(("a",), on=False),
    '{"link":"sw1:lag1","kind":"set up lag"}': SetUpLag("sw1:lag1"),
    '{"link":"sw1:lag1","kind":"take down lag"}': TakeDownLag("sw1:lag1"),
    '{"routes":[[["n1"],[4]]],"on":[4],"off":[],"speed_mbps":{"4":null},"eee":{"4":true},"cables":{},"hold_us":null,'
    '"spared":[12],"kind":"regulated"}': Regulated(
        ((("n1",), frozenset({4})),), frozenset({4}), speed_mbps={4: None}, eee={4: True}, spared=frozenset({12})
    ),
}
"""By the line that this version writes; one that it does not write any more has to be read all the same."""


def test_the_lines_have_every_kind() -> None:
    assert {type(wish) for wish in _WISHES.values()} == set(get_args(Wish))


@pytest.mark.parametrize("line", _WISHES)
def test_a_wish_is_written_and_read_as_this_line(line: str) -> None:
    stored: TypeAdapter[Wish] = TypeAdapter(Annotated[Wish, Field(discriminator="kind")])
    assert stored.dump_json(_WISHES[line]).decode() == line
    assert stored.validate_json(line) == _WISHES[line]
