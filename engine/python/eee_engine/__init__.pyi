"""Types of the engine in Python. The last word of a name is the unit of its value.

A *port id* is a small integer, unique in one engine: a switch port, a LAG of a switch, or a host's NIC.
A *MAC* is ``bytes`` of length 6. A method whose argument is unknown or invalid raises `FabricError`, which says
what is wrong and what to do. Methods may be called from any thread; configuration takes effect at once.
"""

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Literal, TypedDict

class FabricError(ValueError): ...

Mode = Literal["off", "deep", "fast", "hybrid"]

class Switch(TypedDict):
    switch: int  # switch id
    ports: list[int]  # port ids; index 0 is bridge port 1
    lags: list[int]  # port ids of the LAGs; their bridge ports follow the physical ones

class LpiTiming(TypedDict, total=False):
    """Overrides of the PHY profile for the transmit direction of one port; absent keys keep the profile's value."""

    hold_us: float  # idle time before LPI is asserted (power-down threshold)
    sleep_us: float  # Ts, cannot be cut short
    quiet_us: float  # Tq
    refresh_us: float  # Tr
    wake_us: float  # Tw_sys
    wake_during_sleep_us: float  # Tw_sys when the frame arrived during Ts (10GBASE-T "case 1")
    fast_wake_us: float  # Tw of fast wake
    deep_after_us: float  # hybrid: time in fast wake before deep sleep
    coalesce_byte: int  # wake when this many bytes wait (0: no limit) ...
    coalesce_us: float  # ... or the first frame has waited this long

class PortState(TypedDict):
    """State of a port."""

    name: str
    admin_up: bool
    oper_up: bool
    cable: int | None  # cable id
    speed_mbps: int  # 0 when down
    advertised_mbps: list[int]
    autoneg: bool
    flow_control_rx: bool  # negotiated
    flow_control_tx: bool
    flow_control_admin: bool  # offered
    eee_admin: bool
    eee_supported: bool  # by the PHY, at the present or best speed
    eee_active: bool  # negotiated by both ends, link up
    lpi_mode: Mode
    lpi_now: Literal["active", "hold", "sleeping", "quiet", "refresh", "waking", "off", "fast"]  # transmitter of this end
    pvid: int
    acceptable: Literal["all", "tagged", "untagged"]
    ingress_filtering: bool
    blocked: bool  # spanning tree's discarding state
    lag: int | None  # port id of the LAG it is in
    mtu_byte: int  # largest frame without FCS and tag
    since_ps: int  # engine time of the last oper change
    flaps: int  # number of oper changes
    queue_byte: int  # waiting in the egress queue now

class Announcement(TypedDict, total=False):
    """What a port announces by LLDP (IEEE 802.1AB); `chassis`, `port` and `ttl_s` are needed."""

    chassis: tuple[int, bytes]  # subtype (table 8-2) and 1 to 255 octets
    port: tuple[int, bytes]  # subtype (table 8-3) and 1 to 255 octets
    ttl_s: int
    port_description: bytes
    system_name: bytes
    system_description: bytes
    capabilities: tuple[int, int]  # those that it has and those in use: bits of table 8-4
    management: tuple[bytes, int]  # IPv4 address, ifIndex
    eee: bool  # also the wake times (IEEE 802.3, 79.3.5), while EEE is in force

class Heard(TypedDict):
    """A neighbour that a port hears by LLDP; what it did not announce is empty."""

    chassis: tuple[int, bytes]
    port: tuple[int, bytes]
    port_description: bytes
    system_name: bytes
    system_description: bytes
    capabilities: int  # those in use
    management: bytes | None
    eee_us: tuple[int, int] | None  # Tw_sys_tx, Tw_sys_rx
    ttl_s: int  # left
    index: int  # number among all neighbours that the port ever had, from 1

