"""What nodes lack for MPI programs, agents and probes. Nothing on them is changed."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from eee_testbed.controller.transports.hosts import Program, run_on_hosts
from eee_testbed.lab.errors import DeviceError
from eee_testbed.lab.model import Host, Lab

_NODE_S: Final = 30.0

_PROBE: Final = """
import importlib.util, json, os, shutil, socket, sys
wanted = json.loads(sys.argv[1])
path = os.environ.get("PATH", os.defpath) + ":/usr/sbin:/sbin"
absent = ["Python 3.9"] if sys.version_info < (3, 9) else []
absent += [name for name in wanted["commands"] if shutil.which(name, path=path) is None]
absent += [name for name in wanted["modules"] if importlib.util.find_spec(name) is None]
if "CAP_NET_RAW" in wanted["rights"]:
    try:
        socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0).close()
    except PermissionError:
        absent.append("CAP_NET_RAW")
print(json.dumps(absent))
"""


@dataclass(frozen=True, slots=True)
class NodeNeed:
    """What nodes must have: Python itself, a command, a Python module or a right.

    `package` has it on Debian and Ubuntu. Most work can be done without what is `optional`.
    """

    name: str
    package: str
    purpose: str
    optional: bool = False
    by_playbook: bool = True
    """Whether `playbooks/nodes.yml` installs it."""


PYTHON: Final = NodeNeed("Python 3.9", "python3", "every agent: probes, samplers, MPI programs")
"""The oldest that agents run on; the probe above compares with the same number."""

COMMANDS: Final = (
    NodeNeed("mpirun", "openmpi-bin", "Open MPI 4.1 or 5.0, which starts MPI programs"),
    NodeNeed("cc", "gcc", "calls of MPI functions (`eeectl bench --traffic`)", optional=True),
    NodeNeed("mpicc", "libopenmpi-dev", "traces of MPI programs (`eeectl bench --trace`)", optional=True),
    NodeNeed("mpiexec.hydra", "mpich", "`--launcher mpich`", optional=True, by_playbook=False),
    NodeNeed("hydra_pmi_proxy", "mpich", "`--launcher mpich`", optional=True, by_playbook=False),
    NodeNeed(
        "mpicc.mpich", "mpich libmpich-dev", "`--launcher mpich` with `--trace`", optional=True, by_playbook=False
    ),
    NodeNeed("srun", "slurm-client", "`--launcher slurm`, on the first host", optional=True, by_playbook=False),
    NodeNeed("ethtool", "ethtool", "EEE of the node's own card", optional=True),
    NodeNeed("hpcc", "hpcc", "`eeectl bench hpcc`", optional=True),
    NodeNeed("NPopenmpi", "netpipe-openmpi", "`eeectl bench netpipe`", optional=True),
)
MODULES: Final = (NodeNeed("mpi4py", "python3-mpi4py", "`eeectl bench alltoall` and the traffic patterns"),)
RIGHTS: Final = (
    NodeNeed("CAP_NET_RAW", "", "idle gaps (`--gaps`) and probes, unless `--agent-user root`", optional=True),
)
NEEDS: Final = (PYTHON, *COMMANDS, *MODULES, *RIGHTS)


def absent_on(lab: Lab) -> Mapping[str, tuple[NodeNeed, ...] | DeviceError]:
    """What each node lacks, by its name; the error of a node that cannot be reached.

    Commands and modules are those of the node's `python3`, rights those of its `agent_python`.
    """
    by_name = {need.name: need for need in NEEDS}
    asked = {"commands": [need.name for need in COMMANDS], "modules": [need.name for need in MODULES], "rights": []}
    answers = _ask(lab.hosts, "python3", asked)
    reached = [host for host in lab.hosts if not isinstance(answers[host.name], DeviceError)]
    rights: dict[str, tuple[str, ...] | DeviceError] = {}
    for python in dict.fromkeys(host.agent_python for host in reached):
        of_python = [host for host in reached if host.agent_python == python]
        rights |= _ask(of_python, python, {"commands": [], "modules": [], "rights": [need.name for need in RIGHTS]})
    return {name: _together(answer, rights.get(name, ()), by_name) for name, answer in answers.items()}


def _ask(
    hosts: tuple[Host, ...] | list[Host], python: str, modules: Mapping[str, list[str]]
) -> dict[str, tuple[str, ...] | DeviceError]:
    program = Program("the check of what it has installed", _PROBE, python)
    answers = run_on_hosts(program, {host: dict(modules) for host in hosts}, timeout_s=_NODE_S)
    return {name: one if isinstance(one, DeviceError) else tuple(one) for name, one in answers.items()}


def _together(
    first: tuple[str, ...] | DeviceError, second: tuple[str, ...] | DeviceError, by_name: Mapping[str, NodeNeed]
) -> tuple[NodeNeed, ...] | DeviceError:
    for answer in (first, second):
        if isinstance(answer, DeviceError):
            return answer
    names = [name for answer in (first, second) if not isinstance(answer, DeviceError) for name in answer]
    return tuple(by_name[name] for name in dict.fromkeys(names))
