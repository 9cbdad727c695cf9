"""The live twin compared with Open vSwitch's userspace switch, between the same two hosts, in turns.

``python -m evaluation.speed.twin_live`` (root) brings up a lab of its own with a 10 Gb/s switch, puts a second
interface on an Open vSwitch bridge into the same network namespaces. It measures in alternating rounds: TCP
throughput and 64-byte UDP frames a second (iperf3), and round trips (ICMP, kernel time stamps, gaps of 0.1 to 1 ms).
Then it probes the lab `miwa` with gaps of 0.5 to 4 ms and compares every round trip with the expected delay of
its sleeping links (`sleeping_path`). Prints Markdown, or with ``--json`` one object.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from eee_testbed.agents.pack import packed
from eee_testbed.agents.recording import read_stream
from evaluation import quiet, recording
from evaluation.running_lab import eeectl, journal_of
from evaluation.speed.bench_lab import HOSTS, write_bench_lab
from evaluation.speed.figures import Ratio, interval, paired
from evaluation.speed.ovs import OvsSwitch
from evaluation.speed.sleeping_path import Policy, echo_delays_us

OVS_ADDRESSES = ("198.19.201.1", "198.19.201.2")


def inside(pid: int, *argv: str) -> list[str]:
    """The argv that runs `argv` in the network namespace of a process."""
    return ["nsenter", f"--net=/proc/{pid}/ns/net", *argv]


def iperf(pids: tuple[int, int], address: str, seconds: int, *options: str) -> dict[str, Any]:
    """One iperf3 run from the first to the second host; its JSON's "end"."""
    with subprocess.Popen(
        inside(pids[1], "iperf3", "--server", "--one-off", "--forceflush"), stdout=subprocess.PIPE, text=True
    ) as server:
        if server.stdout is None:
            raise RuntimeError("iperf3 has no output")
        for line in server.stdout:
            if "listening" in line:
                break
        argv = inside(pids[0], "iperf3", "--json", "--client", address, "--time", str(seconds), *options)
        recorded = json.loads(subprocess.run(argv, check=True, stdout=subprocess.PIPE, text=True).stdout)
        server.stdout.read()
    end: dict[str, Any] = recorded["end"]
    return end


def tcp_bps(pids: tuple[int, int], address: str, seconds: int) -> float:
    """TCP goodput, bit/s."""
    return float(iperf(pids, address, seconds)["sum_received"]["bits_per_second"])


def small_frames_hz(pids: tuple[int, int], address: str, seconds: int) -> tuple[float, float]:
    """UDP frames of 64 bytes on the wire, offered as fast as the sender can: (forwarded, read) a second.

    Forwarded are those that the receiving host's stack took in. Of these its program reads as many as the processor
    that it shares with the sender leaves it time for: the more are forwarded, the fewer.
    """
    before = _taken_in(pids[1])
    total = iperf(pids, address, seconds, "--udp", "--bitrate", "0", "--length", "18")["sum"]
    forwarded = _taken_in(pids[1]) - before
    return forwarded / total["seconds"], float((total["packets"] - total["lost_packets"]) / total["seconds"])


def _taken_in(pid: int) -> int:
    """UDP datagrams that a host's stack has taken in: given to programs, or dropped as their buffers were full."""
    argv = inside(pid, "cat", "/proc/self/net/snmp")
    text = subprocess.run(argv, check=True, stdout=subprocess.PIPE, text=True).stdout
    names, counts = (line.split()[1:] for line in text.splitlines() if line.startswith("Udp:"))
    udp = dict(zip(names, map(int, counts), strict=True))
    return udp["InDatagrams"] + udp["RcvbufErrors"]