class PortCounters(TypedDict):
    """IF-MIB, EtherLike-MIB and LPI counters since creation or the switch's boot. 64 bit."""

    in_octets: int
    in_ucast: int
    in_mcast: int
    in_bcast: int
    in_discards: int  # VLAN ingress rules, acceptable frame types, budget, full
    in_errors: int
    out_octets: int
    out_ucast: int
    out_mcast: int
    out_bcast: int
    out_discards: int  # egress queue full, link lost
    out_errors: int
    in_pause: int
    out_pause: int
    in_too_long: int
    tx_lpi_events: int
    tx_lpi_us: int
    rx_lpi_events: int
    rx_lpi_us: int
    storm_drops: int

class TimeInState(TypedDict):
    """Time in state of the transmit direction of one port since creation; the parts add up to ``total_ps``."""

    down_ps: int  # no link
    active_ps: int  # link up and not in LPI, frames or idle, hold included
    transmit_ps: int  # the part of active_ps in which bits of frames were sent (not an addend)
    sleep_ps: int  # Ts
    quiet_ps: int
    refresh_ps: int
    wake_ps: int  # Tw
    fast_ps: int  # low power of fast wake
    total_ps: int
    wakes: int
    lpi_events: int
    up_by_mbps: dict[int, int]  # link-up picoseconds by speed (not addends)

class FdbEntry(TypedDict):
    vid: int
    mac: bytes
    port: int  # port id
    static: bool
    age_s: float

class Lateness(TypedDict):
    """Lateness of the deliveries to hosts: wall clock minus model time."""

    count: int
    p50_us: float
    p90_us: float
    p99_us: float
    max_us: float
    bucket_upper_us: list[float]
    bucket_count: list[int]  # not cumulative; one more than upper bounds: the last bucket is open-ended

class Frames(TypedDict):
    """The conservation law of the whole fabric: offered + copies == delivered + consumed + dropped + in_flight."""

    offered: int  # handed in by hosts
    copies: int  # extra frames made by flooding (n egress ports count n - 1), PAUSE frames included
    delivered: int  # handed to hosts
    consumed: int  # PAUSE frames, frames without an egress port
    dropped: int
    in_flight: int  # queued or on a cable

