"""Every kind of event in a run's `events.jsonl`. Writers and readers of events use these names, and no other text."""

from enum import StrEnum
from typing import Self


class EventKind(StrEnum):
    """What happened. The value is the event's `kind` in the file.

    `remark`: whether a reader of the run's figures has to know about it. A report lists these events.
    """

    remark: bool

    def __new__(cls, value: str, remark: bool) -> Self:  # noqa: FBT001 - values of an enum are positional
        """A kind, with its decision about reports."""
        kind = str.__new__(cls, value)
        kind._value_ = value
        kind.remark = remark
        return kind

    # A run's folder (record/store.py)
    RUN_BEGUN = "begun", False
    RUN_RESUMED = "resumed", True
    DISK_RECOVERED = "disk_recovered", True
    SAMPLES_SET_ASIDE = "samples_set_aside", True

    # Sampling (measuring/collecting)
    SAMPLING_BEGUN = "sampling_begun", False
    SAMPLING_ENDED = "sampling_ended", False
    SOURCE_FAILED = "failed", True
    SOURCE_GAVE_UP = "gave_up", True
    SOURCE_RECOVERED = "answers_again", False
    SWITCH_RESTARTED = "restarted", True
    COUNTERS_MISSING = "counters_missing", True
    METER_FROZEN = "meter_frozen", True
    METER_RECOVERED = "meter_moves", False
    TOTAL_EXCEEDED = "total_exceeded", True
    CLOCK_JUMP = "clock_jump", True
    CLOCK_UNKNOWN = "clock_unknown", True

    # Experiments (record/trial_events.py, measuring/experiments)
    TRIAL_BEGUN = "trial_begun", False
    TRIAL_ENDED = "trial_ended", False
    TRIAL_NOTE = "trial_note", True
    ACTUATION = "actuation", False
    PORTS_SET = "ports_set", False
    WARMED_UP = "warmed_up", False
    PREFLIGHT = "preflight", True

    # The closed loop of link regulation (measuring/regulating)
    LOOP_EPOCH = "loop_epoch", False
    LOOP_DECIDED = "loop_decided", True
    LOOP_UNDECIDED = "loop_undecided", True
    LOOP_REFUSED = "loop_refused", True
