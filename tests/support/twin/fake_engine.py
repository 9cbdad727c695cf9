"""An engine that records its calls, for tests of the modules above it."""

from collections import Counter
from collections.abc import Sequence
from typing import Any


class FakeEngine:
    """The part of `eee_engine._Fabric` that a device uses. Ports are up when `admin_up` and in `linked`."""

    def __init__(self) -> None:
        self.calls = []
        self.ports = {}
        self.vlan_table = {}
        self.statics = {}
        self.learned = []
        self.lags = {}
        self.powered = {}
        self.linked = set()
        self.blocked = set()
        self.counted = {}
        self.announced = {}
        self.heard = {}
        self._next = 0

    def add_switch(
        self,
        name: str,
        *,
        phys: Sequence[str],
        port_names: Sequence[str],
        base_mac: bytes,
        lag_count: int = 0,
        **options: Any,
    ) -> dict[str, Any]:
        self.calls.append(("add_switch", name, {**options, "port_names": port_names, "base_mac": base_mac}))
        ids = list(range(self._next, self._next + len(phys) + lag_count))
        self._next += len(ids) + 100
        for port, phy in zip(ids, [*phys, *[""] * lag_count], strict=True):
            self.ports[port] = {
                "phy": phy,
                "admin_up": True,
                "autoneg": True,
                "advertised_mbps": [],
                "flow_control": False,
                "eee": False,
                "mtu_byte": 1518,
                "pvid": 1,
                "acceptable": "all",
                "ingress_filtering": False,
            }
        return {"switch": ids[0], "ports": ids[: len(phys)], "lags": ids[len(phys) :]}

    def set_power(self, switch: int, *, on: bool) -> None:
        self.powered[switch] = on
        self.vlan_table.clear()
        self.statics.clear()
        self.lags.clear()

    def set_port(self, port: int, **settings: Any) -> None:
        self.calls.append(("set_port", port, {k: v for k, v in settings.items() if v is not None}))
        self.ports[port].update({k: v for k, v in settings.items() if v is not None})

    def set_port_vlan(self, port: int, **settings: Any) -> None:
        self.calls.append(("set_port_vlan", port, settings))
        self.ports[port].update({k: v for k, v in settings.items() if v is not None})

    def set_vlan(self, _switch: int, vid: int, *, members: Sequence[int], untagged: Sequence[int]) -> None:
        self.calls.append(("set_vlan", vid))
        self.vlan_table[vid] = (sorted(members), sorted(untagged))

    def remove_vlan(self, _switch: int, vid: int) -> None:
        self.calls.append(("remove_vlan", vid))
        del self.vlan_table[vid]

    def vlans(self, _switch: int) -> dict[int, tuple[list[int], list[int]]]:
        return dict(self.vlan_table)

    def set_bridge(self, _switch: int, *, ageing_s: float | None = None, shared_learning: bool | None = None) -> None:
        self.calls.append(("set_bridge", ageing_s, shared_learning))

    def set_static(self, _switch: int, vid: int, mac: bytes, port: int) -> None:
        self.statics[vid, mac] = port

    def remove_static(self, _switch: int, vid: int, mac: bytes) -> None:
        del self.statics[vid, mac]

    def set_lag(self, lag: int, members: Sequence[int]) -> None:
        self.calls.append(("set_lag", lag, list(members)))
        self.lags[lag] = list(members)

    def set_blocked(self, port: int, *, blocked: bool) -> None:
        (self.blocked.add if blocked else self.blocked.discard)(port)

    def set_lldp(
        self, port: int, announcement: dict[str, Any], *, transmit: bool, receive: bool, **_rest: float
    ) -> None:
        self.announced[port] = announcement if transmit else {}
        if not receive:
            self.heard.pop(port, None)

    def lldp_heard(self, port: int) -> list[dict[str, Any]]:
        return self.heard.get(port, [])

    def fdb(self, _switch: int) -> list[dict[str, Any]]:
        static = [{"vid": v, "mac": m, "port": p, "static": True, "age_s": 0.0} for (v, m), p in self.statics.items()]
        return [*static, *self.learned]

    def flush_fdb(self, _switch: int, *, port: int | None = None, vid: int | None = None) -> None:
        self.learned = [e for e in self.learned if (port not in {None, e["port"]}) or vid not in {None, e["vid"]}]

    def clear_counters(self, port: int) -> None:
        self.counted.pop(port, None)

    def counters(self, port: int) -> Counter[str]:
        return Counter(self.counted.get(port, {}))

    def port(self, port: int) -> dict[str, Any]:
        now = self.ports[port]
        up = now["admin_up"] and port in self.linked
        speed = max(now["advertised_mbps"], default=1000) if up else 0
        return {
            **now,
            "oper_up": up,
            "speed_mbps": speed,
            "flow_control_rx": now["flow_control"] and up,
            "flow_control_tx": now["flow_control"] and up,
            "eee_supported": True,
            "eee_active": up and now["eee"],
        }