class _Fabric:
    """Methods that live and virtual engines share: topology, configuration, observation."""

    def add_switch(
        self,
        name: str,
        *,
        phys: Sequence[str],  # per port, a key of phy_profiles(): "1000BASE-T"; it also does its lower speeds
        port_names: Sequence[str],
        base_mac: bytes,
        lag_count: int = 0,
        lag_rehash_s: float = 0.0,  # from a member's loss until its flows go over the others
        latency_us: float = 2.0,  # store-and-forward processing delay
        egress_queue_byte: int = 262_144,
        buffer_byte: int = 2_097_152,
        shared_learning: bool = False,
        fdb_size: int = 16_384,
        ageing_s: float = 300.0,
    ) -> Switch: ...
    def add_host(self, name: str, *, mac: bytes, phy: str = "1000BASE-T", ring_frames: int = 1024) -> int: ...
    def connect(self, a: int, b: int, *, length_m: float = 2.0) -> int:
        """Connect two ports with a cable; returns the cable id."""
    def cut(self, cable: int) -> None: ...
    def mend(self, cable: int) -> None: ...
    def set_interruption(self, port: int, *, seconds: float) -> None:
        """Link-up time of this PHY (autonegotiation, training); a link takes the longer of both ends."""
    def set_port(
        self,
        port: int,
        *,
        admin_up: bool | None = None,
        autoneg: bool | None = None,
        advertised_mbps: Sequence[int] | None = None,  # a forced speed is one value with autoneg False
        flow_control: bool | None = None,
        eee: bool | None = None,
        mtu_byte: int | None = None,  # largest frame without FCS; at most 9216
    ) -> None: ...
    def set_lpi(self, port: int, *, mode: Mode | None = None, timing: LpiTiming | None = None) -> None:
        """LPI policy of the transmitter of a port, used while EEE is active; timing is merged into the timing set before."""
    def set_port_vlan(
        self,
        port: int,
        *,
        pvid: int | None = None,
        acceptable: Literal["all", "tagged", "untagged"] | None = None,
        ingress_filtering: bool | None = None,
    ) -> None: ...
    def set_vlan(self, switch: int, vid: int, *, members: Sequence[int], untagged: Sequence[int]) -> None:
        """Create or replace a VLAN; `untagged` is a subset of `members` (port ids of ports or LAGs)."""
    def remove_vlan(self, switch: int, vid: int) -> None: ...
    def vlans(self, switch: int) -> dict[int, tuple[list[int], list[int]]]:
        """VID -> (members, untagged)."""
    def set_bridge(
        self, switch: int, *, ageing_s: float | None = None, shared_learning: bool | None = None
    ) -> None: ...
    def set_static(self, switch: int, vid: int, mac: bytes, port: int) -> None: ...
    def remove_static(self, switch: int, vid: int, mac: bytes) -> None: ...
    def fdb(self, switch: int) -> list[FdbEntry]: ...
    def flush_fdb(self, switch: int, *, port: int | None = None, vid: int | None = None) -> None:
        """Flush learned entries."""
    def set_lag(self, lag: int, members: Sequence[int]) -> None: ...
    def set_power(self, switch: int, *, on: bool) -> None:
        """Off: links down; FDB, VLANs and counters erased. On: factory settings, VLAN 1 untagged on all ports."""
    def set_blocked(self, port: int, *, blocked: bool) -> None:
        """Discarding state of spanning tree: the port neither learns nor forwards."""
    def set_lldp(
        self,
        port: int,
        announcement: Announcement,
        *,
        transmit: bool = True,
        receive: bool = True,
        interval_s: float = 30.0,
    ) -> None:
        """Configure the LLDP agent of a port, which has none at first; a NIC's only announces."""
    def lldp_heard(self, port: int) -> list[Heard]: ...
    def clear_counters(self, port: int) -> None: ...
    def port(self, port: int) -> PortState: ...
    def counters(self, port: int) -> PortCounters: ...
    def time_in_state(self, port: int) -> TimeInState: ...
    def ports_time_in_state(self, ports: Sequence[int]) -> list[TimeInState]:
        """Time in state of many ports at one moment."""
    def frames(self) -> Frames: ...
    def now_ps(self) -> int: ...

class VirtualEngine(_Fabric):
    """The same core with a clock that jumps from event to event."""

    def __init__(self, *, seed: int = 0, frame_budget_per_s: int = 0) -> None: ...
    def send(self, host: int, at_ps: int, frame: bytes) -> None: ...
    def run_until(self, at_ps: int) -> list[tuple[int, int, bytes]]:
        """(host port id, delivery time ps, frame) in order of time."""

class Engine(_Fabric):
    """The core on the wall clock (CLOCK_MONOTONIC), with TAP devices for the hosts."""

    def __init__(self, *, seed: int = 0, frame_budget_per_s: int = 2_000_000, spin_us: float = 6_000.0) -> None: ...
    def attach(self, host: int, tap_fd: int) -> None:
        """Bind a host's NIC to a TAP (IFF_NO_PI | IFF_VNET_HDR); takes ownership of the descriptor."""
    def make_room(self, groups: str) -> None:
        """Keep the processes of all control groups in a folder off the core that the live thread has claimed."""
    def start(self) -> None: ...
    def stop(self) -> None:
        """Stop the thread, close TAPs and captures; idempotent."""
    def lateness(self) -> Lateness: ...
    def reset_lateness(self) -> None: ...
    def alarms(self) -> list[tuple[int, str]]:
        """(engine time ps, text): storms, late deliveries, stalls; at most the last 1000."""
    def capture(self, cable: int, fd: int) -> int:
        """Write a pcap (nanosecond, Ethernet, tags as on the wire) of both directions of a cable to `fd` (taken
        over); returns a capture id. Ends when the reader closes. Packets that a slow reader misses are counted."""
    def stop_capture(self, capture: int) -> int:
        """Returns how many packets were lost because the reader was too slow."""
    def cpu_s(self) -> float:
        """CPU time of the live thread."""

