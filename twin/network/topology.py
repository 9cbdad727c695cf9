"""A lab's switches, NICs and cables inside the engine, made from the inventory and the truth."""

import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from eee_testbed.lab.model import End, Host, Lab, Link
from eee_testbed.twin.families.table import FAMILIES
from eee_testbed.twin.machine.credentials import SWITCH_KEY_USER
from eee_testbed.twin.switch.device import SwitchDevice
from eee_testbed.twin.switch.lldp import host_announcement
from eee_testbed.twin.switch.personality import DeviceSpec, Pace, User
from eee_testbed.twin.truth.truth import Truth

if TYPE_CHECKING:
    from eee_engine import _Fabric

_NIC_PHYS = {100: "100BASE-TX", 1000: "1000BASE-T", 2500: "2.5GBASE-T", 5000: "5GBASE-T", 10_000: "10GBASE-T"}
_ETHERNET_HEADER_BYTE = 14
LinkState = Literal["up", "down", "shut", "cut", "blocked"]


@dataclass(frozen=True, slots=True)
class Topology:
    """Engine ids of a lab's parts: NICs by host (port ids), cables by the link's number (cable ids)."""

    lab: Lab
    engine: "_Fabric"
    devices: Mapping[str, SwitchDevice]
    nics: Mapping[str, int]
    cables: Mapping[int, int]

    def engine_port(self, end: End) -> int:
        """Port id of one end of a cable."""
        if end.device in self.nics:
            return self.nics[end.device]
        return _engine_port(self.devices[end.device], end)

    def link_state(self, link: Link, *, cut: bool) -> LinkState:
        """Return the state of a link; "shut" by configuration, "down" without a known reason."""
        a, b = (self.engine.port(self.engine_port(end)) for end in (link.a, link.b))
        if cut:
            return "cut"
        if not (a["admin_up"] and b["admin_up"]):
            return "shut"
        if not (a["oper_up"] and b["oper_up"]):
            return "down"
        return "blocked" if a["blocked"] or b["blocked"] else "up"


def _engine_port(device: SwitchDevice, end: End) -> int:
    port = device.port_named(end.port)
    if port is None:
        raise KeyError(str(end))
    return port.engine_port


def base_mac(lab: str, index: int) -> bytes:
    """Return a locally administered address block of 256 for a lab's switch, the same at every start."""
    digest = zlib.crc32(lab.encode())
    return bytes([0x02, 0x5C, digest >> 8 & 0xFF, digest & 0xFF, index, 0x00])


def startup_text(lab: Lab, switch: str) -> str:
    """Return the startup configuration that the lab has for a switch; empty: factory settings."""
    path = Path(lab.folder) / "twin" / "startup" / f"{switch}.cfg"
    return path.read_text(encoding="utf-8") if path.exists() else ""


def _add_nic(engine: "_Fabric", host: Host, truth: Truth) -> int:
    node_truth = truth.node(host.name)
    phy = _NIC_PHYS[host.rate_mbps]
    if not node_truth.eee_capable and host.rate_mbps == 1000:
        phy = "1000BASE-T-no-EEE"
    nic = engine.add_host(host.name, mac=host.mac, phy=phy)
    engine.set_interruption(nic, seconds=node_truth.interruption_s)
    engine.set_port(
        nic, flow_control=True, eee=node_truth.eee_capable, mtu_byte=min(9216, host.mtu_byte + _ETHERNET_HEADER_BYTE)
    )
    engine.set_lpi(nic, mode=node_truth.lpi.mode, timing=node_truth.lpi.timing())
    if node_truth.lldp:
        engine.set_lldp(nic, host_announcement(host.name, host.mac, host.interface), receive=False)
    return nic


def lay_out(
    lab: Lab,
    truth: Truth,
    engine: "_Fabric",
    *,
    password: str,
    public_key: str,
    clock_s: Callable[[], float],
) -> Topology:
    """Build the lab in an engine: switches without power, NICs, cables. FabricError passes through."""
    devices = {}
    for index, switch in enumerate(lab.switches):
        switch_truth = truth.switch(switch.name, switch.family)
        spec = DeviceSpec(
            name=switch.name,
            family=switch.family,
            model=switch.model,
            base_mac=base_mac(lab.name, index),
            users=(User(switch.user, password), User(SWITCH_KEY_USER, password, keys=(public_key,))),
            boot_s=switch_truth.boot_s,
            pace=Pace(switch_truth.slow_cli.command_s, switch_truth.slow_cli.character_s),
            address=switch.address,
            engine_options={"latency_us": switch_truth.latency_us, "lag_rehash_s": switch_truth.lag_rehash_s},
            lpi_hold_us=switch_truth.lpi.hold_us,
            lpi_wake_us=switch_truth.lpi.wake_us,
            hold_limit_us=switch_truth.lpi.hold_limit_us,
            wake_limit_us=switch_truth.lpi.wake_limit_us,
        )
        family = FAMILIES[switch.family].family
        device = SwitchDevice(spec, family, engine, startup=startup_text(lab, switch.name), clock_s=clock_s)
        for port in device.ports:
            if not port.is_lag:
                engine.set_interruption(port.engine_port, seconds=switch_truth.interruption_at_s(port.speed_mbps))
                engine.set_lpi(port.engine_port, mode=switch_truth.lpi.mode, timing=switch_truth.lpi.timing())
        devices[switch.name] = device
    nics = {host.name: _add_nic(engine, host, truth) for host in lab.hosts}
    cables = {}
    for link in lab.links:
        a, b = (
            nics[end.device] if end.device in nics else _engine_port(devices[end.device], end)
            for end in (link.a, link.b)
        )
        cables[link.number] = engine.connect(a, b)
    return Topology(lab, engine, devices, nics, cables)
