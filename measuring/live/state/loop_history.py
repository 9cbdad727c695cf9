"""A closed loop of link regulation, from the events of its run."""

from collections import deque
from typing import Final

from eee_testbed.measuring.live.state.view import DecisionView, LoopView
from eee_testbed.record.event_kinds import EventKind
from eee_testbed.record.event_text import Event

_SHOWN_DECISIONS: Final = 40


class LoopHistory:
    """The last epoch of a loop, and its last decisions."""

    def __init__(self) -> None:
        self._epoch: Event | None = None
        self._decisions: deque[DecisionView] = deque(maxlen=_SHOWN_DECISIONS)

    def take_event(self, event: Event) -> None:
        """An event of the run; those of other kinds are ignored."""
        if event["kind"] == EventKind.LOOP_EPOCH:
            self._epoch = event
        elif event["kind"] == EventKind.LOOP_DECIDED:
            decision = DecisionView(event["time_ns"], str(event["link"]), str(event["after"]), str(event["why"]))
            self._decisions.append(decision)

    def view(self) -> LoopView | None:
        """The loop as it is now; None if the run has none."""
        epoch = self._epoch
        if epoch is None:
            return None
        return LoopView(
            epoch=int(epoch["epoch"]),
            active_count=int(epoch["active"]),
            links={str(state): tuple(names) for state, names in epoch["links"].items()},
            busiest_share=epoch["busiest_share"],
            slowdown_share=epoch["slowdown"],
            backs_off=bool(epoch["backs_off"]),
            undecided=str(epoch["undecided"]),
            decisions=tuple(reversed(self._decisions)),
        )
