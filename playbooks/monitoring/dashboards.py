"""Three dashboards for Grafana, written as files: ``python -m playbooks.monitoring.dashboards``.

The metrics are those of `measuring/live/export` (option ``--prometheus`` of ``eeectl watch`` and ``eeectl run``).
Rates are over `$__rate_interval`, at least four scrapes. LPI counters are sampled every 10 s by default, so the data
source has an interval of 5 s and the shortest window is 20 s.

Simplification: Prometheus keeps one sample a scrape. Events shorter than two scrapes show only in the run's folder.
"""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from grafana_foundation_sdk.builders import dashboard
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models.dashboard import DashboardCursorSync, DashboardLinkType

from playbooks.monitoring.panels import (
    HALF,
    QUARTER,
    SOURCE,
    THIRD,
    Panel,
    bars,
    choice,
    figure,
    lines,
    sources,
    spread,
    stretches,
)

FOLDER: Final = Path(__file__).parents[1] / "roles" / "monitoring" / "files" / "grafana" / "dashboards"

_TAG: Final = "eee-testbed"
_LAB: Final = 'lab="$lab"'
_RUN: Final = 'lab="$lab",run="$run"'
_LINK: Final = 'on(lab,switch,port) group_left(link,end) eee_link_info{lab="$lab"}'
_THIS: Final = 'on(lab,switch,port) group_left(end) eee_link_info{lab="$lab",link="$link"}'
_RATE: Final = "[$__rate_interval]"
_HOSTS: Final = 'on(lab,switch,port) group_left() eee_link_info{lab="$lab",kind="host"}'
_UP: Final = {"0": ("down", "dark-red"), "1": ("up", "green")}

_ANNOTATION_KEYS: Final[Mapping[str, Any]] = {
    "useValueForTime": True,
    "titleFormat": "{{what}} {{after}}",
    "textFormat": "{{link}}",
    "tagKeys": "what,after",
}
"""Keys of annotations that only the Prometheus data source reads."""


def _actuations(labels: str) -> dict[str, Any]:
    """Actuations of links, as annotations at the times that the series give (in ms)."""
    board = dashboard.AnnotationQuery().name("actuations").datasource(SOURCE).enable(enable=True).icon_color("orange")
    expression = f"eee_actuation_timestamp_seconds{{{labels}}} * 1000"
    plain: dict[str, Any] = board.expr(expression).build().to_json()
    target = {"expr": expression, "refId": "Anno", "interval": "5s"}
    return {**plain, "target": target, **_ANNOTATION_KEYS}


def _power(labels: str) -> list[Panel]:
    return [
        lines(
            "Power of strips",
            "Total of each strip.",
            "watt",
            (f"eee_strip_power_watts{{{labels}}}", "{{strip}}"),
        ),
        lines(
            "Power of devices",
            "Sum of all outlets of a device.",
            "watt",
            (f'sum by (feeds) (eee_outlet_power_watts{{{labels},feeds!=""}})', "{{feeds}}"),
            filled=True,
        ),
    ]


def _energy(labels: str, span: int = QUARTER) -> Panel:
    counted = f"sum(increase(eee_strip_measured_joules_total{{{labels}}}[$__range]))"
    about = "Of all strips in the time range, where they were sampled; `eeectl report` gives it with an error bar."
    return figure("Energy", about, "joule", (_or_zero(counted), "energy"), span=span)


def _energy_a_trial() -> Panel:
    """Both counters begin with the run, so that their ratio needs no time range."""
    ended = f"sum(eee_run_trials_total{{{_RUN}}}) > 0"
    about = "Of all strips since the run began, by trials that ended; what they drew between trials is in it."
    return figure(
        "Energy by trial",
        about,
        "joule",
        (f"sum(eee_strip_measured_joules_total{{{_RUN}}}) / ({ended})", "energy by trial"),
        span=THIRD,
    )


def _or_zero(query: str) -> str:
    """A count that is 0, and not missing, where no series is there to be counted."""
    return f"{query} or vector(0)"


def _lost_frames(series: Callable[[str], str], legend: str) -> Panel:
    return lines(
        "Discarded and errored frames",
        "Frames that were discarded or had errors.",
        "pps",
        (series("eee_port_discarded_frames_total"), f"{legend} discarded"),
        (series("eee_port_error_frames_total"), f"{legend} errors"),
    )


