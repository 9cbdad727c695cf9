"""What to simulate: network, router, routing, traffic, links, loads, seeds, precision. Frozen values, checked once."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, PositiveFloat, PositiveInt, model_validator

from lab.folder import find_lab, load_lab
from lab.topology import Topology as LabTopology
from simulation.calibration_use import CalibrationUse

NonNegative = Annotated[int, Field(ge=0)]
Load = Annotated[float, Field(gt=0, le=1)]
EngineName = Literal["flit", "packet"]
Form = dict[str, Any]
"""A topology, a pattern, a router or a link as `eee_engine` takes it."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Torus(_Part):
    """k-ary n-cube, or mesh: a ring, or a row, in each dimension."""

    kind: Literal["torus", "mesh"]
    radix: list[PositiveInt]
    concentration: PositiveInt = 1
    trunk: PositiveInt = 1
    link_latency: PositiveInt = 1
    """Cycles of a channel between routers; the same in all topologies."""

    def form(self) -> Form:
        """For the engine."""
        return {**self.model_dump(), "kind": "torus", "wraps": self.kind == "torus"}


class KAryTree(_Part):
    """k-ary n-tree (Petrini, Vanneschi 1997): `levels` levels of switches, k to the power of `levels` nodes."""

    kind: Literal["k_ary_tree"]
    k: PositiveInt
    levels: PositiveInt
    link_latency: PositiveInt = 1

    def form(self) -> Form:
        """For the engine."""
        parents = [1] + [self.k] * (self.levels - 1)
        return _tree([self.k] * self.levels, parents, self.link_latency)


class FatTree(_Part):
    """Three-level fat tree of switches with `ports` ports (Al-Fares et al. 2008)."""

    kind: Literal["fat_tree"]
    ports: Annotated[int, Field(ge=2, multiple_of=2)]
    link_latency: PositiveInt = 1

    def form(self) -> Form:
        """For the engine."""
        half = self.ports // 2
        return _tree([half, half, self.ports], [1, half, half], self.link_latency)


class Dragonfly(_Part):
    """Dragonfly (Kim et al. 2008): a group of one dimension is canonical, one of two has rows and columns."""

    kind: Literal["dragonfly"]
    concentration: PositiveInt
    group: list[PositiveInt]
    global_links: PositiveInt
    """Of each router."""

    groups: PositiveInt
    link_latency: PositiveInt = 1
    global_latency: PositiveInt | None = None
    """Cycles of a channel between groups; else those of all."""

    def form(self) -> Form:
        """For the engine."""
        return {**self.model_dump(exclude={"global_links"}, exclude_none=True), "global": self.global_links}


class HyperX(_Part):
    """HyperX (Ahn et al. 2009); with equal sizes a flattened butterfly, with one dimension a complete graph."""

    kind: Literal["hyperx"]
    sizes: list[PositiveInt]
    concentration: PositiveInt = 1
    trunk: PositiveInt = 1
    link_latency: PositiveInt = 1

    def form(self) -> Form:
        """For the engine."""
        return self.model_dump()


class Graph(_Part):
    """Any graph: the router of each node, and links between routers; parallel links are allowed."""

    kind: Literal["graph"]
    routers: PositiveInt
    nodes: list[NonNegative]
    links: list[tuple[int, int]]
    link_latency: PositiveInt = 1

    def form(self) -> Form:
        """For the engine."""
        edges = [(one, other, self.link_latency) for one, other in self.links]
        return {"kind": "graph", "routers": self.routers, "nodes": self.nodes, "edges": edges}


class OfLab(_Part):
    """The switches, hosts and trunks of a lab's inventory; every cable of a trunk is a link."""

    kind: Literal["lab"]
    lab: str
    """A lab's name or folder."""

    link_latency: PositiveInt = 1

    def form(self) -> Form:
        """For the engine. InventoryError if the inventory is wrong."""
        found = LabTopology.of(load_lab(find_lab(self.lab)))
        number = {name: index for index, name in enumerate(found.switches)}
        edges = [
            (number[link.a.device], number[link.b.device], self.link_latency)
            for trunk in sorted(found.trunks)
            for link in found.cables[trunk]
            if link.a.device != link.b.device
        ]
        nodes = [number[found.homes[host].device] for host in found.hosts]
        return {"kind": "graph", "routers": len(number), "nodes": nodes, "edges": edges}


def _tree(children: list[int], parents: list[int], link_latency: int) -> Form:
    return {"kind": "tree", "children": children, "parents": parents, "link_latency": link_latency}


Network = Annotated[Torus | KAryTree | FatTree | Dragonfly | HyperX | Graph | OfLab, Field(discriminator="kind")]


