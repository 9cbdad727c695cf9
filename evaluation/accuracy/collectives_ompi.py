"""Collective calls beside Open MPI 4.1 or 5.0: what each rank sends, in its order.

``python -m evaluation.accuracy.collectives_ompi [RANKS ...] [--most BYTES] [--kinds KIND ...]`` runs mpirun on this
machine with pml monitoring, which sees the messages of collective calls, and compares each rank's sends (destination,
bytes, order) with those of `engine/replay` for its version. Sizes are one below, at and above each power of two, which
all thresholds of Open MPI 4.1 and 5.0 are. Then each algorithm is forced, also with segments, as in Open MPI 4.0.
Prints Markdown and the first differences; exit status 1 if there are any, or if mpirun is of another version.

Not compared: receives and waits, of which monitoring sees nothing; for HAN see `collectives_han.py`.
"""

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from evaluation import recording
from evaluation.records import Figure
from tests.support import ROOT

_FORCED_SIZES: Final = (1, 7, 8, 9, 64, 1023, 1024, 1025, 2048, 8191, 8192, 8193, 20_000, 65_536)
"""Bytes for which algorithms are forced."""

_MEMORY: Final = 1 << 28
"""Bytes of the buffers of all ranks, most."""

_SHOWN: Final = 20
"""Differences that are printed."""

_VECTORS: Final = ("bcast", "reduce", "allreduce", "scan", "exscan")
_BLOCKS: Final = ("gather", "scatter", "allgather", "alltoall", "reducescatterblock")
_SIZES: Final = ("gatherv", "scatterv", "allgatherv", "alltoallv", "reducescatter")
_ROOTED: Final = ("bcast", "reduce", "gather", "gatherv", "scatter", "scatterv")
_REDUCTIONS: Final = ("reduce", "allreduce", "reducescatter", "reducescatterblock", "scan", "exscan")
KINDS: Final = ("barrier", *_VECTORS, *_BLOCKS, *_SIZES)

_SEGMENTS: Final = (0, 1024, 8192)
_FORCED: Final = {
    "barrier": {1: "Linear", 3: "RecursiveDoubling", 4: "Bruck", 6: "UpAndDown"},
    "bcast": {
        1: "Linear", 3: "Chain", 4: "SplitBinary", 5: "Binary", 6: "BinomialTree", 7: "Knomial", 8: "ScatterAllgather",
    },
    "reduce": {
        1: "Linear", 3: "Chain", 4: "Binary", 5: "InOrderBinomial", 6: "InOrderBinary", 7: "Rabenseifner",
    },
    "allreduce": {
        1: "Linear", 2: "NonOverlapping", 3: "RecursiveDoubling", 4: "Ring", 5: "SegmentedRing", 6: "Rabenseifner",
    },
    "gather": {1: "Linear", 2: "Binomial", 3: "LinearSync"},
    "scatter": {1: "Linear", 2: "Binomial", 3: "LinearNonBlocking"},
    "allgather": {2: "Bruck", 3: "RecursiveDoubling", 4: "Ring", 5: "Neighbour"},
    "allgatherv": {1: "NonOverlapping", 2: "Bruck", 3: "Ring", 4: "Neighbour"},
    "alltoall": {1: "Linear", 2: "Pairwise", 3: "Bruck", 4: "Linear"},
    "alltoallv": {1: "Linear", 2: "Pairwise"},
    "reduce_scatter": {1: "NonOverlapping", 2: "RecursiveHalving", 3: "Ring", 4: "Butterfly"},
    "reduce_scatter_block": {1: "NonOverlapping", 2: "RecursiveDoubling", 3: "RecursiveHalving", 4: "Butterfly"},
}  # fmt: skip
"""Open MPI's number of each algorithm, by its name of the operation, and ours."""

_SEGMENTED: Final = frozenset(
    ("Chain", "SplitBinary", "Binary", "BinomialTree", "Knomial", "InOrderBinomial", "SegmentedRing", "LinearSync")
)


@dataclass(frozen=True, slots=True)
class Call:
    """A collective call; `line` is its form in the files of both programs."""

    kind: str
    ranks: int
    bytes: int
    element: int = 1
    root: int = 0
    commutative: bool = True
    in_place: bool = False
    sizes: tuple[int, ...] = ()
    nodes: tuple[int, ...] = ()
    algorithm: str = "-"
    library: str = "ompi-4.1"

    @property
    def line(self) -> str:
        """Eleven words."""
        return (
            f"{self.library} {self.kind} {self.ranks} {self.root} {self.bytes} {self.element} "
            f"{'commutative' if self.commutative else 'no'} {'in-place' if self.in_place else 'no'} "
            f"{','.join(map(str, self.sizes)) or '-'} {','.join(map(str, self.nodes)) or '-'} {self.algorithm}"
        )

    @property
    def memory(self) -> int:
        """Bytes of the buffers of all ranks."""
        largest = sum(self.sizes) or self.bytes * (1 if self.kind in _VECTORS else self.ranks)
        return 2 * largest * self.ranks


