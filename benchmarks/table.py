"""The table of programs. A new one is a file beside this one, and a line here."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from eee_testbed.benchmarks.alltoall import Alltoall
from eee_testbed.benchmarks.command import Command
from eee_testbed.benchmarks.hpcc import Hpcc
from eee_testbed.benchmarks.hpl import Hpl
from eee_testbed.benchmarks.netpipe import Netpipe
from eee_testbed.benchmarks.npb import Npb
from eee_testbed.benchmarks.osu import Osu
from eee_testbed.benchmarks.patterns import Pattern, bit_reversal, matrix_transpose
from eee_testbed.benchmarks.program import Program

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
