"""Events of a run and of its sampling, in words for a person."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from record.run_tail import Event

_PLAIN: Final[Mapping[str, str]] = {
    "begun": "the run began",
    "resumed": "the run goes on",
    "sampling_begun": "sampling began",
    "sampling_ended": "sampling ended",
    "finished": "the run ended",
}

_WORDS: Final[Mapping[str, Callable[[Mapping[str, Any]], str]]] = {
    "failed": lambda told: f"{told['source']}: {told['why']}",
    "gave_up": lambda told: f"{told['source']} is left alone: {told['why']}",
    "answers_again": lambda told: f"{told['source']} answers again",
    "restarted": lambda told: f"{told['source']} has restarted",
    "meter_frozen": lambda told: f"{told['source']} has stopped measuring",
    "meter_moves": lambda told: f"{told['source']} measures again",
    "clock_jump": lambda told: f"this machine's clock jumped by {told['jump_ns'] / 1e6:.0f} ms",
    "clock_unknown": lambda told: f"{told['source']}'s clock is unknown: {told['why']}",
    "counters_missing": lambda told: f"{told['source']} lacks {told['columns']}",
    "disk_recovered": lambda told: f"the disk takes samples again ({told['why']})",
    "actuation": lambda told: f"{told['what']} of {told['link']}: {told['after']}",
    "trial_note": lambda told: f"trial {told['trial']}: {told['note']}",
    "warmed_up": lambda told: f"warm-up {told['number']} is done",
    "preflight": lambda told: str(told["sentence"]),
    "trial_begun": lambda told: f"trial {told['trial']} began",
    "trial_ended": lambda told: f"trial {told['trial']} {told['state']}" + (f": {told['why']}" if told["why"] else ""),
}


def words_of(event: Event) -> str:
    """A short sentence; a kind that nobody foresaw is shown with its facts."""
    kind = str(event["kind"])
    if kind in _PLAIN:
        return _PLAIN[kind]
    if kind in _WORDS:
        try:
            return _WORDS[kind](event)
        except KeyError:  # written by a version that tells less
            pass
    facts = ", ".join(f"{key} {value}" for key, value in event.items() if key not in {"kind", "time_ns"})
    return f"{kind.replace('_', ' ')}: {facts}" if facts else kind.replace("_", " ")
