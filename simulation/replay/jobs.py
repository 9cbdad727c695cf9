"""The programs of a simulation: jobs, where their ranks run, and what the machine is like to them."""

from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import Field, model_validator

from eee_testbed.simulation.part import Index, Part, SmallSize, SomeCycles
from eee_testbed.simulation.programs.table import AnyParameters, program_of
from eee_testbed.simulation.replay.hosts import Hosts, HostsName
from eee_testbed.simulation.replay.program import Program, read_program

LibraryName = Literal["ompi-4.0", "ompi-4.1", "ompi-5.0", "tracer", "linear"]
PlacementName = Literal["linear", "random", "by_switch", "given", "scheduled"]


class FileProgram(Part):
    """A program from a replay file."""

    kind: Literal["file"] = "file"
    path: str
    """Of `eeectl trace import`; as seen from the simulation's file."""


AnyProgram = Annotated[FileProgram | AnyParameters, Field(discriminator="kind")]


class Job(Part):
    """A program on nodes."""

    program: AnyProgram
    """What it runs: a file, or a generated program with its keys."""

    name: Annotated[str, Field(max_length=64)] = ""
    """In tables; else the program's name."""

    copies: Annotated[int, Field(ge=1, le=100_000)] = 1
    """So many jobs like this."""

    placement: PlacementName = "linear"
    """See the table."""

    nodes: list[Index] | None = None
    """Given: the node of each rank."""

    ranks_per_node: SmallSize = 1
    """Ranks that share a node; the scheduler has `cores`."""

    start_ms: Annotated[float, Field(ge=0, le=1e9)] = 0
    """It does not begin before."""

    compute_scale: Annotated[float, Field(ge=0, le=1e6)] = 1
    """Computing times are multiplied by it."""

    @model_validator(mode="after")
    def _has_its_nodes(self) -> "Job":
        if (self.placement == "given") != (self.nodes is not None):
            raise ValueError("nodes and placement given belong together: write placement: given, nodes: [0, 1]")
        return self


class LogGops(Part):
    """No network: the same time between any two nodes (Hoefler et al. 2010). Hosts have o and O."""

    latency_ns: Annotated[float, Field(ge=0, le=1e12)] = 2_500
    """L."""

    gap_ns: Annotated[float, Field(ge=0, le=1e12)] = 1_000
    """g: of an adapter, for each message."""

    gap_byte_ns: Annotated[float, Field(ge=0, le=1e6)] = 6
    """G: of an adapter, for each byte behind the first."""


class Bound(Part):
    """Holds by each link's own idle gaps, after PerfBound (IEEE Transactions on Computers 2018)."""

    percent: Annotated[float, Field(ge=0, le=100)] = 1.0
    """Of the time, that the wakes of a link may take."""

    epoch: SomeCycles = 1_000_000
    """Cycles between two choices: the shortest hold, a power of two, that would have kept the bound in them."""


class Programs(Part):
    """MPI programs in place of traffic."""

    jobs: Annotated[list[Job], Field(min_length=1)]
    cycle_ns: Annotated[float, Field(gt=0, le=1e6)]
    """Length of a cycle: of a flit on a link."""

    flit_byte: Annotated[int, Field(ge=1, le=65_536)]
    """Bytes of a flit."""

    hosts: HostsName | Hosts = "free"
    """Costs of messages: a name of the table, or numbers."""

    collectives: LibraryName = "ompi-4.1"
    """Whose algorithms collective calls become."""

    element_byte: Annotated[int, Field(ge=1, le=4096)] = 8
    """Of a vector that is reduced."""

    cores: SmallSize = 1
    """Of a node, for the scheduler."""

    repeat: bool = False
    """Each job begins anew at its end, until every job has ended once."""

    bound: Bound | None = None
    """Links between switches choose their holds by themselves; `links.hold` is where they begin."""

    log_gops: LogGops | None = None
    """In place of the network, which then only says how many nodes there are."""

    @model_validator(mode="after")
    def _is_scheduled_or_not(self) -> "Programs":
        scheduled = {job.placement == "scheduled" for job in self.jobs}
        if len(scheduled) > 1:
            raise ValueError("the scheduler places all jobs or none: write placement: scheduled for each, or for none")
        return self


PLACEMENTS: Final[dict[PlacementName, str]] = {
    "linear": "the first nodes that no job before has",
    "random": "nodes that no job before has, drawn by the seed",
    "by_switch": "as `linear`, with the switches in an order that is drawn by the seed",
    "given": "the nodes of `nodes`",
    "scheduled": "the first free cores, when there are enough: of the jobs that fit one at random, again whenever one "
    "ends (Andújar et al. 2023, section 3.4)",
}


def load_program(program: AnyProgram) -> Program:
    """The program; UnreadableFile if its file cannot be read."""
    if isinstance(program, FileProgram):
        return read_program(Path(program.path))
    return program_of(program)