class UsmUser(TypedDict):
    name: str
    auth: Literal["none", "md5", "sha", "sha256"]
    auth_password: str
    priv: Literal["none", "des", "aes"]
    priv_password: str
    access: Literal["ro", "rw"]

class Group(TypedDict, total=False):
    """Engine-backed MIB groups that one agent serves for one switch."""

    switch: int
    if_index: Mapping[int, int]  # port id -> ifIndex (ports and LAGs)
    bridge_port: Mapping[int, int]  # port id -> bridge port number
    groups: Sequence[Literal["if", "ifx", "etherlike", "bridge", "qbridge", "mau", "lldp", "ros_eee"]]
    lags: Sequence[int]  # port ids that are LAGs: no MAC or PHY of their own
    speed_mbps: Mapping[int, int]  # port id -> fastest speed of the PHY

# (oid as dotted string, type, value): "int", "uint" (Gauge32/Unsigned32), "counter", "counter64", "ticks",
# "octets" (bytes), "oid" (str), "ip" (str), "null"; only in put: "uptime" (float: time.monotonic() at which these TimeTicks
# were 0), which sysUpTime wants: ifLastChange and its like count from there
VarBind = tuple[str, str, object]

class SnmpAgent:
    """One SNMP agent on one UDP socket. All agents of a process share one thread."""

    def __init__(
        self,
        *,
        address: str,
        port: int = 161,
        engine_id: bytes,
        communities: Mapping[str, Literal["ro", "rw"]],
        users: Sequence[UsmUser],
        on_set: Callable[[list[VarBind]], tuple[int, int]] | None = None,
        size_max_byte: int = 1472,  # largest UDP payload taken and sent, 484 to 65507
    ) -> None:
        """`on_set` gets all varbinds of one SET PDU and returns (error-status, error-index), (0, 0) for done.

        It is called from the thread of the agents. snmpEngineBoots increases with every `start`. A user with keys must
        use all of them (authorizationError otherwise). Invalid arguments raise ValueError.
        """
    @property
    def port(self) -> int:
        """UDP port; while running the one that the system chose for port 0."""
    def serve(self, engine: _Fabric, group: Group) -> None: ...
    def put(self, values: Sequence[VarBind]) -> None:
        """Insert or replace plain entries (system group, ifAlias, sensors, strips); they override engine-backed ones."""
    def remove(self, prefix: str) -> None:
        """Remove plain entries at or below an OID."""
    def changed(self) -> None:
        """Report a change of configuration: the next request shows it (snapshots are otherwise up to 100 ms old, VLANs and
        forwarding table up to 1 s)."""
    def set_loss(self, fraction: float) -> None:
        """Drop this share of requests (fault injection)."""
    def start(self) -> None:
        """Raises OSError (EADDRINUSE, …) if the address cannot be bound."""
    def stop(self) -> None: ...

def phy_profiles() -> dict[str, dict[str, float]]:
    """Name -> speed_mbps, hold_us, sleep_us, quiet_us, refresh_us, wake_us, wake_during_sleep_us, fast_wake_us
    (0: not supported) at its nominal speed, and interruption_s."""

