"""Frames of management walked through a lab's settings one by one, a spanning tree worked out port by port.

What plans and their proof are judged by where switches are managed in band. Shares nothing with
`controller.planning.broadcast`: it takes one world after the other, in which everything is known (who wins the
election, what switches without spanning tree do with its messages); the proof has to hold in all of them. LAGs are not
modelled.
"""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Literal

from eee_testbed.controller.model.state import State
from eee_testbed.lab.model import Lab

Place = tuple[str, str]
"""A switch and a port of it."""

Vector = tuple[str, int, str, str]
"""What a message of spanning tree says, the better the smaller: root, cost to it, sender, and the sender's port."""


@dataclass(frozen=True, slots=True)
class World:
    """What no state shows. `order`: switches, the best to be root first.

    `passive`: what a switch that does not speak spanning tree does with its messages: it drops them, floods them like
    any untagged frame, or sends them out of every port whatever its VLANs are.
    """

    order: tuple[str, ...]
    passive: Literal["drop", "flood", "repeat"]


def worlds(lab: Lab, states: Sequence[State]) -> Iterator[World]:
    """Every world that differs for the spanning trees of some states: orders of the switches that speak it."""
    speaking = [switch.name for switch in lab.switches if any(state.switches[switch.name].stp for state in states)]
    silent = tuple(switch.name for switch in lab.switches if switch.name not in speaking)
    for order in permutations(speaking):
        for passive in ("drop", "flood", "repeat"):
            yield World((*order, *silent), passive)  # type: ignore[arg-type]


def _far(lab: Lab, state: State) -> dict[Place, Place]:
    """The other end of each cable between switches that is up."""
    far: dict[Place, Place] = {}
    for link in lab.trunks():
        one, other = ((end.device, end.port) for end in (link.a, link.b))
        if state.port(*one).admin_up and state.port(*other).admin_up:
            far[one], far[other] = other, one
    return far


def _speaks(state: State, place: Place) -> bool:
    return state.switches[place[0]].stp and state.port(*place).stp


def _enters(state: State, place: Place, tag: int | None) -> int | None:
    """The VLAN that a frame is in once a port has let it in; None if it is dropped."""
    port = state.port(*place)
    vid = port.pvid if tag is None else tag
    if (tag is None and port.acceptance == "tagged") or vid not in state.switches[place[0]].vids:
        return None
    return None if port.ingress_filtering and vid not in port.vids else vid


def _exits(state: State, here: Place, vid: int, far: Mapping[Place, Place]) -> Iterator[tuple[Place, int | None]]:
    """The ports by which a frame in a VLAN leaves a switch that it came to at `here`, and the tag that it then has."""
    name, port = here
    for out, settings in state.switches[name].ports.items():
        if out != port and (name, out) in far and vid in settings.vids:
            yield (name, out), vid if vid in settings.tagged_vids else None


def _hearers(state: State, sender: Place, far: Mapping[Place, Place], passive: str) -> set[Place]:
    """Ports that speak spanning tree and get the messages that one sends."""
    found: set[Place] = set()
    seen: set[tuple[Place, int | None]] = set()
    queue: list[tuple[Place, int | None]] = [(far[sender], None)]
    for place, tag in queue:
        if (place, tag) in seen:
            continue
        seen.add((place, tag))
        if _speaks(state, place):
            found |= {place} if tag is None else set()
        elif not state.switches[place[0]].stp and passive == "repeat":
            queue += [(far[place[0], out], None) for out in state.switches[place[0]].ports if (place[0], out) in far]
        elif not state.switches[place[0]].stp and passive == "flood":
            vid = _enters(state, place, tag)
            if vid is not None:
                queue += [(far[out], tagged) for out, tagged in _exits(state, place, vid, far)]
    return found


def _cost(state: State, place: Place, far: Mapping[Place, Place]) -> int:
    """Of 802.1D-1998, as the slower end is set."""
    speeds = {state.port(*end).speed_mbps or 1000 for end in (place, far[place])}
    return {1000: 4, 100: 19, 10: 100}[min(speeds)]


