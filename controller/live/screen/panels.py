"""Panels of the live view as text of a given size, from a frozen view and without a terminal."""

from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import groupby
from typing import Final

from rich.text import Text

from controller.live.screen.drawing import bar, chart, energy_text, line, span_text
from controller.live.state.view import DevicePower, LabView, RunView, TrialView

_SEVERITY: Final = {"bad": ("✖ ", "bold red"), "odd": ("! ", "yellow")}
_STATES: Final = {"running": "cyan", "valid": "green", "invalid": "yellow", "failed": "red"}
_NEWLINE: Final = Text("\n", no_wrap=True, overflow="ellipsis")
_AXIS: Final = 11  # characters of the chart's scale


def _clock(time_ns: int) -> str:
    return datetime.fromtimestamp(time_ns / 1e9, UTC).strftime("%H:%M:%S")


def _line(*parts: tuple[str, str] | str) -> Text:
    return Text.assemble(*parts, no_wrap=True, overflow="ellipsis")


def head(view: LabView, width: int) -> Text:
    """One line: the lab or run, its state, the time."""
    answering, of = view.answering
    right = f"{answering} of {of} devices answer  {_clock(view.now_ns)} UTC"
    left = f" {view.lab}"
    if view.run is not None:
        left += f" · {view.run.name} · {view.run.state} {span_text((view.now_ns - view.run.begun_ns) / 1e9)}"
    else:
        left += " · live, nothing is kept"
    gap = max(1, width - len(left) - len(right) - 1)
    return _line((left, "bold"), " " * gap, (right, "bold" if answering == of else "bold red"), " ")


def power(view: LabView, width: int, height: int) -> Text:
    """Power now and over the run, and its integral."""
    shown = view.power
    lines = [_power_figures(view, width)]
    rows, high = chart(shown.history, max(1, width - _AXIS), max(0, height - 1))
    for number, row in enumerate(rows):
        scale = f"{high:7.1f} W ┤" if number == 0 else "      0 W ┤" if number == len(rows) - 1 else "          │"
        lines.append(_line((scale if shown.history else "", "dim"), (row, "green")))
    return _NEWLINE.join(lines)


def _power_figures(view: LabView, width: int) -> Text:
    """Power now, of switches and hosts, and its integral; its mean where there is room."""
    power_view = view.power
    if power_view.power_watt is None and not power_view.history:
        return _line((" no watts yet", "dim"))
    now = "?" if power_view.power_watt is None else f"{power_view.power_watt:.1f}"
    values = [watt for _, watt in power_view.history]
    mean = sum(values) / len(values) if values else 0.0
    span_s = (power_view.history[-1][0] - power_view.begun_ns) / 1e9 if power_view.history else 0.0
    kinds, energy = _by_kind(view), f"   {energy_text(power_view.energy_joule)} in {span_text(span_s)}"
    rest = f" W{kinds}   mean {mean:.1f} W{energy}"
    if len(now) + len(rest) > width - 1:
        rest = f" W{kinds}{energy}"
    return _line(" ", (now, "bold green" if power_view.power_watt is not None else "bold red"), rest)


def _by_kind(view: LabView) -> str:
    """Watts of all switches and of all hosts, if both are metered."""
    kinds = (("switches", frozenset(view.switches)), ("hosts", frozenset(view.hosts)))
    sums = [(kind, _sum(view.power.devices, names)) for kind, names in kinds]
    if any(watt is None for _, watt in sums):
        return ""
    return f" ({', '.join(f'{kind} {watt:.1f} W' for kind, watt in sums)})"


def _sum(devices: Sequence[DevicePower], names: frozenset[str]) -> float | None:
    found = [one.power_watt for one in devices if one.device in names]
    return sum(found) if found else None


def devices(view: LabView, width: int, height: int) -> Text:
    """Power of each device as bars from zero, switches first; where room is short, hosts are summed up, never switches.

    Of more switches than there is room for, the largest are shown.
    """
    shown = view.power.devices
    ranks = {name: rank for rank, name in enumerate((*view.switches, *view.hosts))}
    ordered = sorted(shown, key=lambda one: ranks.get(one.device, len(ranks)))
    rest: list[DevicePower] = []
    if len(ordered) > height:
        switches = frozenset(view.switches)
        rest = [one for one in ordered if one.device not in switches]
        ordered = [one for one in ordered if one.device in switches] or rest
        rest = [] if ordered is rest else rest
        if len(ordered) + bool(rest) > height:
            largest = sorted(ordered, key=lambda one: -one.power_watt)
            ordered, rest = largest[: height - 1], [*largest[height - 1 :], *rest]
    most = max((one.power_watt for one in ordered), default=0.0) or 1.0
    name = max((len(one.device) for one in ordered), default=0)
    room = max(1, width - name - 12)
    lines = []
    for one in ordered:
        style = "red" if one.stale else "green"
        figure = f" {one.device:<{name}} {one.power_watt:6.1f} W "
        lines.append(_line(figure, (line(one.power_watt / most, room), style)))
    if rest:
        lines.append(_line((_rest(view, rest), "dim")))
    return _NEWLINE.join(lines)