class Router(_Part):
    """An input-queued router with virtual channels; TCEP's network unless said otherwise. Times in cycles."""

    vcs: Annotated[int, Field(ge=1, le=64)] = 6
    buffer_flits: Annotated[int, Field(ge=1, le=65535)] = 32
    """Of each virtual channel."""

    speedup: Annotated[int, Field(ge=1, le=255)] = 2
    """Internal steps a cycle; an empty router takes ⌈3 / speedup⌉ + traversal_delay - 1 cycles."""

    routing_delay: Annotated[int, Field(ge=0, le=255)] = 0
    """Cycles of routing; 0 is lookahead. Else a router takes ⌈4 / speedup⌉ + traversal_delay + routing_delay - 2."""

    traversal_delay: Annotated[int, Field(ge=1, le=255)] = 1
    pipelined: bool = True
    """Whether a stage of several cycles takes others in meanwhile; in BookSim2 it does not."""

    credit_delay: Annotated[int, Field(ge=0, le=255)] = 2
    packet_flits: PositiveInt = 1
    switching: Literal["wormhole", "cut_through"] = "wormhole"
    threshold: NonNegative = 2
    """UGAL: flits that a detour must save."""

    history_window: NonNegative = 0
    """UGAL: flits sent within so many cycles are not congestion (Won et al. 2015)."""

    def form(self) -> Form:
        """For the engine."""
        return {**self.model_dump(exclude={"switching"}), "cut_through": self.switching == "cut_through"}


class Traffic(_Part):
    """Who sends to whom."""

    kind: Literal[
        "uniform",
        "uniform_others",
        "tornado",
        "neighbour",
        "bit_reversal",
        "bit_complement",
        "shuffle",
        "transpose",
        "permutation",
        "hotspots",
        "next_group",
        "given",
        "jobs",
    ] = "uniform"
    base: PositiveInt | None = None
    """Tornado, neighbour: nodes in a row."""

    digits: PositiveInt | None = None
    """Tornado, neighbour: dimensions, that of the nodes at a router included."""

    nodes: list[NonNegative] | None = None
    """Hotspots: where a share of the packets goes."""

    share: Annotated[float, Field(ge=0, le=1)] | None = None
    """Hotspots: of the packets; the others are uniform."""

    size: PositiveInt | None = None
    """Next group: nodes in a group."""

    to: list[NonNegative] | None = None
    """Given: each node's destination."""

    sizes: list[PositiveInt] | None = None
    """Jobs: nodes of each."""

    within: Literal["uniform", "permutation"] | None = None
    """Jobs: traffic within each."""

    shares: list[Annotated[float, Field(ge=0)]] | None = None
    """Jobs: load of each, as a share of the point's load; else all have that load."""

    packets: list[NonNegative] | None = None
    """Jobs, with shares: packets to be sent in each, after which the point ends (batch mode)."""

    packets_of: Literal["job", "node"] | None = None
    """Jobs, with packets: whether the nodes of a job send that many together (else), or each of them does, as in
    BookSim2's batch mode."""

    @model_validator(mode="after")
    def _has_what_it_needs(self) -> "Traffic":
        needed = _NEEDED.get(self.kind, set())
        given = {name for name in set().union(*_NEEDED.values()) if getattr(self, name) is not None}
        if self.kind != "jobs" and (self.shares is not None or self.packets is not None):
            raise ValueError(f"traffic {self.kind} has neither shares nor packets: write kind: jobs")
        if self.packets is not None and self.shares is None:
            raise ValueError("packets of jobs need their shares of the load: write shares: [0.2, 1.0]")
        if self.packets_of is not None and self.packets is None:
            raise ValueError("packets_of says whose the packets are: write packets: [100000, 500000]")
        for name, found in (("shares", self.shares), ("packets", self.packets)):
            if found is not None and self.sizes is not None and len(found) != len(self.sizes):
                raise ValueError(f"{len(self.sizes)} jobs need as many {name}: {len(found)} are given")
        if needed != given:
            wanted = " and ".join(sorted(needed)) or "nothing else"
            raise ValueError(f"traffic {self.kind} needs {wanted}: {', '.join(sorted(given)) or 'nothing'} is given")
        return self

    def form(self) -> Form:
        """For the engine."""
        plain = self.model_dump(exclude={"within"}, exclude_none=True)
        return plain | ({"permutation": self.within == "permutation"} if self.within else {})


_NEEDED: Final[Mapping[str, set[str]]] = {
    "tornado": {"base", "digits"},
    "neighbour": {"base", "digits"},
    "hotspots": {"nodes", "share"},
    "next_group": {"size"},
    "given": {"to"},
    "jobs": {"sizes", "within"},
}
"""What a kind of traffic needs besides; the others need nothing."""


