"""Panels of the live view as text of a given size, from a frozen view and without a terminal."""

from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import groupby
from textwrap import wrap
from typing import Final

from rich.text import Text

from eee_testbed.measuring.live.screen.drawing import bar, chart, energy_text, line, span_text
from eee_testbed.measuring.live.state.view import DevicePower, LabView, RunView, TrialView

_SEVERITY: Final = {"bad": ("✖ ", "bold red"), "odd": ("! ", "yellow")}
_STATES: Final = {"running": "cyan", "valid": "green", "invalid": "yellow", "failed": "red"}
_NEWLINE: Final = Text("\n", no_wrap=True, overflow="ellipsis")
_AXIS: Final = 11  # characters of the chart's scale
_INDENT: Final = 10  # of what follows a time or a trial's number on the next line
_LEAST_CHARACTERS: Final = 20  # characters of a line that is worth wrapping to


def _clock(time_ns: int) -> str:
    return datetime.fromtimestamp(time_ns / 1e9, UTC).strftime("%H:%M:%S")


def _line(*parts: tuple[str, str] | str) -> Text:
    return Text.assemble(*parts, no_wrap=True, overflow="ellipsis")


def head(view: LabView, width: int) -> Text:
    """One line: the lab or run, its state, the time. Where it is narrow, what is behind the run's name is kept."""
    answering, of = view.answering
    time = _times(view)
    if view.run is not None:
        state = f" · {view.run.state} {span_text((view.now_ns - view.run.begun_ns) / 1e9)}"
        name = f"{view.lab} · {view.run.name}"
    else:
        name, state = view.lab, " · live, nothing is kept" if view.study is None else " · no run has begun"
    long, short = f"{answering} of {of} devices answer  {time}", f"{answering}/{of} answer  {time}"
    right = long if len(name) + len(state) + len(long) + 3 <= width else short
    if right == short and view.run is None and view.study is None:
        state = " · live"  # the panel of trials says that nothing is kept
    room = width - len(state) - len(right) - 3
    if len(name) > room:
        name = name[: max(0, room - 1)] + "…"
    left = f" {name}{state}"
    gap = max(1, width - len(left) - len(right) - 1)
    return _line((left, "bold"), " " * gap, (right, "bold" if answering == of else "bold red"), " ")


def _times(view: LabView) -> str:
    """The time; of a lab with a clock of its own both clocks, and its rate unless it is the wall's."""
    if view.clocks is None:
        return f"{_clock(view.now_ns)} UTC"
    rate = "" if view.clocks.rate == "1" else f" at {view.clocks.rate}"
    return f"lab {_clock(view.now_ns)}{rate}  wall {_clock(view.clocks.wall_ns)} UTC"


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
    totals = f" W{kinds}   mean {mean:.1f} W{energy}"
    if len(now) + len(totals) > width - 1:
        totals = f" W{kinds}{energy}"
    return _line(" ", (now, "bold green" if power_view.power_watt is not None else "bold red"), totals)


def _by_kind(view: LabView) -> str:
    """Watts of all switches and of all hosts, if both are metered."""
    kinds = (("switches", frozenset(view.switches)), ("hosts", frozenset(view.hosts)))
    sums = [(kind, _sum(view.power.devices, names)) for kind, names in kinds]
    if any(watt is None for _, watt in sums):
        return ""
    return f" ({', '.join(f'{kind} {watt:.1f} W' for kind, watt in sums)})"


def _sum(devices: Sequence[DevicePower], names: frozenset[str]) -> float | None:
    watts = [one.power_watt for one in devices if one.device in names]
    return sum(watts) if watts else None


def devices(view: LabView, width: int, height: int) -> Text:
    """Power of each device as bars from zero, switches first; where room is short, hosts are summed up, never switches.

    Of more switches than there is room for, the largest are shown.
    """
    shown = view.power.devices
    ranks = {name: rank for rank, name in enumerate((*view.switches, *view.hosts))}
    ordered = sorted(shown, key=lambda one: ranks.get(one.device, len(ranks)))
    others: list[DevicePower] = []
    if len(ordered) > height:
        switches = frozenset(view.switches)
        others = [one for one in ordered if one.device not in switches]
        ordered = [one for one in ordered if one.device in switches] or others
        others = [] if ordered is others else others
        if len(ordered) + bool(others) > height:
            largest = sorted(ordered, key=lambda one: -one.power_watt)
            ordered, others = largest[: height - 1], [*largest[height - 1 :], *others]
    most = max((one.power_watt for one in ordered), default=0.0) or 1.0
    name = max((len(one.device) for one in ordered), default=0)
    room = max(1, width - name - 12)
    lines = []
    for one in ordered:
        style = "red" if one.stale else "green"
        figure = f" {one.device:<{name}} {one.power_watt:6.1f} W "
        lines.append(_line(figure, (line(one.power_watt / most, room), style)))
    if others:
        lines.append(_line((_rest(view, others), "dim")))
    return _NEWLINE.join(lines)


def _rest(view: LabView, others: Sequence[DevicePower]) -> str:
    """Devices that are not shown one by one: how many, their sum and their range."""
    watts = [one.power_watt for one in others]
    kind = "hosts" if all(one.device in view.hosts for one in others) else "others"
    each = f", each {min(watts):.1f} to {max(watts):.1f} W" if len(watts) > 1 else ""
    return f" {len(others)} {kind}: {sum(watts):.1f} W{each}"


