"""A ping-interval probe from one host to another, run by `agents/echo_probe.py` there; and what its echoes say."""

import json
import statistics
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from agents.recording import Recording, read_stream
from controller.experiments.experiment import ProbeRun
from controller.experiments.raw_files import RawFile
from controller.transports.agent_streams import AgentStream
from lab.errors import Unreadable
from lab.model import Host

ECHOES: Final = "echoes.jsonl"
_PATIENCE_S: Final = 60.0
_LOST_AFTER_S: Final = 0.1


@dataclass(frozen=True, slots=True)
class Probed:
    """A probe that came to its end: when, and the stream that it wrote."""

    begun_ns: int
    ended_ns: int
    recording: Recording

    @property
    def rtts_us(self) -> list[float]:
        """Round trips of the echoes that were answered."""
        return [rtt_ns / 1000 for rtt_ns in self.recording.column("rtt_ns") if rtt_ns is not None]

    @property
    def carrier_changes(self) -> int:
        """How often the asking host's link went down or up meanwhile."""
        return int(self.recording.summary.get("carrier_changes", 0))

    def figures(self) -> tuple[tuple[str, float, str], ...]:
        """(name, value, unit) of the echoes together."""
        rtts_us = self.rtts_us
        counts = (
            ("echoes", float(len(self.recording.rows)), "1"),
            ("lost", float(len(self.recording.rows) - len(rtts_us)), "1"),
        )
        return (("rtt", statistics.median(rtts_us), "us"), *counts) if rtts_us else counts


def words_of(run: ProbeRun, address: str, seed: int) -> list[str]:
    """The agent's command line."""
    words = [address, "--seed", str(seed), "--since", run.since, "--payload-byte", str(run.payload_byte)]
    if run.steps_us:
        return [*words, "--steps-us", ",".join(f"{step:g}" for step in run.steps_us), "--per-step", str(run.per_step)]
    low, high = run.gap_us
    return [*words, "--gap-us", f"{low:g}:{high:g}", "--count", str(run.count), "--draw", run.draw]


def most_s(run: ProbeRun) -> float:
    """Longer than this a probe does not take, unless the node hangs."""
    longest_s, count = run.gap_us[1] / 1e6, run.count
    if run.steps_us:
        longest_s, count = sum(run.steps_us) / len(run.steps_us) / 1e6, run.per_step * len(run.steps_us)
    return count * (longest_s + 0.02 + _LOST_AFTER_S) + _PATIENCE_S


def probe(
    source: Host, target: Host, run: ProbeRun, folder: Path, *, seed: int, now: Callable[[], int], user: str = ""
) -> Probed:
    """Probe, with the stream kept in `folder` as it comes; DeviceError if the agent fails or the node is lost.

    At a KeyboardInterrupt the agent is ended, and what came is in the file.
    """
    lines: list[bytes] = []
    path = folder / ECHOES
    with RawFile(path) as file:

        def take(line: bytes) -> None:
            lines.append(line)
            file.append(line)

        with AgentStream(source, "echo_probe", words_of(run, target.data_address, seed), take, user) as stream:
            begun_ns = now()
            stream.wait(most_s(run))
            ended_ns = now()
    return Probed(begun_ns, ended_ns, read_lines(source.name, b"".join(lines)))


def read_lines(host: str, data: bytes) -> Recording:
    """An agent's stream; Unreadable if it is none, or has no end."""
    text = data.decode("utf-8", "replace")
    try:
        recording = read_stream(text)
    except (ValueError, KeyError, json.JSONDecodeError) as error:
        raise Unreadable(host, "echo_probe", text[:200]) from error
    if not recording.summary:
        raise Unreadable(host, "echo_probe", "a stream without an end: the agent was killed there")
    return recording
