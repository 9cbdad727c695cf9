"""What a running lab tells about itself, as plain data: the status that anyone may see, and the truth."""

from collections.abc import Mapping
from typing import Any, Protocol

from eee_engine import Engine

from lab.model import Lab
from twin.faults.faults import Faults
from twin.hosts.hosts import RunningHost
from twin.machine.credentials import SNMP_USER
from twin.machine.statedir import StateDir
from twin.mains.mains import Mains
from twin.network.topology import Topology
from twin.switch.device import SwitchDevice
from twin.truth.truth import Truth


class LabView(Protocol):
    """The parts of a running lab that an account is made from."""

    lab: Lab
    state: StateDir
    hosts: Mapping[str, RunningHost]
    devices: Mapping[str, SwitchDevice]
    truth: Truth
    engine: Engine
    topology: Topology
    mains: Mains
    started_utc: float

    @property
    def faults(self) -> Faults:
        """The faults that a person has injected."""


def _switches(rack: LabView) -> list[dict[str, Any]]:
    told = []
    for switch in rack.lab.switches:
        device = rack.devices[switch.name]
        ports = [rack.engine.port(port.engine_port) for port in device.ports if not port.is_lag]
        told.append(
            {
                "switch": switch.name,
                "family": switch.family,
                "model": switch.model,
                "address": switch.address,
                "ssh_port": switch.ssh_port,
                "snmp_port": switch.snmp_port,
                "state": "ready" if device.ready else "booting" if device.powered else "off",
                "uptime_s": round(device.uptime_s, 1),
                "ports_up": sum(port["oper_up"] for port in ports),
                "ports": len(ports),
                "sessions": len(device.sessions),
                "startup_lines_rejected": list(device.rejected_lines),
            }
        )
    return told


def _hosts(rack: LabView) -> list[dict[str, Any]]:
    told = []
    for host in rack.lab.hosts:
        running = rack.hosts[host.name]
        nic = rack.engine.port(rack.topology.nics[host.name])
        told.append(
            {
                "host": host.name,
                "state": "up" if running.up else "off" if not running.powered else "starting",
                "management_address": host.management_address,
                "data_address": host.data_address,
                "link_up": nic["oper_up"],
                "speed_mbps": nic["speed_mbps"],
                "eee_active": nic["eee_active"],
                "cpu_s": round(running.cpu_s(), 3),
            }
        )
    return told


def _links(rack: LabView) -> list[dict[str, Any]]:
    told = []
    for link in rack.lab.links:
        state = rack.topology.link_state(link, cut=link.number in rack.faults.cut_links)
        port = rack.engine.port(rack.topology.engine_port(link.a))
        told.append(
            {
                "number": link.number,
                "a": str(link.a),
                "b": str(link.b),
                "state": state,
                "speed_mbps": port["speed_mbps"],
                "eee_active": port["eee_active"],
            }
        )
    return told


def _engine(rack: LabView) -> dict[str, Any]:
    return {
        "lateness": dict(rack.engine.lateness()),
        "frames": dict(rack.engine.frames()),
        "alarms": [{"engine_ps": at_ps, "sentence": sentence} for at_ps, sentence in rack.engine.alarms()],
        "cpu_s": rack.engine.cpu_s(),
    }


def status_of(rack: LabView) -> dict[str, Any]:
    """Say what runs, and how to reach it."""
    folder = rack.state.path
    names = ",".join(host.name for host in rack.lab.hosts[:4])
    return {
        "folder": rack.lab.folder,
        "since_utc_s": rack.started_utc,
        "switches": _switches(rack),
        "hosts": _hosts(rack),
        "links": _links(rack),
        "strips": [
            {"strip": s.name, "family": s.family, "model": s.model, "address": s.address, "snmp_port": s.snmp_port}
            for s in rack.lab.strips
        ],
        "faults": rack.faults.active(),
        "engine": _engine(rack),
        "use": {
            "ssh": f"ssh -F {folder}/ssh_config NAME",
            "exec": f"eeectl lab exec --lab {rack.lab.name} HOST -- COMMAND",
            "mpi_outside": f". {folder}/mpi/environment; mpirun --host {names} PROGRAM",
            "mpi_inside": f"mpirun --host {names} PROGRAM",
            "cli_password": f"{folder}/secrets/cli_password",
            "snmp_v2c": f"{folder}/secrets/snmp_write_community",
            "snmp_v3": f"user {SNMP_USER}, SHA {folder}/secrets/snmp_auth_password, "
            f"AES {folder}/secrets/snmp_priv_password",
            "shared": f"{folder}/shared is /shared on every host; keep there what changes while the lab is up",
        },
    }


def truth_of(rack: LabView) -> dict[str, Any]:
    """Say what only the twin knows."""
    ports = {}
    for link in rack.lab.links:
        for end in (link.a, link.b):
            number = rack.topology.engine_port(end)
            state, time = rack.engine.port(number), rack.engine.time_in_state(number)
            ports[str(end)] = {
                "oper_up": state["oper_up"],
                "speed_mbps": state["speed_mbps"],
                "eee_active": state["eee_active"],
                "lpi_mode": state["lpi_mode"],
                "lpi_now": state["lpi_now"],
                "time_in_state": {**time, "up_by_mbps": {str(k): v for k, v in time["up_by_mbps"].items()}},
            }
    return {
        "lab": rack.lab.name,
        "seed": rack.truth.seed,
        "now_ps": rack.engine.now_ps(),
        "engine": _engine(rack),
        "power": rack.mains.report(),
        "timing": {
            **{s.name: rack.truth.switch(s.name, s.family).model_dump(mode="json", exclude={"power"})
               for s in rack.lab.switches},
            **{h.name: rack.truth.node(h.name).model_dump(mode="json", exclude={"power"}) for h in rack.lab.hosts},
        },
        "ports": ports,
    }  # fmt: skip
