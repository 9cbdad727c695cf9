"""What this machine lacks: tools, rights and devices, each with what it is for."""

import importlib.util
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from eee_testbed.eeectl.doctor.finding import Finding, Severity

_TUN: Final = Path("/dev/net/tun")
_PATH: Final = f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/usr/local/sbin"
_FEW_CORES: Final = 2


@dataclass(frozen=True, slots=True)
class Tool:
    """A program, the Debian package that has it, and what it is for."""

    name: str
    package: str
    purpose: str
    severity: Severity = "missing"


TOOLS: Final = (
    Tool("ssh", "openssh-client", "to log in to nodes and virtual devices"),
    Tool("ip", "iproute2", "virtual labs"),
    Tool("sshd", "openssh-server", "the hosts of virtual labs"),
    Tool("ping", "iputils-ping", "the check between hosts after an apply"),
    Tool("mpirun", "openmpi-bin", "MPI programs on the hosts of virtual labs"),
    Tool("ethtool", "ethtool", "EEE of the cards of virtual hosts", "optional"),
    Tool("tcpdump", "tcpdump", "to read what `eeectl lab capture` records", "optional"),
    Tool("snmpbulkwalk", "snmp", "to walk switches and strips by hand", "optional"),
    Tool("hpcc", "hpcc", "`eeectl bench hpcc` on virtual hosts", "optional"),
    Tool("NPopenmpi", "netpipe-openmpi", "`eeectl bench netpipe` on virtual hosts", "optional"),
    Tool("ansible-playbook", "ansible-core", "the playbooks for nodes and monitoring", "optional"),
)


@dataclass(frozen=True, slots=True)
class Machine:
    """What was seen of this machine."""

    has: Mapping[str, bool]
    """Tools by name."""

    has_engine: bool
    has_mpi4py: bool
    """Of /usr/bin/python3, which virtual hosts run."""

    is_root: bool
    tun: str
    """Why /dev/net/tun cannot be used; empty if it can, or if only root could say."""

    core_count: int


def look() -> Machine:
    """This machine as it is; nothing is changed."""
    return Machine(
        has={tool.name: shutil.which(tool.name, path=_PATH) is not None for tool in TOOLS},
        has_engine=importlib.util.find_spec("eee_engine") is not None,
        has_mpi4py=any(Path("/usr/lib/python3/dist-packages").glob("mpi4py*")) or _local_mpi4py(),
        is_root=os.geteuid() == 0,
        tun=_tun_trouble(os.open),
        core_count=len(os.sched_getaffinity(0)),
    )


def _local_mpi4py() -> bool:
    return any(Path("/usr/local/lib").glob("python3*/dist-packages/mpi4py"))


def _tun_trouble(open_file: Callable[[Path, int], int]) -> str:
    if not _TUN.exists():
        return "it does not exist"
    try:
        os.close(open_file(_TUN, os.O_RDWR | os.O_CLOEXEC))
    except PermissionError as error:
        return "" if os.geteuid() != 0 else str(error.strerror)
    except OSError as error:
        return str(error.strerror)
    return ""


def machine_findings(machine: Machine) -> Iterator[Finding]:
    """What this machine lacks, what matters most first."""
    for tool in TOOLS:
        if not machine.has[tool.name] and tool.severity == "missing":
            yield Finding(tool.name, f"is not installed; for {tool.purpose}.", f"sudo apt-get install {tool.package}")
    if not machine.has_mpi4py:
        sentence = "is not installed; for MPI programs in Python on the hosts of virtual labs."
        yield Finding("mpi4py", sentence, "sudo apt-get install python3-mpi4py")
    if not machine.has_engine:
        yield Finding("the engine", "is not built; for virtual labs and `eeectl simulate`.", "./setup.sh")
    if machine.tun:
        sentence = f"cannot be used ({machine.tun}); the hosts of virtual labs get their network card from it."
        yield Finding("/dev/net/tun", sentence, "sudo modprobe tun")
    if not machine.is_root:
        sentence = "are missing; virtual labs make network namespaces. Racks do not need them."
        yield Finding("root's rights", sentence, "sudo -E env PATH=$PATH eeectl lab up", "optional")
    if machine.core_count < _FEW_CORES:
        sentence = f"has {machine.core_count} processor; virtual labs need a slow clock, or frames are late."
        yield Finding("this machine", sentence, "eeectl lab up virtual --rate auto", "optional")
    for tool in TOOLS:
        if not machine.has[tool.name] and tool.severity == "optional":
            command = f"sudo apt-get install {tool.package}"
            yield Finding(tool.name, f"is not installed; {tool.purpose}.", command, "optional")
