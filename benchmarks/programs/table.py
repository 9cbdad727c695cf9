"""The table of programs. A new one is a file beside this one, and a line here."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from benchmarks.programs.alltoall import Alltoall
from benchmarks.programs.command import Command
from benchmarks.programs.hpcc import Hpcc
from benchmarks.programs.netpipe import Netpipe
from benchmarks.programs.npb import Npb
from benchmarks.programs.osu import Osu
from benchmarks.programs.patterns import Pattern, bit_reversal, matrix_transpose
from benchmarks.programs.program import Program

_ALL: Final[tuple[Program, ...]] = (
    Alltoall(),
    Pattern("bit-reversal", "Koibuchi's bit-reversal traffic: each rank sends to one other", bit_reversal),
    Pattern("matrix-transpose", "Koibuchi's matrix-transpose traffic, on a square number of ranks", matrix_transpose),
    Hpcc(),
    Npb(),
    Osu(),
    Netpipe(),
    Command(),
)

PROGRAMS: Final[Mapping[str, Program]] = MappingProxyType({program.name: program for program in _ALL})
"""All programs by their name."""
