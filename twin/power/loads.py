"""Switches and nodes as electrical loads: sample the engine, integrate energy, keep the last power."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from eee_testbed.twin.power.wander import Wander, stream
from eee_testbed.twin.power.watts import PortLedger, ac_watt, node_base_joule, port_joule, switch_base_joule
from eee_testbed.twin.truth.truth import NodePowerTruth, PortPowerTruth, SwitchPowerTruth

if TYPE_CHECKING:
    from eee_engine import PortCounters, PortState, TimeInState


class PortReader(Protocol):
    """The part of the engine that is read here (of `eee_engine.Engine` and `VirtualEngine`)."""

    def ports_time_in_state(self, ports: Sequence[int]) -> "list[TimeInState]": ...  # noqa: D102
    def port(self, port: int) -> "PortState": ...  # noqa: D102
    def counters(self, port: int) -> "PortCounters": ...  # noqa: D102


@dataclass(frozen=True, slots=True)
class SwitchLoad:
    """A switch with its engine port ids. `booting` is called once per sample."""

    name: str
    truth: SwitchPowerTruth
    ports: tuple[int, ...]
    booting: Callable[[], bool] = lambda: False


@dataclass(frozen=True, slots=True)
class NodeLoad:
    """A node with its data NIC's engine port id. `cpu_s` gives the CPU seconds that its cgroup has used so far."""

    name: str
    truth: NodePowerTruth
    nic: int
    cpu_s: Callable[[], float]


@dataclass(frozen=True, slots=True)
class LoadPower:
    """Mean watts of a load over the last sample and its energy since the start.

    `base_watt`, `port_watt` and `dc_watt` are on the supply's output side; `ac_watt` and `energy_joule` are what the
    outlets deliver, including wander.
    """

    powered: bool = True
    base_watt: float = 0.0
    port_watt: float = 0.0
    dc_watt: float = 0.0
    wander_watt: float = 0.0
    ac_watt: float = 0.0
    energy_joule: float = 0.0
    watt_by_port: Mapping[int, float] = field(default_factory=dict)  # engine port id -> watts


class Loads:
    """All loads of a lab. `cables` are pairs of engine port ids, whatever they join; time is in seconds since start."""

    def __init__(
        self,
        engine: PortReader,
        loads: Sequence[SwitchLoad | NodeLoad],
        *,
        cables: Sequence[tuple[int, int]] = (),
        seed: int = 0,
    ) -> None:
        self._engine = engine
        self._loads = {load.name: load for load in loads}
        self._partner = {near: far for a, b in cables for near, far in ((a, b), (b, a))}
        self._ports = {load.name: load.ports if isinstance(load, SwitchLoad) else (load.nic,) for load in loads}
        every = {port for ports in self._ports.values() for port in ports}
        self._watched = sorted(every | {self._partner[port] for port in every if port in self._partner})
        self._wander = {load.name: Wander(load.truth.wander, stream(seed, "wander", load.name)) for load in loads}
        self._cpu_s = {load.name: load.cpu_s() for load in loads if isinstance(load, NodeLoad)}
        self._powered = dict.fromkeys(self._loads, True)
        self._now_s = 0.0
        self._ledgers: dict[int, PortLedger] = {}
        self._ledgers = self._read()
        self._power = {name: LoadPower() for name in self._loads}

    @property
    def names(self) -> tuple[str, ...]:
        """Names in the order given."""
        return tuple(self._loads)

    @property
    def now_s(self) -> float:
        """Time of the last sample."""
        return self._now_s

    def power(self, name: str) -> LoadPower:
        """Watts over the last sample."""
        return self._power[name]

    def load(self, name: str) -> SwitchLoad | NodeLoad:
        """Return the load of that name."""
        return self._loads[name]

    def set_powered(self, name: str, *, on: bool) -> None:
        """Set whether the load has mains from the last sample on."""
        self._powered[name] = on

    def advance(self, now_s: float) -> None:
        """Sample everything at `now_s`; nothing happens if no time has passed since the last sample."""
        duration_s = now_s - self._now_s
        if duration_s <= 0.0:
            return
        ledgers = self._read()
        elapsed_s = self._elapsed_s(ledgers) or duration_s
        for name, load in self._loads.items():
            self._power[name] = self._sampled(name, load, ledgers, now_s, elapsed_s)
        self._ledgers, self._now_s = ledgers, now_s

    def _elapsed_s(self, ledgers: Mapping[int, PortLedger]) -> float:
        """Seconds of engine time since the last sample: the caller's clock was read a little before the ledgers."""
        for port, ledger in ledgers.items():
            return (ledger.transmit["total_ps"] - self._ledgers[port].transmit["total_ps"]) * 1e-12
        return 0.0

    def _sampled(
        self,
        name: str,
        load: SwitchLoad | NodeLoad,
        ledgers: Mapping[int, PortLedger],
        now_s: float,
        duration_s: float,
    ) -> LoadPower:
        before = self._power[name]
        wander_joule = self._wander[name].advance(now_s)
        if isinstance(load, SwitchLoad):
            base_joule = switch_base_joule(load.truth, duration_s, booting=load.booting())
            port_truth: PortPowerTruth = load.truth.port
        else:
            cpu_s = load.cpu_s()
            base_joule = node_base_joule(load.truth, duration_s, cpu_s - self._cpu_s[name])
            self._cpu_s[name] = cpu_s
            port_truth = load.truth.nic
        if not self._powered[name]:
            return LoadPower(powered=False, energy_joule=before.energy_joule)
        watt_by_port = {
            port: port_joule(self._ledgers[port], ledgers[port], port_truth) / duration_s for port in self._ports[name]
        }
        base_watt, port_watt = base_joule / duration_s, sum(watt_by_port.values())
        dc_watt, wander_watt = base_watt + port_watt, wander_joule / duration_s
        total_watt = max(0.0, ac_watt(dc_watt, load.truth.supply) + wander_watt)
        return LoadPower(
            powered=True,
            base_watt=base_watt,
            port_watt=port_watt,
            dc_watt=dc_watt,
            wander_watt=wander_watt,
            ac_watt=total_watt,
            energy_joule=before.energy_joule + total_watt * duration_s,
            watt_by_port=watt_by_port,
        )

    def _read(self) -> dict[int, PortLedger]:
        times = dict(zip(self._watched, self._engine.ports_time_in_state(self._watched), strict=True))
        ledgers = {}
        for port in {port for ports in self._ports.values() for port in ports}:
            own, last = times[port], self._ledgers.get(port)
            sent_byte, sent_count = (last.sent_byte, last.sent_count) if last else (0, 0)
            if last is None or own["transmit_ps"] != last.transmit["transmit_ps"]:
                counters = self._engine.counters(port)
                sent_byte = counters["out_octets"]
                sent_count = counters["out_ucast"] + counters["out_mcast"] + counters["out_bcast"]
            partner = self._partner.get(port)
            ledgers[port] = PortLedger(
                transmit=own,
                receive=None if partner is None else times[partner],
                admin_up=self._engine.port(port)["admin_up"],
                sent_byte=sent_byte,
                sent_count=sent_count,
            )
        return ledgers
