"""In which order a ROS port's VLAN lines are typed, so that nothing between them is worse than both ends.

Ports that this driver sets are in `general` mode. While its lines are typed, each VLAN
is at any moment as before or as after: whether its frames come in, and whether and how they go out. An untagged frame
takes the VLAN of before or of after, or is dropped if one of them drops it. So a proof about both holds in between.
"""

from collections.abc import Collection, Iterator

from eee_testbed.controller.model.state import PortState

DEFAULT_VID = 1
_LIST_LETTERS = 100  # longest list in one line; the switch's own limit is beyond it, by how much is not known [M]
_ALL, _TAGGED_ONLY = (f"switchport general acceptable-frame-type {kind}" for kind in ("all", "tagged-only"))
_GENERAL = "switchport mode general"
_FACTORY = PortState()


def vlan_lines(before: PortState, after: PortState) -> tuple[str, ...]:
    """What takes an interface's VLAN settings from `before` to `after`, in interface configuration.

    Each mode of a port keeps settings of its own (55xx System User Guide), and what a port does may be said in several
    modes. If `before` may be access or trunk mode, everything is written into general mode, and the port enters it
    last, all at once; a port that does what a new one does enters it first, as general mode begins with the same
    (configuration of an SG500). A port that keeps other general settings behind another mode is refused when read.
    """
    whole = _may_be_in_another_mode(before)
    lines = tuple(_settings(before, after, whole=whole))
    if not lines or not whole:
        return lines
    same_as_new = _vlan_fields(before) == _vlan_fields(_FACTORY)
    return (_GENERAL, *lines) if same_as_new else (*lines, _GENERAL)


def vid_lists(vids: Collection[int]) -> Iterator[str]:
    """`11-13,20`, in as many pieces as keep a line short; nothing for no VLAN."""
    spans: list[list[int]] = []
    for vid in sorted(vids):
        if spans and spans[-1][1] == vid - 1:
            spans[-1][1] = vid
        else:
            spans.append([vid, vid])
    piece = ""
    for first, last in spans:
        span = str(first) if first == last else f"{first}-{last}"
        if piece and len(piece) + len(span) >= _LIST_LETTERS:
            yield piece
            piece = ""
        piece += f",{span}" if piece else span
    if piece:
        yield piece


def _vlan_fields(port: PortState) -> tuple[object, ...]:
    return port.untagged_vids, port.tagged_vids, port.pvid, port.acceptance, port.ingress_filtering


def _may_be_in_another_mode(port: PortState) -> bool:
    """Access: untagged in its VLAN. Trunk: tagged in others too, or `native vlan none`. Both filter what comes in."""
    if not port.ingress_filtering:
        return False
    if port.acceptance == "all":
        return port.untagged_vids == {port.pvid}
    return not port.untagged_vids


def _drops_untagged(port: PortState) -> bool:
    return port.acceptance == "tagged" or (port.ingress_filtering and port.pvid not in port.vids)


def _settings(before: PortState, after: PortState, *, whole: bool) -> Iterator[str]:
    """Join VLANs, then PVID and filter, then leave VLANs; frames without a tag wait outside if an end drops them.

    A port that takes no untagged frames may do so by PVID 4095: the line that keeps them out is typed all the same.
    """
    if _vlan_fields(before) == _vlan_fields(after):
        return
    shut_out = _drops_untagged(before) or _drops_untagged(after)
    if shut_out:
        yield _TAGGED_ONLY
    for kind in ("untagged", "tagged"):
        aim: frozenset[int] = getattr(after, f"{kind}_vids")
        for vids in vid_lists(aim if whole else aim - getattr(before, f"{kind}_vids")):
            yield f"switchport general allowed vlan add {vids} {kind}"
    yield from _pvid_and_filter(before, after, whole=whole)
    leaving = before.vids | ({DEFAULT_VID} if whole else set())
    for vids in vid_lists(leaving - after.vids):
        yield f"switchport general allowed vlan remove {vids}"
    if after.acceptance == "all" and (shut_out or whole):
        yield _ALL


def _pvid_and_filter(before: PortState, after: PortState, *, whole: bool) -> Iterator[str]:
    """A filter falls before the PVID moves to a VLAN that it would keep out, and rises after.

    Behind PVID 4095 another shows: on a port that is to take untagged frames again, it is written in any case.
    """
    pvid = f"switchport general pvid {after.pvid}"
    welcome = before.acceptance == "tagged" and after.acceptance == "all"
    word = "no " if after.ingress_filtering else ""
    ingress = f"{word}switchport general ingress-filtering disable"
    wanted = {pvid: welcome or before.pvid != after.pvid, ingress: before.ingress_filtering != after.ingress_filtering}
    for line in (pvid, ingress) if after.ingress_filtering else (ingress, pvid):
        if whole or wanted[line]:
            yield line
