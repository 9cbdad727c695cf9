"""Pydantic models in YAML files: read with errors that name file and key, written whole or not at all."""

import io
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from ruamel.yaml import YAML

from eee_testbed.lab import durable
from eee_testbed.lab.errors import LabError, UnreadableFile
from eee_testbed.lab.plain_text import one_line
from eee_testbed.lab.untrusted_files import read_yaml

_Model = TypeVar("_Model", bound=BaseModel)


def read_model(path: Path, model: type[_Model], error_class: type[LabError], command: str) -> _Model:
    """Read and validate a file whose model has the field `format`.

    Raises `error_class` with what is wrong, and `command`, which makes such a file.
    """
    try:
        content = read_yaml(path, f"make one with `{command}`")
    except UnreadableFile as error:
        raise error_class(str(error)) from error
    if not isinstance(content, dict) or "format" not in content:
        raise error_class(f"{path} has no key `format`, so it is another kind of file: make one with `{command}`.")
    format_number = model.model_fields["format"].default
    if content["format"] != format_number:
        raise error_class(f"{path} has format {content['format']}, not {format_number}: use the version that wrote it.")
    try:
        return model.model_validate(content)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        raise error_class(one_line(f"{path}, {key}: {first['msg']}; make it again with `{command}`.")) from error


def write_yaml(path: Path, content: Any, error_class: type[LabError]) -> None:
    """Replace a file by plain content (dictionaries, lists, numbers, text); `error_class` if that fails."""
    text = io.StringIO()
    yaml = YAML()
    yaml.default_flow_style = None
    yaml.width = 120
    yaml.dump(content, text)
    try:
        durable.replace(path, text.getvalue())
    except OSError as error:
        raise error_class(f"{path} cannot be written ({error.strerror}): choose another path.") from error
