"""The table of MPI programs for people: each parameter with its default, its unit and its meaning."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from rich.console import Console
from rich.table import Table

from eee_testbed.benchmarks.program import Program

_UNITS: Final = {"byte": "byte", "us": "us", "s": "s", "mbps": "Mb/s"}
"""By the last word of a parameter's name."""


def plain_program(program: Program) -> dict[str, Any]:
    """A program and its parameters, for JSON."""
    schema = program.parameters.model_json_schema()
    required = schema.get("required", [])
    parameters = [_plain(name, fields, required) for name, fields in schema.get("properties", {}).items()]
    return {"name": program.name, "about": program.about, "parameters": parameters}


def print_programs(programs: Iterable[Program], width: int) -> None:
    """Print programs with their parameters, `width` characters wide."""
    console = Console(highlight=False, width=width)
    for number, program in enumerate(programs):
        if number:
            console.print()
        console.print(f"{program.name}: {program.about}", style="bold", markup=False)
        table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
        table.add_column("  PARAMETER", no_wrap=True)
        table.add_column("DEFAULT", no_wrap=True)
        table.add_column("UNIT", no_wrap=True)
        table.add_column("MEANING", ratio=1)
        for parameter in plain_program(program)["parameters"]:
            table.add_row(f"  {parameter['name']}", _default(parameter), parameter["unit"], _meaning(parameter))
        console.print(table, markup=False)


def _plain(name: str, fields: Mapping[str, Any], required: Iterable[str]) -> dict[str, Any]:
    return {
        "name": name,
        "means": fields.get("description", ""),
        "unit": _UNITS.get(name.rpartition("_")[2], ""),
        "required": name in required,
        "default": fields.get("default"),
        "choices": fields.get("enum", []),
    }


def _default(parameter: Mapping[str, Any]) -> str:
    if parameter["required"]:
        return "required"
    value = parameter["default"]
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{value:g}"
    return str(value) if value != "" else "none"


def _meaning(parameter: Mapping[str, Any]) -> str:
    """Its meaning, and the choices unless the meaning names each."""
    meaning, choices = parameter["means"], [str(choice) for choice in parameter["choices"]]
    if not choices or all(f"{choice}:" in meaning for choice in choices):
        return str(meaning)
    return f"{meaning}: {', '.join(choices[:-1])} or {choices[-1]}"
