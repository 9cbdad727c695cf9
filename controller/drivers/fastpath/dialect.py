"""What sets the FASTPATH families apart, as data: words, prompts, names of ports, limits.

Sources: Netgear M4300 CLI manual 202-11997 and what others measured on M4300 and GSM7252PS; Dell PowerConnect 62xx and
N-series by published transcripts and configurations (PowerConnect 6224 with firmware 3.3, N2048 and N3224 with OS6) and
what the manuals of their kin say. [M] marks words that rest on memory alone.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from eee_testbed.controller.drivers.login import DELL_OS6, DELL_POWERCONNECT, NETGEAR_PROSAFE, Login
from eee_testbed.controller.model.capabilities import Capabilities

Pair = tuple[str, str]
"""A line for yes and a line for no."""

VID_MAX = 4093
"""FASTPATH keeps 4094 and 4095 for itself (PowerConnect 7048 manual, "Default VLAN Behavior")."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """One family. `{vids}`, `{vid}`, `{mbps}`, `{us}`, `{name}`, `{mac}` and `{port}` are filled in."""

    family: str
    login: Login
    capabilities: Capabilities

    # -- modes: what enters them, and the prompt that shows that they were entered
    config_prompt: str
    interface: str
    interface_prompt: str
    lag_interface: str
    lag_prompt: str
    lag_if_name: str
    """ifName of LAG `{name}` (a number), in IF-MIB."""

    interface_word: str
    """Stands before the name of a port in a configuration, empty if nothing does."""

    # -- VLANs
    vlan_modes: tuple[Pair, ...]
    """Modes to enter, from privileged mode, before VLANs are made: (line, prompt)."""

    vlan_prompt: str
    """The prompt after a line that makes VLANs."""

    vlan_submode: bool
    """The line that makes VLANs enters a mode of its own."""

    join_tagged: tuple[str, ...]
    join_untagged: tuple[str, ...]
    leave: str
    pvid: str
    tagged_only: Pair
    ingress_filter: Pair
    factory_mode: Literal["access", "general"]
    """The mode of a port without a mode line."""

    lines_wait: bool
    """Lines of general mode are taken in other modes too, and wait for theirs; else they are refused there."""

    trunks_follow: bool
    """A port in trunk mode is a member of every VLAN that comes to exist, as from the factory."""

    trim_trunks: str
    """Keeps ports in trunk mode out of VLANs that do not exist yet; empty if the family is not known to take it."""

    # -- link
    speed_fixed: tuple[str, ...]
    speed_auto: tuple[str, ...]
    rates_mbps: Mapping[int, tuple[int, ...]]
    """What a port of that fastest rate can be held to."""

    flow_control: Pair | None
    flow_control_factory: bool
    stp_port: Pair
    eee: Pair | None
    hold: Pair | None

    # -- LAGs
    join_lag: str
    """`{lag}` is the number, `{mode}` the mode where the family has one."""

    leave_lag: str
    static_lag: str = field(kw_only=True, default="")
    """What makes a LAG static, typed at the LAG, where it speaks LACP from the factory."""

    # -- the rest
    statics: Literal["port-security", "interface-vlan", "table"]
    save: str
    identity: Literal["version", "config"]


EXEC_PROMPT = r".*[^)]#\s*$"
MAX_STATIC_OF_PORT = 20
"""M4300: `port-security max-static` takes 0 to 20 (CLI manual 202-11997, "Port Security")."""

HOLD_MAX_US = 4_294_977_295
"""`green-mode eee tx-idle-time` (CLI manual 202-11997, "Green Ethernet"); 0 there is the hardware's own."""

RATE_WORDS = {10: "10", 100: "100", 1000: "1000", 2500: "2.5G", 5000: "5G", 10_000: "10G"}