def _lab() -> dashboard.Dashboard:
    board = _new_dashboard("EEE lab", "eee-lab", "Links, power and Low Power Idle of a lab.")
    panels: list[Panel] = [
        figure("Power", "Sum of all strips.", "watt", (f"sum(eee_strip_power_watts{{{_LAB}}})", "power")),
        _energy(_LAB),
        figure(
            "Links up",
            "Cables with at least one end that is up.",
            "short",
            (_or_zero(f"count(max by (link) (eee_port_up{{{_LAB}}} * {_LINK}) == 1)"), "links"),
        ),
        figure(
            "Sources that respond",
            "Share of switches, strips and LPI counters.",
            "percentunit",
            (f"avg(eee_source_up{{{_LAB}}})", "answering"),
        ),
        *_power(_LAB),
        lines(
            "Throughput",
            "The ten ports that send most.",
            "bps",
            (f'topk(10, rate(eee_port_bytes_total{{{_LAB},direction="transmit"}}{_RATE})) * 8', "{{switch}} {{port}}"),
        ),
        lines(
            "Low Power Idle",
            "Share of time that a port's transmitter is in Low Power Idle.",
            "percentunit",
            (
                f'rate(eee_port_lpi_seconds_total{{{_LAB},direction="transmit"}}{_RATE}) * {_LINK}',
                "{{switch}} {{port}}",
            ),
        ),
        stretches("Links", "Each end of each cable.", (f"eee_port_up{{{_LAB}}} * {_LINK}", "{{link}} {{end}}"), _UP),
        _lost_frames(lambda name: f"sum by (switch) (rate({name}{{{_LAB}}}{_RATE}))", "{{switch}}"),
        lines(
            "Samples",
            "Ticks of all sources by outcome; a missed or failed tick leaves a gap in the other panels.",
            "cps",
            (f"sum by (outcome) (rate(eee_polls_total{{{_LAB}}}{_RATE}))", "{{outcome}}"),
        ),
    ]
    return _with_panels(board, panels)


def _run_facts() -> list[Panel]:
    return [
        figure("Run", "State of the run.", "none", (f"eee_run_info{{{_RUN}}}", "{{state}}"), words=True, span=THIRD),
        figure(
            "Valid trials",
            "Number of valid trials.",
            "short",
            (_or_zero(f'sum(eee_run_trials_total{{{_RUN},state="valid"}})'), "valid"),
            span=THIRD,
        ),
        figure(
            "Trials planned",
            "Slots of the experiment.",
            "short",
            (f"eee_run_planned_trials{{{_RUN}}}", "planned"),
            span=THIRD,
        ),
        figure("Power", "Sum of all strips.", "watt", (f"sum(eee_strip_power_watts{{{_RUN}}})", "power"), span=THIRD),
        _energy(_RUN, THIRD),
        _energy_a_trial(),
    ]


def _round_trips() -> list[Panel]:
    quantiles = ("0.5", "0.9", "0.99")
    buckets = f"sum by (le) (rate(eee_probe_round_trip_seconds_bucket{{{_RUN}}}{_RATE}))"
    return [
        lines(
            "Round trips of the probe",
            "Quantiles, with the resolution of the histogram's buckets.",
            "s",
            *((f"histogram_quantile({q}, {buckets})", f"p{float(q) * 100:g}") for q in quantiles),
            (f"rate(eee_probe_lost_echoes_total{{{_RUN}}}{_RATE})", "lost a second"),
        ),
        spread(
            "Round trips",
            "Number of round trips in each bucket.",
            "s",
            f"sum by (le) (increase(eee_probe_round_trip_seconds_bucket{{{_RUN}}}{_RATE}))",
        ),
    ]


def _run() -> dashboard.Dashboard:
    board = _new_dashboard("EEE run", "eee-run", "One run: its trials, power and probe.")
    board = board.with_variable(choice("run", "run", f"label_values(eee_run_info{{{_LAB}}}, run)"))
    sent = f'rate(eee_port_bytes_total{{{_RUN},direction="receive"}}{_RATE})'
    panels: list[Panel] = [
        *_run_facts(),
        stretches(
            "Trials",
            "Levels of the running trial.",
            (f"max by (what, levels) (eee_run_trial_info{{{_RUN}}})", "{{what}} {{levels}}"),
            {"1": ("runs", "blue")},
        ),
        lines(
            "Closed loop",
            "Trunks by what the closed loop does with them; its decisions are annotations.",
            "short",
            (f"sum by (state) (eee_loop_links{{{_RUN}}})", "{{state}}"),
        ),
        lines(
            "Closed loop: load and slowdown",
            "Time in use of the busiest trunk; how much slower the program is than with all links on.",
            "percentunit",
            (f"eee_loop_busiest_ratio{{{_RUN}}}", "busiest trunk"),
            (f"eee_loop_slowdown_ratio{{{_RUN}}}", "slowdown"),
        ),
        *_power(_RUN),
        *_round_trips(),
        bars(
            "Figures",
            "From the last valid trial with each combination of levels.",
            "none",
            (f"eee_run_figure{{{_RUN}}}", "{{figure}} ({{unit}}) {{levels}}"),
        ),
        lines(
            "Finished trials",
            "By their state.",
            "short",
            (f"sum by (state) (eee_run_trials_total{{{_RUN}}})", "{{state}}"),
        ),
        lines(
            "Throughput",
            "Sum of what all hosts send.",
            "bps",
            (
                f"sum({sent} * {_HOSTS}) * 8",
                "all hosts",
            ),
        ),
        lines(
            "Low Power Idle",
            "Mean over all ports with LPI counters.",
            "percentunit",
            (f"avg by (direction) (rate(eee_port_lpi_seconds_total{{{_RUN}}}{_RATE}) * {_LINK})", "{{direction}}"),
        ),
    ]
    return _with_panels(board, panels)


