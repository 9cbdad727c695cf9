"""The table of programs. A new one is a file beside this one, and a line here."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from benchmarks.alltoall import Alltoall
from benchmarks.command import Command
from benchmarks.hpcc import Hpcc
from benchmarks.hpl import Hpl
from benchmarks.netpipe import Netpipe
from benchmarks.npb import Npb
from benchmarks.osu import Osu
from benchmarks.patterns import Pattern, bit_reversal, matrix_transpose
from benchmarks.program import Program

_ALL: Final[tuple[Program, ...]] = (
    Alltoall(),
    Pattern("bit-reversal", "Koibuchi's bit-reversal traffic: each rank sends to one other", bit_reversal),
    Pattern("matrix-transpose", "Koibuchi's matrix-transpose traffic, on a square number of ranks", matrix_transpose),
    Hpcc(),
    Hpl(),
    Npb(),
    Osu(),
    Netpipe(),
    Command(),
)

PROGRAMS: Final[Mapping[str, Program]] = MappingProxyType({program.name: program for program in _ALL})
"""All programs by their name."""