class LabClock:
    """Lab time of a virtual lab: keeps the lease of its clock until `close`; then lab time runs at the wall's pace."""

    def __init__(
        self,
        path: PathLike[str] | str,
        engine: Engine,
        groups: PathLike[str] | str,
        quotas: Sequence[tuple[PathLike[str] | str, float]],
        networks: Sequence[tuple[int, int, str, int]],
    ) -> None:
        """Keep the clock on the page of this path.

        The engine lives by it. `groups` is the folder of the hosts' control groups. `quotas` are (folder of a control
        group with a CPU controller, ratio): the group may use ratio cores in lab time. `networks` are (netlink socket
        of a host's network namespace, index of the interface, IPv4 address, bits of the prefix) of the hosts' data
        networks: timers of TCP and ARP there follow the rate, and TCP acknowledges without delay. OSError if the page
        cannot be written or is not a lab's clock, or a quota or a timer cannot be set; ValueError for what is no IPv4
        address or no descriptor.
        """
    @staticmethod
    def create(path: PathLike[str] | str) -> None:
        """Make the page of a clock that shows the wall's time; an existing one is replaced. OSError if it cannot be."""
    def set_rate(self, rate: str) -> None:
        """Set the rate in lab seconds per wall second, such as "1/10"; ValueError outside 1/1000 to 50.

        A slower rate takes effect at once, a faster one 15 ms later. "auto": a thread sets it, so that 99 % of the
        frames and the mean wait for a processor are at most 20 us late in lab time; "auto:2us": 2 us.
        """
    def rate(self) -> str:
        """The rate that was set last."""
    def times_s(self) -> tuple[float, float]:
        """(lab time, the wall's time), both monotonic, s."""
    def automatic(self) -> str:
        """What sets the rate by what happens in the lab: "auto" or "auto:2us"; empty: nothing."""
    def work(self, process: int) -> None:
        """Under "auto", go at the wall's pace between the trials of this process, until it has ended."""
    def hold(self, process: int, *, timed: bool) -> None:
        """Under "auto", a trial of this process begins, until `release` or until the process has ended.

        While a timed one lasts the rate is held. While meters alone measure, it is the wall's or faster.
        """
    def read_slower(self) -> None:
        """Under "auto", samples of meters were missed: until the run ends they are read at half the rate."""
    def release(self) -> float | None:
        """The trial has ended. How late it was, us of lab time, if "auto" makes the next one slower for it; else None."""
    def close(self) -> None:
        """Lab time runs at the wall's pace from now on."""

class EchoWalk:
    """Delays that sleeping transmitters add to echoes of one path, and the likelihood of round trips under them.

    A *sleeper* is (place on the path, "deep", "hybrid" or "coalescing", column of its first time); in the order of the
    places. Its times stand in the order of `analysis.links.structures.TIMES`. Arrays are flat views of doubles.
    """

    def __init__(
        self,
        gap_us: memoryview,
        burst_byte: memoryview,
        byte_us: memoryview,
        stores: Sequence[bool],
        later_us: memoryview,
        kept: Sequence[bool],
        echo_byte: float,
    ) -> None:
        """Arrays: gaps (places, echoes), NaN where unknown; bursts (echoes); time of a byte (places); later (echoes).

        `stores`: by place, whether it is a switch's port, which stores a frame before it sends it. `later_us`: how much
        later than the one before it each answer may have left the far host. ValueError if the shapes do not match.
        """
    def log_likelihood(
        self,
        order: Sequence[tuple[int, str, int]],
        times: memoryview,
        left_us: memoryview,
        scales: Sequence[tuple[float, float, float, float]],
        late: tuple[float, float],
    ) -> list[float]:
        """Of each candidate, from times (candidates, columns) and round trips less the hosts' own (candidates, kept).

        Of each candidate the scale of the errors of round trips (Student-t with three degrees of freedom), that of the
        errors of gaps (0: none), the share of `later_us` that delays answers, and the least density that one echo may
        have, as a share of the highest. `late`: the share of echoes of which a frame came late to its first switch or
        was received late, and of these the share with another such frame. ValueError if shapes do not match.
        """
    def delays_us(self, order: Sequence[tuple[int, str, int]], times: Sequence[float], later_share: float) -> list[float]:
        """Delay of each echo, kept or not, under one candidate's times. ValueError if there are too few times."""

def error_densities(left_us: memoryview, noise_us: float) -> list[list[float]]:
    """Densities of errors of round trips without sleep, on time and with one late frame; of each (on time, late).

    As multiples of the highest density on time, whose scale is `noise_us`.
    """

