"""What to simulate: network, router, routing, traffic, links, loads, seeds, precision. Frozen values, checked once."""

from typing import Annotated, Final, Literal

from pydantic import Field, PositiveFloat, model_validator

from eee_testbed.simulation.calibration_use import CalibrationUse
from eee_testbed.simulation.kinds import NEEDED, EngineName, RoutingName, TrafficName
from eee_testbed.simulation.networks import Network
from eee_testbed.simulation.part import Cycles, Form, Index, Part, Seed, Size, SomeCycles
from eee_testbed.simulation.replay.jobs import Programs

Load = Annotated[float, Field(gt=0, le=1)]


class Router(Part):
    """An input-queued router with virtual channels; TCEP's network unless said otherwise. Times in cycles."""

    vcs: Annotated[int, Field(ge=1, le=64)] = 6
    """Virtual channels of every channel."""

    buffer_flits: Annotated[int, Field(ge=1, le=65535)] = 32
    """Of each virtual channel."""

    speedup: Annotated[int, Field(ge=1, le=255)] = 2
    """Internal steps a cycle; an empty router takes ⌈3 / speedup⌉ + traversal_delay - 1 cycles."""

    routing_delay: Annotated[int, Field(ge=0, le=255)] = 0
    """Cycles of routing; 0 is lookahead. Else a router takes ⌈4 / speedup⌉ + traversal_delay + routing_delay - 2."""

    traversal_delay: Annotated[int, Field(ge=1, le=255)] = 1
    """Cycles of the switch traversal."""

    pipelined: bool = True
    """Whether a stage of several cycles takes others in meanwhile; in BookSim2 it does not."""

    credit_delay: Annotated[int, Field(ge=0, le=255)] = 2
    """Cycles from a credit's arrival to its use."""

    packet_flits: Annotated[int, Field(ge=1, le=65535)] = 1
    """Flits of a packet; 5,000 are TCEP's bursts."""

    switching: Literal["wormhole", "cut_through", "store_and_forward"] = "wormhole"
    """Cut-through: a packet starts if the next buffer has room for all of it, and holds the output to its tail.
    Store-and-forward: as cut-through, but once all of the packet has come, as in most Ethernet switches."""

    threshold: Annotated[int, Field(ge=0, le=1_000_000)] = 2
    """UGAL: flits that a detour must save."""

    history_window: Annotated[int, Field(ge=0, le=65535)] = 0
    """UGAL: flits sent within so many cycles are not congestion (Won et al. 2015)."""

    def form(self) -> Form:
        """For the engine."""
        return self.model_dump()


class Traffic(Part):
    """Who sends to whom."""

    kind: TrafficName = "uniform"
    """Each kind needs keys of its own: see the table."""

    base: Size | None = None
    """Tornado, neighbour: nodes in a row."""

    digits: Annotated[int, Field(ge=1, le=26)] | None = None
    """Tornado, neighbour: dimensions, that of the nodes at a router included."""

    nodes: list[Index] | None = None
    """Hotspots: where a share of the packets goes."""

    share: Annotated[float, Field(ge=0, le=1)] | None = None
    """Hotspots: of the packets; the others are uniform."""

    size: Size | None = None
    """Next group: nodes in a group."""

    to: list[Index] | None = None
    """Given: each node's destination."""

    sizes: list[Size] | None = None
    """Jobs: nodes of each."""

    within: Literal["uniform", "permutation"] | None = None
    """Jobs: traffic within each."""

    shares: list[Annotated[float, Field(ge=0, le=1000)]] | None = None
    """Jobs: load of each, as a share of the point's load; else all have that load."""

    packets: list[Annotated[int, Field(ge=0, le=1_000_000_000)]] | None = None
    """Jobs, with shares: packets to be sent in each, after which the point ends (batch mode)."""

    packets_of: Literal["job", "node"] | None = None
    """Jobs, with packets: whether the nodes of a job send that many together (else), or each of them does, as in
    BookSim2's batch mode."""

    @model_validator(mode="after")
    def _has_what_it_needs(self) -> "Traffic":
        needed = NEEDED.get(self.kind, frozenset[str]())
        given = {name for name in set().union(*NEEDED.values()) if getattr(self, name) is not None}
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