def _rest(view: LabView, rest: Sequence[DevicePower]) -> str:
    """Devices that are not shown one by one: how many, their sum and their range."""
    watts = [one.power_watt for one in rest]
    kind = "hosts" if all(one.device in view.hosts for one in rest) else "others"
    each = f", each {min(watts):.1f} to {max(watts):.1f} W" if len(watts) > 1 else ""
    return f" {len(rest)} {kind}: {sum(watts):.1f} W{each}"


def progress(view: LabView, width: int, height: int) -> Text:
    """The run's trials: how many are done and left, the running one, and the last ones."""
    run = view.run
    if run is None:
        return _line((" no run: samples are shown and not kept", "dim"))
    lines = [_counts(run, width)]
    if run.probe is not None:
        lines.append(_probe_line(run))
    lines += [_trial_line(trial) for trial in run.trials[: max(0, height - len(lines))]]
    return _NEWLINE.join(lines)


def _counts(run: RunView, width: int) -> Text:
    if not run.planned_count and not run.trials:
        return _line((" no trials", "dim"))
    done = f" {run.done_count}/{run.planned_count or '?'} done"
    tail = [("   ", ""), (f"{run.valid_count} valid", "green")]
    if run.invalid_count:
        tail.append((f"  {run.invalid_count} invalid", "yellow"))
    if run.failed_count:
        tail.append((f"  {run.failed_count} failed", "red"))
    if run.left_s is not None and run.state == "running":
        tail.append((f"   about {span_text(run.left_s)} left", ""))
    if not run.planned_count:
        return _line(done, *tail)
    room = max(6, min(40, width - len(done) - sum(len(text) for text, _ in tail) - 3))
    share = run.done_count / run.planned_count
    return _line(done, " ", (bar(share, room).ljust(room, "░"), "cyan"), *tail)


def _probe_line(run: RunView) -> Text:
    probe = run.probe
    if probe is None or probe.median_us is None or probe.p99_us is None:
        return _line((" probe: no answers yet", "dim"))
    lost = (f", {probe.lost_count} lost", "red") if probe.lost_count else ("", "")
    times = f" probe of trial {probe.trial}: RTT median {probe.median_us:.0f} us, p99 {probe.p99_us:.0f} us"
    return _line(times, f", {probe.echo_count} echoes", lost)


def _trial_line(trial: TrialView) -> Text:
    what = f"{trial.what} {trial.levels}".strip()
    more = trial.figures if trial.state == "valid" else trial.why
    state = _STATES.get(trial.state, "")
    return _line(f" {trial.trial:>4} ", (f"{trial.state:<8}", state), f"{trial.took_s:7.1f} s  {what}  ", (more, "dim"))


def alarms(view: LabView, width: int, height: int) -> Text:
    """Alarms, the bad ones first; where room is short, equal ones of many links are merged."""
    del width  # the terminal cuts long lines
    ordered = sorted(view.alarms, key=lambda one: one.severity != "bad")
    shown: list[tuple[str, str]] = [(one.severity, one.text) for one in ordered]
    if len(shown) > height:
        shown = _merged(shown)
    lines = []
    for severity, text in shown[: height if len(shown) <= height else height - 1]:
        sign, style = _SEVERITY[severity]
        lines.append(_line(" ", (sign + text, style)))
    if len(shown) > height:
        lines.append(_line((f"   and {len(shown) - height + 1} more", "yellow")))
    return _NEWLINE.join(lines) if lines else _line((" ✔ no alarms", "green"))


def _merged(alarms: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Alarms that differ only in their subject, as one."""

    def sentence(one: tuple[str, str]) -> tuple[bool, str]:
        return one[0] != "bad", one[1].partition(": ")[2] or one[1]

    found = []
    for (_, text), group in groupby(sorted(alarms, key=sentence), key=sentence):
        members = list(group)
        subject = members[0][1].partition(": ")[0]
        more = f" and {len(members) - 1} more" if len(members) > 1 else ""
        found.append((members[0][0], f"{subject}{more}: {text}" if subject != text else text))
    return found


def events(view: LabView, width: int, height: int) -> Text:
    """Events, the newest first."""
    del width
    lines = [_line((f" {_clock(one.time_ns)} ", "dim"), one.text) for one in view.events[:height]]
    return _NEWLINE.join(lines) if lines else _line((" no events yet", "dim"))
