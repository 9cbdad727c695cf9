"""Frames walked through a lab's settings one by one, after 802.1Q alone: what plans and their checks are judged by.

Shares nothing with `controller.planning.broadcast`. Spanning tree is not modelled: for states without.
"""

from collections.abc import Iterable

from eee_testbed.controller.model.state import Change, Draft, State
from eee_testbed.lab.model import End, Lab, Lag, Link


def _accepts(state: State, end: End, tag: int | None) -> int | None:
    """The VLAN that a frame is in once the port has let it in; None if it is dropped."""
    port = state.port(end.device, end.port)
    if tag is None and port.acceptance == "tagged":
        return None
    vid = port.pvid if tag is None else tag
    if port.ingress_filtering and vid not in port.untagged_vids | port.tagged_vids:
        return None
    return vid


def _in_lag(state: State, lag: Lag, cable: Link) -> int | None:
    """At how many ends a cable that is up is a member; None if it is shut."""
    ends = [state.port(end.device, end.port) for end in (cable.a, cable.b)]
    return sum(end.lag == lag.number for end in ends) if all(end.admin_up for end in ends) else None


def _working_lags(lab: Lab, state: State) -> list[Link]:
    """LAGs with a cable that is up, and a member at both ends; and cables that are up and none at either."""
    found = [lag.link for lag in lab.lags if any(_in_lag(state, lag, cable) == 2 for cable in lag.members)]
    return found + [cable for lag in lab.lags for cable in lag.members if _in_lag(state, lag, cable) == 0]


def flood(lab: Lab, state: State, host: str, target: str | None = None) -> tuple[set[str], bool]:
    """Send one frame from a host (to `target`'s address, or to all); who gets it untagged, and whether it circles."""
    far = {}
    in_lags = {cable for lag in lab.lags for cable in lag.members}
    for link in (*(cable for cable in lab.links if cable not in in_lags), *_working_lags(lab, state)):
        far[link.a], far[link.b] = link.b, link.a
    popping = {known.name for known in lab.hosts if known.pops_tags}
    switches = {switch.name: switch for switch in lab.switches}
    mac = lab.host(target).mac if target else b""
    got: set[str] = set()
    seen: set[tuple[End, int]] = set()
    start = far[End(host, lab.host(host).interface)]
    queue: list[tuple[End, int | None]] = [(start, None)] if state.port(start.device, start.port).admin_up else []
    for end, tag in queue:
        vid = _accepts(state, end, tag)
        if vid is None:
            continue
        if (end, vid) in seen:
            return got, True
        seen.add((end, vid))
        fixed = state.switches[end.device].statics.get(vid, {}).get(mac)
        for name, out in state.switches[end.device].ports.items():
            here = End(end.device, name)
            if here == end or not out.admin_up or here not in far or (fixed is not None and name != fixed):
                continue
            if vid not in out.untagged_vids | out.tagged_vids:
                continue
            sent = vid if vid in out.tagged_vids else None
            there = far[here]
            if there.device not in switches:
                got |= {there.device} if sent is None or there.device in popping else set()
            elif state.port(there.device, there.port).admin_up:
                queue.append((there, sent))
    return got, False


def harms(lab: Lab, state: State) -> set[str]:
    """`loop` if any host's broadcast circles, `cut` if some host does not reach another, by broadcast or by unicast.

    `swallow` if a cable is up that is a member of its LAG at one end only: what that end sends on it is lost.
    """
    found = {"swallow" for lag in lab.lags for cable in lag.members if _in_lag(state, lag, cable) == 1}
    names = [host.name for host in lab.hosts]
    for name in names:
        got, circles = flood(lab, state, name)
        found |= {"loop"} if circles else set()
        found |= {"cut"} if not set(names) - {name} <= got else set()
        if not circles:
            for other in names:
                if other != name and other not in flood(lab, state, name, other)[0]:
                    found.add("cut")
    return found


def walked(lab: Lab, state: State, changes: Iterable[Change]) -> State:
    """The state after the changes; frames come to no harm after each, unless a spanning tree decides their way."""
    draft = Draft(state)
    for change in changes:
        draft.apply(change)
        now = draft.freeze()
        if not any(switch.stp for switch in now.switches.values()):
            assert not harms(lab, now), change
    return draft.freeze()
