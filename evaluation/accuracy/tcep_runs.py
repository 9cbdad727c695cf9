"""Runs of TCEP's networks for `evaluation.accuracy.tcep_figures`: always on, TCEP and SLaC, with fixed windows."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from eee_engine import NetworkSimulation, network_facts

from eee_testbed.simulation.description import Consolidation, Description, Rates, Stages
from eee_testbed.simulation.energy import energy_use
from eee_testbed.simulation.rates import scaled_ratio
from eee_testbed.simulation.steadiness import MeanInterval, batch_means

BUTTERFLY: Final = {"kind": "hyperx", "sizes": [8, 8], "concentration": 8, "link_latency": 10}
"""512 nodes, 64 routers, 448 links (section V)."""

COMPLETE: Final = {"kind": "hyperx", "sizes": [32], "concentration": 32, "link_latency": 10}
"""Fig. 12: 1,024 nodes, 32 routers, 496 links."""

TRAFFIC: Final[Mapping[str, Mapping[str, Any]]] = {
    "UR": {"kind": "uniform"},
    "TOR": {"kind": "tornado", "base": 8, "digits": 3},
    "BITREV": {"kind": "bit_reversal"},
    "jobs UR": {"kind": "jobs", "sizes": [256, 256], "within": "uniform", "shares": [0.2, 1.0]},
    "jobs RP": {"kind": "jobs", "sizes": [256, 256], "within": "permutation", "shares": [0.2, 1.0]},
}

Whose = Literal["job", "node"]

_ROUTING: Final = {"baseline": "ugal_p", "TCEP": "pal", "SLaC": "slac"}
_BATCHES: Final = 40
_STEP: Final = 10


@dataclass(frozen=True, slots=True)
class Run:
    """One run, from an empty network; times in cycles."""

    policy: str
    traffic: str
    load: float
    warm: int
    cycles: int
    network: str = "butterfly"
    flits: int = 1
    seed: int = 1
    packets: tuple[int, ...] = ()
    """Batch mode: by job; the run ends with the last of them, and `warm` and `cycles` are not used."""

    packets_of: Whose = "job"
    """Batch mode: whether a job sends that many packets, or each of its nodes."""

    tcep: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """Tells it from other runs."""
        return repr(self)


@dataclass(frozen=True, slots=True)
class Measured:
    """What a run gave."""

    latency: float
    latency_half: float
    accepted: float
    accepted_half: float
    pj_per_flit: float
    on_share: float
    """Of all links' time, in which they are on."""

    scaled: float
    """Energy of channels at the lowest of three rates, to full rate."""

    control_share: float
    control_latency: float
    cycles: int
    falling_behind: float = 0.0
    """Cycles a cycle by which the node that waits longest fell behind: above 0 past saturation."""


def carry_out(run: Run) -> Measured:
    """Simulate a run."""
    description = Description.model_validate(
        {
            "name": "tcep",
            "network": BUTTERFLY if run.network == "butterfly" else COMPLETE,
            "routing": _ROUTING[run.policy],
            "router": {"speedup": 3, "history_window": 26, "packet_flits": run.flits},
            "traffic": {
                **TRAFFIC[run.traffic],
                **({"packets": list(run.packets), "packets_of": run.packets_of} if run.packets else {}),
            },
            "loads": [run.load],
        }
    )
    simulation = NetworkSimulation(
        topology=description.network.form(),
        routing=description.routing,
        parameters=description.router.form(),
        traffic=description.traffic.form(),
        load=run.load,
        seed=run.seed,
        engine="flit",
        link=description.links.form(),
        consolidation=Consolidation(**run.tcep).form() if run.policy == "TCEP" else None,
        stages=Stages().form() if run.policy == "SLaC" else None,
    )
    if not run.packets:
        simulation.advance(run.warm)
    before, told, behind = simulation.channels(), simulation.consolidation(), simulation.backlog_cycles
    simulation.measure(True)
    if run.packets:
        batches = [simulation.advance(_STEP)]
        while simulation.batch_left or simulation.outstanding:
            batches.append(simulation.advance(_STEP))
    else:
        batches = [simulation.advance(run.cycles // _BATCHES) for _ in range(_BATCHES)]
    after, tells = simulation.channels(), simulation.consolidation()
    use = energy_use(description.energy, before, after)
    cycles, nodes = sum(one["cycles"] for one in batches), network_facts(description.network.form())["nodes"]
    packets, flits = sum(one["packets"] for one in batches), sum(one["flits"] for one in batches)
    latency = _mean([one["latency_cycles"] for one in batches], [one["packets"] for one in batches])
    accepted = _mean([one["flits"] for one in batches], [nodes * one["cycles"] for one in batches])
    arrived = tells["control_arrived"] - told["control_arrived"]
    return Measured(
        latency=latency.mean,
        latency_half=latency.half_width,
        accepted=accepted.mean,
        accepted_half=accepted.half_width,
        pj_per_flit=use.picojoule / max(1, flits),
        on_share=1 - use.off_share,
        scaled=scaled_ratio(description.energy, Rates(), before, after),
        control_share=(tells["control_packets"] - told["control_packets"]) / max(1, packets),
        control_latency=(tells["control_latency_cycles"] - told["control_latency_cycles"]) / max(1, arrived),
        cycles=cycles,
        falling_behind=(simulation.backlog_cycles - behind) / cycles,
    )


def _mean(sums: list[float], counts: list[float]) -> MeanInterval:
    return batch_means(sums, counts) or MeanInterval(sum(sums) / max(1.0, sum(counts)), 0.0)
