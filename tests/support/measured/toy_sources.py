"""Sources that do what a test sets."""

import threading
from collections.abc import Callable, Sequence

from eee_testbed.controller.drivers.driver import SnmpValue
from eee_testbed.lab.errors import DeviceError, Unreachable
from eee_testbed.lab.model import Port, Switch
from eee_testbed.measuring.collecting.port_counters import (
    COUNTERS,
    DISCONTINUITY,
    HIGH_SPEED,
    LAST_CHANGE,
    OPER_STATUS,
    SYS_UPTIME,
)
from eee_testbed.measuring.collecting.source import Reading, SourceKind
from eee_testbed.record.clock_offsets import Offset
from eee_testbed.record.run_clock import RunClock
from eee_testbed.record.sample_tables import Batch


class ToySource:
    """A strip with one outlet; `act` is called at each reading with its number, and may wait or raise."""

    kind: SourceKind = "strip"

    def __init__(self, name: str, act: Callable[[int], None] = lambda _: None) -> None:
        self.name = name
        self._act = act
        self.readings = 0
        self.closings = 0
        self.done = threading.Condition()

    def read(self, clock: RunClock) -> Reading:
        sent_ns = clock.now_ns()
        number = self.readings
        try:
            self._act(number)
        finally:
            with self.done:
                self.readings += 1
                self.done.notify_all()
        batch = Batch("watts", 1, {"strip": self.name, "outlet": [0], "power_watt": [float(number)], "mark": ""})
        return Reading(batch, sent_ns, clock.now_ns())

    def offsets(self) -> tuple[Offset, ...]:
        return ()

    def close(self) -> None:
        self.closings += 1

    def wait_for(self, readings: int) -> None:
        with self.done:
            assert self.done.wait_for(lambda: self.readings >= readings, 20.0), f"{self.name}: {self.readings}"


def silent(name: str) -> DeviceError:
    return Unreachable(name, "does not answer: check it.")


def toy_switch(ports: int = 2) -> Switch:
    return Switch(
        name="sw1",
        family="dell_powerconnect_55xx",
        model="toy",
        address="127.0.0.1",
        ssh_port=22,
        snmp_port=161,
        user="",
        password_file="",
        community_file="",
        ports=tuple(Port("sw1", f"gi1/0/{n}", n, 1000) for n in range(1, ports + 1)),
    )


class ToyAgent:
    """An agent with two ports at ifIndex 11 and 12. `narrow` leaves the 64-bit columns out."""

    def __init__(self, *, narrow: bool = False) -> None:
        self.uptime_ticks = 100_000
        self.columns: dict[str, dict[str, SnmpValue]] = {
            "1.3.6.1.2.1.17.1.4.1.2": {"1": 11, "2": 12},
            "1.3.6.1.2.1.31.1.1.1.1": {"11": b"gi1/0/1", "12": b"gi1/0/2"},
            OPER_STATUS: {"11": 1, "12": 2},
            HIGH_SPEED: {"11": 1000, "12": 0},
            LAST_CHANGE: {"11": 300, "12": 300},
            DISCONTINUITY: {"11": 0, "12": 0},
        }
        for counter in COUNTERS:
            oid = counter.narrow if narrow and counter.narrow else counter.oid
            self.columns[oid] = {"11": 100, "12": 200}
        self.closings = 0

    def set_counter(self, name: str, *values: int) -> None:
        for counter in COUNTERS:
            if counter.name == name:
                oid = counter.oid if counter.oid in self.columns else counter.narrow
                self.columns[oid] = dict(zip(("11", "12"), values, strict=True))

    def walk(self, oid: str, rows: int = 0, /) -> dict[str, SnmpValue]:
        del rows
        return dict(self.columns.get(oid, {}))

    def get(self, oids: Sequence[str], /) -> dict[str, SnmpValue]:
        return {SYS_UPTIME: self.uptime_ticks} if SYS_UPTIME in oids else {}

    def close(self) -> None:
        self.closings += 1