def cap_processors(quotas: Sequence[tuple[PathLike[str] | str, float]]) -> None:
    """Let control groups use so many of this machine's cores: (folder of a group with a CPU controller, cores).

    OSError if a quota cannot be set.
    """

def lab_clock_library() -> bytes:
    """The library that is preloaded into a lab's processes."""

def lab_clock_rate(text: str) -> str:
    """A rate in lowest terms; ValueError outside 1/1000 to 50."""

def read_lab_clock(path: PathLike[str] | str) -> tuple[str, int, int]:
    """(rate in force, lab time in ns, the wall's time in ns), both monotonic. OSError if it is not a lab's clock."""

class SimulationError(ValueError):
    """A simulation's description contradicts itself; the text says what is wrong and what would be right."""

class SimulatedInterval(TypedDict):
    """What happened between two moments of a simulation."""

    cycles: int
    packets: int  # whose tails arrived
    flits: int
    latency_cycles: int  # sum over the packets, from creation to the tail's arrival
    hops: int  # sum of the links between routers that they took

class SimulatedLatencies(TypedDict):
    """Latencies of measured packets that have arrived; None without any."""

    packets: int
    sum_cycles: int
    mean_cycles: float | None
    p50_cycles: int | None
    p90_cycles: int | None
    p99_cycles: int | None
    largest_cycles: int

class SimulatedChannel(TypedDict):
    """One direction of a link between routers; all states but the two counts add up to its age."""

    port: int
    from_router: int
    to_router: int
    transmit_cycles: int
    idle_cycles: int  # at full power
    off_cycles: int  # turned off by TCEP or SLaC
    turning_on_cycles: int  # from off to active, by TCEP; SLaC's are idle
    sleep_cycles: int  # Ts
    quiet_cycles: int
    refresh_cycles: int
    fast_cycles: int  # fast wake's low power
    wake_cycles: int  # Tw
    wakes: int
    sleeps: int

class ConsolidationCounts(TypedDict):
    """What TCEP or SLaC did so far."""

    control_packets: int  # of TCEP, one flit each
    control_arrived: int
    control_latency_cycles: int  # sum over those that have arrived
    activations: int
    deactivations: int
    reactivations: int  # of shadow links

class NetworkFacts(TypedDict):
    routers: int
    nodes: int
    links: int  # between routers
    diameter: int  # in links

class NetworkSimulation:
    """A lossless network under simulation. Equal arguments give equal results, to the last bit.

    `topology` has a `kind` (torus, tree, dragonfly, hyperx, graph) and the fields of the kind, `traffic` likewise;
    `parameters` and `link` have all fields of a router and of a link. Everything that does not fit together raises
    `SimulationError`.
    """

    def __init__(
        self,
        *,
        topology: Mapping[str, object],
        routing: str,
        parameters: Mapping[str, object],
        traffic: Mapping[str, object],
        load: float,  # flits a node and cycle
        seed: int,
        engine: Literal["flit", "packet"],
        link: Mapping[str, object],
        consolidation: Mapping[str, object] | None = None,  # TCEP's parameters
        stages: Mapping[str, object] | None = None,  # SLaC's parameters
    ) -> None: ...
    def advance(self, cycles: int) -> SimulatedInterval: ...
    def measure(self, on: bool) -> None: ...  # whether packets made from now on count in `latencies`
    def stop_traffic(self) -> None: ...  # nodes make no more packets
    @property
    def now_cycles(self) -> int: ...
    @property
    def outstanding(self) -> int: ...  # measured packets that have not arrived
    @property
    def backlog_cycles(self) -> int: ...  # how late the oldest waiting node is; grows without bound past saturation
    @property
    def batch_left(self) -> int: ...  # packets of jobs' batches that have not been made
    def doubts(self) -> list[str]: ...  # where the packet engine's assumptions are weak
    def latencies(self) -> SimulatedLatencies: ...
    def channels(self) -> list[SimulatedChannel]: ...
    def consolidation(self) -> ConsolidationCounts: ...

