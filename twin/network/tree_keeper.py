"""Keeps the spanning tree of a running lab up to date: follows links and configurations, blocks and unblocks ports."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from eee_testbed.lab.model import End
from eee_testbed.twin.network.spanning import BridgePort, Segment, blocked_ports
from eee_testbed.twin.network.topology import Topology
from eee_testbed.twin.switch.device import Event, SwitchDevice


@dataclass(frozen=True, slots=True)
class _Trunk:
    a: BridgePort
    b: BridgePort
    port_a: int  # engine port id of `a`


def _number(device: SwitchDevice, end: End) -> int:
    port = device.port_named(end.port)
    if port is None:
        raise KeyError(str(end))
    return port.number


class TreeKeeper:
    """The lab's one spanning tree. `update` is cheap when no switch has spanning tree on."""

    def __init__(self, topology: Topology) -> None:
        self._topology = topology
        self._devices = topology.devices
        self._addresses = {name: device.spec.base_mac for name, device in topology.devices.items()}
        self._trunks = [
            _Trunk(
                (link.a.device, _number(self._devices[link.a.device], link.a)),
                (link.b.device, _number(self._devices[link.b.device], link.b)),
                topology.engine_port(link.a),
            )
            for link in topology.lab.trunk_cables()
        ]
        self._trunk_ports: dict[str, set[int]] = {name: set() for name in self._devices}
        for trunk in self._trunks:
            for name, number in (trunk.a, trunk.b):
                self._trunk_ports[name].add(number)

    def on_event(self, device: SwitchDevice, event: Event) -> None:
        """Let the trunk ports without link of a switch that just booted or changed discard until `update`."""
        if event not in {"ready", "config"}:
            return
        watched = device.stp_ports() & self._trunk_ports[device.name]
        unlinked = {n for n in watched if not self._topology.engine.port(device.engine_port[n])["oper_up"]}
        kept = device.blocked & watched
        if unlinked | kept != device.blocked:
            device.set_blocked(frozenset(unlinked | kept))

    def update(self) -> None:
        """Compute the tree over all links that are up, and block ports accordingly."""
        active = {name: device.stp_ports() for name, device in self._devices.items() if device.ready}
        if not any(active.values()):
            for name in active:
                if self._devices[name].blocked:
                    self._devices[name].set_blocked(frozenset())
            return
        lags = {name: _lag_of(self._devices[name]) for name in active}
        segments: dict[tuple[BridgePort, BridgePort], Segment] = {}
        unlinked: set[BridgePort] = set()
        for trunk in self._trunks:
            if trunk.a[1] not in active.get(trunk.a[0], ()) or trunk.b[1] not in active.get(trunk.b[0], ()):
                unlinked |= {
                    end for end in (trunk.a, trunk.b) if end[1] in active.get(end[0], ()) and not self._up(end)
                }
                continue
            state = self._topology.engine.port(trunk.port_a)
            if not state["oper_up"]:
                unlinked |= {trunk.a, trunk.b}
                continue
            a = (trunk.a[0], lags[trunk.a[0]].get(trunk.a[1], trunk.a[1]))
            b = (trunk.b[0], lags[trunk.b[0]].get(trunk.b[1], trunk.b[1]))
            segments[a, b] = Segment(a, b, state["speed_mbps"])
        self._set_blocked(
            active, blocked_ports({n: self._addresses[n] for n in active}, list(segments.values())) | unlinked, lags
        )

    def _set_blocked(
        self, active: Collection[str], discarding: Collection[BridgePort], lags: Mapping[str, Mapping[int, int]]
    ) -> None:
        changed = False
        for name in active:
            blocked = {number for owner, number in discarding if owner == name}
            blocked |= {member for member, lag in lags[name].items() if lag in blocked}
            if blocked != self._devices[name].blocked:
                self._devices[name].set_blocked(frozenset(blocked))
                changed = True
        if changed:  # as after a topology change notification: addresses are on other ports now
            for name in active:
                self._topology.engine.flush_fdb(self._devices[name].switch)

    def _up(self, end: BridgePort) -> bool:
        return self._topology.engine.port(self._devices[end[0]].engine_port[end[1]])["oper_up"]


def _lag_of(device: SwitchDevice) -> Mapping[int, int]:
    return {member: lag for lag, members in device.effect.lags.items() for member in members}