def echoes(pid: int, address: str, count: int, gaps_us: tuple[int, int], seed: int) -> dict[str, list[int | None]]:
    """Run the probe on a host; transmit time and round trip of each echo in ns, None if it was lost."""
    words = ("--count", str(count), "--gap-us", "{}:{}".format(*gaps_us), "--draw", "uniform", "--seed", str(seed))
    done = subprocess.run(
        inside(pid, "/usr/bin/python3", "-", address, *words),
        check=True, stdout=subprocess.PIPE, text=True, input=packed("echo_probe"),
    )  # fmt: skip
    recorded = read_stream(done.stdout)
    return {name: recorded.column(name) for name in ("sent_ns", "rtt_ns")}


def answered_us(recorded: dict[str, list[int | None]]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Round trips of the echoes that were answered."""
    return np.asarray([rtt for rtt in recorded["rtt_ns"] if rtt is not None], dtype=float) / 1e3


def beside_ovs(rounds: int, seconds: int) -> tuple[list[Ratio], str]:
    """Throughput, small frames and round trips, twin and OVS in turns."""
    with tempfile.TemporaryDirectory() as folder:
        lab = write_bench_lab(Path(folder))
        eeectl("lab", "up", str(lab))
        try:
            return _rounds(lab.name, rounds, seconds)
        finally:
            eeectl("lab", "down", lab.name)


def _rounds(lab: str, rounds: int, seconds: int) -> tuple[list[Ratio], str]:
    journal = journal_of(lab)
    pids = (journal.hosts[HOSTS[0]].pid, journal.hosts[HOSTS[1]].pid)
    hosts = {name: (pid, f"{address}/24") for name, pid, address in zip(HOSTS, pids, OVS_ADDRESSES, strict=True)}
    addresses = {"twin": "198.19.200.2", "ovs": OVS_ADDRESSES[1]}
    measured: dict[tuple[str, str], list[float]] = {}
    with OvsSwitch(hosts) as ovs:
        for number in range(rounds):
            for side in ("twin", "ovs") if number % 2 == 0 else ("ovs", "twin"):
                address = addresses[side]
                rtt = answered_us(echoes(pids[0], address, 2_000, (100, 1_000), number))
                forwarded_hz, read_hz = small_frames_hz(pids, address, seconds)
                for what, value in (
                    ("tcp", tcp_bps(pids, address, seconds) / 1e9),
                    ("forwarded", forwarded_hz / 1e3),
                    ("read", read_hz / 1e3),
                    ("p50", float(np.percentile(rtt, 50))),
                    ("p99", float(np.percentile(rtt, 99))),
                ):
                    measured.setdefault((what, side), []).append(value)
            print(f"round {number + 1} of {rounds} done", file=sys.stderr)
        version = ovs.vswitchd_version
    names = {
        "tcp": ("TCP throughput", "Gb/s"),
        "forwarded": ("64-byte frames forwarded", "1000/s"),
        "read": ("64-byte frames read by the receiver", "1000/s"),
        "p50": ("round trip p50", "us"),
        "p99": ("round trip p99", "us"),
    }
    return [paired(*name, measured[what, "twin"], measured[what, "ovs"]) for what, name in names.items()], version


@dataclass(frozen=True, slots=True)
class ProbeError:
    """Errors of round trips over sleeping links, microseconds: signed medians, quantiles of absolute errors."""

    echoes: int
    lost: int
    base_us: float
    median_error_us: float
    median_error_low_us: float
    median_error_high_us: float
    median_absolute_us: float
    p90_absolute_us: float
    p99_absolute_us: float
    lateness: dict[str, Any]


def probe_errors(
    sent_ns: Sequence[int | None], rtt_ns: Sequence[int | None], policy: Policy
) -> tuple[float, np.ndarray[Any, Any]]:
    """(base round trip, signed errors) of echoes over one sleeping switch port in each direction, in microseconds.

    The base is the median of the round trips that no sleep can have delayed: after gaps shorter than the hold.
    """
    kept = [(at, rtt) for at, rtt in zip(sent_ns, rtt_ns, strict=True) if at is not None and rtt is not None]
    sent = [(at - kept[0][0]) / 1e3 for at, _ in kept]
    rtt = np.asarray([rtt for _, rtt in kept]) / 1e3
    gaps = np.diff(sent) - rtt[:-1]
    base_us = float(np.median(rtt[1:][gaps < policy.hold_us - 2 * policy.wake_us]))
    extra = np.asarray(echo_delays_us(sent, base_us, [None, policy], [None, policy]))
    return base_us, (rtt - base_us - extra)[1:]


def beside_truth(count: int) -> ProbeError:
    """Probe n01 to n02 of the lab `miwa`: two switch ports that sleep, two NICs that do not."""
    eeectl("lab", "up", "miwa")
    try:
        pid = journal_of("miwa").hosts["n01"].pid
        echoes(pid, "198.19.1.2", 400, (500, 4_000), 0)  # the first second after link-up has no LPI
        recorded = echoes(pid, "198.19.1.2", count, (500, 4_000), 1)
        truth = json.loads(eeectl("lab", "truth", "miwa", "--json"))
    finally:
        eeectl("lab", "down", "miwa")
    base_us, errors = probe_errors(recorded["sent_ns"], recorded["rtt_ns"], Policy(1_000.0, 182.0, 60.0))
    low, high = interval(errors.tolist())
    quantiles = np.percentile(np.abs(errors), [50, 90, 99])
    return ProbeError(
        len(errors) + 1,
        recorded["rtt_ns"].count(None),
        base_us,
        float(np.median(errors)),
        low,
        high,
        float(quantiles[0]),
        float(quantiles[1]),
        float(quantiles[2]),
        {key: value for key, value in truth["engine"]["lateness"].items() if not isinstance(value, list)},
    )


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7, help="pairs of measurements (default %(default)s)")
    parser.add_argument("--seconds", type=int, default=3, help="length of each iperf3 run (default %(default)s)")
    parser.add_argument("--echoes", type=int, default=3_000, help="echoes over sleeping links (default %(default)s)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    quiet.add_argument(parser)
    recording.add_argument(parser)
    given = parser.parse_args()
    records = recording.begin(given)
    if os.geteuid() != 0:
        print("twin_live: virtual labs need root: use sudo.", file=sys.stderr)
        return 2
    ratios, version = beside_ovs(given.rounds, given.seconds)
    probe = beside_truth(given.echoes)
    show: Callable[[list[Ratio], str, ProbeError], None] = _print_json if given.json else _print_markdown
    show(ratios, version, probe)
    records.append({ratio.what: ratio.figure() for ratio in ratios})
    return 0


def _print_json(ratios: list[Ratio], version: str, probe: ProbeError) -> None:
    print(json.dumps({"ovs": version, "ratios": [ratio.as_dict() for ratio in ratios], "probe": asdict(probe)}))


def _print_markdown(ratios: list[Ratio], version: str, probe: ProbeError) -> None:
    print(f"Medians of {ratios[0].pairs} rounds in turns; {version}.\n")
    print("| | twin | Open vSwitch | ratio (95 % interval) |\n| --- | --- | --- | --- |")
    for ratio in ratios:
        print(ratio.row())
    late = probe.lateness
    print(
        f"\n{probe.echoes} echoes over sleeping links (hold 1 ms, Ts 182 us, Tw 60 us), {probe.lost} lost: "
        f"median error {probe.median_error_us:+.1f} us "
        f"({probe.median_error_low_us:+.1f} to {probe.median_error_high_us:+.1f}), "
        f"absolute error median {probe.median_absolute_us:.1f}, p90 {probe.p90_absolute_us:.1f}, "
        f"p99 {probe.p99_absolute_us:.1f} us; deliveries late by {late['p50_us']:.1f} us (median), "
        f"{late['p90_us']:.1f} (p90), {late['p99_us']:.1f} (p99)."
    )


if __name__ == "__main__":
    sys.exit(main())