def blocked(state: State, world: World, far: Mapping[Place, Place]) -> set[Place]:
    """Ports that the spanning tree of a world blocks."""
    rank = {name: f"{number:03}" for number, name in enumerate(world.order)}
    ports = sorted(place for place in far if _speaks(state, place))
    heard: dict[Place, list[Place]] = {place: [] for place in ports}
    for sender in ports:
        for place in _hearers(state, sender, far, world.passive):
            heard[place].append(sender)
    root = {name: (rank[name], 0) for name in rank}
    best: dict[str, Place | None] = dict.fromkeys(rank)
    for _ in rank:
        said: dict[Place, Vector] = {place: (*root[place[0]], rank[place[0]], place[1]) for place in ports}
        for name, own in rank.items():
            offers = [
                ((said[other][0], said[other][1] + _cost(state, place, far)), said[other][2:], place)
                for place in ports
                for other in heard[place]
                if place[0] == name and other[0] != name
            ]
            chosen = min(offers, default=None)
            root[name], best[name] = (own, 0), None
            if chosen is not None and chosen[0] < (own, 0):
                root[name], best[name] = chosen[0], chosen[2]
    said = {place: (*root[place[0]], rank[place[0]], place[1]) for place in ports}
    return {
        place
        for place in ports
        if place != best[place[0]] and any(said[other] < said[place] for other in heard[place] if other != place)
    }


def answering(lab: Lab, state: State, way_in: tuple[str, int], world: World) -> frozenset[str]:
    """Switches that frames from `way_in`, a switch and a VLAN, reach in that VLAN, and whose answers come back."""
    far = _far(lab, state)
    shut = blocked(state, world, far)
    entry, vid = way_in
    return frozenset(
        switch.name
        for switch in lab.switches
        if switch.name in _walk(state, entry, vid, far, shut) and entry in _walk(state, switch.name, vid, far, shut)
    )


def _walk(state: State, start: str, vid: int, far: Mapping[Place, Place], shut: set[Place]) -> set[str]:
    """Switches where a frame arrives in the VLAN that it was sent into."""
    if vid not in state.switches[start].vids:
        return set()
    got = {start}
    seen: set[tuple[Place, int]] = set()
    queue: list[tuple[Place, int]] = [((start, ""), vid)]
    for here, now in queue:
        for out, tag in _exits(state, here, now, far):
            there = far[out]
            came = _enters(state, there, tag) if out not in shut and there not in shut else None
            if came is not None and (there, came) not in seen:
                seen.add((there, came))
                queue.append((there, came))
                got |= {there[0]} if came == vid else set()
    return got


@dataclass(frozen=True, slots=True)
class Lockout:
    """Switches that answered and do not any more, after which state, in which world."""

    number: int
    world: World
    lost: frozenset[str]


def first_lockout(lab: Lab, states: Sequence[State], way_in: tuple[str, int]) -> Lockout | None:
    """The first of some states in which a switch that answers in the first of them does not.

    Worlds in which a switch does not answer in the first state are left out, as it was read; some world has to be left.
    """
    names = frozenset(switch.name for switch in lab.switches)
    known: dict[Hashable, frozenset[str]] = {}

    def answers(state: State, world: World) -> frozenset[str]:
        key = _what_matters(lab, state, world)
        if key not in known:
            known[key] = answering(lab, state, way_in, world)
        return known[key]

    possible = [world for world in worlds(lab, states) if answers(states[0], world) == names]
    assert possible, "no switch could have been read"
    for number, state in enumerate(states[1:], start=1):
        for world in possible:
            if lost := names - answers(state, world):
                return Lockout(number, world, lost)
    return None


def _what_matters(lab: Lab, state: State, world: World) -> Hashable:
    """What the answers in a state depend on: no world matters without a loop of cables that are up."""
    ends = [end for link in lab.trunks() for end in (link.a, link.b)]
    ports = tuple(state.port(end.device, end.port) for end in ends)
    switches = tuple((switch.vids, switch.stp) for switch in state.switches.values())
    speaking = tuple(name for name in world.order if state.switches[name].stp and _has_loop(lab, state))
    return ports, switches, speaking, world.passive if 0 < len(speaking) < len(world.order) else ""


def _has_loop(lab: Lab, state: State) -> bool:
    part = {switch.name: switch.name for switch in lab.switches}
    for one, other in _far(lab, state).items():
        if one < other:
            old, new = part[one[0]], part[other[0]]
            if old == new:
                return True
            part = {name: new if own == old else own for name, own in part.items()}
    return False
