"""A strip with a virtual clock and an agent that records the values set."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from eee_testbed.twin.strips import FAMILIES, Strip
from eee_testbed.twin.truth.truth import StripTruth

EXACT = StripTruth(lag_s=0.0)


@dataclass
class Clock:
    now_s: float = 0.0

    def __call__(self) -> float:
        return self.now_s


@dataclass
class RecordingAgent:
    """Stands in for `eee_engine.SnmpAgent`."""

    values: dict[str, tuple[str, object]] = field(default_factory=dict)
    puts: int = 0

    def put(self, values: Sequence[tuple[str, str, object]]) -> None:
        self.puts += len(values)
        self.values |= {oid: (kind, value) for oid, kind, value in values}

    def value(self, oid: str) -> object:
        return self.values[oid][1]

    def column(self, entry: str) -> list[object]:
        """Values below an OID in the order of their indexes."""
        found = [
            ([int(part) for part in oid.removeprefix(f"{entry}.").split(".")], value)
            for oid, (_, value) in self.values.items()
            if oid.startswith(f"{entry}.")
        ]
        return [value for _, value in sorted(found, key=lambda row: row[0])]


@dataclass
class Bench:
    strip: Strip
    clock: Clock
    agent: RecordingAgent

    def measure(self, watts: dict[int, float], seconds: float) -> None:
        """Let constant loads run for a while; outlets that are off draw nothing."""
        until_s = self.clock.now_s + seconds
        live = {number: watt for number, watt in watts.items() if self.strip.outlets[number].on}
        self.strip.measure(live, self.clock.now_s, until_s)
        self.wait(seconds)

    def wait(self, seconds: float) -> None:
        self.clock.now_s += seconds
        self.strip.run_due(self.clock.now_s)
        self.strip.publish(self.clock.now_s)

    def set(self, *varbinds: tuple[str, str, object]) -> tuple[int, int]:
        return self.strip.on_set(list(varbinds))


def bench(family: str, model: str, truth: StripTruth = EXACT, *, seed: int = 1) -> Bench:
    clock, agent = Clock(), RecordingAgent()
    known = FAMILIES[family]
    strip = Strip("pdu1", known, known.model(model), truth, seed=seed, clock_s=clock)
    strip.bind(agent)
    return Bench(strip, clock, agent)
