"""A recorded program on a described network: a simulation's file, or a lab's own network from its inventory.

A lab's network has its switches, hosts and cables; its links are as fast as the program's. A packet is a full Ethernet
frame: 1,440 bytes of a message, which take 1,530 bytes on the wire with the heads of TCP, IP and Ethernet and the gap
between frames.

Switches store a frame before they send it on. Simplifications for labs: a switch and a trunk take 3 cycles besides (1.5
us at 1 Gb/s), where the twin's take 2.7 us; a message over several switches would tell. On `lab:NAME` packets go up and
down one tree, not those of `eeectl apply`: a simulation's file has them with `routing: trees`. All links are as fast as
the slowest of the program's hosts.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from eee_engine import network_facts
from pydantic import ValidationError

from eee_testbed.analysis.calibration import LinkPolicy
from eee_testbed.analysis.programs.sleeping_links import directions_of
from eee_testbed.lab.errors import LabError
from eee_testbed.simulation.description import Description, Links
from eee_testbed.simulation.description_file import read_description
from eee_testbed.simulation.replay.jobs import FileProgram, Job, Programs

LAB: Final = "lab:"
_FLIT_BYTE: Final = 60
_FRAME_FLITS: Final = 24
_WIRE: Final = 1530 / 1440
"""Bytes on the wire for each byte of a message."""

_BUFFERED_PACKETS: Final = 64
"""Packets that a buffer holds: some 100 kB a port. Chosen, as vendors seldom say how their ports share a memory.

With 8, senders to a trunk that many share stop each other, and an Alltoall over one tree took 22 % longer than live
(`evaluation.accuracy.links_off_loop`). With 32 or more it took 1 % longer.
"""


def network_for(name: str, mbps: float, job: Job) -> Description:
    """The network `lab:NAME`, or of a simulation's file, with a job; LabError names what does not fit.

    In a file that has programs the job takes the place of the first one's program, so that its placement and all other
    settings remain. A file that has none needs cut-through or store-and-forward switching; messages then cost hosts
    nothing.
    """
    if name.startswith(LAB):
        return _of_lab(name.removeprefix(LAB), mbps, job)
    described = read_description(Path(name))
    if described.programs is not None:
        first, *others = described.programs.jobs
        job_of_program = first.model_copy(update={"program": job.program})
        programs = described.programs.model_copy(update={"jobs": [job_of_program, *others]})
        return described.model_copy(update={"programs": programs})
    flit_byte = max(described.energy.flit_bits // 8, 1)
    rate = described.calibration.mbps if described.calibration is not None else mbps
    plain = described.model_dump(exclude_unset=True, exclude={"loads", "curve", "traffic", "precision", "calibration"})
    plain["programs"] = Programs(jobs=[job], cycle_ns=8e3 * flit_byte / rate, flit_byte=flit_byte)
    return _validated(name, plain)


def _of_lab(lab: str, mbps: float, job: Job) -> Description:
    plain = {
        "name": Path(lab).name,
        "network": {"kind": "lab", "lab": lab},
        "routing": "up_down",
        "router": {
            "vcs": 2,
            "packet_flits": _FRAME_FLITS,
            "buffer_flits": _BUFFERED_PACKETS * _FRAME_FLITS,
            "switching": "store_and_forward",
        },
        "programs": Programs(
            jobs=[job], cycle_ns=_WIRE * 8e3 * _FLIT_BYTE / mbps, flit_byte=_FLIT_BYTE, hosts="ompi-tcp"
        ),
    }
    return _validated(f"{LAB}{lab}", plain)


def _validated(name: str, plain: dict[str, Any]) -> Description:
    try:
        return Description.model_validate(plain)
    except ValidationError as error:
        why = "; ".join(mistake["msg"].removeprefix("Value error, ") for mistake in error.errors())
        raise LabError(f"{name} cannot run programs ({why}): change the file.") from error


def recorded_job(path: Path, ranks_per_node: int) -> Job:
    """The job of a replay file, its ranks node by node in the order of nodes."""
    return Job(program=FileProgram(path=str(path)), ranks_per_node=ranks_per_node)


def rate_mbps(description: Description) -> float:
    """Of a channel of a description with programs: payload, without what frames add."""
    programs = description.programs
    return 8e3 * programs.flit_byte / programs.cycle_ns if programs is not None else 0.0


def node_links_follow(description: Description) -> bool:
    """Whether links to nodes have the policy that is asked for: the file has no `node_links` of its own."""
    return "node_links" not in description.model_fields_set


def with_measured_cards(description: Description, link: LinkPolicy | None, hosts: Sequence[str]) -> Description:
    """Links from nodes stay awake if the measured policy is that of switches' ports alone, and the file leaves it open.

    `hosts` are those of the program; without any, links from nodes have the policy of links to nodes.
    """
    left_open = node_links_follow(description) and description.card_links is None
    if not left_open or not hosts or "transmit" in directions_of(link, hosts):
        return description
    return description.model_copy(update={"card_links": Links()})


def size_of(description: Description) -> tuple[int, int, int]:
    """Routers, nodes, and links between routers."""
    facts = network_facts(description.network.form())
    return facts["routers"], facts["nodes"], facts["links"]
