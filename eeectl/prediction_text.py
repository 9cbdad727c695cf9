"""Predictions as text: for each program and network a table with a column for each question, then all warnings once."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import groupby
from typing import Any, Final, Literal, NamedTuple

from eee_testbed.analysis.calibration import Calibration
from eee_testbed.analysis.predict.best_hold import BestPolicy
from eee_testbed.analysis.predict.prediction import Prediction
from eee_testbed.analysis.report.table import cell_text

FIGURES: Final = {
    "time_s": "run time, s",
    "slowdown_percent": "slower, %",
    "rest_percent": "links at rest, %",
    "network_watt": "network, W",
    "network_joule": "network, J",
    "all_joule": "with nodes, J",
    "saved_percent": "network saves, %",
}
"""What is shown of a prediction, with its unit, by the name of its attribute."""

_GAP: Final = 2


class Answers(NamedTuple):
    """What was predicted of one program."""

    name: str
    predictions: Sequence[Prediction]
    best: BestPolicy | None


def predictions_text(answered: Sequence[Answers], calibration: Calibration, width: int) -> str:
    """All predictions in lines of at most `width` characters, but for a warning and for a question that is longer."""
    lines = [f"by the calibration of lab {calibration.lab} made {calibration.made};", "95 % intervals in brackets"]
    for one in answered:
        for where, answers in groupby(one.predictions, key=lambda prediction: prediction.where):
            lines += ["", f"{one.name}, on {where}", *_table(list(answers), width)]
        if one.best is not None:
            lines.append(best_text(one.best))
    warnings = list(_warnings(answered))
    return "\n".join([*lines, *([""] if warnings else []), *warnings])


def _table(answers: Sequence[Prediction], width: int) -> Iterator[str]:
    """A line for each figure and a column for each question; a second table for columns that do not fit."""
    shown = [key for key in FIGURES if any(getattr(prediction, key) is not None for prediction in answers)]
    names = ["", *(FIGURES[key] for key in shown)]
    left = max(map(len, names)) + _GAP
    columns = [
        [prediction.what_if.text, *(cell_text(getattr(prediction, key)) for key in shown)] for prediction in answers
    ]
    while columns:
        taken, room = 0, width - left
        while taken < len(columns) and (taken == 0 or room >= _size(columns[taken])):
            room -= _size(columns[taken])
            taken += 1
        for number, name in enumerate(names):
            cells = (column[number].ljust(_size(column)) for column in columns[:taken])
            yield f"{name:<{left}}{''.join(cells)}".rstrip()
        columns = columns[taken:]
        if columns:
            yield ""


def _size(column: Sequence[str]) -> int:
    return max(map(len, column)) + _GAP


def _warnings(answered: Sequence[Answers]) -> Iterator[str]:
    """Each warning once, with the questions and the programs that it is about unless it is about all."""
    asked = list(dict.fromkeys(prediction.what_if.text for answers in answered for prediction in answers.predictions))
    places_by_warning: dict[str, tuple[dict[str, None], dict[int, None]]] = {}
    for number, answers in enumerate(answered):
        for prediction in answers.predictions:
            for warning in prediction.warnings:
                questions, programs = places_by_warning.setdefault(warning, ({}, {}))
                questions[prediction.what_if.text] = None
                programs[number] = None
    for warning, (questions, programs) in places_by_warning.items():
        about = [] if len(questions) == len(asked) else [" and ".join(questions)]
        if len(programs) < len(answered):
            (first, *more) = programs
            name = answered[first].name
            about.append(f"{len(programs)} of {len(answered)} programs" if more else name)
        yield f"warning{' about ' if about else ''}{', '.join(about)}: {warning}"


def best_text(best: BestPolicy, searched: Literal["hold", "policy"] = "hold") -> str:
    """The sentence about the hold, or mode and hold, that saves most within a bound on slowdown."""
    many = {"hold": "holds", "policy": "policies"}[searched]
    if best.prediction is None:
        return f"none of {best.tried} {many} saves energy within {best.bound_percent:g} % of slowdown: EEE off is best."
    prediction = best.prediction
    name = f"{prediction.what_if.hold_us:g} us" if searched == "hold" else prediction.what_if.text
    saves = "" if prediction.saved_percent is None else f", the network saves {cell_text(prediction.saved_percent)} %"
    surely = "the whole interval is within" if best.surely else "its upper end is beyond"
    whole = ""
    if best.whole_percent is not None:
        verb = "rises" if best.whole_percent > 0 else "falls"
        whole = f"; with the nodes, energy {verb} by {abs(best.whole_percent):.2g} %"
    return (
        f"best {searched} within {best.bound_percent:g} %: {name}, slower by "
        f"{cell_text(prediction.slowdown_percent)} % ({surely} the bound){saves}{whole}; {best.within} of {best.tried} "
        f"{many} are within."
    )


def best_plain(best: BestPolicy, **more: Any) -> dict[str, Any]:
    """For JSON."""
    return {
        "bound_percent": best.bound_percent,
        "tried": best.tried,
        "within": best.within,
        "surely": best.surely,
        **more,
        "prediction": None if best.prediction is None else prediction_plain(best.prediction),
    }


def prediction_plain(prediction: Prediction) -> dict[str, Any]:
    """For JSON, which lacks infinity: such an end is None."""
    plain: dict[str, Any] = {
        "what_if": prediction.what_if.text,
        "where": prediction.where,
        "warnings": list(prediction.warnings),
    }
    for key in FIGURES:
        interval = getattr(prediction, key)
        plain[key] = None if interval is None else {name: _finite(value) for name, value in asdict(interval).items()}
    return plain


def _finite(value: float) -> float | None:
    return value if abs(value) < float("inf") else None
