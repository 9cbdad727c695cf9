"""Forms that a port takes on switches that cannot hold every combination of memberships and PVID. Pure."""

from dataclasses import replace

from eee_testbed.controller.model.state import PortState


def one_untagged(port: PortState) -> PortState:
    """The form of a port on a switch that untags the PVID's VLAN only: a trunk with a native VLAN.

    Same memberships and PVID. The port accepts untagged frames if, and only if, it is a member of the PVID's VLAN, and
    never accepts frames of VLANs that it is not a member of.
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
    """The form of a port on a switch that keeps a PVID only for untagged frames: any other has PVID 1 and "tagged".

    Same memberships. It accepts the same frames: ingress filtering drops those of a PVID without membership.
    """
    if port.acceptance == "all" and port.pvid in port.vids:
        return replace(port, ingress_filtering=True)
    return replace(port, pvid=1, acceptance="tagged", ingress_filtering=True)
