"""Status and truth of a running lab, as plain data."""

from collections.abc import Mapping
from typing import Any, Protocol

from eee_engine import Engine, LabClock

from eee_testbed.lab.model import Lab
from eee_testbed.twin.faults.faults import Faults
from eee_testbed.twin.hosts.hosts import RunningHost
from eee_testbed.twin.machine.credentials import SNMP_USER
from eee_testbed.twin.machine.statedir import StateDir
from eee_testbed.twin.mains.mains import Mains
from eee_testbed.twin.network.topology import Topology
from eee_testbed.twin.switch.device import SwitchDevice
from eee_testbed.twin.truth.truth import Truth


class LabView(Protocol):
    """The parts of a running lab that status and truth are made from."""

    lab: Lab
    state: StateDir
    hosts: Mapping[str, RunningHost]
    devices: Mapping[str, SwitchDevice]
    truth: Truth
    engine: Engine
    clock_keeper: LabClock | None
    topology: Topology
    mains: Mains
    started_utc: float

    @property
    def faults(self) -> Faults:
        """The faults that a user has injected."""


def _switches(view: LabView) -> list[dict[str, Any]]:
    rows = []
    for switch in view.lab.switches:
        device = view.devices[switch.name]
        ports = [view.engine.port(port.engine_port) for port in device.ports if not port.is_lag]
        rows.append(
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
    return rows


def _hosts(view: LabView) -> list[dict[str, Any]]:
    rows = []
    for host in view.lab.hosts:
        running = view.hosts[host.name]
        nic = view.engine.port(view.topology.nics[host.name])
        rows.append(
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
    return rows


def _links(view: LabView) -> list[dict[str, Any]]:
    rows = []
    for link in view.lab.links:
        state = view.topology.link_state(link, cut=link.number in view.faults.cut_links)
        port = view.engine.port(view.topology.engine_port(link.a))
        rows.append(
            {
                "number": link.number,
                "a": str(link.a),
                "b": str(link.b),
                "state": state,
                "speed_mbps": port["speed_mbps"],
                "eee_active": port["eee_active"],
            }
        )
    return rows


def _engine(view: LabView) -> dict[str, Any]:
    return {
        "lateness": dict(view.engine.lateness()),
        "frames": dict(view.engine.frames()),
        "alarms": [{"engine_ps": at_ps, "sentence": sentence} for at_ps, sentence in view.engine.alarms()],
        "cpu_s": view.engine.cpu_s(),
    }


def status_of(view: LabView) -> dict[str, Any]:
    """Return the state of every device, and how to reach it."""
    folder = view.state.path
    names = ",".join(host.name for host in view.lab.hosts[:4])
    return {
        "folder": view.lab.folder,
        "since_utc_s": view.started_utc,
        "automatic_rate": "" if view.clock_keeper is None else view.clock_keeper.automatic(),
        "switches": _switches(view),
        "hosts": _hosts(view),
        "links": _links(view),
        "strips": [
            {"strip": s.name, "family": s.family, "model": s.model, "address": s.address, "snmp_port": s.snmp_port}
            for s in view.lab.strips
        ],
        "faults": view.faults.active(),
        "engine": _engine(view),
        "use": {
            "ssh": f"ssh -F {folder}/ssh_config NAME",
            "exec": f"eeectl lab exec --lab {view.lab.name} HOST -- COMMAND",
            "mpi_outside": f". {folder}/mpi/environment; mpirun --host {names} PROGRAM",
            "mpi_inside": f"mpirun --host {names} PROGRAM",
            "cli_password": f"{folder}/secrets/cli_password",
            "snmp_v2c": f"{folder}/secrets/snmp_write_community",
            "snmp_v3": f"user {SNMP_USER}, SHA {folder}/secrets/snmp_auth_password, "
            f"AES {folder}/secrets/snmp_priv_password",
            "shared": f"{folder}/shared is /shared on every host; keep there what changes while the lab is up",
        },
    }


def truth_of(view: LabView) -> dict[str, Any]:
    """Return what only the twin knows."""
    ports = {}
    for link in view.lab.links:
        for end in (link.a, link.b):
            number = view.topology.engine_port(end)
            state, time = view.engine.port(number), view.engine.time_in_state(number)
            ports[str(end)] = {
                "oper_up": state["oper_up"],
                "speed_mbps": state["speed_mbps"],
                "eee_active": state["eee_active"],
                "lpi_mode": state["lpi_mode"],
                "lpi_now": state["lpi_now"],
                "time_in_state": {**time, "up_by_mbps": {str(k): v for k, v in time["up_by_mbps"].items()}},
            }
    return {
        "lab": view.lab.name,
        "seed": view.truth.seed,
        "now_ps": view.engine.now_ps(),
        "engine": _engine(view),
        "power": view.mains.report(),
        "timing": {
            **{s.name: view.truth.switch(s.name, s.family).model_dump(mode="json", exclude={"power"})
               for s in view.lab.switches},
            **{h.name: view.truth.node(h.name).model_dump(mode="json", exclude={"power"}) for h in view.lab.hosts},
        },
        "ports": ports,
    }  # fmt: skip