class Links(Part):
    """What channels between routers do when they are idle, as the twin's LPI machine. Times in cycles."""

    mode: Literal["off", "deep", "fast", "hybrid"] = "off"
    """Off: never asleep; deep or fast wake; hybrid: fast wake first, deep sleep after `deep_after`."""

    hold: Cycles = 0
    """Idle cycles before a channel goes to sleep."""

    sleep: Cycles = 0
    """Ts: of going to sleep."""

    quiet: Cycles = 0
    """Tq: between two refreshes; 0 without refreshes."""

    refresh: Cycles = 0
    """Tr: of a refresh."""

    wake: Cycles = 0
    """Tw: of waking from deep sleep."""

    wake_during_sleep: Cycles = 0
    """Of waking a channel that was still going to sleep."""

    fast_wake: Cycles = 0
    """Of waking from fast wake."""

    deep_after: Cycles = 0
    """Hybrid: cycles in fast wake before deep sleep."""

    coalesce_flits: Annotated[int, Field(ge=0, le=1_000_000)] = 0
    """Flits that are waited for before a channel is woken."""

    coalesce: Cycles = 0
    """The longest wait for them."""

    flit_cycles: Annotated[int, Field(ge=1, le=4)] = 1
    """1, 2 or 4: full, half or quarter rate."""

    ends_sleep: bool = False
    """A flit that comes in Ts ends it and pays the wake alone (Georgakoudis et al. 2019, Table II)."""

    def form(self) -> Form:
        """For the engine."""
        return self.model_dump()

    @property
    def needs_flits(self) -> bool:
        """Whether only the flit engine has it."""
        return self.coalesce_flits > 0 or self.coalesce > 0 or self.flit_cycles > 1


class Consolidation(Part):
    """TCEP (Kim et al. 2018): links are turned off and on with the traffic. Times in cycles; its section V."""

    epoch: SomeCycles = 1000
    """Activation epoch."""

    deactivation_epochs: Annotated[int, Field(ge=1, le=10_000)] = 10
    """Activation epochs in a deactivation epoch."""

    wake: Cycles = 1000
    """Of a link that was turned off."""

    high_water_mark: Annotated[float, Field(gt=0, le=1)] = 0.75
    """Utilization above which a link counts as full (U_hwm)."""

    begins_with_root: bool = False
    """Begin with the root network alone: settles soon at low loads, and is overrun at high ones."""

    def form(self) -> Form:
        """For the engine."""
        return self.model_dump()

    @property
    def deactivation_cycles(self) -> int:
        """Length of a deactivation epoch."""
        return self.epoch * self.deactivation_epochs


class Stages(Part):
    """SLaC (Demir, Hardavellas 2016, as Kim et al. 2018 describe it): links are turned off and on row by row."""

    cycles_per_link: Cycles = 100
    """Cycles that turning a stage on takes for each of its links."""

    high: Annotated[float, Field(gt=0, le=1)] = 0.75
    """Share of an input buffer above which the next stage is turned on."""

    low: Annotated[float, Field(ge=0, lt=1)] = 0.25
    """Share below which the last stage is turned off again."""

    off_after: SomeCycles = 50_000
    """Cycles for which the buffers are below that before."""

    def form(self) -> Form:
        """For the engine."""
        return self.model_dump()


class Rates(Part):
    """Channels at the lowest of three rates that carries their traffic, after the fact (Kim et al. 2018, section V).

    Powers are shares of that at full rate. The paper takes them from Abts et al. (2010) and does not print them; the
    defaults are an assumption, a straight line from 42 % at a sixteenth of the rate to full rate.
    """

    quarter_power: Annotated[float, Field(gt=0, le=1)] = 0.54
    """At a quarter of the rate."""

    half_power: Annotated[float, Field(gt=0, le=1)] = 0.69
    """At half of the rate."""

    @property
    def steps(self) -> tuple[tuple[float, float], ...]:
        """Rate and power, as shares of the full ones, slowest first."""
        return (0.25, self.quarter_power), (0.5, self.half_power), (1.0, 1.0)


