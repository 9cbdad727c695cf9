"""What a switch family can express, as data."""

from dataclasses import dataclass

from eee_testbed.lab.model import RATES_MBPS


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a family can express. None: unknown; then settings are sent and read back."""

    multi_untagged: bool
    """A port may be an untagged member of many VLANs (`facts`: decisive for host ports that untag)."""

    eee_settable: bool
    hold_settable: bool
    flow_control_settable: bool
    static_entries: int | None
    """Most static unicast entries of a switch."""

    static_entries_per_port: int | None
    vlans: int | None
    """Most VLANs at once, the default one included."""

    reserved_vids: frozenset[int] = frozenset()
    """VIDs that the family reserves."""

    speeds_mbps: tuple[int, ...] = RATES_MBPS
    """Speeds that a port can be fixed to, up to its own rate."""

    bare_pvid: bool = True
    """A port keeps a PVID even if it is not a member of that VLAN, or accepts tagged frames only."""

    hold_least_us: int = 0
    """Shortest hold time that can be set, microseconds."""

    lag_members_settable: bool = True
    """A port can be taken out of a LAG that exists, and put back."""

    lags_settable: bool = False
    """A LAG comes to be when ports join it, and ceases to be when the last one leaves."""

    lag_filters: bool = True
    """A LAG filters what comes in as soon as ports join it (802.1Q, ingress filtering)."""

    lag_members_match: bool = False
    """A port keeps the LAG's VLANs when it leaves, and must have them before it joins."""
