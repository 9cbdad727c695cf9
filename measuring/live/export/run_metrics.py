"""A run for Prometheus: its state and trials, changes of links, round trips of its probe, its cables.

`eee_actuation_timestamp_seconds` is the time of the last change of a link, a series for each link and kind of change:
Grafana draws annotations from it. What a closed loop decides about a link is one of them, of kind `loop`.
Simplification: of two equal changes of one link between two scrapes Prometheus misses the first; the run's events have
both. The levels of a trial are one label, so that all experiments have the same metrics.
"""

import threading
from collections.abc import Iterator, Mapping
from typing import Any, Final

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from eee_testbed.lab.model import Lab
from eee_testbed.measuring.live.state.trial_history import levels_text
from eee_testbed.record.event_kinds import EventKind
from eee_testbed.record.event_text import Event
from eee_testbed.record.run_tail import Echo, Update

BUCKETS_US: Final = (
    *(5, 10, 15, 20, 30, 40, 50, 60, 80, 100, 120, 140, 160, 180, 200, 225, 250, 275, 300, 350, 400, 500, 600),
    *(800, 1_000, 1_500, 2_000, 5_000, 10_000, 50_000, 1_000_000),
)
"""Wakes of 16.5 to 400 us at up to four ports move a round trip by several of these buckets."""

_STATES: Final = ("valid", "invalid", "failed")


