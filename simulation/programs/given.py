"""Parameters of a generated program from texts, as a command line has them."""

import json
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from eee_testbed.lab.errors import LabError
from eee_testbed.lab.plain_text import one_line
from eee_testbed.simulation.programs.part import Generated
from eee_testbed.simulation.programs.table import GENERATORS


def parameters_of(kind: str, texts: Mapping[str, str]) -> Generated:
    """The parameters, with values as in a simulation's file, such as 4 and [4, 2]; LabError says what is wrong."""
    if kind not in GENERATORS:
        raise LabError(f"there is no generated program {one_line(kind)}: use {', '.join(GENERATORS)}.")
    model = GENERATORS[kind].parameters
    for key in texts:
        if key not in model.model_fields:
            known = ", ".join(name for name in model.model_fields if name != "kind")
            raise LabError(f"{kind} has no key {one_line(key)}: use {known}.")
    try:
        return model.model_validate({key: _value(text) for key, text in texts.items()})
    except ValidationError as error:
        mistake = error.errors()[0]
        place, sentence = ".".join(map(str, mistake["loc"])), mistake["msg"].removeprefix("Value error, ")
        raise LabError(f"{kind}: {f'{place}: ' if place else ''}{sentence}; correct it with --set.") from error


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text