class ReplayProgress(TypedDict):
    """How far a replay is."""

    now_ticks: int
    calls: int  # made in the first run of every job
    calls_in_all: int
    messages: int
    jobs_ended: int
    jobs: int

class ReplayedPackets(TypedDict):
    """Packets of messages that were given to their nodes' channels; TCEP's own are apart."""

    packets: int
    latency_cycles: int  # sum: to the tail's arrival, or until now where a packet is under way
    control_packets: int

class WaitingRank(TypedDict):
    """A rank that has not finished, and what it waits for."""

    job: int
    rank: int
    call: int  # number of the call in the rank
    what: str

class ProgramReplay:
    """MPI programs on a simulated network, or without one. Equal arguments give equal results, to the last bit.

    A tick is a cycle of the network, or a nanosecond without one. `hosts` has the fields of `replay::costs::Costs`, in ns.
    `network` has topology, routing, parameters, link, node_link, card_link, bound and flit_bytes.
    Everything that does not fit together raises `SimulationError`.
    """

    def __init__(
        self,
        *,
        nodes: int,
        tick_ns: float,
        hosts: Mapping[str, object],
        library: str,  # ompi-4.0, ompi-4.1, ompi-5.0, tracer, linear
        element_bytes: int,
        cores: int,  # of a node, for the scheduler
        seed: int,
        network: Mapping[str, object] | None = None,
        log_gops: tuple[float, float, float] | None = None,  # latency and gap in ns, gap in ns for each byte
    ) -> None: ...
    def add_program(
        self, rows: bytes, lists: bytes, first: Sequence[int], communicators: Sequence[Sequence[int]]
    ) -> int: ...  # its number
    def add_job(
        self,
        program: int,
        nodes: Sequence[int] | None,  # each rank's; None: the first free ones, by the scheduler
        *,
        start_ticks: int = 0,
        repeats: bool = False,
        compute_scale: float = 1.0,
    ) -> int: ...  # its number
    def advance(self, events: int) -> Literal["running", "done", "stuck"]: ...
    def progress(self) -> ReplayProgress: ...
    def waiting(self, most: int) -> list[WaitingRank]: ...
    def ranks(self) -> dict[str, list[int | None]]: ...  # a column a figure, a row a rank, job by job
    def runs(self, job: int) -> list[tuple[int, int]]: ...  # begin and end of those that have ended
    def unmatched(self) -> tuple[int, int]: ...  # receives and messages
    def left_over(self) -> list[str]: ...  # the first twenty of them, in words
    def channels(self) -> list[SimulatedChannel]: ...  # between routers
    def node_channels(self) -> list[SimulatedChannel]: ...  # to nodes, then from nodes; the node stands for a router
    def packets(self) -> ReplayedPackets: ...
    def packet_hops(self) -> int: ...

class TraceError(Exception):
    """A line that cannot be used. `args` are the number of the file, of the line (0: the whole file), a sentence that
    goes on after both, and a remedy or None."""

class PackedCalls(TypedDict):
    """Calls as `ProgramReplay.add_program` takes them."""

    rows: bytes
    lists: bytes
    ends: list[int]  # the row behind the last one of each rank
    makes_communicators: bool
    older_lists: bool
    tests: bool  # requests are tested

def read_time_independent(texts: Sequence[bytes], ns_per_operation: float) -> PackedCalls:
    """The calls of SimGrid's time-independent traces, from the texts of all files; TraceError."""

def network_facts(topology: Mapping[str, object]) -> NetworkFacts: ...
def prove_deadlock_free(topology: Mapping[str, object], routing: str, vcs: int) -> list[tuple[int, int, int]] | None:
    """None, or a cycle of virtual channels that wait for each other: router, port of the router, virtual channel."""

def zero_load_cycles(topology: Mapping[str, object], routing: str, parameters: Mapping[str, object]) -> float:
    """Mean latency of one packet alone over all pairs of nodes, in closed form."""
