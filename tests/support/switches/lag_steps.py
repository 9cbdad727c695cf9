"""Settings of ports by which plans set LAG 7 of two ports up and take it down again: ports are shut meanwhile."""

from dataclasses import replace
from typing import Final

from eee_testbed.controller.model.state import PortState

_SHUT: Final = PortState(admin_up=False)
_INSIDE: Final = replace(_SHUT, lag=7)

Steps = tuple[tuple[str, PortState], ...]
"""A port, and what it is set to, one after the other."""


def lag_set_up(first: str, second: str) -> Steps:
    """Both join, the LAG gets VLAN 3 instead of VLAN 1, and both are woken."""
    tagged = PortState(untagged_vids=frozenset(), tagged_vids=frozenset({3}), pvid=1, acceptance="tagged")
    up = replace(_INSIDE, admin_up=True)
    joined = ((first, _SHUT), (second, _SHUT), (first, _INSIDE), (second, _INSIDE), ("lag7", tagged))
    return (*joined, (first, up), (second, up))


def lag_taken_down(first: str, second: str) -> Steps:
    """Both are shut, the LAG is as from the factory, and both leave."""
    return ((first, _INSIDE), (second, _INSIDE), ("lag7", PortState()), (second, _SHUT), (first, _SHUT))
