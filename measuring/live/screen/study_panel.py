"""A study above its newest run: its steps, what they were measured for, and what is known by now."""

from typing import Final

from rich.text import Text

from eee_testbed.measuring.live.screen.drawing import span_text
from eee_testbed.measuring.live.state.view import LabView, ParameterView, StepView, StudyView

_SIGNS: Final = {
    "done": ("✔", "green"),
    "incomplete": ("!", "yellow"),
    "running": ("▶", "cyan"),
    "waiting": ("·", "dim"),
}
_KNOWN: Final = "known"


def study(view: LabView, width: int, height: int) -> Text:
    """Lines of a study, those about parameters that are not known before the others; nothing without a study."""
    shown = view.study
    if shown is None:
        return Text("")
    lines = [_head(shown), *_steps(shown.steps, width)]
    parameters = sorted(shown.parameters, key=lambda one: one.verdict == _KNOWN)
    room = height - len(lines)
    if len(parameters) > room:
        parameters = parameters[: max(0, room - 1)]
    widths = [max((len(text) for text in column), default=0) for column in _columns(parameters)]
    lines += [_parameter(parameter, widths) for parameter in parameters]
    if left := len(shown.parameters) - len(parameters):
        lines.append(Text(f"   and {left} more parameters", style="dim"))
    return Text("\n", no_wrap=True, overflow="ellipsis").join(lines[:height])


def _head(shown: StudyView) -> Text:
    known_count = sum(parameter.verdict == _KNOWN for parameter in shown.parameters)
    parts = [f" {shown.name} · {shown.state}"]
    if shown.parameters:
        parts.append(f"{known_count} of {len(shown.parameters)} parameters known")
    if shown.left_s is not None:
        parts.append(f"{span_text(shown.left_s)} of the budget left")
    what = f"{shown.step}: {shown.why}" if shown.step else shown.why
    return Text.assemble("   ".join(parts), (f"   {what}" if what else "", "dim"), no_wrap=True, overflow="ellipsis")


def _steps(steps: tuple[StepView, ...], width: int) -> list[Text]:
    """Steps one after another, in as many lines as they need."""
    lines = [Text(no_wrap=True, overflow="ellipsis")]
    for step in steps:
        sign, style = _SIGNS[step.state]
        count = f" x{step.blocks}" if step.blocks > 1 else ""
        took = f" {span_text(step.time_s)}" if step.blocks else ""
        label = f" {step.name}{count}{took} "
        if len(lines[-1]) and len(lines[-1]) + len(label) + 2 > width:
            lines.append(Text(no_wrap=True, overflow="ellipsis"))
        lines[-1].append(f" {sign}", style=style).append(label)
    return lines


def _columns(parameters: list[ParameterView]) -> tuple[list[str], ...]:
    return (
        [parameter.name for parameter in parameters],
        [parameter.now for parameter in parameters],
        [parameter.wanted for parameter in parameters],
    )


def _parameter(parameter: ParameterView, widths: list[int]) -> Text:
    name, now, wanted = widths
    figures = f" {parameter.name:<{name}}  {parameter.now:>{now}}  {parameter.wanted:>{wanted}}  "
    style = "green" if parameter.verdict == _KNOWN else "dim"
    return Text.assemble(figures, (parameter.verdict, style), no_wrap=True, overflow="ellipsis")
