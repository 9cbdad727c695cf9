"""Cost of the idle-gap recorder for traffic and CPU: with and without it, in turns.

``python -m evaluation.speed.idle_gaps`` (root) joins two network namespaces by a veth pair and measures, in alternating
rounds with the recorder on the first one's interface and without: TCP throughput, 64-byte UDP frames received a second
(iperf3), and round trips of echoes (the probe's kernel stamps, gaps of 0.1 to 1 ms). A veth pair is as fast as the
CPUs. A real card at 1 Gb/s carries less; the recorder's cost is then the CPU share that it reports itself, printed for
each load. Both ends and the recorder share this machine's cores, so the ratios are pessimistic for a node.
Prints Markdown, or with ``--json`` one object.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from eee_testbed.agents.pack import packed
from eee_testbed.agents.recording import Recording, read_stream
from evaluation import quiet, recording
from evaluation.records import Figure
from evaluation.speed.figures import Ratio, paired
from evaluation.speed.veth_pair import ADDRESSES, INTERFACES, inside, veth_pair

NAMES = {
    "tcp": ("TCP throughput", "Gb/s"),
    "tcp_1g": ("TCP throughput, offered 1 Gb/s", "Gb/s"),
    "small": ("64-byte frames received", "1000/s"),
    "p50": ("round trip p50", "us"),
    "p99": ("round trip p99", "us"),
}


@dataclass(slots=True)
class Recorder:
    """A recorder, with its recording once it has ended."""

    recording: Recording | None = None

    def cpu_share(self) -> float:
        """CPU seconds a second, as it reports itself."""
        assert self.recording is not None
        return float(self.recording.summary["cpu_s"] / self.recording.summary["took_s"])

    def packets_hz(self) -> float:
        """Packets that it saw a second, both directions."""
        assert self.recording is not None
        seen = sum(self.recording.column("transmit_frames")) + sum(self.recording.column("receive_frames"))
        return float(seen / self.recording.summary["took_s"])

    def dropped(self) -> int:
        """Packets that it missed."""
        assert self.recording is not None
        return int(self.recording.summary["frames_dropped"])


@contextmanager
def recorder(namespace: str, *, on: bool) -> Iterator[Recorder]:
    """Record during the context if `on`."""
    found = Recorder()
    if not on:
        yield found
        return
    argv = inside(namespace, sys.executable, "-I", "-", INTERFACES[0])
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdin.write(packed("idle_gaps"))
        child.stdin.close()
        header = child.stdout.readline()
        try:
            yield found
        finally:
            child.send_signal(signal.SIGTERM)
            found.recording = read_stream(header + child.stdout.read())


def iperf(names: tuple[str, str], seconds: int, *options: str) -> dict[str, Any]:
    """One iperf3 run from the first namespace to the second; its JSON's "end"."""
    server = inside(names[1], "iperf3", "--server", "--one-off", "--forceflush")
    with subprocess.Popen(server, stdout=subprocess.PIPE, text=True) as serving:
        assert serving.stdout is not None
        for line in serving.stdout:
            if "listening" in line:
                break
        argv = inside(names[0], "iperf3", "--json", "--client", ADDRESSES[1], "--time", str(seconds), *options)
        result = json.loads(subprocess.run(argv, check=True, stdout=subprocess.PIPE, text=True).stdout)
        serving.stdout.read()
    end: dict[str, Any] = result["end"]
    return end