class Energy(Part):
    """Energy of a channel by bits (TCEP section V: 31.25 and 23.44 pJ/bit, 48-bit flits)."""

    active_pj_per_bit: PositiveFloat = 31.25
    """Of a bit of a flit."""

    idle_pj_per_bit: PositiveFloat = 23.44
    """Of a channel that is on and sends nothing; also in Ts and Tw."""

    low_power_share: Annotated[float, Field(ge=0, le=1)] = 0.1
    """Power in quiet, refresh and fast wake, as a share of idle."""

    flit_bits: Annotated[int, Field(ge=1, le=1_000_000)] = 48
    """Bits of a flit; a cycle is as long as a flit takes at a channel's rate."""


class Precision(Part):
    """When a point is known well enough."""

    within_percent: Annotated[float, Field(gt=0, le=100)] = 1.0
    """Half of the 95 % interval of the mean latency."""

    batch_cycles: Annotated[int, Field(ge=1, le=1_000_000)] = 200
    """Cycles of a batch: the mean latency is followed batch by batch."""

    most_cycles: Annotated[int, Field(ge=1, le=1_000_000_000_000)] = 100_000
    """The point ends here, known well enough or not."""


class Curve(Part):
    """Loads found while simulating, closer where latency rises."""

    points: Annotated[int, Field(ge=3, le=100)] = 10
    """Loads, at most."""

    lowest: Load = 0.02
    """The first load, flits a node and cycle."""

    highest: Load = 1.0
    """The last load."""

    @model_validator(mode="after")
    def _rises(self) -> "Curve":
        if self.lowest >= self.highest:
            raise ValueError(f"a curve rises from lowest to highest: write lowest below {self.highest:g}")
        return self


Policies = tuple[Links, Links, Links]
"""Of links between switches, from switches to nodes, and from nodes to switches."""