M4300 = Dialect(
    family="netgear_m4300",
    login=NETGEAR_PROSAFE,
    capabilities=Capabilities(
        multi_untagged=True,
        eee_settable=True,
        hold_settable=True,
        hold_least_us=1,  # 0 is the line's absence
        flow_control_settable=True,
        static_entries=None,
        static_entries_per_port=MAX_STATIC_OF_PORT,
        vlans=VID_MAX,
        lags_settable=True,
        lag_filters=False,
    ),
    config_prompt=r".*\(Config\)#\s*$",
    interface="interface {name}",
    interface_prompt=r".*\(Interface {name}\)#\s*$",
    lag_interface="interface lag {name}",
    lag_prompt=r".*\(Interface lag {name}\)#\s*$",
    lag_if_name="lag {name}",
    interface_word="",
    vlan_modes=(("vlan database", r".*\(Vlan\)#\s*$"),),
    vlan_prompt=r".*\(Vlan\)#\s*$",
    vlan_submode=False,
    join_tagged=("vlan tagging {vids}", "vlan participation include {vids}"),
    join_untagged=("no vlan tagging {vids}", "vlan participation include {vids}"),
    leave="vlan participation exclude {vids}",
    pvid="vlan pvid {vid}",
    tagged_only=("vlan acceptframe vlanonly", "vlan acceptframe all"),
    ingress_filter=("vlan ingressfilter", "no vlan ingressfilter"),
    factory_mode="general",
    lines_wait=True,
    trunks_follow=True,
    trim_trunks="switchport trunk allowed vlan remove {vids}",
    speed_fixed=("speed auto {mbps}",),
    speed_auto=("speed auto",),
    rates_mbps={1000: (10, 100, 1000), 10_000: (100, 1000, 10_000)},
    flow_control=("flowcontrol", "no flowcontrol"),
    flow_control_factory=False,
    stp_port=("spanning-tree port mode", "no spanning-tree port mode"),
    eee=("green-mode eee", "no green-mode eee"),
    hold=("green-mode eee tx-idle-time {us}", "no green-mode eee tx-idle-time"),
    join_lag="addport lag {lag}",
    leave_lag="deleteport lag {lag}",
    static_lag="port-channel static",
    statics="port-security",
    save="write memory",
    identity="version",
)

_DELL_CONFIG = r".*\(config\)#\s*$"

POWERCONNECT_62XX = Dialect(
    family="dell_powerconnect_62xx",
    login=DELL_POWERCONNECT,
    capabilities=Capabilities(
        multi_untagged=True,
        eee_settable=False,  # older than IEEE 802.3az
        hold_settable=False,
        flow_control_settable=False,  # switch-wide only
        static_entries=None,
        static_entries_per_port=None,
        vlans=1024,  # Koibuchi (2011) on the PowerConnect 6248
        lags_settable=True,
    ),
    config_prompt=_DELL_CONFIG,
    interface="interface ethernet {name}",
    interface_prompt=r"(?i).*\(config-if-{name}\)#\s*$",
    lag_interface="interface port-channel {name}",
    lag_prompt=r"(?i).*\(config-if-ch{name}\)#\s*$",
    lag_if_name="ch{name}",
    interface_word="ethernet",
    vlan_modes=(("configure", _DELL_CONFIG), ("vlan database", r".*\(config-vlan\)#\s*$")),
    vlan_prompt=r".*\(config-vlan\)#\s*$",
    vlan_submode=False,
    join_tagged=("switchport general allowed vlan add {vids} tagged",),
    join_untagged=("switchport general allowed vlan add {vids} untagged",),
    leave="switchport general allowed vlan remove {vids}",
    pvid="switchport general pvid {vid}",
    tagged_only=(  # [M]
        "switchport general acceptable-frame-type tagged-only",
        "no switchport general acceptable-frame-type tagged-only",
    ),
    ingress_filter=(  # [M]
        "no switchport general ingress-filtering disable",
        "switchport general ingress-filtering disable",
    ),
    factory_mode="access",
    lines_wait=False,
    trunks_follow=False,
    trim_trunks="",
    speed_fixed=("speed {mbps}", "duplex full"),  # [M]
    speed_auto=("speed auto", "duplex auto"),  # [M]
    rates_mbps={1000: (10, 100), 10_000: ()},
    flow_control=None,
    flow_control_factory=True,  # [M]
    stp_port=("no spanning-tree disable", "spanning-tree disable"),
    eee=None,
    hold=None,
    join_lag="channel-group {lag} mode {mode}",
    leave_lag="no channel-group",
    statics="interface-vlan",
    save="copy running-config startup-config",
    identity="config",
)

N_SERIES = replace(
    POWERCONNECT_62XX,
    family="dell_n_series",
    login=DELL_OS6,
    capabilities=replace(POWERCONNECT_62XX.capabilities, eee_settable=True, vlans=VID_MAX),  # EEE: [M]
    interface="interface {name}",
    lag_prompt=r"(?i).*\(config-if-Po{name}\)#\s*$",
    lag_if_name="Po{name}",
    interface_word="",
    vlan_modes=(("configure", _DELL_CONFIG),),
    vlan_prompt=r".*\(config-vlan[\d,-]*\)#\s*$",
    vlan_submode=True,
    lines_wait=True,  # [M]
    trunks_follow=True,  # [M]
    speed_fixed=("speed auto {mbps}",),  # [M]
    speed_auto=("speed auto",),  # [M]
    rates_mbps={1000: (10, 100, 1000), 10_000: (1000, 10_000)},
    eee=("green-mode eee", "no green-mode eee"),  # [M]
    statics="table",
)
"""As PowerConnect 62xx but for these."""
