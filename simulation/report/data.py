"""The data of a report of simulations: each folder's description, points and calibration, read once."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from eee_engine import SimulationError, network_facts, zero_load_cycles
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from eee_testbed.analysis.calibration import Calibration, load_calibration
from eee_testbed.analysis.predict.other_networks import PAPER_POWER
from eee_testbed.lab.errors import UnreadableFile
from eee_testbed.lab.untrusted_files import read_object
from eee_testbed.simulation.description import Energy, Router
from eee_testbed.simulation.energy import StateShares
from eee_testbed.simulation.folder import DESCRIPTION, WrongFolder
from eee_testbed.simulation.point import Point
from eee_testbed.simulation.power_models import Carried, ModelPower, andujar, by_bits, fitted, georgakoudis, three_rates
from eee_testbed.simulation.results import CALIBRATION, POINTS, read_points
from eee_testbed.simulation.summaries import LoadSummary, summaries

if TYPE_CHECKING:
    from eee_engine import NetworkFacts

_REMEDY: Final = "simulate again into another folder"
_CLOSED_NODES: Final = 2048
"""The closed form walks over all pairs of nodes."""


@dataclass(frozen=True, slots=True)
class SimulationData:
    """One folder. `described`: its description as written there; `empty_cycles`: the latency without traffic."""

    folder: Path
    described: dict[str, Any]
    points: tuple[Point, ...]
    loads: tuple[LoadSummary, ...]
    facts: "NetworkFacts"
    empty_cycles: float | None
    energy: Energy
    router: Router
    calibration: Calibration | None

    @property
    def name(self) -> str:
        """The simulation's."""
        return str(self.described["name"])

    @property
    def saturated_from(self) -> float | None:
        """The lowest load that is not accepted."""
        return next((point.load for point in self.loads if point.saturated), None)

    def powers(self, load: LoadSummary) -> dict[str, ModelPower]:
        """By model, under a load; `fitted` with a calibration that has a switch's power."""
        carried = self._carried(load, load.shares)
        ports = PAPER_POWER if self.calibration is None else self.calibration.power.andujar or PAPER_POWER
        powers = [by_bits(self.energy, load.shares), georgakoudis(load.shares), andujar(carried, ports)]
        if load.scaled_ratio is not None:
            powers.append(three_rates(load.scaled_ratio))
        use = self.described.get("calibration")
        if self.calibration is not None and use is not None:
            switches = self.calibration.power.switches
            name = use.get("switch", "")
            switch = switches.get(name) if name else next(iter(switches.values()), None)
            if switch is not None:
                every = [carried, *(self._carried(load, shares) for shares in load.drawn_shares)]
                powers.append(fitted(every, switch, use["mbps"], self.router.packet_flits * self.energy.flit_bits))
        return {power.model: power for power in powers}

    def _carried(self, load: LoadSummary, shares: StateShares) -> Carried:
        facts, passed = self.facts, (load.hops or 0.0) + 1
        return Carried(facts["routers"], facts["nodes"], facts["links"], shares, load.accepted, passed)


class _Use(BaseModel):
    """The calibration that a simulation used, as its description has it."""

    model_config = ConfigDict(allow_inf_nan=False)

    switch: str = ""
    mbps: int = Field(ge=1)


class _Described(BaseModel):
    """What readers rely on in a description; it has more."""

    name: str
    routing: str
    network: dict[str, Any]
    router: Router
    energy: Energy
    calibration: _Use | None = None


def read_simulation(folder: Path) -> SimulationData:
    """Read a folder; WrongFolder if it has no points, or is of another version."""
    points = read_points(folder / POINTS)
    if not points:
        raise WrongFolder(f"{folder} has no points yet: `eeectl simulate FILE` with its file adds them.")
    try:
        described = read_object(folder / DESCRIPTION, _REMEDY)
        written = _Described.model_validate(described)
        network, router, energy = written.network, written.router, written.energy
        facts = network_facts(network)
    except UnreadableFile as error:
        raise WrongFolder(str(error)) from error
    except (ValidationError, SimulationError, OverflowError, TypeError, ValueError) as error:
        said = " ".join(str(error).split())[:200]
        raise WrongFolder(
            f"{folder / DESCRIPTION} is not a description of this version ({said}): {_REMEDY}."
        ) from error
    calibration = load_calibration(folder / CALIBRATION) if (folder / CALIBRATION).is_file() else None
    return SimulationData(
        folder=folder,
        described=described,
        points=tuple(sorted(points, key=lambda one: (one.load, one.seed, one.draw))),
        loads=summaries(points),
        facts=facts,
        empty_cycles=_empty_cycles(network, facts, written.routing, router),
        energy=energy,
        router=router,
        calibration=calibration,
    )


def _empty_cycles(network: dict[str, Any], facts: "NetworkFacts", routing: str, router: Router) -> float | None:
    """None where the closed form does not cover the routing, or the network is large."""
    if facts["nodes"] > _CLOSED_NODES:
        return None
    try:
        return zero_load_cycles(network, routing, router.form())
    except SimulationError:
        return None


def shared_loads(every: Sequence[SimulationData]) -> list[float]:
    """Loads that all simulations have, none of them saturated."""
    loads = [{point.load for point in data.loads if point.latency is not None} for data in every]
    return sorted(set.intersection(*loads)) if loads else []
