"""States of a switch for hypothesis: those that a family without limits could be configured to."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from eee_testbed.controller.model.state import Change, PortChange, PortState, SwitchState

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

VIDS = tuple(range(11, 17))
MACS = tuple(bytes((2, 0xEE, 0, 0, 0, n)) for n in range(1, 6))


@st.composite
def memberships(draw: Any, vids: Sequence[int]) -> dict[str, Any]:
    """Fields of `PortState` for VLANs; every VLAN is one of `vids`."""
    kinds = {vid: draw(st.sampled_from("tun")) for vid in vids}
    return {
        "tagged_vids": frozenset(vid for vid, kind in kinds.items() if kind == "t"),
        "untagged_vids": frozenset(vid for vid, kind in kinds.items() if kind == "u"),
        "pvid": draw(st.sampled_from(vids)),
        "acceptance": draw(st.sampled_from(["all", "tagged"])),
        "ingress_filtering": draw(st.booleans()),
    }


@st.composite
def ports(draw: Any, vids: Sequence[int], before: PortState, options: Mapping[str, Sequence[Any]]) -> PortState:
    """Another state of a port: some fields as they were, the others drawn; `options` are values of further fields."""
    fields: dict[str, Any] = {}
    if before.lag is None and (draw(st.booleans()) or not before.vids | {before.pvid} <= set(vids)):
        fields |= draw(memberships(vids))
    for name, values in options.items():
        if draw(st.booleans()):
            fields[name] = draw(st.sampled_from(values))
    return replace(before, **fields)


@st.composite
def targets(
    draw: Any, before: SwitchState, options: Mapping[str, Mapping[str, Sequence[Any]]], static_ports: Sequence[str]
) -> SwitchState:
    """A state that the switch is to reach. `options`: values of each port's further fields."""
    vids = (1, *sorted(draw(st.sets(st.sampled_from(VIDS)))))
    table = {
        vid: draw(st.dictionaries(st.sampled_from(MACS), st.sampled_from(static_ports), max_size=4))
        for vid in vids
        if static_ports and draw(st.booleans())
    }
    return SwitchState(
        {name: draw(ports(vids, port, options.get(name, {}))) for name, port in before.ports.items()},
        frozenset(vids),
        {vid: entries for vid, entries in table.items() if entries},
        draw(st.booleans()),
    )


def between(change: Change, wire: Mapping[str, Any]) -> bool:
    """Whether a port is, in what it does with frames, between the ends of a change."""
    assert isinstance(change, PortChange)
    before, after = change.before, change.after
    now = wire["untagged_vids"] | wire["tagged_vids"]
    return (
        (before.vids & after.vids) <= now <= (before.vids | after.vids)
        and wire["untagged_vids"] <= before.untagged_vids | after.untagged_vids
        and wire["tagged_vids"] <= before.tagged_vids | after.tagged_vids
        and wire["pvid"] in {before.pvid, after.pvid}
        and wire["acceptance"] in {before.acceptance, after.acceptance}
        and wire["ingress_filtering"] in {before.ingress_filtering, after.ingress_filtering}
    )
