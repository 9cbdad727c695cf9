"""`eeectl trace ...`: make replay files of traces or of generators, show what they hold, write them for other tools."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Final

from cyclopts import App, Parameter
from cyclopts.validators import Number
from rich.table import Table

from eee_testbed.eeectl.exit_status import DONE
from eee_testbed.eeectl.lab_text import console
from eee_testbed.eeectl.output_file import require_place
from eee_testbed.eeectl.set_options import pairs
from eee_testbed.lab.counted_text import counted
from eee_testbed.lab.errors import LabError
from eee_testbed.lab.fitting_table import print_table
from eee_testbed.lab.plain_text import one_line

if TYPE_CHECKING:
    from eee_testbed.simulation.replay.program import Program
    from eee_testbed.simulation.replay.summary import Spread, Summary

trace_app = App(name="trace", help="Make, show and export replay files: the MPI calls of programs.")

_SHOWN_COUNT: Final = 10
"""Pairs of ranks, and kinds of collective calls, that a person sees; --json has all."""


@trace_app.command(name="import")
def import_(
    *files: Path,
    output: Annotated[Path, Parameter(name=("--output", "-o"))],
    form: Annotated[str, Parameter(name="--format")] = "",
    name: str = "",
    flops_per_s: Annotated[float | None, Parameter(validator=Number(gt=0))] = None,
    codes: Path | None = None,
    ranks_per_node: Annotated[int | None, Parameter(validator=Number(gte=1))] = None,
) -> int:
    """Import a trace of an MPI program as a replay file.

    The reference page "Replay files" lists the formats, and what is kept, assumed and refused of each.

    Parameters
    ----------
    files
        The files of one trace: for most formats one, or one for each rank.
    output
        The replay file to write.
    form
        Name of the format. Default: the one that the first file has.
    name
        Name of the program; default: the name of the replay file.
    flops_per_s
        Operations that a processor does in a second, for traces that count operations (SimGrid); default: 1e9.
    codes
        File with the numeric codes of a VEF trace.
    ranks_per_node
        Of recorded calls: ranks that followed each other on a node; default: 1. The node's n and S depend on it (Miwa
        et al. 2023).

    """
    from eee_testbed.simulation.replay.miwa import communication, recorded_calls
    from eee_testbed.simulation.replay.program import write_program
    from eee_testbed.simulation.replay.readers.reading import Options
    from eee_testbed.simulation.replay.readers.table import import_trace, is_recorded
    from eee_testbed.simulation.replay.summary import summary_of

    if not files:
        raise LabError("no file is named: name the files of the trace.")
    options = Options(one_line(name or output.stem), flops_per_s, codes)
    require_place(output, "the program", "program.replay")
    if output.exists() and any(file.exists() and file.samefile(output) for file in files):
        raise LabError(f"{output} is a file of the trace: name another one with -o.")
    recorded = is_recorded(files, form)
    if ranks_per_node is not None and not recorded:
        raise LabError("--ranks-per-node is for calls that `--trace` recorded: leave it out.")
    program = import_trace(files, form, options)
    write_program(output, program)
    found = summary_of(program)
    print(
        f"{output}: {counted(found.ranks, 'rank')}, {counted(round(found.calls), 'call')}, "
        f"{counted(round(found.messages), 'message')}, {_bytes(found.byte)} in total; "
        f"`eeectl trace show {output}` shows more."
    )
    if recorded:
        node = communication(recorded_calls(files), program, ranks_per_node or 1)
        print(f"A node makes n = {node.call_count:.6g} calls, of S = {node.message_byte:.6g} B to other nodes each.")
    for sentence in program.assumed:
        print(f"Assumed: {sentence}")
    return DONE


@trace_app.command
def generate(
    kind: str,
    *,
    output: Annotated[Path, Parameter(name=("--output", "-o"))],
    set_: Annotated[list[str] | None, Parameter(name="--set", negative_iterable="")] = None,
) -> int:
    """Write a generated program as a replay file. The reference page "Simulated programs" lists kinds and their keys.

    Parameters
    ----------
    kind
        Of program, such as stencil or hpl.
    output
        The replay file to write.
    set_
        Keys of the program: --set 'procs=[4, 2]' --set steps=10.

    """
    from eee_testbed.simulation.programs.given import parameters_of
    from eee_testbed.simulation.programs.table import program_of
    from eee_testbed.simulation.replay.program import write_program

    require_place(output, "the program", "program.replay")
    program = program_of(parameters_of(kind, dict(pairs(set_ or (), "--set steps=10"))))
    write_program(output, program)
    print(f"{output}: {kind}, {program.ranks} ranks; `eeectl trace show {output}` shows more.")
    return DONE


@trace_app.command
def export(file: Path, /, *, output: Annotated[Path, Parameter(name=("--output", "-o"))]) -> int:
    """Write a replay file as an OTF2 archive, for tools that show traces.

    A rank computes as the file says, and each call takes 1 us: nothing is simulated.

    Parameters
    ----------
    file
        A replay file.
    output
        Folder of the archive, which must not exist.

    """
    from eee_testbed.simulation.replay.otf2_writer import write_otf2
    from eee_testbed.simulation.replay.program import read_program

    program = read_program(file)
    if output.exists():
        raise LabError(f"{output} is there already: name a new folder with -o.")
    if not output.parent.is_dir():
        raise LabError(f"{output.parent} is not a folder, so {output.name} cannot be made: make it, or change -o.")
    with TemporaryDirectory(prefix=f".{output.name}-", dir=output.parent) as scratch:  # an archive is whole, or is not
        anchor = write_otf2(program, Path(scratch) / output.name)
        anchor.parent.rename(output)
    print(f"{output / anchor.name}: {program.ranks} ranks of {program.name}")
    return DONE


@trace_app.command
def show(file: Path, /, *, as_json: Annotated[bool, Parameter(name="--json", negative="")] = False) -> int:
    """Show what a replay file holds: calls, messages by pair of ranks, collective calls by size, computing.

    Parameters
    ----------
    file
        A replay file.
    as_json
        Print JSON, with all pairs of ranks.

    """
    from eee_testbed.simulation.replay.program import read_program
    from eee_testbed.simulation.replay.summary import summary_of

    program = read_program(file)
    found = summary_of(program)
    if as_json:
        about = {"name": program.name, "source": program.source, "assumed": list(program.assumed)}
        print(json.dumps(about | {"recorded_ns": program.recorded_ns} | asdict(found), indent=1))
    else:
        _print(program, found)
    return DONE


def _print(program: "Program", found: "Summary") -> None:
    from eee_testbed.simulation.replay.summary import SHORT_NS

    communicators = counted(found.communicators, "communicator")
    print(f"{program.name}: {counted(found.ranks, 'rank')}, {communicators}, {counted(round(found.calls), 'call')}")
    print(f"from: {program.source}")
    kinds = ", ".join(f"{times:.0f} {call}" for call, times in found.by_call.items())
    print(f"calls: {kinds or 'none'}")
    between = counted(len(found.pairs), "pair")
    print(f"messages: {found.messages:.0f} between {between} of ranks, {_bytes(found.byte)} in total")
    if found.pairs:
        print(f"a rank sends to {_spread(found.partners)} ranks, {_spread(found.byte_by_rank, bytes_too=True)}")
    print(_computing(found))
    if found.gaps:
        short = found.short_gaps / found.gaps
        print(f"{found.short_gaps:.0f} of {found.gaps:.0f} gaps between calls ({short:.0%}) are below {SHORT_NS} ns")
    for sentence in program.assumed:
        print(f"assumed: {sentence}")
    if found.pairs:
        print(f"pairs of ranks with the most bytes ({_shown(found.pairs)}):")
        table = _table("FROM", "TO", "MESSAGES", "BYTES")
        for pair in found.pairs[:_SHOWN_COUNT]:
            table.add_row(str(pair.source), str(pair.target), f"{pair.messages:.0f}", _bytes(pair.byte))
        print_table(console(), table)
    if found.collectives:
        print(f"most frequent collective calls ({_shown(found.collectives)}):")
        table = _table("CALL", "RANKS", "BYTES", "TIMES")
        for one in found.collectives[:_SHOWN_COUNT]:
            table.add_row(one.call, str(one.ranks), str(one.byte), f"{one.times:.0f}")
        print_table(console(), table)


def _shown(rows: Sequence[object]) -> str:
    return f"{min(len(rows), _SHOWN_COUNT)} of {len(rows)}"


def _table(*headings: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for number, heading in enumerate(headings):
        table.add_column(heading, justify="left" if number == 0 else "right")
    return table


def _computing(found: "Summary") -> str:
    compute = found.compute_ns
    spread = f"{compute.least / 1e9:.6g} to {compute.most / 1e9:.6g} s, median {compute.median / 1e9:.6g} s"
    share = "" if found.compute_share is None else f"; {found.compute_share:.1%} of the recorded time"
    return f"a rank computes {spread}{share}"


def _spread(found: "Spread", *, bytes_too: bool = False) -> str:
    shown = _bytes if bytes_too else "{:.0f}".format
    return f"{shown(found.least)} to {shown(found.most)} (median {shown(found.median)})"


def _bytes(byte: float) -> str:
    for unit in ("B", "KiB", "MiB", "GiB"):
        if byte < 1024:
            return f"{byte:.4g} {unit}"
        byte /= 1024
    return f"{byte:.4g} TiB"