def round_trips_us(names: tuple[str, str], seed: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Round trips of 2,000 echoes."""
    words = (ADDRESSES[1], "--count", "2000", "--gap-us", "100:1000", "--draw", "uniform", "--seed", str(seed))
    argv = inside(names[0], sys.executable, "-I", "-", *words)
    done = subprocess.run(argv, check=True, stdout=subprocess.PIPE, text=True, input=packed("echo_probe"))
    return np.asarray([rtt / 1e3 for rtt in read_stream(done.stdout).column("rtt_ns") if rtt is not None])


def measure(rounds: int, seconds: int) -> tuple[list[Ratio], dict[str, list[tuple[float, float, int]]]]:
    """Ratios with the recorder by without, and of each load (CPU share, packets a second, dropped) of each round."""
    measured: dict[tuple[str, bool], list[float]] = {}
    costs: dict[str, list[tuple[float, float, int]]] = {}
    with veth_pair() as names:
        for number in range(rounds):
            for on in (True, False) if number % 2 == 0 else (False, True):
                values: dict[str, float] = {}
                with recorder(names[0], on=on) as tcp:
                    values["tcp"] = iperf(names, seconds)["sum_received"]["bits_per_second"] / 1e9
                with recorder(names[0], on=on) as slower:
                    result = iperf(names, seconds, "--bitrate", "1G")
                    values["tcp_1g"] = result["sum_received"]["bits_per_second"] / 1e9
                with recorder(names[0], on=on) as small:
                    total = iperf(names, seconds, "--udp", "--bitrate", "0", "--length", "18")["sum"]
                    values["small"] = (total["packets"] - total["lost_packets"]) / total["seconds"] / 1e3
                with recorder(names[0], on=on) as echoes:
                    rtt_us = round_trips_us(names, number)
                values["p50"], values["p99"] = (float(np.percentile(rtt_us, share)) for share in (50, 99))
                for what, value in values.items():
                    measured.setdefault((what, on), []).append(value)
                if on:
                    loads = {"TCP": tcp, "TCP at 1 Gb/s": slower, "small UDP": small, "echoes": echoes}
                    for load, one in loads.items():
                        costs.setdefault(load, []).append((one.cpu_share(), one.packets_hz(), one.dropped()))
            print(f"round {number + 1} of {rounds} done", file=sys.stderr)
    return [paired(*name, measured[what, True], measured[what, False]) for what, name in NAMES.items()], costs


def _beside_tcp(throughput: Ratio, cpu_shares: Sequence[float]) -> Figure:
    """Percent of a core that the recorder takes, and what it does to the throughput."""
    changes = {"value": 100 * float(np.median(cpu_shares)), "anchor_value": None}
    return Figure.model_validate(throughput.figure().model_dump() | changes)


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7, help="pairs of measurements (default %(default)s)")
    parser.add_argument("--seconds", type=int, default=2, help="length of each iperf3 run (default %(default)s)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    quiet.add_argument(parser)
    recording.add_argument(parser)
    given = parser.parse_args()
    records = recording.begin(given)
    if os.geteuid() != 0:
        print("idle_gaps: network namespaces need root: use sudo.", file=sys.stderr)
        return 2
    ratios, costs = measure(given.rounds, given.seconds)
    _show(ratios, costs, given)
    records.append({"TCP throughput": _beside_tcp(ratios[0], [share for share, _, _ in costs["TCP"]])})
    return 0


def _show(ratios: list[Ratio], costs: dict[str, list[tuple[float, float, int]]], given: argparse.Namespace) -> None:
    if given.json:
        print(json.dumps({"ratios": [ratio.as_dict() for ratio in ratios], "costs": costs}))
        return
    print(f"Medians of {ratios[0].pairs} rounds in turns.\n")
    print("| | with recorder | without | ratio (95 % interval) |\n| --- | --- | --- | --- |")
    for ratio in ratios:
        print(ratio.row())
    print("\n| recorder beside | CPU, % of a core | packets seen, 1000/s | not seen, % |\n| --- | --- | --- | --- |")
    for load, rows in costs.items():
        share, packets_hz, _ = (float(np.median(column)) for column in zip(*rows, strict=True))
        seen = sum(packets for _, packets, _ in rows) * given.seconds
        lost = sum(dropped for _, _, dropped in rows)
        print(f"| {load} | {share * 100:.1f} | {packets_hz / 1e3:.1f} | {100 * lost / max(1, lost + seen):.2f} |")


if __name__ == "__main__":
    sys.exit(main())
