"""Events as short sentences for people."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from eee_testbed.record.event_kinds import EventKind

Event = Mapping[str, Any]
"""One line of `events.jsonl`: `kind`, `time_ns`, and the facts of its kind."""


def _reason(event: Event) -> str:
    """Why something failed, without the device's name at its start."""
    return str(event["why"]).removeprefix(f"{event['source']}: ")


_LINK_STATES: Final = {
    "active": "is in use",
    "shadow": "is up and not used (shadow)",
    "off": "goes off",
    "waking": "is switched on",
    "down": "is down",
}
"""What a closed loop does with a link."""

_SENTENCES: Final[Mapping[str, Callable[[Event], str]]] = {
    EventKind.RUN_BEGUN: lambda _: "the run began",
    EventKind.RUN_RESUMED: lambda _: "the run goes on",
    EventKind.DISK_RECOVERED: lambda event: f"the disk takes samples again ({event['why']})",
    EventKind.SAMPLES_SET_ASIDE: lambda event: f"samples are lost: {event['why']}",
    EventKind.SAMPLING_BEGUN: lambda _: "sampling began",
    EventKind.SAMPLING_ENDED: lambda _: "sampling ended",
    EventKind.SOURCE_FAILED: lambda event: f"{event['source']}: {_reason(event)}",
    EventKind.SOURCE_GAVE_UP: lambda event: f"{event['source']} is not polled any more: {_reason(event)}",
    EventKind.SOURCE_RECOVERED: lambda event: f"{event['source']} answers again",
    EventKind.SWITCH_RESTARTED: lambda event: f"{event['source']} has restarted",
    EventKind.COUNTERS_MISSING: lambda event: f"{event['source']} lacks {event['columns']}",
    EventKind.METER_FROZEN: lambda event: f"{event['source']} has stopped measuring",
    EventKind.METER_RECOVERED: lambda event: f"{event['source']} measures again",
    EventKind.TOTAL_EXCEEDED: lambda event: (
        f"{event['source']}: its outlets draw {event['excess_watt']:.0f} W more than the whole strip shows"
    ),
    EventKind.CLOCK_JUMP: lambda event: f"this machine's clock jumped by {event['jump_ns'] / 1e6:.0f} ms",
    EventKind.CLOCK_UNKNOWN: lambda event: f"{event['source']}'s clock is unknown: {_reason(event)}",
    EventKind.TRIAL_BEGUN: lambda event: f"trial {event['trial']} began",
    EventKind.TRIAL_ENDED: lambda event: (
        f"trial {event['trial']} {event['state']}" + (f": {event['why']}" if event["why"] else "")
    ),
    EventKind.TRIAL_NOTE: lambda event: f"trial {event['trial']}: {event['note']}",
    EventKind.ACTUATION: lambda event: f"{event['what']} of {event['link']}: {event['after']}",
    EventKind.PORTS_SET: lambda event: f"settings of the ports of {', '.join(event['ports'])} were read",
    EventKind.WARMED_UP: lambda event: f"warm-up {event['number']} is done",
    EventKind.PREFLIGHT: lambda event: str(event["sentence"]),
    EventKind.LOOP_EPOCH: lambda event: f"epoch {event['epoch']} of the loop: {event['active']} links are active",
    EventKind.LOOP_DECIDED: lambda event: f"{event['link']} {_LINK_STATES[event['after']]}: {event['why']}",
    EventKind.LOOP_UNDECIDED: lambda event: f"no decision in epoch {event['epoch']}: {event['why']}",
    EventKind.LOOP_REFUSED: lambda event: f"not done in epoch {event['epoch']}: {event['why']}",
}


def sentence_of(event: Event) -> str:
    """A short sentence. An event of another version, with an unknown kind or without its facts, is shown as it is."""
    kind = str(event["kind"])
    if kind in _SENTENCES:
        try:
            return _SENTENCES[kind](event)
        except KeyError:  # written by a version that records fewer facts
            pass
    facts = ", ".join(f"{key} {value}" for key, value in event.items() if key not in {"kind", "time_ns"})
    return f"{kind.replace('_', ' ')}: {facts}" if facts else kind.replace("_", " ")
