"""States of the sources of samples, from the rows of `polls`: the same for sampling in this process or in another."""

from collections import deque
from dataclasses import dataclass, field
from typing import Final, cast

from eee_testbed.measuring.collecting.collect import Outcome, SourceState
from eee_testbed.measuring.collecting.source import SourceKind
from eee_testbed.measuring.live.state.view import Alarm
from eee_testbed.record.sample_tables import Batch

_RECENT_NS: Final = 60_000_000_000
_SILENT_PERIODS: Final = 5
_SILENT_LEAST_NS: Final = 5_000_000_000
_SILENT_FIRST_NS: Final = 60_000_000_000  # for a source whose period is not known yet
_NS: Final = 1e9


@dataclass(slots=True)
class _Source:
    kind: SourceKind
    period_ns: int = 0
    tick: int = 0
    due_ns: int = 0
    received_ns: int = 0
    outcome: Outcome = "waiting"
    why: str = ""
    counts: dict[str, int] = field(default_factory=dict)
    trouble_ns: deque[tuple[int, str]] = field(default_factory=lambda: deque(maxlen=600))


class SourceStates:
    """Sources by name and kind. Counts are of the rows that were taken: of a long run, those of its last minutes."""

    def __init__(self) -> None:
        self._sources: dict[tuple[str, str], _Source] = {}

    def take(self, batch: Batch) -> None:
        """A row of `polls`; others are ignored."""
        if batch.table != "polls":
            return
        poll = batch.columns
        name, kind = str(poll["source"]), str(poll["kind"])
        source = self._sources.setdefault((name, kind), _Source(cast("SourceKind", kind)))
        tick, due_ns = cast("int", poll["tick"]), cast("int", poll["due_ns"])
        if source.due_ns and tick > source.tick:
            source.period_ns = (due_ns - source.due_ns) // (tick - source.tick)
        source.tick, source.due_ns = tick, due_ns
        outcome = str(poll["outcome"])
        source.counts[outcome] = source.counts.get(outcome, 0) + 1
        if poll["mark"] == "late":
            source.counts["late"] = source.counts.get("late", 0) + 1
            source.trouble_ns.append((due_ns, "late"))
        if outcome == "missed":
            source.trouble_ns.append((due_ns, "missed"))
            return
        source.outcome = "ok" if outcome == "ok" else "failed"
        source.why = str(poll.get("why") or "")
        if outcome == "ok":
            source.received_ns = cast("int", poll["received_ns"])

    def states(self) -> tuple[SourceState, ...]:
        """The states, as the collector would report them."""
        return tuple(
            SourceState(
                name=name,
                kind=source.kind,
                period_s=source.period_ns / _NS,
                outcome=source.outcome,
                why=source.why,
                received_ns=source.received_ns,
                ok_count=source.counts.get("ok", 0),
                failed_count=source.counts.get("failed", 0),
                missed_count=source.counts.get("missed", 0),
                late_count=source.counts.get("late", 0),
            )
            for (name, _), source in sorted(self._sources.items())
        )

    def alarms(self, now_ns: int) -> list[Alarm]:
        """Alarms for sources that fail, are silent, or were late or missed in the last minute."""
        alarms: list[Alarm] = []
        for (name, kind), source in sorted(self._sources.items()):
            source_name = name if kind != "lpi" else f"{name} (LPI)"
            silent_ns = now_ns - source.due_ns
            if source.outcome == "failed":
                alarms.append(Alarm("bad", f"{source_name}: {source.why}"))
            elif silent_ns > _longest_silence_ns(source.period_ns):
                alarms.append(Alarm("bad", f"{source_name}: no sample for {silent_ns / _NS:.0f} s"))
            troubles = [word for at_ns, word in source.trouble_ns if now_ns - at_ns < _RECENT_NS]
            counts = ", ".join(f"{troubles.count(word)} {word}" for word in ("late", "missed") if word in troubles)
            if counts:
                alarms.append(Alarm("odd", f"{source_name}: {counts} in the last minute"))
        return alarms


def _longest_silence_ns(period_ns: int) -> int:
    return max(_SILENT_LEAST_NS, _SILENT_PERIODS * period_ns) if period_ns else _SILENT_FIRST_NS
