"""Three dashboards for Grafana, written as files: ``python -m playbooks.monitoring.dashboards``.

The metrics are those of `controller/exporters` (``eeectl watch --prometheus``, ``eeectl run`` with it attached). Rates
are over `$__rate_interval`, four scrapes at least; LPI counters are sampled each 10 s by default, so the data source
says 5 s and the least window is 20 s.

Simplification: Prometheus keeps a sample a scrape. What is shorter than two scrapes is told by the run's own folder.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from grafana_foundation_sdk.builders import dashboard
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models.dashboard import DashboardCursorSync

from playbooks.monitoring.panels import (
    HALF,
    SOURCE,
    THIRD,
    Panel,
    bars,
    choice,
    figure,
    lines,
    spread,
    stretches,
)

FOLDER: Final = Path(__file__).parent / "files" / "grafana" / "dashboards"

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
"""What the Prometheus data source reads beside the keys that dashboards of any source have."""


def _acted(labels: str) -> dict[str, Any]:
    """What was done to links, as annotations at the times that the series tell (in ms)."""
    made = dashboard.AnnotationQuery().name("actuations").datasource(SOURCE).enable(enable=True).icon_color("orange")
    expression = f"eee_actuation_timestamp_seconds{{{labels}}} * 1000"
    told: dict[str, Any] = made.expr(expression).build().to_json()
    target = {"expr": expression, "refId": "Anno", "interval": "5s"}
    return {**told, "target": target, **_ANNOTATION_KEYS}


def _power(labels: str) -> list[Panel]:
    return [
        lines(
            "Power of strips",
            "What each strip shows as a whole.",
            "watt",
            (f"eee_strip_power_watts{{{labels}}}", "{{strip}}"),
        ),
        lines(
            "Power of devices",
            "All outlets of a device together.",
            "watt",
            (f'sum by (feeds) (eee_outlet_power_watts{{{labels},feeds!=""}})', "{{feeds}}"),
            filled=True,
        ),
    ]


def _energy(labels: str) -> Panel:
    mean = f"sum(avg_over_time(eee_strip_power_watts{{{labels}}}[$__range]))"
    about = "Mean of what the strips showed, times the range; for one with an error bar see `eeectl report`."
    return figure("Energy", about, "joule", (f"{mean} * $__range_s", "energy"))


def _lab() -> dashboard.Dashboard:
    made = _begun("EEE lab", "eee-lab", "Links, watts and Low Power Idle of a lab.")
    panels: list[Panel] = [
        figure("Power", "All strips together.", "watt", (f"sum(eee_strip_power_watts{{{_LAB}}})", "power")),
        _energy(_LAB),
        figure(
            "Links up",
            "Cables with at least one end that is up.",
            "short",
            (f"count(max by (link) (eee_port_up{{{_LAB}}} * {_LINK}) == 1)", "links"),
        ),
        figure(
            "Sources that answer",
            "Of switches, strips and LPI counters.",
            "percentunit",
            (f"avg(eee_source_up{{{_LAB}}})", "answering"),
        ),
        *_power(_LAB),
        lines(
            "Throughput",
            "The ten busiest ports, sending.",
            "bps",
            (f'topk(10, rate(eee_port_bytes_total{{{_LAB},direction="transmit"}}{_RATE})) * 8', "{{switch}} {{port}}"),
        ),
        lines(
            "Low Power Idle",
            "Share of time in which a port's transmitter sleeps.",
            "percentunit",
            (
                f'rate(eee_port_lpi_seconds_total{{{_LAB},direction="transmit"}}{_RATE}) * {_LINK}',
                "{{switch}} {{port}}",
            ),
        ),
        stretches("Links", "Each end of each cable.", (f"eee_port_up{{{_LAB}}} * {_LINK}", "{{link}} {{end}}"), _UP),
        lines(
            "Frames lost or wrong",
            "Discarded or with errors.",
            "pps",
            (f"sum by (switch) (rate(eee_port_discarded_frames_total{{{_LAB}}}{_RATE}))", "{{switch}} discarded"),
            (f"sum by (switch) (rate(eee_port_error_frames_total{{{_LAB}}}{_RATE}))", "{{switch}} wrong"),
        ),
        lines(
            "Samples",
            "Beats of all sources by how they ended; what is missed or failed is missing in the rest.",
            "cps",
            (f"sum by (outcome) (rate(eee_polls_total{{{_LAB}}}{_RATE}))", "{{outcome}}"),
        ),
    ]
    return _filled(made, panels)


def _run() -> dashboard.Dashboard:
    made = _begun("EEE run", "eee-run", "One run: its trials, watts, probe.")
    made = made.with_variable(choice("run", "run", f"label_values(eee_run_info{{{_LAB}}}, run)"))
    quantiles = ("0.5", "0.9", "0.99")
    sent = f'rate(eee_port_bytes_total{{{_LAB},direction="receive"}}{_RATE})'
    buckets = f"sum by (le) (rate(eee_probe_round_trip_seconds_bucket{{{_RUN}}}{_RATE}))"
    panels: list[Panel] = [
        figure("Run", "Its state.", "none", (f"eee_run_info{{{_RUN}}}", "{{state}}"), words=True),
        figure(
            "Trials that count", "Valid ones.", "short", (f'sum(eee_run_trials_total{{{_RUN},state="valid"}})', "valid")
        ),
        figure("Trials planned", "Slots of the experiment.", "short", (f"eee_run_planned_trials{{{_RUN}}}", "planned")),
        _energy(_LAB),
        stretches(
            "Trials",
            "Which levels the running trial has.",
            (f"max by (what, levels) (eee_run_trial_info{{{_RUN}}})", "{{what}} {{levels}}"),
            {"1": ("runs", "blue")},
        ),
        *_power(_LAB),
        lines(
            "Round trips of the probe",
            "Quantiles, as exact as the buckets of the histogram are narrow.",
            "s",
            *((f"histogram_quantile({q}, {buckets})", f"p{float(q) * 100:g}") for q in quantiles),
            (f"rate(eee_probe_lost_echoes_total{{{_RUN}}}{_RATE})", "lost a second"),
        ),
        spread(
            "Round trips",
            "How many fell into each bucket.",
            "s",
            f"sum by (le) (increase(eee_probe_round_trip_seconds_bucket{{{_RUN}}}{_RATE}))",
        ),
        bars(
            "Figures",
            "Of the last valid trial with each combination of levels.",
            "none",
            (f"eee_run_figure{{{_RUN}}}", "{{figure}} ({{unit}}) {{levels}}"),
        ),
        lines(
            "Trials that ended", "By how.", "short", (f"sum by (state) (eee_run_trials_total{{{_RUN}}})", "{{state}}")
        ),
        lines(
            "Throughput",
            "What all hosts send.",
            "bps",
            (
                f"sum({sent} * {_HOSTS}) * 8",
                "all hosts",
            ),
        ),
        lines(
            "Low Power Idle",
            "Mean over all ports that count it.",
            "percentunit",
            (f"avg by (direction) (rate(eee_port_lpi_seconds_total{{{_LAB}}}{_RATE}) * {_LINK})", "{{direction}}"),
        ),
    ]
    return _filled(made, panels)


def _link() -> dashboard.Dashboard:
    made = _begun("EEE link", "eee-link", "Both ends of one cable.")
    made = made.with_variable(choice("link", "link", f"label_values(eee_link_info{{{_LAB}}}, link)"))
    legend = "{{switch}} {{port}} {{direction}}"
    bits = f"rate(eee_port_bytes_total{{{_LAB}}}{_RATE}) * 8"
    asleep = f"rate(eee_port_lpi_seconds_total{{{_LAB}}}{_RATE})"
    naps = f"rate(eee_port_lpi_events_total{{{_LAB}}}{_RATE})"
    outlets = f"sum by (lab, feeds) (eee_outlet_power_watts{{{_LAB}}})"
    switches = 'label_replace(eee_link_info{lab="$lab",link="$link"}, "feeds", "$1", "switch", "(.*)")'
    panels: list[Panel] = [
        figure(
            "Ends that are up",
            "Of those at switches.",
            "short",
            (f"sum(eee_port_up{{{_LAB}}} * {_THIS})", "up"),
            span=THIRD,
        ),
        figure(
            "Speed",
            "Now.",
            "bps",
            (f"max(eee_port_speed_bytes_per_second{{{_LAB}}} * {_THIS}) * 8", "speed"),
            span=THIRD,
        ),
        figure(
            "Load",
            "The busier direction, of the speed.",
            "percentunit",
            (f"max(({bits}) * {_THIS}) / max(eee_port_speed_bytes_per_second{{{_LAB}}} * {_THIS} * 8)", "load"),
            span=THIRD,
        ),
        lines("Throughput", "As each end counts it.", "bps", (f"({bits}) * {_THIS}", legend)),
        lines(
            "Low Power Idle",
            "Share of time asleep, as each end counts it.",
            "percentunit",
            (f"({asleep}) * {_THIS}", legend),
        ),
        lines("Naps", "How often Low Power Idle began.", "cps", (f"({naps}) * {_THIS}", legend)),
        lines(
            "Length of a nap", "Time asleep by times that it began.", "s", (f"({asleep}) / ({naps}) * {_THIS}", legend)
        ),
        lines(
            "Frames",
            "By destination.",
            "pps",
            (f"rate(eee_port_frames_total{{{_LAB}}}{_RATE}) * {_THIS}", f"{legend} {{{{cast}}}}"),
        ),
        lines(
            "Frames lost or wrong",
            "Discarded or with errors.",
            "pps",
            (f"rate(eee_port_discarded_frames_total{{{_LAB}}}{_RATE}) * {_THIS}", f"{legend} discarded"),
            (f"rate(eee_port_error_frames_total{{{_LAB}}}{_RATE}) * {_THIS}", f"{legend} wrong"),
        ),
        lines(
            "Power of its switches",
            "All outlets of each together.",
            "watt",
            (
                f"{outlets} * on(lab,feeds) group_left() max by (lab, feeds) ({switches})",
                "{{feeds}}",
            ),
        ),
        stretches("Ends", "Up or down.", (f"eee_port_up{{{_LAB}}} * {_THIS}", "{{switch}} {{port}}"), _UP, span=HALF),
    ]
    return _filled(made, panels)


def _begun(title: str, uid: str, about: str) -> dashboard.Dashboard:
    made = dashboard.Dashboard(title).uid(uid).description(about).tags(["eee-testbed"]).refresh("5s")
    made = made.time("now-15m", "now").timezone("utc").tooltip(DashboardCursorSync.CROSSHAIR)
    return made.with_variable(choice("lab", "lab", "label_values(eee_source_up, lab)"))


def _filled(made: dashboard.Dashboard, panels: list[Panel]) -> dashboard.Dashboard:
    for panel in panels:
        made = made.with_panel(panel)
    return made


def dashboards() -> dict[str, dict[str, Any]]:
    """Every dashboard as Grafana reads it, by the name of its file."""
    annotated = {"lab": (_lab(), _LAB), "run": (_run(), _LAB), "link": (_link(), 'lab="$lab",link="$link"')}
    made = {}
    for name, (built, labels) in annotated.items():
        plain = json.loads(json.dumps(built.build(), cls=JSONEncoder))
        made[f"{name}.json"] = {**plain, "annotations": {"list": [_acted(labels)]}}
    return made


def text_of(plain: Mapping[str, Any]) -> str:
    """As it stands in its file."""
    return json.dumps(plain, cls=JSONEncoder, indent=1, sort_keys=True) + "\n"


if __name__ == "__main__":
    for name, plain in dashboards().items():
        (FOLDER / name).write_text(text_of(plain), encoding="utf-8")
