"""One rank of a small program for the closed loop: what it does between its calls of MPI is real computing.

    python3 loop_ranks.py bit_reversal ROUNDS BYTE PAUSE_US    exchange with the rank whose bits are reversed
    python3 loop_ranks.py alltoallv ROUNDS BYTE PAUSE_US       a pause, and so many bytes from each rank to each other
    python3 loop_ranks.py cg ITERATIONS WIDTH                  conjugate gradients on a plate, its rows dealt out
    python3 loop_ranks.py ft ITERATIONS ORDER                  2-D Fourier transform there and back, by Alltoall

Pure Python, as nodes need not have NumPy. Rank 0 prints the time of the loop, and the program ends with an error if its
answer is wrong.
"""

from __future__ import annotations

import array
import cmath
import math
import sys
import time
from collections.abc import Callable

import mpi4py

mpi4py.rc.threads = False
from mpi4py import MPI  # noqa: E402 - the setting has to come first

WORLD = MPI.COMM_WORLD
RANK, RANKS = WORLD.rank, WORLD.size
_RIGHT = 1e-6


def spin(pause_us: float) -> None:
    """Compute for so long."""
    end_ns = time.perf_counter_ns() + int(pause_us * 1e3)
    while time.perf_counter_ns() < end_ns:
        pass


def bit_reversal(rounds: int, size_byte: int, pause_us: int) -> bool:
    """A pause and an exchange with the partner, again and again; who is its own partner only computes."""
    width = RANKS.bit_length() - 1
    partner = int(f"{RANK:0{width}b}"[::-1], 2)
    out, came = bytearray([RANK]) * size_byte, bytearray(size_byte)
    for _ in range(rounds):
        spin(pause_us)
        if partner != RANK:
            WORLD.Sendrecv(out, partner, 0, came, partner, 0)
    return partner == RANK or came == bytearray([partner]) * size_byte


def alltoallv(rounds: int, size_byte: int, pause_us: int) -> bool:
    """A pause and MPI_Alltoallv, in which all parts are as long."""
    parts = ([size_byte] * RANKS, [size_byte * rank for rank in range(RANKS)])
    out, came = bytearray([RANK]) * (size_byte * RANKS), bytearray(size_byte * RANKS)
    for _ in range(rounds):
        spin(pause_us)
        WORLD.Alltoallv([out, parts, MPI.BYTE], [came, parts, MPI.BYTE])
    return came == b"".join(bytes([rank]) * size_byte for rank in range(RANKS))


def cg(iterations: int, width: int) -> bool:
    """Solve -laplace(u) = 1 on a plate of `width` columns and as many rows a rank; right if the residual falls."""
    size = width * width
    r = [1.0] * size
    p, x = list(r), [0.0] * size
    rho = first = _sum(sum(v * v for v in r))
    for _ in range(iterations):
        q = _plate(p, width)
        alpha = rho / _sum(sum(a * b for a, b in zip(p, q)))
        x = [a + alpha * b for a, b in zip(x, p)]
        r = [a - alpha * b for a, b in zip(r, q)]
        before, rho = rho, _sum(sum(v * v for v in r))
        p = [a + rho / before * b for a, b in zip(r, p)]
    left = [1.0 - v for v in _plate(x, width)]
    true = _sum(sum(v * v for v in left))
    return math.isfinite(true) and abs(true - rho) <= _RIGHT * first


def _sum(part: float) -> float:
    total = array.array("d", [0.0])
    WORLD.Allreduce(array.array("d", [part]), total)
    return total[0]


def _plate(p: list[float], width: int) -> list[float]:
    """The operator on this rank's rows; rows of the neighbours come by messages."""
    up, down = RANK - 1, RANK + 1 if RANK + 1 < RANKS else MPI.PROC_NULL
    up = up if up >= 0 else MPI.PROC_NULL
    above, below = array.array("d", [0.0] * width), array.array("d", [0.0] * width)
    WORLD.Sendrecv(array.array("d", p[:width]), up, 1, below, down, 1)
    WORLD.Sendrecv(array.array("d", p[-width:]), down, 2, above, up, 2)
    rows = [list(above), *(p[at : at + width] for at in range(0, len(p), width)), list(below)]
    found: list[float] = []
    for number in range(1, len(rows) - 1):
        row = rows[number]
        west, east = [0.0, *row[:-1]], [*row[1:], 0.0]
        found += [4 * c - n - s - w - e for c, n, s, w, e in zip(row, rows[number - 1], rows[number + 1], west, east)]
    return found


def ft(iterations: int, order: int) -> bool:
    """Transform a matrix, its rows dealt out, there and back; right if it is what it was."""
    mine = order // RANKS
    begun = [[complex(RANK * mine + i, j) for j in range(order)] for i in range(mine)]
    rows = begun
    for _ in range(iterations):
        for sign in (-1, 1):
            rows = [fourier(row, sign) for row in _transposed([fourier(row, sign) for row in rows], mine)]
            rows = _transposed(rows, mine)
        rows = [[v / order**2 for v in row] for row in rows]
    return all(abs(a - b) <= _RIGHT * order for one, other in zip(rows, begun) for a, b in zip(one, other))


def fourier(row: list[complex], sign: int) -> list[complex]:
    """Cooley and Tukey's; the length is a power of two."""
    if len(row) == 1:
        return row
    even, odd = fourier(row[::2], sign), fourier(row[1::2], sign)
    turned = [cmath.exp(sign * 2j * cmath.pi * k / len(row)) * v for k, v in enumerate(odd)]
    return [a + b for a, b in zip(even, turned)] + [a - b for a, b in zip(even, turned)]


def _transposed(rows: list[list[complex]], mine: int) -> list[list[complex]]:
    out = array.array("d")
    for to in range(RANKS):
        for column in range(to * mine, (to + 1) * mine):
            for row in rows:
                out.extend((row[column].real, row[column].imag))
    came = array.array("d", [0.0]) * len(out)
    WORLD.Alltoall(out, came)
    block = 2 * mine * mine
    return [
        [
            complex(came[at], came[at + 1])
            for source in range(RANKS)
            for at in range(source * block + 2 * row * mine, source * block + 2 * (row + 1) * mine, 2)
        ]
        for row in range(mine)
    ]


PROGRAMS: dict[str, Callable[..., bool]] = {
    "bit_reversal": bit_reversal,
    "alltoallv": alltoallv,
    "cg": cg,
    "ft": ft,
}


def main() -> int:
    """Run one rank."""
    program, *numbers = sys.argv[1:]
    WORLD.Barrier()
    begun_ns = time.perf_counter_ns()
    right = PROGRAMS[program](*map(int, numbers))
    WORLD.Barrier()
    took_ns = time.perf_counter_ns() - begun_ns
    wrong = WORLD.allreduce(int(not right))
    if RANK == 0:
        print(f"Time = {took_ns / 1e9:.9f} s", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
