"""Forms that a port takes on switches that cannot hold every combination of memberships and PVID. Pure."""

from dataclasses import replace

from controller.model.state import PortState


def one_untagged(port: PortState) -> PortState:
    """A port as a switch has it that untags the PVID's VLAN only: a trunk with a native VLAN.

    Same memberships and PVID. Untagged frames come in if, and only if, it is a member of the PVID's VLAN; frames of
    VLANs that it is no member of never do.
    """
    inside = port.vids & {port.pvid}
    return replace(
        port,
        untagged_vids=inside,
        tagged_vids=port.vids - inside,
        acceptance="all" if inside else "tagged",
        ingress_filtering=True,
    )


def without_bare_pvid(port: PortState) -> PortState:
    """A port as a switch has it that keeps a PVID only where it takes untagged frames: any other is PVID 1, "tagged".

    Same memberships. It takes the same frames: ingress filtering drops those of a PVID that it is no member of.
    """
    if port.acceptance == "all" and port.pvid in port.vids:
        return replace(port, ingress_filtering=True)
    return replace(port, pvid=1, acceptance="tagged", ingress_filtering=True)
