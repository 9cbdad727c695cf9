"""An engine that has nothing but ledgers."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

PS = 10**12


@dataclass
class FakeLedgers:
    """Stands in for the engine: while time runs, every port stays in one state."""

    state: dict[int, str] = field(default_factory=dict)
    admin_up: dict[int, bool] = field(default_factory=dict)
    ledgers: dict[int, dict[str, Any]] = field(default_factory=dict)
    octets: dict[int, int] = field(default_factory=dict)
    asked: int = 0

    def run(self, seconds: float) -> None:
        for port, state in self.state.items():
            ledger = self._ledger(port)
            ledger[f"{state}_ps"] += round(seconds * PS)
            ledger["total_ps"] += round(seconds * PS)
            if state != "down":
                speeds = dict(ledger["up_by_mbps"])
                speeds[1000] = speeds.get(1000, 0) + round(seconds * PS)
                ledger["up_by_mbps"] = speeds

    def _ledger(self, port: int) -> dict[str, Any]:
        states = ("down", "active", "transmit", "sleep", "quiet", "refresh", "wake", "fast", "total")
        empty = {f"{state}_ps": 0 for state in states} | {"wakes": 0, "lpi_events": 0, "up_by_mbps": {}}
        return self.ledgers.setdefault(port, empty)

    def ports_time_in_state(self, ports: Sequence[int]) -> list[Any]:
        self.asked += 1
        return [dict(self._ledger(port)) for port in ports]

    def port(self, port: int) -> Any:
        return {"admin_up": self.admin_up.get(port, True)}

    def counters(self, port: int) -> Any:
        return {"out_octets": self.octets.get(port, 0), "out_ucast": 0, "out_mcast": 0, "out_bcast": 0}
