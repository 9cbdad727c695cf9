"""A one-way stream to two hosts during a probe, run by `agents/keep_awake.py` on a third one."""

from pathlib import Path
from types import TracebackType
from typing import Final, Self

from eee_testbed.controller.transports.agent_streams import AgentStream
from eee_testbed.lab.model import Host
from eee_testbed.measuring.experiments.probing import read_lines
from eee_testbed.measuring.experiments.raw_files import RawFile

STREAM_FILE: Final = "stream.jsonl"
_LATE_SHARE: Final = 0.02
"""Of rounds, those that may be late: a stream is to be four times as fast as the hold that it defies, so that it takes
several in a row for a port to fall asleep."""


class AwakeStream:
    """The stream, from entering the context to leaving it; its rows are written to `folder` as they arrive.

    Entering raises DeviceError if its agent does not start.
    """

    def __init__(self, source: Host, targets: tuple[Host, ...], every_us: float, folder: Path, user: str = "") -> None:
        self._source, self._path = source, folder / STREAM_FILE
        self._file = RawFile(self._path)
        words = [*(target.data_address for target in targets), "--every-us", f"{every_us:g}"]
        self._agent = AgentStream(source, "keep_awake", words, self._file.append, user)

    def __enter__(self) -> Self:
        try:
            self._agent.__enter__()
        except BaseException:
            self._file.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._agent.end()
        finally:
            self._file.close()

    def why_late(self) -> str:
        """After it has ended: why it kept no port awake; empty if it did. Unreadable if its agent was killed."""
        recording = read_lines(self._source.name, self._path.read_bytes(), "keep_awake")
        rounds, late = (int(recording.summary.get(name, 0)) for name in ("rounds", "late"))
        if late > _LATE_SHARE * rounds:
            return (
                f"{self._source.name}'s stream was late in {late} of {rounds} rounds, so ports may have slept: end "
                "what else runs there, or stream less often (stream_every_us)."
            )
        if any(recording.column("refused")):
            return f"{self._source.name} could not send its stream: check its route to the probed hosts."
        return ""
