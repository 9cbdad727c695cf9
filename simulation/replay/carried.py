"""What a replay's network carried, and which of a switch's measured rates it runs at: what a power model needs."""

from typing import Final

from eee_testbed.analysis.calibration import SwitchPower
from eee_testbed.lab.errors import LabError
from eee_testbed.simulation.description import Description
from eee_testbed.simulation.energy import StateShares
from eee_testbed.simulation.facts import facts_of
from eee_testbed.simulation.power_models import Carried
from eee_testbed.simulation.replay.jobs import Programs
from eee_testbed.simulation.replay.on_network import rate_mbps
from eee_testbed.simulation.replay.replayed import Replayed

_RATE_TOLERANCE: Final = 0.15
"""Rates differ by no more: a network's is that of the payload, a port's that of the wire."""


def carried_of(description: Description, replayed: Replayed) -> Carried:
    """Of a replay of a description's programs."""
    programs = _programs(description)
    facts = facts_of(description.network.form())
    nodes, links = facts["nodes"], facts["links"]
    sent = replayed.sent_byte - replayed.local_byte
    cycles = 1e9 * replayed.run_time_s / programs.cycle_ns
    packets = max(8 * sent / packet_bits(description), float(replayed.messages), 1.0)
    shares = replayed.shares if links else StateShares(idle=1.0)
    flits = sent / programs.flit_byte
    return Carried(
        facts["routers"],
        nodes,
        links,
        shares,
        flits / nodes / cycles,
        1 + replayed.hops / packets,
        replayed.node_shares,
    )


def packet_bits(description: Description) -> int:
    """Of a full packet."""
    return 8 * description.router.packet_flits * _programs(description).flit_byte


def measured_mbps(description: Description, switch: SwitchPower) -> int | None:
    """The rate at which a switch's ports were measured that is the network's; None if they were at no such rate."""
    mbps = round(rate_mbps(description))
    nearest = min(switch.ports_of(""), key=lambda one: abs(one - mbps), default=0)
    return nearest if abs(nearest - mbps) <= _RATE_TOLERANCE * nearest and nearest else None


def _programs(description: Description) -> Programs:
    if description.programs is None:
        raise LabError(f"{description.name} has no programs: write programs: with jobs.")
    return description.programs