def _link_facts(bits: str) -> list[Panel]:
    return [
        figure(
            "Ends that are up",
            "Ends at switches that are up.",
            "short",
            (_or_zero(f"sum(eee_port_up{{{_LAB}}} * {_THIS})"), "up"),
            span=THIRD,
        ),
        figure(
            "Speed",
            "Current speed.",
            "bps",
            (f"max(eee_port_speed_bytes_per_second{{{_LAB}}} * {_THIS}) * 8", "speed"),
            span=THIRD,
        ),
        figure(
            "Load",
            "Load of the busier direction, relative to the speed.",
            "percentunit",
            (f"max(({bits}) * {_THIS}) / max(eee_port_speed_bytes_per_second{{{_LAB}}} * {_THIS} * 8)", "load"),
            span=THIRD,
        ),
    ]


def _link() -> dashboard.Dashboard:
    board = _new_dashboard("EEE link", "eee-link", "Both ends of one cable.")
    board = board.with_variable(choice("link", "link", f"label_values(eee_link_info{{{_LAB}}}, link)"))
    legend = "{{switch}} {{port}} {{direction}}"
    bits = f"rate(eee_port_bytes_total{{{_LAB}}}{_RATE}) * 8"
    asleep = f"rate(eee_port_lpi_seconds_total{{{_LAB}}}{_RATE})"
    lpi_events = f"rate(eee_port_lpi_events_total{{{_LAB}}}{_RATE})"
    outlets = f"sum by (lab, feeds) (eee_outlet_power_watts{{{_LAB}}})"
    switches = 'label_replace(eee_link_info{lab="$lab",link="$link"}, "feeds", "$1", "switch", "(.*)")'
    panels: list[Panel] = [
        *_link_facts(bits),
        lines("Throughput", "As counted at each end.", "bps", (f"({bits}) * {_THIS}", legend)),
        lines(
            "Low Power Idle",
            "Share of time in Low Power Idle, as counted at each end.",
            "percentunit",
            (f"({asleep}) * {_THIS}", legend),
        ),
        lines("LPI entries", "How often a port entered Low Power Idle.", "cps", (f"({lpi_events}) * {_THIS}", legend)),
        lines(
            "Time per LPI entry",
            "Mean time in Low Power Idle per entry.",
            "s",
            (f"({asleep}) / ({lpi_events}) * {_THIS}", legend),
        ),
        lines(
            "Frames",
            "By destination.",
            "pps",
            (f"rate(eee_port_frames_total{{{_LAB}}}{_RATE}) * {_THIS}", f"{legend} {{{{cast}}}}"),
        ),
        _lost_frames(lambda name: f"rate({name}{{{_LAB}}}{_RATE}) * {_THIS}", legend),
        lines(
            "Power of its switches",
            "Sum of the outlets of each switch.",
            "watt",
            (
                f"{outlets} * on(lab,feeds) group_left() max by (lab, feeds) ({switches})",
                "{{feeds}}",
            ),
        ),
        stretches("Ends", "Up or down.", (f"eee_port_up{{{_LAB}}} * {_THIS}", "{{switch}} {{port}}"), _UP, span=HALF),
    ]
    return _with_panels(board, panels)


def _new_dashboard(title: str, uid: str, about: str) -> dashboard.Dashboard:
    board = dashboard.Dashboard(title).uid(uid).description(about).tags([_TAG]).refresh("5s")
    board = board.time("now-15m", "now").timezone("utc").tooltip(DashboardCursorSync.CROSSHAIR)
    others = dashboard.DashboardLink("dashboards").type(DashboardLinkType.DASHBOARDS).tags([_TAG])
    board = board.link(others.include_vars(include_vars=True).keep_time(keep_time=True))
    return board.with_variable(sources()).with_variable(choice("lab", "lab", "label_values(eee_source_up, lab)"))


def _with_panels(board: dashboard.Dashboard, panels: list[Panel]) -> dashboard.Dashboard:
    for panel in panels:
        board = board.with_panel(panel)
    return board


def dashboards() -> dict[str, dict[str, Any]]:
    """Every dashboard as Grafana reads it, by file name."""
    annotated = {"lab": (_lab(), _LAB), "run": (_run(), _LAB), "link": (_link(), 'lab="$lab",link="$link"')}
    board = {}
    for name, (built, labels) in annotated.items():
        plain = json.loads(json.dumps(built.build(), cls=JSONEncoder))
        board[f"{name}.json"] = {**plain, "annotations": {"list": [_actuations(labels)]}}
    return board


def text_of(plain: Mapping[str, Any]) -> str:
    """The text of a dashboard's file."""
    return json.dumps(plain, cls=JSONEncoder, indent=1, sort_keys=True) + "\n"


if __name__ == "__main__":
    for name, plain in dashboards().items():
        (FOLDER / name).write_text(text_of(plain), encoding="utf-8")