@dataclass(frozen=True, slots=True)
class Forced:
    """An algorithm of Open MPI by its parameters."""

    operation: str
    number: int
    segment: int

    @property
    def words(self) -> list[str]:
        """Of mpirun's command line."""
        prefix = f"coll_tuned_{self.operation}_algorithm"
        return [
            "--mca", "coll_tuned_use_dynamic_rules", "1", "--mca", prefix, str(self.number),
            "--mca", f"{prefix}_segmentsize", str(self.segment),
        ]  # fmt: skip


def sizes_around(most: int) -> list[int]:
    """One below, at and one above each power of two, up to `most`.

    >>> sizes_around(8)
    [1, 2, 3, 4, 5, 7, 8]
    """
    powers = (1 << power for power in range(most.bit_length() + 1))
    return sorted({size for power in powers for size in (power - 1, power, power + 1) if 0 < size <= most})


def calls(kind: str, ranks: int, sizes: Sequence[int]) -> Iterator[Call]:
    """Calls of an operation whose algorithm is Open MPI's choice."""
    if kind == "barrier":
        yield Call(kind, ranks, 0)
        return
    for call in _plain(kind, ranks, sizes):
        yield call
        if kind in _ROOTED:
            yield replace(call, root=ranks - 1)
            yield replace(call, root=ranks // 2)
        if kind in _REDUCTIONS and kind not in {"scan", "exscan"}:
            yield replace(call, commutative=False)
        if kind == "alltoall" or (kind == "alltoallv" and _symmetric(call)):
            yield replace(call, in_place=True)


def _plain(kind: str, ranks: int, sizes: Sequence[int]) -> Iterator[Call]:
    for size in sizes:
        if kind in _SIZES:
            yield from _with_sizes(kind, ranks, size)
            continue
        yield Call(kind, ranks, size)
        if size % 8 == 0:
            yield Call(kind, ranks, size, element=8)
    if kind in _VECTORS:
        # Fewer elements than ranks, as many, and what cannot be cut evenly.
        for elements in (ranks - 1, ranks, ranks + 1, 10 * ranks + 3, 1000 * ranks + 7):
            if 8 * elements <= max(sizes):
                yield Call(kind, ranks, 8 * elements, element=8)


def _with_sizes(kind: str, ranks: int, size: int) -> Iterator[Call]:
    tables: list[list[int]]
    if kind == "alltoallv":
        equal = [size] * ranks**2
        symmetric = [size * ((i + j) % 3) for i in range(ranks) for j in range(ranks)]
        skewed = [size * ((5 * i + 3 * j) % 4) for i in range(ranks) for j in range(ranks)]
        tables = [equal, symmetric, skewed]
    else:
        tables = [[size] * ranks, [size * (5 * i % 4) for i in range(ranks)]]
    for table in tables:
        if any(table):
            yield Call(kind, ranks, sum(table), sizes=tuple(table))


def _symmetric(call: Call) -> bool:
    rows = [call.sizes[i * call.ranks : (i + 1) * call.ranks] for i in range(call.ranks)]
    return rows == list(zip(*rows, strict=True))


def forced(kind: str, ranks: int, sizes: Sequence[int]) -> Iterator[tuple[Forced, list[Call]]]:
    """Calls of an operation by each of its algorithms."""
    operation = {"reducescatter": "reduce_scatter", "reducescatterblock": "reduce_scatter_block"}.get(kind, kind)
    for number, name in _FORCED.get(operation, {}).items():
        for segment in _SEGMENTS if name in _SEGMENTED else _SEGMENTS[:1]:
            given = [
                replace(call, algorithm=f"{name}:{segment}" if segment else name)
                for call in calls(kind, ranks, sizes)
                if call.commutative and not call.in_place
            ]
            yield Forced(operation, number, segment), given


def open_mpi(
    program: Path, folder: Path, given: Sequence[Call], options: Sequence[str] = (), transports: str = "self,vader"
) -> list[list[str]]:
    """What each rank sends in each call."""
    file = folder / "calls"
    file.write_text("".join(f"{call.line}\n" for call in given), encoding="utf-8")
    subprocess.run(
        [
            "mpirun", "--allow-run-as-root", "--oversubscribe", "-np", str(given[0].ranks), "--bind-to", "none",
            "--mca", "mpi_yield_when_idle", "1", "--mca", "btl", transports, "--mca", "pml_monitoring_enable", "1",
            *options, program, file, folder,
        ],
        check=True,
    )  # fmt: skip
    ranks = [(folder / str(rank)).read_text(encoding="utf-8").split("\n") for rank in range(given[0].ranks)]
    return [[lines[call].strip() for lines in ranks] for call in range(len(given))]


def ours(program: Path, given: Iterable[Call]) -> list[tuple[str, list[str]]]:
    """The algorithm, and what each rank sends in each call."""
    text = "".join(f"{call.line}\n" for call in given)
    ended = subprocess.run([program], input=text, stdout=subprocess.PIPE, text=True, check=True)
    answers = (line.split(";") for line in ended.stdout.splitlines())
    return [(algorithm, [one.strip() for one in sends]) for algorithm, *sends in answers]


class Comparison:
    """Calls and differences so far, by operation."""

    def __init__(self) -> None:
        self._compared: dict[str, int] = {}
        self._different: dict[str, int] = {}
        self._shown = 0

    @property
    def calls(self) -> int:
        """Compared so far."""
        return sum(self._compared.values())

    def add(self, given: Sequence[Call], theirs: Sequence[list[str]], own: Sequence[tuple[str, list[str]]]) -> None:
        """Compare the same calls."""
        for call, wanted, (algorithm, found) in zip(given, theirs, own, strict=True):
            self._compared[call.kind] = self._compared.get(call.kind, 0) + 1
            if wanted == found:
                continue
            self._different[call.kind] = self._different.get(call.kind, 0) + 1
            if self._shown < _SHOWN:
                self._shown += 1
                rank = next(rank for rank, sent in enumerate(wanted) if sent != found[rank])
                print(f"{call.line}: {algorithm}: rank {rank} sends {wanted[rank]}, not {found[rank]}", file=sys.stderr)

    def end(self, records: recording.Recorder) -> int:
        """Print the table and append the record; the exit status."""
        different = sum(self._different.values())
        self._print(different)
        equal = self.calls - different
        records.append({"sends": Figure(value=equal, held=f"{equal:,} of {self.calls:,}", n=self.calls)})
        return int(different > 0)

    def _print(self, different: int) -> None:
        """A table of operations."""
        print("| operation | calls | different |\n| --- | --- | --- |")
        for kind, compared in self._compared.items():
            print(f"| {kind} | {compared} | {self._different.get(kind, 0)} |")
        print(f"| all | {self.calls} | {different} |")


def built(folder: Path) -> tuple[Path, Path]:
    """Open MPI's program and ours."""
    theirs = folder / "collectives_ompi"
    source = Path(__file__).with_suffix(".c")
    subprocess.run(["mpicc", "-O1", "-rdynamic", source, "-o", theirs], check=True)
    cargo = ["cargo", "build", "--quiet", "--package", "replay", "--example", "steps", "--message-format", "json"]
    ended = subprocess.run(cargo, cwd=ROOT / "engine", stdout=subprocess.PIPE, text=True, check=True)
    found = [word for word in ended.stdout.split('"') if word.endswith("/examples/steps")]
    return theirs, Path(found[-1])


def library() -> str:
    """The library that mpirun's version is compared with; "" if it is none, and a sentence is printed."""
    version = subprocess.run(["mpirun", "--version"], stdout=subprocess.PIPE, text=True, check=True).stdout
    found = next((f"ompi-{known}" for known in ("4.1", "5.0") if f"Open MPI) {known}." in version), "")
    if not found:
        print(f"mpirun is neither Open MPI 4.1 nor 5.0: {version.splitlines()[0]}", file=sys.stderr)
    return found


def main() -> int:
    """Run both and compare."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("ranks", nargs="*", type=int, help="default: 2 to 16")
    parser.add_argument("--most", type=int, default=(1 << 21) + 1, help="bytes of a vector or block, most")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=KINDS)
    recording.add_argument(parser)
    asked = parser.parse_args()
    version = library()
    if not version:
        return 1
    records, comparison = recording.begin(asked), Comparison()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        theirs, own = built(folder)

        def compare(given: Iterable[Call], options: Sequence[str] = ()) -> None:
            fitting = [replace(call, library=version) for call in given if call.memory <= _MEMORY]
            if fitting:
                comparison.add(fitting, open_mpi(theirs, folder, fitting, options), ours(own, fitting))

        for ranks in asked.ranks or range(2, 17):
            for kind in asked.kinds:
                compare(calls(kind, ranks, sizes_around(asked.most)))
                for algorithm, given in forced(kind, ranks, [size for size in _FORCED_SIZES if size <= asked.most]):
                    compare(given, algorithm.words)
            print(f"{ranks} ranks: {comparison.calls} calls so far", file=sys.stderr, flush=True)
    return comparison.end(records)


if __name__ == "__main__":
    sys.exit(main())