class RunMetrics(Collector):
    """Metrics of a lab's cables, and of its run if there is one. For two threads: one updates, one scrapes."""

    def __init__(self, lab: Lab) -> None:
        self._lab = lab
        self._lock = threading.Lock()
        self._facts: Mapping[str, Any] = {}
        self._trials = dict.fromkeys(_STATES, 0)
        self._running: dict[int, Event] = {}
        self._figures: dict[tuple[str, str, str], float] = {}
        self._changed_s: dict[tuple[str, str, str], float] = {}
        self._counts = [0] * (len(BUCKETS_US) + 1)
        self._sum_s = 0.0
        self._lost = 0
        self._loop: Event | None = None
        self._undecided = 0

    def take_update(self, update: Update, facts: Mapping[str, Any]) -> None:
        """Take what is new, and the run's facts; empty facts: there is no run."""
        with self._lock:
            self._facts = facts
            for event in update.events:
                self._take_event(event)
            for echo in update.echoes:
                self._take_echo(echo)

    def collect(self) -> Iterator[Metric]:
        """All metrics; those of a run only if there is one."""
        with self._lock:
            yield self._links()
            yield self._actuations()
            if self._facts:
                yield from self._run()
                yield from self._probe()
                yield from self._closed_loop()

    def _take_event(self, event: Event) -> None:
        match event["kind"]:
            case EventKind.TRIAL_BEGUN:
                self._running[event["trial"]] = event
            case EventKind.TRIAL_ENDED:
                begun = self._running.pop(event["trial"], event)
                self._trials[event["state"]] = self._trials.get(event["state"], 0) + 1
                levels = levels_text(begun.get("levels", {}))
                if event["state"] == "valid":
                    for figure in event.get("figures", ()):
                        self._figures[figure["name"], figure["unit"], levels] = figure["value"]
            case EventKind.RUN_RESUMED:
                self._running.clear()
            case EventKind.ACTUATION:
                change = str(event.get("what", "")), str(event.get("link", "")), str(event.get("after", ""))
                self._changed_s[change] = event["time_ns"] / 1e9
            case EventKind.LOOP_EPOCH:
                self._loop = event
            case EventKind.LOOP_DECIDED:
                change = "loop", str(event["link"]), str(event["after"])
                self._changed_s[change] = event["time_ns"] / 1e9
            case EventKind.LOOP_UNDECIDED:
                self._undecided += 1

    def _take_echo(self, echo: Echo) -> None:
        if echo.rtt_ns is None:
            self._lost += 1
            return
        place = next((n for n, bound in enumerate(BUCKETS_US) if echo.rtt_ns <= bound * 1_000), len(BUCKETS_US))
        self._counts[place] += 1
        self._sum_s += echo.rtt_ns / 1e9

    def _links(self) -> Metric:
        labels = ["lab", "link", "switch", "port", "end", "peer", "kind"]
        metric = GaugeMetricFamily("eee_link_info", "Ports of switches at the ends of cables.", labels=labels)
        switches = {switch.name for switch in self._lab.switches}
        for link in self._lab.links:
            kind = "trunk" if {link.a.device, link.b.device} <= switches else "host"
            for letter, end, peer in (("a", link.a, link.b), ("b", link.b, link.a)):
                if end.device in switches:
                    metric.add_metric([self._lab.name, link.name, end.device, end.port, letter, str(peer), kind], 1.0)
        return metric

    def _actuations(self) -> Metric:
        metric = GaugeMetricFamily(
            "eee_actuation_timestamp_seconds",
            "When this was done to a link last.",
            labels=["lab", "what", "link", "after"],
        )
        for (what, link, after), time_s in self._changed_s.items():
            metric.add_metric([self._lab.name, what, link, after], time_s)
        return metric

    def _run(self) -> Iterator[Metric]:
        name = str(self._facts["name"])
        experiment = self._facts.get("experiment")
        title = experiment.get("name", "") if isinstance(experiment, Mapping) else experiment or ""
        info = GaugeMetricFamily("eee_run_info", "A run.", labels=["lab", "run", "experiment", "state"])
        info.add_metric([self._lab.name, name, str(title), str(self._facts["state"])], 1.0)
        planned = GaugeMetricFamily("eee_run_planned_trials", "Trials that the run is to have.", labels=["lab", "run"])
        planned.add_metric([self._lab.name, name], int(self._facts.get("slot_count", 0)))
        done = CounterMetricFamily("eee_run_trials", "Trials that ended.", labels=["lab", "run", "state"])
        for state, count in self._trials.items():
            done.add_metric([self._lab.name, name, state], count)
        labels = ["lab", "run", "trial", "what", "levels"]
        running = GaugeMetricFamily("eee_run_trial_info", "The trial that is going on.", labels=labels)
        if self._facts["state"] == "running":
            for trial, event in self._running.items():
                what = str(event.get("program") or event.get("what", ""))
                running.add_metric([self._lab.name, name, str(trial), what, levels_text(event["levels"])], 1.0)
        labels = ["lab", "run", "figure", "unit", "levels"]
        figures = GaugeMetricFamily(
            "eee_run_figure", "A figure of the last valid trial with these levels.", labels=labels
        )
        for (figure, unit, levels), value in self._figures.items():
            figures.add_metric([self._lab.name, name, figure, unit, levels], value)
        yield from (info, planned, done, running, figures)

    def _closed_loop(self) -> Iterator[Metric]:
        """Metrics of a closed loop of link regulation, if the run has one."""
        epoch = self._loop
        if epoch is None:
            return
        labels, values = ["lab", "run"], [self._lab.name, str(self._facts["name"])]
        of_links = [*labels, "state"]
        links = GaugeMetricFamily("eee_loop_links", "Trunks by what the loop does with them.", labels=of_links)
        links.add_metric([*values, "active"], int(epoch["active"]))
        for state, names in epoch["links"].items():
            links.add_metric([*values, str(state)], len(names))
        epochs = CounterMetricFamily("eee_loop_epochs", "Epochs of the loop.", labels=labels)
        epochs.add_metric(values, int(epoch["epoch"]))
        undecided = CounterMetricFamily("eee_loop_undecided_epochs", "Epochs without a decision.", labels=labels)
        undecided.add_metric(values, self._undecided)
        yield from (links, epochs, undecided)
        busiest = GaugeMetricFamily("eee_loop_busiest_ratio", "Time in use of the busiest trunk.", labels=labels)
        slowdown = GaugeMetricFamily("eee_loop_slowdown_ratio", "How much slower the program is.", labels=labels)
        for gauge, share in ((busiest, epoch["busiest_share"]), (slowdown, epoch["slowdown"])):
            if share is not None:
                gauge.add_metric(values, float(share))
            yield gauge

    def _probe(self) -> Iterator[Metric]:
        labels = ["lab", "run"]
        values = [self._lab.name, str(self._facts["name"])]
        lost = CounterMetricFamily("eee_probe_lost_echoes", "Echoes of probes without an answer.", labels=labels)
        lost.add_metric(values, self._lost)
        trips = HistogramMetricFamily("eee_probe_round_trip_seconds", "Round trips of probes.", labels=labels)
        total = 0
        buckets: list[tuple[str, float]] = []
        for bound, count in zip((*(f"{us / 1e6:g}" for us in BUCKETS_US), "+Inf"), self._counts, strict=True):
            total += count
            buckets.append((bound, total))
        trips.add_metric(values, buckets, self._sum_s)
        yield from (lost, trips)