class Links(_Part):
    """What channels between routers do when they are idle, as the twin's LPI machine. Times in cycles."""

    mode: Literal["off", "deep", "fast", "hybrid"] = "off"
    hold: NonNegative = 0
    sleep: NonNegative = 0
    quiet: NonNegative = 0
    refresh: NonNegative = 0
    wake: NonNegative = 0
    wake_during_sleep: NonNegative = 0
    fast_wake: NonNegative = 0
    deep_after: NonNegative = 0
    coalesce_flits: NonNegative = 0
    coalesce: NonNegative = 0
    flit_cycles: PositiveInt = 1
    """1, 2 or 4: full, half or quarter rate."""

    def form(self) -> Form:
        """For the engine."""
        return self.model_dump()

    @property
    def needs_flits(self) -> bool:
        """Whether only the flit engine has it."""
        return self.coalesce_flits > 0 or self.coalesce > 0 or self.flit_cycles > 1


class Consolidation(_Part):
    """TCEP (Kim et al. 2018): links are turned off and on with the traffic. Times in cycles; its section V."""

    epoch: PositiveInt = 1000
    """Activation epoch."""

    deactivation_epochs: PositiveInt = 10
    """Activation epochs in a deactivation epoch."""

    wake: NonNegative = 1000
    high_water_mark: Annotated[float, Field(gt=0, le=1)] = 0.75
    begins_with_root: bool = False
    """Begin with the root network alone: settles soon at low loads, and is overrun at high ones."""

    def form(self) -> Form:
        """For the engine."""
        return self.model_dump()

    @property
    def deactivation_cycles(self) -> int:
        """Length of a deactivation epoch."""
        return self.epoch * self.deactivation_epochs


class Stages(_Part):
    """SLaC (Demir, Hardavellas 2016, as Kim et al. 2018 describe it): links are turned off and on row by row."""

    cycles_per_link: NonNegative = 100
    """Cycles that turning a stage on takes for each of its links."""

    high: Annotated[float, Field(gt=0, le=1)] = 0.75
    """Share of an input buffer above which the next stage is turned on."""

    low: Annotated[float, Field(ge=0, lt=1)] = 0.25
    """Share below which the last stage is turned off again."""

    off_after: PositiveInt = 50_000
    """Cycles for which the buffers are below that before."""

    def form(self) -> Form:
        """For the engine."""
        return self.model_dump()


class Rates(_Part):
    """Channels at the lowest of three rates that carries their traffic, after the fact (Kim et al. 2018, section V).

    Powers are shares of that at full rate. The paper takes them from Abts et al. (2010) and does not print them; the
    defaults are an assumption, a straight line from 42 % at a sixteenth of the rate to full rate.
    """

    quarter_power: Annotated[float, Field(gt=0, le=1)] = 0.54
    half_power: Annotated[float, Field(gt=0, le=1)] = 0.69

    @property
    def steps(self) -> tuple[tuple[float, float], ...]:
        """Rate and power, as shares of the full ones, slowest first."""
        return (0.25, self.quarter_power), (0.5, self.half_power), (1.0, 1.0)


class Energy(_Part):
    """Energy of a channel by bits (TCEP section V: 31.25 and 23.44 pJ/bit, 48-bit flits)."""

    active_pj_per_bit: PositiveFloat = 31.25
    idle_pj_per_bit: PositiveFloat = 23.44
    """Of a channel that is on and sends nothing; also in Ts and Tw."""

    low_power_share: Annotated[float, Field(ge=0, le=1)] = 0.1
    """Power in quiet, refresh and fast wake, as a share of idle."""

    flit_bits: PositiveInt = 48


class Precision(_Part):
    """When a point is known well enough."""

    within_percent: PositiveFloat = 1.0
    """Half of the 95 % interval of the mean latency."""

    batch_cycles: PositiveInt = 200
    most_cycles: PositiveInt = 100_000
    """The point ends here, known well enough or not."""


class Curve(_Part):
    """Loads found while simulating, closer where latency rises."""

    points: Annotated[int, Field(ge=3, le=100)] = 10
    lowest: Load = 0.02
    highest: Load = 1.0


Routing = Literal[
    "dor",
    "min_adaptive",
    "min_awake",
    "min_booksim2",
    "tree_random",
    "tree_dmodk",
    "tree_dbbm",
    "dragonfly_min",
    "ugal",
    "ugal_p",
    "pal",
    "slac",
    "shortest",
    "up_down",
]