def progress(view: LabView, width: int, height: int) -> Text:
    """The run's trials: how many are done and left, the running one, and the last ones."""
    run = view.run
    if run is None:
        why = "samples are shown and not kept" if view.study is None else "the study has not begun one"
        return _line((f" no run: {why}", "dim"))
    lines = [_counts(run, width)]
    if run.probe is not None:
        lines.append(_probe_line(run))
    for trial in run.trials:
        lines += _trial_lines(trial, width)
    return _NEWLINE.join(lines[:height])


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


def _trial_lines(trial: TrialView, width: int) -> list[Text]:
    """A trial with its first figures; why one is not valid is never cut."""
    what = f"{trial.what} {trial.levels}".strip()
    state = (f"{trial.state:<8}", _STATES.get(trial.state, ""))
    begin = (f" {trial.trial:>4} ", state, f"{trial.took_s:7.1f} s  {what}  ")
    if trial.state == "valid":
        return [_line(*begin, (trial.figures, "dim"))]
    used = sum(len(part if isinstance(part, str) else part[0]) for part in begin)
    first, rest = _wrapped(trial.why, width - used, width - _INDENT)
    return [_line(*begin, (first, "dim")), *(_line(" " * _INDENT, (line, "dim")) for line in rest)]


def _wrapped(text: str, first: int, others: int) -> tuple[str, list[str]]:
    """A text in lines: one of `first` characters at most, which may be empty, and others of another width."""
    if len(text) <= first:
        return text, []
    lines = wrap(text, first) if first >= _LEAST_CHARACTERS else []
    head = lines[0] if lines else ""
    return head, wrap(text[len(head) :].strip(), max(_LEAST_CHARACTERS, others))


def loop(view: LabView, width: int, height: int) -> Text:
    """A closed loop: its last epoch, the links that are not active, and its last decisions with their reasons."""
    shown = view.loop
    if shown is None:
        return _line((" no closed loop", "dim"))
    counts = [f"{len(names)} {state}" for state, names in shown.links.items() if names]
    parts = [f" epoch {shown.epoch}: {shown.active_count} links active", *counts]
    if shown.busiest_share is not None:
        parts.append(f"busiest {shown.busiest_share:.1%}")
    if shown.slowdown_share is not None:
        parts.append(f"program {shown.slowdown_share:+.1%}")
    lines = [_line(", ".join(parts), ("   backs off", "yellow") if shown.backs_off else "")]
    if shown.undecided:
        lines.append(_line((f" no decision: {shown.undecided}", "yellow")))
    for decision in shown.decisions:
        text = f"{decision.link} {decision.after}: {decision.why}"
        first, rest = _wrapped(text, width - _INDENT, width - _INDENT)
        lines += [
            _line((f" {_clock(decision.time_ns)} ", "dim"), first),
            *(_line(" " * _INDENT, line) for line in rest),
        ]
    return _NEWLINE.join(lines[:height])


def alarms(view: LabView, width: int, height: int) -> Text:
    """Alarms, the bad ones first; where room is short, equal ones of many links are merged, else long ones wrap."""
    ordered = sorted(view.alarms, key=lambda one: one.severity != "bad")
    shown: list[tuple[str, str]] = [(alarm.severity, alarm.text) for alarm in ordered]
    if len(shown) > height:
        shown = _merged(shown)
    lines = []
    spare = max(0, height - len(shown))
    for severity, text in shown[: height if len(shown) <= height else height - 1]:
        sign, style = _SEVERITY[severity]
        first, rest = _wrapped(text, width - 3, width - 5)
        if len(rest) > spare:
            first, rest = text, []
        spare -= len(rest)
        lines += [_line(" ", (sign + first, style)), *(_line("     ", (line, style)) for line in rest)]
    if len(shown) > height:
        lines.append(_line((f"   and {len(shown) - height + 1} more", "yellow")))
    return _NEWLINE.join(lines) if lines else _line((" ✔ no alarms", "green"))


def _merged(alarms: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Alarms that differ only in their subject, as one."""

    def sentence(one: tuple[str, str]) -> tuple[bool, str]:
        return one[0] != "bad", one[1].partition(": ")[2] or one[1]

    merged = []
    for (_, text), group in groupby(sorted(alarms, key=sentence), key=sentence):
        members = list(group)
        subject = members[0][1].partition(": ")[0]
        more = f" and {len(members) - 1} more" if len(members) > 1 else ""
        merged.append((members[0][0], f"{subject}{more}: {text}" if subject != text else text))
    return merged


def events(view: LabView, width: int, height: int) -> Text:
    """Events, the newest first; long ones wrap."""
    lines: list[Text] = []
    for event in view.events[:height]:
        first, rest = _wrapped(event.text, width - _INDENT, width - _INDENT)
        lines += [_line((f" {_clock(event.time_ns)} ", "dim"), first), *(_line(" " * _INDENT, line) for line in rest)]
    return _NEWLINE.join(lines[:height]) if lines else _line((" no events yet", "dim"))
