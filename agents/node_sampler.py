"""Node sampler: EEE, LPI and network counters, processors, energy and power of a node, once a second.

    node_sampler eth0                        until Ctrl-C or SIGTERM
    node_sampler eth0 eth1 --every-s 0.5 --seconds 60 --listen 9105

Samples follow an absolute schedule on whole multiples of the period (CLOCK_REALTIME at the start): nothing drifts, a
sample that was late says by how much, and one that was missed is an event, never invented. What a node does not have is
said once in the header. Prints JSON lines (agents/stream.py). --listen serves the last sample to Prometheus at
/metrics, on loopback unless an address is given.
"""

from __future__ import annotations

import argparse
import math
import select
import time
from collections.abc import Sequence

from eee_testbed.agents.exporter import Exporter, exposition
from eee_testbed.agents.metrics import Series, Source, Value
from eee_testbed.agents.node_sources import card_source, cpu_source, eee_source, frequency_source, lpi_source
from eee_testbed.agents.power_sources import ipmi_source, rapl_source, redfish_source
from eee_testbed.agents.stream import AgentError, Arguments, Column, Stop, Stream, start

_TIMES = (
    Column("due_ns", "ns", "when the sample was due, CLOCK_REALTIME"),
    Column("late_ns", "ns", "how much later it was begun"),
    Column("took_ns", "ns", "how long it took"),
)


def _arguments() -> argparse.ArgumentParser:
    parser = Arguments(prog="node_sampler", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("interfaces", nargs="+", metavar="INTERFACE", help="network cards to sample")
    add("--every-s", type=float, default=1.0, help="period (default %(default)s)")
    add("--seconds", type=float, default=0.0, help="end after so many seconds (default: never)")
    add("--listen", default="", metavar="[ADDRESS:]PORT", help="serve the last sample to Prometheus (default: no)")
    add("--redfish", default="", metavar="URL", help="https address of the node's Power resource")
    add("--redfish-credentials", default="", metavar="FILE", help="a file with USER:PASSWORD, mode 600")
    add("--redfish-insecure", action="store_true", help="trust any certificate")
    add("--power-every-s", type=float, default=5.0, help="period of IPMI and Redfish (default %(default)s)")
    add("--output", default="", metavar="FILE", help="write to a new file instead of standard output")
    return parser


def _checked(words: Sequence[str]) -> argparse.Namespace:
    given = _arguments().parse_args(words)
    if not 0.01 <= given.every_s <= 3_600 or given.seconds < 0:
        raise AgentError("--every-s is 0.01 to 3600, --seconds is not negative.", 2)
    if not 1 <= given.power_every_s <= 3_600:
        raise AgentError("--power-every-s is 1 to 3600.", 2)
    return given


def _sources(given: argparse.Namespace) -> list[Source]:
    sources = []
    for interface in dict.fromkeys(given.interfaces):
        try:
            sources.append(card_source(interface))
        except OSError:
            raise AgentError(f"interface {interface} does not exist here: `ip link` lists all.", 2) from None
        sources += [eee_source(interface), lpi_source(interface)]
    sources += [cpu_source(), frequency_source(), rapl_source(), ipmi_source(given.power_every_s)]
    if given.redfish:
        sources.append(
            redfish_source(
                given.redfish,
                given.redfish_credentials,
                verify=not given.redfish_insecure,
                every_s=given.power_every_s,
            )
        )
    return sources


class Sampler:
    """Reads all sources at each tick of the schedule."""

    def __init__(self, sources: Sequence[Source], stream: Stream, stop: Stop, exporter: Exporter | None) -> None:
        self._sources = [source for source in sources if source.read is not None]
        self._stream = stream
        self._stop = stop
        self._exporter = exporter
        self._poll = select.poll()
        self._poll.register(stop.wakeup, select.POLLIN)
        self._failing: dict[str, str] = {}
        self.samples = self.missed = 0

    @property
    def series(self) -> list[Series]:
        """All series, in the order of a row's values after its times."""
        return [series for source in self._sources for series in source.series]

    def run(self, every_s: float, seconds: float) -> None:
        """Until asked to stop, or for so many seconds."""
        every_ns = int(every_s * 1e9)
        real_ns, now_ns = time.time_ns(), time.monotonic_ns()
        first_ns = -(-real_ns // every_ns) * every_ns  # the next multiple of the period
        begin_ns = now_ns + first_ns - real_ns
        ticks = math.inf if not seconds else max(1, math.ceil(seconds / every_s))
        tick = 0
        while tick < ticks:
            due_ns = begin_ns + tick * every_ns
            if not self._wait_until(due_ns):
                return
            self._sample(first_ns + tick * every_ns, time.monotonic_ns() - due_ns)
            following = max(tick + 1, (time.monotonic_ns() - begin_ns) // every_ns)
            if following > tick + 1:
                self._missed(first_ns + (tick + 1) * every_ns, following - tick - 1)
            tick = following

    def _wait_until(self, due_ns: int) -> bool:
        """False if somebody asked us to stop."""
        while not self._stop.asked_by:
            left_ns = due_ns - time.monotonic_ns()
            if left_ns <= 0:
                return True
            if left_ns < 2_000_000:
                time.sleep(left_ns / 1e9)  # poll counts whole milliseconds
            else:
                self._poll.poll(left_ns // 1_000_000 - 1)
        return False

    def _missed(self, first_ns: int, count: int) -> None:
        self.missed += count
        self._stream.event("samples missed", first_due_ns=first_ns, count=count)

    def _sample(self, due_ns: int, late_ns: int) -> None:
        began_ns = time.monotonic_ns()
        values: list[Value] = []
        for source in self._sources:
            values += self._read(source)
        self._stream.row((due_ns, late_ns, time.monotonic_ns() - began_ns, *values))
        self.samples += 1
        if self._stream.full:
            self._stream.flush()
        if self._exporter is not None:
            self._exporter.show(
                exposition(
                    [*self.series, Series("sample_timestamp_seconds", "s", "when the sample was due")],
                    [*values, due_ns / 1e9],
                )
            )

    def _read(self, source: Source) -> Sequence[Value]:
        try:
            values = source.read() if source.read is not None else ()
        except (OSError, ValueError) as error:
            if self._failing.get(source.name) != str(error):
                self._stream.event("source fails", source=source.name, reason=str(error))
            self._failing[source.name] = str(error)
            return [None] * len(source.series)
        if self._failing.pop(source.name, None) is not None:
            self._stream.event("source is back", source=source.name)
        return values


def main(words: Sequence[str]) -> int:
    """Sample as the command line says."""
    given = _checked(words)
    sources = _sources(given)
    stop = Stop()
    exporter = Exporter(given.listen) if given.listen else None
    stream = Stream(given.output, block_s=0.9)
    sampler = Sampler(sources, stream, stop, exporter)
    stream.header(
        "node_sampler",
        (*_TIMES, *(Column(series.name, series.unit, series.means, series.labels) for series in sampler.series)),
        every_s=given.every_s,
        listening=None if exporter is None else exporter.address,
        absent=[source.absent for source in sources if source.absent],
        facts={source.name: source.facts for source in sources if source.facts},
    )
    sampler.run(given.every_s, given.seconds)
    stream.summary(stop.asked_by or "done", samples=sampler.samples, samples_missed=sampler.missed)
    if exporter is not None:
        exporter.close()
    return 0


if __name__ == "__main__":
    start("node_sampler", main)