class Description(_Part):
    """A simulation's file."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$")]
    network: Network
    routing: Routing
    router: Router = Router()
    engine: Literal["auto", "flit", "packet"] = "auto"
    traffic: Traffic = Traffic()
    links: Links = Links()
    consolidation: Consolidation | None = None
    stages: Stages | None = None
    rates: Rates | None = None
    energy: Energy = Energy()
    calibration: CalibrationUse | None = None
    loads: list[Load] | None = None
    """Flits a node and cycle."""

    curve: Curve | None = None
    seeds: Annotated[list[NonNegative], Field(min_length=1)] = [1]
    precision: Precision = Precision()

    @model_validator(mode="after")
    def _loads_or_curve(self) -> "Description":
        if (self.loads is None) == (self.curve is None):
            raise ValueError("a simulation has either loads or a curve: write loads: [0.1, 0.5] or curve: {points: 10}")
        return self

    @model_validator(mode="after")
    def _parts_agree(self) -> "Description":
        if self.consolidation and self.stages:
            raise ValueError("links are turned off by TCEP or by SLaC: write consolidation or stages")
        if self.curve is not None and self.traffic.packets is not None:
            raise ValueError("batches have no curve: write loads: [0.5], and drop curve")
        return self

    @model_validator(mode="after")
    def _has_time_to_consolidate(self) -> "Description":
        tcep = self.consolidation
        if tcep and self.precision.most_cycles < _LEAST_EPOCHS * tcep.deactivation_cycles:
            least = _LEAST_EPOCHS * tcep.deactivation_cycles
            raise ValueError(
                f"links are turned off one by one: write precision: {{most_cycles: {least}}} or more, or shorter epochs"
            )
        return self

    @model_validator(mode="after")
    def _has_time_for_stages(self) -> "Description":
        slac = self.stages
        if slac and self.traffic.packets is None and self.precision.most_cycles < _LEAST_PAUSES * slac.off_after:
            least = _LEAST_PAUSES * slac.off_after
            raise ValueError(
                f"stages go one by one: write precision: {{most_cycles: {least}}} or more, or a shorter off_after"
            )
        return self

    @property
    def chosen_engine(self) -> EngineName:
        """The engine that is used."""
        return self.engine_choice[0]

    @property
    def engine_choice(self) -> tuple[EngineName, str]:
        """The engine that is used, and why: `auto` is the packet engine where what it leaves out does not matter.

        That is cut-through switching with an internal speedup, buffers of at least eight packets, no coalescing, one
        rate, and a routing that asks for one port whatever the queues are. (Bursts of long packets and full buffers are
        for the flit engine.)
        """
        if self.engine != "auto":
            return self.engine, "as asked"
        router, least = self.router, _ENOUGH_PACKETS * self.router.packet_flits
        against = [
            why
            for differs, why in (
                (router.switching != "cut_through", "switching is not cut_through"),
                (router.speedup == 1, "speedup is 1"),
                (router.traversal_delay != 1, "traversal_delay is not 1"),
                (router.routing_delay != 0, "routing_delay is not 0"),
                (router.buffer_flits < least, f"buffers have less than {_ENOUGH_PACKETS} packets ({least} flits)"),
                (self.links.needs_flits, "links coalesce or are slower"),
                (self.consolidation is not None or self.stages is not None, "links are turned off"),
                (self.traffic.shares is not None, "jobs have loads of their own"),
                (self.routing in _SEVERAL_PORTS, f"{self.routing} asks for several ports"),
                (self.routing in _BY_QUEUES, f"{self.routing} weighs queues"),
            )
            if differs
        ]
        if against:
            return "flit", f"the packet engine is not for it: {', '.join(against)}"
        return "packet", f"cut-through, buffers of at least {_ENOUGH_PACKETS} packets: it is faster and as exact"


_SEVERAL_PORTS: Final = frozenset({"min_adaptive", "min_awake", "min_booksim2"})
_BY_QUEUES: Final = frozenset({"ugal", "ugal_p", "pal"})
_ENOUGH_PACKETS: Final = 8
_LEAST_PAUSES: Final = 10
"""Times after which a stage goes, for SLaC to settle and to be measured."""

_LEAST_EPOCHS: Final = 20
"""Deactivation epochs for TCEP to settle and to be measured: a router turns one link off in each."""


def relative_to(description: Description, folder: Path) -> Description:
    """The description with a lab's folder and a calibration's file seen from the file's folder, if they are there."""
    network, use = description.network, description.calibration
    if isinstance(network, OfLab) and (folder / network.lab).is_dir():
        moved = network.model_copy(update={"lab": str((folder / network.lab).resolve())})
        description = description.model_copy(update={"network": moved})
    if use is not None and (folder / use.file).is_file():
        found = use.model_copy(update={"file": str((folder / use.file).resolve())})
        description = description.model_copy(update={"calibration": found})
    return description
