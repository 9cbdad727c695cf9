"""Markdown of pydantic models, from their JSON schema and their docstrings."""

import inspect
import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from pydantic import BaseModel

_Schema = Mapping[str, Any]

_LIMITS: Final = (
    ("minimum", "≥ {}"), ("exclusiveMinimum", "> {}"), ("maximum", "≤ {}"), ("exclusiveMaximum", "< {}"),
    ("pattern", "matches `{}`"), ("minItems", "at least {}"), ("maxItems", "at most {}"),
)  # fmt: skip

_WORDS: Final = {"string": "text", "boolean": "`true`, `false`"}


def prose(docstring: str) -> str:
    """A docstring as Markdown: its literal blocks become fenced ones."""
    text = docstring.replace("``", "`")
    lines: list[str] = []
    fenced = False
    for line in text.splitlines():
        literal = line.startswith("    ")
        if literal and not fenced:
            lines.append("```yaml")
        if fenced and line and not literal:
            while not lines[-1]:
                lines.pop()
            lines += ["```", ""]
        fenced = literal or (fenced and not line)
        if line != "::":
            lines.append(line.removeprefix("    ") if fenced else line)
    if fenced:
        while not lines[-1]:
            lines.pop()
        lines.append("```")
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)) + "\n"


def cell(text: str) -> str:
    """Text for a cell of a table."""
    return " ".join(text.split()).replace("|", "\\|")


def model_sections(models: Iterable[type[BaseModel]]) -> str:
    """A section for each model: what it is, and its keys with type and default."""
    return "\n".join(_section(model) for model in models)


def _section(model: type[BaseModel]) -> str:
    about = prose(inspect.getdoc(model) or "")
    return f"## {model.__name__}\n\n{about}\n{key_table(model)}"


def key_table(model: type[BaseModel]) -> str:
    """Table of a model's keys: type, default, and their meaning where the model has it key by key."""
    schema = model.model_json_schema(by_alias=True)
    properties = schema.get("properties", {})
    required = schema.get("required", [])
    described = any("description" in one for one in properties.values())
    rows = "".join(
        f"| `{key}` | {cell(_type(one))} | {'required' if key in required else _default(one.get('default'))} |"
        + (f" {cell(one.get('description', ''))} |\n" if described else "\n")
        for key, one in properties.items()
    )
    more = (" meaning |", " --- |") if described else ("", "")
    return f"| key | type | default |{more[0]}\n| --- | --- | --- |{more[1]}\n{rows}"


def _type(schema: _Schema) -> str:
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    for several in ("anyOf", "oneOf"):
        if several in schema:
            return " or ".join(_type(one) for one in schema[several] if one.get("type") != "null")
    if "const" in schema:
        return f"`{schema['const']}`"
    if "enum" in schema:
        return ", ".join(f"`{one}`" for one in schema["enum"])
    if "prefixItems" in schema:
        return _kind(schema)  # as many as it shows
    return ", ".join([_kind(schema), *(text.format(schema[key]) for key, text in _LIMITS if key in schema)])


def _kind(schema: _Schema) -> str:
    kind = str(schema.get("type", "any"))
    if kind == "array" and "prefixItems" in schema:
        return f"[{', '.join(_type(one) for one in schema['prefixItems'])}]"
    if kind == "array":
        return f"list of {_type(schema.get('items', {}))}"
    if kind == "object":
        values = schema.get("additionalProperties")
        return f"map to {_type(values) if isinstance(values, Mapping) else 'any'}"
    return _WORDS.get(kind, kind)


def _default(value: Any) -> str:
    if value is None or value in ("", [], {}):
        return ""
    return f"`{json.dumps(value)}`" if not isinstance(value, dict) else "its defaults"
