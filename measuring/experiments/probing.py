"""A ping-interval probe from one host to another, run by `agents/echo_probe.py` on the first, and its round trips."""

import json
import statistics
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from eee_testbed.agents.recording import Recording, read_stream
from eee_testbed.analysis.links.probed_path import EEE_FILE, ProbedPath
from eee_testbed.controller.transports.agent_streams import AgentStream
from eee_testbed.lab.errors import Unreadable
from eee_testbed.lab.model import Host
from eee_testbed.measuring.experiments.experiment import ProbeRun
from eee_testbed.measuring.experiments.raw_files import RawFile

ECHOES: Final = "echoes.jsonl"
_MARGIN_S: Final = 60.0
_LOST_AFTER_S: Final = 0.1


@dataclass(frozen=True, slots=True)
class Probed:
    """A finished probe: its times, and the stream that it wrote."""

    begun_ns: int
    ended_ns: int
    recording: Recording

    @property
    def rtts_us(self) -> list[float]:
        """Round-trip times of the answered echoes."""
        return [rtt_ns / 1000 for rtt_ns in self.recording.column("rtt_ns") if rtt_ns is not None]

    @property
    def carrier_changes(self) -> int:
        """How often the sending host's link went down or up during the probe."""
        return int(self.recording.summary.get("carrier_changes", 0))

    def figures(self) -> tuple[tuple[str, float, str], ...]:
        """(name, value, unit) of all echoes together."""
        rtts_us = self.rtts_us
        counts = (
            ("echoes", float(len(self.recording.rows)), "1"),
            ("lost", float(len(self.recording.rows) - len(rtts_us)), "1"),
        )
        return (("rtt", statistics.median(rtts_us), "us"), *counts) if rtts_us else counts


def arguments_of(run: ProbeRun, address: str, seed: int) -> list[str]:
    """The agent's command line."""
    arguments = [
        address,
        "--on-line",
        "--seed",
        str(seed),
        "--since",
        run.since,
        "--payload-byte",
        str(run.payload_byte),
    ]
    if run.steps_us:
        return [
            *arguments,
            "--steps-us",
            ",".join(f"{step:g}" for step in run.steps_us),
            "--per-step",
            str(run.per_step),
        ]
    low, high = run.gap_us
    return [*arguments, "--gap-us", f"{low:g}:{high:g}", "--count", str(run.count), "--draw", run.draw]


def longest_s_of(run: ProbeRun) -> float:
    """Upper bound on a probe's duration; it takes longer only if the node hangs."""
    longest_s, count = run.gap_us[1] / 1e6, run.count
    if run.steps_us:
        longest_s, count = sum(run.steps_us) / len(run.steps_us) / 1e6, run.per_step * len(run.steps_us)
    return count * (longest_s + 0.02 + _LOST_AFTER_S) + _MARGIN_S


def probe(
    source: Host,
    target: Host,
    run: ProbeRun,
    folder: Path,
    *,
    seed: int,
    now: Callable[[], int],
    user: str = "",
    timed: AbstractContextManager[object] | None = None,
) -> Probed:
    """Run a probe; its stream is written to `folder` as it arrives. DeviceError if the agent fails or the node is lost.

    `timed` is entered when the agent is ready, before its first echo, and left when it has ended. At a
    KeyboardInterrupt the agent is stopped, and the file has everything received until then.
    """
    lines: list[bytes] = []
    path = folder / ECHOES
    with RawFile(path) as file:

        def take(line: bytes) -> None:
            lines.append(line)
            file.append(line)

        stream = AgentStream(source, "echo_probe", arguments_of(run, target.data_address, seed), take, user)
        with stream, timed or nullcontext():
            begun_ns = now()
            stream.tell("begin")
            stream.wait(longest_s_of(run))
            ended_ns = now()
    return Probed(begun_ns, ended_ns, read_lines(source.name, b"".join(lines)))


def note_eee(folder: Path, shown: Mapping[str, Mapping[str, object]]) -> None:
    """Write what the switches showed of EEE before a probe, by port, into the folder of its trial."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / EEE_FILE).write_text(json.dumps(shown, indent=1) + "\n", encoding="utf-8")


def eee_sentence(path: ProbedPath) -> str:
    """Whether EEE is in force on a probe's path, as the switches show it; empty if none of them says."""
    parts = [
        f"{words} on {'; '.join(links)}"
        for words, links in (("in force", path.in_force), ("not in force", path.not_in_force))
        if links
    ]
    return f"EEE is {' and '.join(parts)}" if parts else ""


def read_lines(host: str, data: bytes, agent: str = "echo_probe") -> Recording:
    """Parse an agent's stream; Unreadable if it is malformed or has no summary."""
    text = data.decode("utf-8", "replace")
    try:
        recording = read_stream(text)
    except (ValueError, KeyError, json.JSONDecodeError) as error:
        raise Unreadable(host, agent, text[:200]) from error
    if not recording.summary:
        raise Unreadable(host, agent, "the stream has no summary: the agent was killed on the node")
    return recording