class Description(Part):
    """A simulation's file."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$")]
    """The results are in `simulations/NAME`."""

    network: Network
    """What `kind` it is, and its sizes."""

    routing: RoutingName
    """Where packets go; the table below says on which networks."""

    router: Router = Router()
    engine: Literal["auto", "flit", "packet"] = "auto"
    """`auto` takes the packet engine where it is as exact, and says why it does or does not."""

    traffic: Traffic = Traffic()
    programs: Programs | None = None
    """MPI programs in place of traffic, loads and precision: see the section on programs."""

    links: Links = Links()
    node_links: Links = Links()
    """Links to nodes, both directions; with programs alone."""

    card_links: Links | None = None
    """Links from nodes, where cards do something else than the switches' ports to them; with programs alone."""

    consolidation: Consolidation | None = None
    """TCEP; needs the routing `pal`. Links that it leaves on may sleep besides (`links`), in the packet engine."""

    stages: Stages | None = None
    """SLaC; needs the routing `slac`."""

    rates: Rates | None = None
    """Energy at the lowest of three rates."""

    energy: Energy = Energy()
    calibration: CalibrationUse | None = None
    """Times of links and watts of switches that were fitted on a lab."""

    loads: Annotated[list[Load], Field(min_length=1)] | None = None
    """Flits a node and cycle."""

    curve: Curve | None = None
    seeds: list[Seed] = Field(default=[1], min_length=1)
    """Each load is simulated with each of them; equal seeds give equal points."""

    precision: Precision = Precision()

    @property
    def policies(self) -> "Policies":
        """Of links between switches, from switches to nodes, and from nodes to switches."""
        return self.links, self.node_links, self.node_links if self.card_links is None else self.card_links

    @property
    def links_rest(self) -> bool:
        """Whether links sleep, or TCEP turns them off."""
        return self.policies != (Links(),) * 3 or self.consolidation is not None

    @model_validator(mode="after")
    def _loads_or_curve(self) -> "Description":
        given = [name for name in ("loads", "curve", "programs") if getattr(self, name) is not None]
        if len(given) != 1:
            raise ValueError(
                "a simulation has either loads, a curve or programs: write loads: [0.1, 0.5] or curve: {points: 10}"
            )
        return self

    @model_validator(mode="after")
    def _programs_can_run(self) -> "Description":
        if self.programs is None:
            if self.node_links != Links() or self.card_links is not None:
                raise ValueError(
                    "links to nodes sleep where programs run: write programs, or leave node_links and card_links out"
                )
            return self
        refused = {
            "traffic": self.traffic != Traffic(),
            "stages": self.stages is not None,
            "rates": self.rates is not None,
            "engine: flit": self.engine == "flit",
            "links that coalesce or are slower": any(one.needs_flits for one in self.policies),
        }
        if any(refused.values()):
            names = ", ".join(name for name, is_given in refused.items() if is_given)
            raise ValueError(f"programs run on the packet engine alone, without {names}: leave it out")
        if self.router.switching == "wormhole":
            raise ValueError(
                "programs run on switches that keep packets together: write router: {switching: cut_through}, or "
                "store_and_forward as most Ethernet switches do"
            )
        return self

    @model_validator(mode="after")
    def _routing_runs_programs(self) -> "Description":
        if self.programs is None:
            return self
        if self.routing == "min_booksim2":
            raise ValueError("programs run on the packet engine, which has no min_booksim2: write min_adaptive")
        if self.consolidation is not None and self.routing != "pal":
            raise ValueError(
                f"TCEP needs a routing that knows links that are off, not {self.routing}: write routing: pal"
            )
        if self.consolidation is not None and self.programs.log_gops is not None:
            raise ValueError("TCEP turns off links of a simulated network: leave consolidation or log_gops out")
        return self

    @model_validator(mode="after")
    def _parts_agree(self) -> "Description":
        if self.consolidation and self.stages:
            raise ValueError("links are turned off by TCEP or by SLaC: write consolidation or stages")
        both = self.links.mode != "off" and (self.consolidation or self.stages)
        if both and (self.stages or self.engine == "flit" or self.router.switching == "wormhole"):
            raise ValueError(
                "links sleep beside links that are turned off in the packet engine alone, with TCEP: write engine: "
                "packet and router: {switching: cut_through} or store_and_forward, or leave links out"
            )
        if self.curve is not None and self.traffic.packets is not None:
            raise ValueError("batches have no curve: write loads: [0.5], and drop curve")
        return self

    @model_validator(mode="after")
    def _has_time_to_measure(self) -> "Description":
        least = LEAST_BATCHES * self.precision.batch_cycles
        if self.programs is None and self.traffic.packets is None and self.precision.most_cycles < least:
            raise ValueError(
                f"a point is warmed up and measured for {LEAST_BATCHES} batches at least: write precision: "
                f"{{most_cycles: {least}}} or more, or fewer batch_cycles"
            )
        return self

    @model_validator(mode="after")
    def _has_time_to_consolidate(self) -> "Description":
        tcep = self.consolidation
        if tcep and self.programs is None and self.precision.most_cycles < _LEAST_EPOCHS * tcep.deactivation_cycles:
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

        That is cut-through or store-and-forward switching with an internal speedup, buffers of at least eight packets,
        no coalescing, one rate, and a routing that asks for one port whatever the queues are. (Bursts of long packets
        and full buffers are for the flit engine.)
        """
        if self.engine != "auto":
            return self.engine, "as asked"
        if self.programs is not None:
            return "packet", "programs run on it"
        if self.consolidation is not None and self.links.mode != "off":
            return "packet", "it alone has links that sleep beside TCEP"
        router, least = self.router, _ENOUGH_PACKETS * self.router.packet_flits
        against = [
            why
            for differs, why in (
                (router.switching == "wormhole", "switching is wormhole"),
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
        how = router.switching.replace("_", "-")
        return "packet", f"{how}, buffers of at least {_ENOUGH_PACKETS} packets: it is faster and as exact"


BATCHES_AT_ONCE: Final = 40
"""Batches before the first look whether the series is steady, and between looks."""

LEAST_BATCHES: Final = 2 * BATCHES_AT_ONCE
"""Of a point: one look at its warm-up, one at its measurement."""

_SEVERAL_PORTS: Final = frozenset({"min_adaptive", "min_awake", "min_booksim2"})
_BY_QUEUES: Final = frozenset({"ugal", "ugal_p", "pal", "tree_adaptive", "dragonfly_ugal"})
_ENOUGH_PACKETS: Final = 8
_LEAST_PAUSES: Final = 10
"""Times after which a stage goes, for SLaC to settle and to be measured."""

_LEAST_EPOCHS: Final = 20
"""Deactivation epochs for TCEP to settle and to be measured: a router turns one link off in each."""
