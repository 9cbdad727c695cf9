"""Power stages of one switch of the lab `virtual` in a run's folder: settings, counters and watts of a known truth."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from eee_testbed.record.event_kinds import EventKind
from eee_testbed.record.sample_tables import Batch
from tests.support.measured.power_bench import NS, PORTS, STAGES, Stage, Truth
from tests.support.measured.synthetic_run import Writer

TRUTH = Truth(base=40.0, enabled=0.2, link=0.8, left=0.1)
PORT_NAMES = tuple(f"gi1/0/{number}" for number in (1, 2, *range(11, 21)))
"""The cabled ports of sw1 in the inventory of the lab `virtual`; the first one sends all traffic."""


@dataclass
class StageRun:
    """Stages in blocks at sw1, without LPI counters: windows with EEE count as asleep.

    `chatter_byte` and `chatter_hz`: size and number of the frames that each port that is up sends without any load.
    """

    stages: Sequence[Stage] = STAGES
    truth: Truth = TRUTH
    blocks: int = 4
    chatter_byte: float = 0.0
    chatter_hz: float = 0.0
    sent: dict[str, float] = field(default_factory=lambda: {"byte": 0.0, "frame": 0.0, "chatter": 0.0})

    def __call__(self, writer: Writer) -> None:
        """Write all trials."""
        random = np.random.default_rng(3)
        for block in range(self.blocks):
            order = [self.stages[number] for number in random.permutation(len(self.stages))]
            for stage in self.stages if block == 0 else order:
                _settings(writer, stage)
                begun_ns, ended_ns = writer.write({"stage": stage.name}, 20.0, what="power", hosts=())
                writer.watts(begun_ns - 2 * NS, ended_ns + 2 * NS, _watt(self.truth, stage))
                self._samples(writer, stage, begun_ns, ended_ns)

    def _samples(self, writer: Writer, stage: Stage, from_ns: int, to_ns: int) -> None:
        for tick, due_ns in enumerate(range(from_ns + NS // 2, to_ns, 2 * NS)):
            self.sent["byte"] += 2 * stage.rate_bps / 8
            self.sent["frame"] += 2 * stage.rate_pps
            self.sent["chatter"] += 2 * self.chatter_hz
            zero = [0] * PORTS
            chatter = round(self.sent["chatter"])
            byte = [round(chatter * self.chatter_byte)] * PORTS
            columns = {
                "switch": "sw1",
                "tick": tick,
                "due_ns": due_ns,
                "sent_ns": due_ns,
                "received_ns": due_ns + 1_000_000,
                "port": list(PORT_NAMES),
                "up": [n < stage.up for n in range(PORTS)],
                "rate_mbps": [1000 if n < stage.up else 0 for n in range(PORTS)],
                "in_byte": zero,
                "in_unicast_frame": zero,
                "in_multicast_frame": zero,
                "in_broadcast_frame": zero,
                "out_byte": [byte[0] + round(self.sent["byte"]), *byte[1:]],
                "out_unicast_frame": [round(self.sent["frame"]), *zero[1:]],
                "out_multicast_frame": [chatter] * PORTS,
                "out_broadcast_frame": zero,
                "mark": "",
            }
            writer.run.append(Batch("ports", PORTS, columns))


def _watt(truth: Truth, stage: Stage) -> float:
    port = truth.enabled + truth.link
    watt = truth.base + truth.enabled * stage.enabled + truth.link * stage.up + truth.left * stage.left
    watt -= stage.asleep * port * (1 - truth.lpi_fraction)
    return watt + truth.bit * 1e-12 * stage.rate_bps + truth.packet * 1e-9 * stage.rate_pps


def _settings(writer: Writer, stage: Stage) -> None:
    ports = {
        name: {"admin_up": n < stage.enabled, "speed_mbps": None, "eee": stage.asleep > 0, "hold_us": None}
        for n, name in enumerate(PORT_NAMES)
    }
    writer.run.event(EventKind.PORTS_SET, time_ns=writer.now_ns, ports={"sw1": ports})
