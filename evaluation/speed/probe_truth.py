"""Errors of the probe's round trips, compared with the engine's capture of the same frames on the cable.

``python -m evaluation.speed.probe_truth [LAB]`` (root) brings a lab up (miwa if none is named), captures the cable of
its first host, whose time stamps are the engine's model times, probes the second host from the first, and compares each
round trip by the kernel's time stamps with that on the cable. The cable stamps frames when they begin, and the kernel
has an answer once it is whole: its time on the wire is part of the true round trip. The rest is the time between the
host's kernel and the model: what the kernel does after its stamp, and the twin's lateness in accepting the frame and
in delivering the answer. Prints one JSON object.
"""

import argparse
import json
import os
import signal
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from eee_testbed.agents.pack import packed
from eee_testbed.agents.recording import Recording, read_stream
from eee_testbed.lab.folder import find_lab, load_lab
from evaluation import quiet, recording
from evaluation.records import Figure
from evaluation.running_lab import eeectl
from evaluation.speed.figures import interval

_EEECTL = (sys.executable, "-m", "eee_testbed.eeectl.cli")
_NANOSECOND_PCAP = 0xA1B23C4D
_IPV4, _VLAN, _ICMP = b"\x08\x00", b"\x81\x00", 1
_ASKED, _ANSWER = 8, 0
_PREAMBLE_BYTE, _LEAST_BYTE, _FCS_BYTE = 8, 60, 4


def packets(pcap: bytes) -> Iterator[tuple[int, bytes]]:
    """(ns since the epoch, frame) of each packet of a little-endian pcap with nanoseconds."""
    if len(pcap) < 24 or struct.unpack_from("<I", pcap)[0] != _NANOSECOND_PCAP:
        raise ValueError("not a pcap with nanoseconds")
    at = 24
    while at + 16 <= len(pcap):
        seconds, rest_ns, size, _ = struct.unpack_from("<4I", pcap, at)
        yield seconds * 1_000_000_000 + rest_ns, pcap[at + 16 : at + 16 + size]
        at += 16 + size


def echo_of(frame: bytes) -> tuple[int, int] | None:
    """(ICMP type, sequence number) of an echo or its answer; None for any other frame."""
    at = 16 if frame[12:14] == _VLAN else 12
    if frame[at : at + 2] != _IPV4 or frame[at + 11] != _ICMP:
        return None
    icmp = frame[at + 2 + (frame[at + 2] & 15) * 4 :]
    return (icmp[0], int.from_bytes(icmp[6:8], "big")) if icmp[0] in {_ANSWER, _ASKED} else None


def wire_ns(frame: bytes, rate_mbps: int) -> int:
    """Time of a captured frame on the wire, with preamble and checksum."""
    return round((_PREAMBLE_BYTE + max(len(frame), _LEAST_BYTE) + _FCS_BYTE) * 8_000 / rate_mbps)


def errors_us(recording: Recording, pcap: bytes, rate_mbps: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Probed minus true round trip of each echo that is in both, microseconds; fewer than 65,536 echoes."""
    seen: dict[tuple[int, int], int] = {}
    for at_ns, frame in packets(pcap):
        echo = echo_of(frame)
        if echo is not None:
            seen[echo] = at_ns + (wire_ns(frame, rate_mbps) if echo[0] == _ANSWER else 0)
    found = [
        rtt - (seen[_ANSWER, number] - seen[_ASKED, number])
        for number, rtt in zip(recording.column("number"), recording.column("rtt_ns"), strict=True)
        if rtt is not None and (_ANSWER, number) in seen and (_ASKED, number) in seen
    ]
    return np.asarray(found, dtype=float) / 1e3


def measure(folder: str, words: list[str]) -> dict[str, Any]:
    """Probe a lab that is up."""
    lab = load_lab(find_lab(folder))
    probing, probed = lab.hosts[0], lab.hosts[1]
    link = next(link for link in lab.links if f"{probing.name}:eth0" in {str(link.a), str(link.b)})
    with tempfile.TemporaryFile() as file:
        capture = subprocess.Popen(
            [*_EEECTL, "lab", "capture", str(link.a), "--lab", lab.name], stdout=file, stderr=subprocess.PIPE, text=True
        )
        try:
            assert capture.stderr is not None
            capture.stderr.readline()  # the capture has started
            argv = ["lab", "exec", "--lab", lab.name, "--root", probing.name, "--", "python3", "-"]
            done = subprocess.run(
                [*_EEECTL, *argv, str(probed.data_address), *words],
                check=True, stdout=subprocess.PIPE, text=True, input=packed("echo_probe"),
            )  # fmt: skip
        finally:
            capture.send_signal(signal.SIGINT)
            capture.wait()
        file.seek(0)
        recording = read_stream(done.stdout)
        errors = errors_us(recording, file.read(), link.rate_mbps)
    late = json.loads(eeectl("lab", "truth", lab.name, "--json"))["engine"]["lateness"]
    low, high = interval(np.abs(errors).tolist())
    return {
        "echoes": len(errors),
        "median_error_us": float(np.median(errors)),
        "error_percentiles_us": {at: round(float(np.percentile(errors, at)), 3) for at in (0, 1, 10, 25, 50, 75, 90)},
        "median_absolute_us": float(np.median(np.abs(errors))),
        "median_absolute_95_percent_us": [low, high],
        "p90_absolute_us": float(np.percentile(np.abs(errors), 90)),
        "p99_absolute_us": float(np.percentile(np.abs(errors), 99)),
        "probe": dict(recording.summary),
        "lateness": {key: value for key, value in late.items() if not isinstance(value, list)},
        "load_average": os.getloadavg()[0],
    }


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lab", nargs="?", default="miwa", help="name or folder (default %(default)s)")
    parser.add_argument("--count", type=int, default=2_000, help="echoes (default %(default)s)")
    parser.add_argument("--gap-us", default="500:4000", help="range of gaps (default %(default)s)")
    parser.add_argument("--rate", default="1", help="lab time a wall's second (default %(default)s)")
    parser.add_argument("--running", action="store_true", help="the lab is up already, and stays up")
    quiet.add_argument(parser)
    recording.add_argument(parser)
    given = parser.parse_args()
    records = recording.begin(given)
    if os.geteuid() != 0 or not 0 < given.count < 65_536:
        print("probe_truth: virtual labs need root: use sudo; --count is 1 to 65535.", file=sys.stderr)
        return 2
    words = ["--count", str(given.count), "--gap-us", given.gap_us, "--draw", "uniform"]
    if not given.running:
        eeectl("lab", "up", given.lab, "--rate", given.rate)
    try:
        found = measure(given.lab, words)
    finally:
        if not given.running:
            eeectl("lab", "down", Path(given.lab).name)
    print(json.dumps(found, indent=1))
    low, high = found["median_absolute_95_percent_us"]
    records.append({"median": Figure(value=found["median_absolute_us"], low=low, high=high, n=found["echoes"])})
    return 0


if __name__ == "__main__":
    sys.exit(main())
