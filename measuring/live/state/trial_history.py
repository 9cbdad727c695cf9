"""A run and its trials, from its facts and events; and the round trips of a trial's probe."""

from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, Final

from eee_testbed.measuring.live.state.view import ProbeView, RunView, TrialView
from eee_testbed.record.event_kinds import EventKind
from eee_testbed.record.event_text import Event
from eee_testbed.record.run_tail import Echo

_SHOWN_TRIALS: Final = 40
_ECHOES: Final = 20_000


class TrialHistory:
    """Trials of one run; facts are those of its run.yaml."""

    def __init__(self) -> None:
        self._begun: dict[int, Event] = {}
        self._ended: deque[tuple[Event, Event]] = deque(maxlen=_SHOWN_TRIALS)
        self._counts = {"valid": 0, "invalid": 0, "failed": 0}
        self._slots_done: set[int] = set()
        self._paced: deque[tuple[Event, Event]] = deque(maxlen=_SHOWN_TRIALS)  # without a break between them
        self._probe_trial = 0
        self._rtts_us: deque[float] = deque(maxlen=_ECHOES)
        self._echo_count = self._lost_count = 0

    def take_event(self, event: Event) -> None:
        """An event of the run; those of other kinds are ignored."""
        if event["kind"] == EventKind.TRIAL_BEGUN:
            self._begun[event["trial"]] = event
        elif event["kind"] == EventKind.TRIAL_ENDED:
            begun = self._begun.pop(event["trial"], event)
            self._ended.append((begun, event))
            self._counts[event["state"]] = self._counts.get(event["state"], 0) + 1
            self._paced.append((begun, event))
            if event["state"] == "valid":
                self._slots_done.add(begun.get("slot", begun["trial"]))
        elif event["kind"] == EventKind.RUN_RESUMED:
            self._begun.clear()  # trials that ran when the writer was killed
            self._paced.clear()

    def take_echo(self, echo: Echo) -> None:
        """An echo; those of a new trial replace the ones before."""
        if echo.trial != self._probe_trial:
            self._probe_trial, self._echo_count, self._lost_count = echo.trial, 0, 0
            self._rtts_us.clear()
        self._echo_count += 1
        if echo.rtt_ns is None:
            self._lost_count += 1
        else:
            self._rtts_us.append(echo.rtt_ns / 1e3)

    def view(self, facts: Mapping[str, Any], now_ns: int, begun_ns: int, wall_s: float | None = None) -> RunView:
        """The run as it is now. `wall_s`: the wall's monotonic time, if the lab has a clock of its own."""
        running = [_running(begun, now_ns) for begun in self._begun.values()] if facts["state"] == "running" else []
        ended = [_ended(begun, end) for begun, end in reversed(self._ended)]
        experiment = facts.get("experiment")
        planned_count = int(facts.get("slot_count", 0))
        return RunView(
            name=str(facts["name"]),
            state=str(facts["state"]),
            begun_ns=begun_ns,
            experiment=str(experiment.get("name", "") if isinstance(experiment, Mapping) else experiment or ""),
            planned_count=planned_count,
            done_count=len(self._slots_done),
            valid_count=self._counts["valid"],
            invalid_count=self._counts["invalid"],
            failed_count=self._counts["failed"],
            left_s=self._left_s(planned_count, now_ns, wall_s),
            trials=(*running, *ended),
            probe=self._probe(),
        )

    def _left_s(self, planned_count: int, now_ns: int, wall_s: float | None) -> float | None:
        """Time for the missing trials at the pace of the last ones, with the time between them; the wall's if known."""
        missing = planned_count - len(self._slots_done)
        if not planned_count or not self._paced:
            return None
        events = [*(event for trial in self._paced for event in trial), *self._begun.values()]
        second: Callable[[Event], float] = _lab_s
        now_s = now_ns / 1e9
        if wall_s is not None and all(event.get("wall_s") is not None for event in events):
            second, now_s = _wall_s, wall_s
        each_s = (second(self._paced[-1][1]) - second(self._paced[0][0])) / len(self._paced)
        began_s = min(map(second, self._begun.values()), default=now_s)
        return max(0.0, missing * each_s - min(now_s - began_s, each_s))

    def _probe(self) -> ProbeView | None:
        if not self._echo_count:
            return None
        ordered = sorted(self._rtts_us)
        median_us, p99_us = (ordered[int(share * (len(ordered) - 1))] if ordered else None for share in (0.5, 0.99))
        return ProbeView(self._probe_trial, self._echo_count, self._lost_count, median_us, p99_us)


def levels_text(levels: Mapping[str, Any]) -> str:
    """Factors and their levels as text."""
    return " ".join(f"{factor}={level}" for factor, level in levels.items())


def _lab_s(event: Event) -> float:
    return float(event["time_ns"]) / 1e9


def _wall_s(event: Event) -> float:
    return float(event["wall_s"])


def _what(begun: Event) -> str:
    return str(begun.get("program") or begun.get("what", ""))


def _running(begun: Event, now_ns: int) -> TrialView:
    took_s = (now_ns - begun["time_ns"]) / 1e9
    return TrialView(begun["trial"], _what(begun), levels_text(begun["levels"]), "running", "", "", took_s)


def _ended(begun: Event, end: Event) -> TrialView:
    figures = ", ".join(map(_figure, end.get("figures", ())[:3]))
    return TrialView(
        trial=end["trial"],
        what=_what(begun),
        levels=levels_text(begun.get("levels", {})),
        state=str(end["state"]),
        why=str(end.get("why", "")),
        figures=figures,
        took_s=(end["ended_ns"] - end["begun_ns"]) / 1e9,
    )


def _figure(figure: Mapping[str, Any]) -> str:
    unit = f" {figure['unit']}" if figure["unit"] not in {"", "1"} else ""
    return f"{figure['name']} {figure['value']:.4g}{unit}"
