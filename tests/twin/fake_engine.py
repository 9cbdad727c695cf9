"""An engine that remembers what it was told, for tests of what stands above it."""

from collections import Counter


class FakeEngine:
    """The part of `twin_engine._Fabric` that a device uses. Ports are up when `admin_up` and in `linked`."""

    def __init__(self):
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
        self._next = 0

    def add_switch(self, name, *, phys, port_names, base_mac, lag_count=0, **options):
        self.calls.append(("add_switch", name, options))
        ids = list(range(self._next, self._next + len(phys) + lag_count))
        self._next += len(ids) + 100
        for port, phy in zip(ids, [*phys, *[""] * lag_count], strict=True):
            self.ports[port] = {
                "phy": phy, "admin_up": True, "autoneg": True, "advertised_mbps": [], "flow_control": False,
                "eee": False, "mtu_byte": 1518, "pvid": 1, "acceptable": "all", "ingress_filtering": False,
            }
        return {"switch": ids[0], "ports": ids[: len(phys)], "lags": ids[len(phys) :]}

    def set_power(self, switch, *, on):
        self.powered[switch] = on
        self.vlan_table.clear()
        self.statics.clear()
        self.lags.clear()

    def set_port(self, port, **settings):
        self.calls.append(("set_port", port, {k: v for k, v in settings.items() if v is not None}))
        self.ports[port].update({k: v for k, v in settings.items() if v is not None})

    def set_port_vlan(self, port, **settings):
        self.calls.append(("set_port_vlan", port, settings))
        self.ports[port].update({k: v for k, v in settings.items() if v is not None})

    def set_vlan(self, _switch, vid, *, members, untagged):
        self.calls.append(("set_vlan", vid))
        self.vlan_table[vid] = (sorted(members), sorted(untagged))

    def remove_vlan(self, _switch, vid):
        self.calls.append(("remove_vlan", vid))
        del self.vlan_table[vid]

    def vlans(self, _switch):
        return dict(self.vlan_table)

    def set_bridge(self, _switch, *, ageing_s=None, shared_learning=None):
        self.calls.append(("set_bridge", ageing_s, shared_learning))

    def set_static(self, _switch, vid, mac, port):
        self.statics[vid, mac] = port

    def remove_static(self, _switch, vid, mac):
        del self.statics[vid, mac]

    def set_lag(self, lag, members):
        self.lags[lag] = list(members)

    def set_blocked(self, port, *, blocked):
        (self.blocked.add if blocked else self.blocked.discard)(port)

    def fdb(self, _switch):
        static = [{"vid": v, "mac": m, "port": p, "static": True, "age_s": 0.0} for (v, m), p in self.statics.items()]
        return static + [e for e in self.learned]

    def flush_fdb(self, _switch, *, port=None, vid=None):
        self.learned = [e for e in self.learned if (port not in {None, e["port"]}) or vid not in {None, e["vid"]}]

    def clear_counters(self, port):
        self.counted.pop(port, None)

    def counters(self, port):
        return Counter(self.counted.get(port, {}))

    def port(self, port):
        now = self.ports[port]
        up = now["admin_up"] and port in self.linked
        speed = max(now["advertised_mbps"], default=1000) if up else 0
        return {
            **now, "oper_up": up, "speed_mbps": speed, "flow_control_rx": now["flow_control"] and up,
            "flow_control_tx": now["flow_control"] and up, "eee_supported": True, "eee_active": up and now["eee"],
        }
