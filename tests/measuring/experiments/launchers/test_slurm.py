"""A real Slurm on a live lab's hosts starts the ranks, and gets its nodes back however a program ends."""

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest

from eee_testbed.benchmarks.program import Placement
from eee_testbed.benchmarks.table import PROGRAMS
from eee_testbed.lab.errors import DeviceError, LabError
from eee_testbed.lab.model import Host, Lab
from eee_testbed.measuring.experiments.launch_job import LaunchSetup
from eee_testbed.measuring.experiments.launchers.table import chosen
from eee_testbed.measuring.experiments.launching import Launched, launch
from tests.support.needs import lacking
from tests.support.nodes.host_state import on
from tests.support.waiting import eventually

pytestmark = pytest.mark.lab

_TWO: Final = ("n01", "n02")
_DAEMONS: Final = ("slurmd", "slurmctld", "munged")
_CONFIGURATION: Final = """\
ClusterName=twin
SlurmctldHost={first.name}({first.management_address})
SlurmUser=root
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/linear
ReturnToService=2
SlurmctldPidFile=/run/slurm/slurmctld.pid
SlurmdPidFile=/run/slurm/slurmd.pid
SlurmdSpoolDir=/run/slurm/slurmd
StateSaveLocation=/run/slurm/slurmctld
SlurmctldLogFile=/run/slurm/slurmctld.log
SlurmdLogFile=/run/slurm/slurmd.log
{nodes}
PartitionName=all Nodes=ALL Default=YES State=UP
"""
# Debian's slurmd wants to know a hierarchy of control groups, and then uses none of it.
_SET_UP: Final = """
mkdir -p /run/slurm/slurmctld /run/munge /etc/slurm
echo CgroupPlugin=cgroup/v1 >/etc/slurm/cgroup.conf
cat >/etc/slurm/slurm.conf <<'END'
{configuration}
END
head -c 1024 /dev/zero >/run/munge/key
chmod 400 /run/munge/key; chown -R munge:munge /run/munge
setpriv --reuid=munge --regid=munge --clear-groups munged --key-file=/run/munge/key \
    --log-file=/run/munge/log --pid-file=/run/munge/munged.pid --seed-file=/run/munge/seed
"""
_TAKE_DOWN: Final = """
for file in /run/slurm/*.pid /run/munge/*.pid; do [ ! -e $file ] || kill $(cat $file); done
rm -rf /etc/slurm/slurm.conf /etc/slurm/cgroup.conf /run/slurm
"""


@pytest.fixture
def first(lab: Lab) -> Iterator[Host]:
    """The first host of a Slurm of two, as its root."""
    absent = [name for name in _DAEMONS if shutil.which(name, path="/usr/sbin:/usr/bin") is None]
    if absent:
        lacking(f"this machine has no {absent[0]} (Debian's slurm-wlm and munge)")
    hosts = [replace(host, user="root") for host in lab.hosts if host.name in _TWO]
    nodes = "\n".join(f"NodeName={host.name} NodeAddr={host.management_address} CPUs=2" for host in hosts)
    configuration = _CONFIGURATION.format(first=hosts[0], nodes=nodes)
    try:
        for host in hosts:
            on(host, _SET_UP.format(configuration=configuration))
        on(hosts[0], "slurmctld")
        for host in hosts:
            on(host, f"slurmd -N {host.name}")
        eventually("two idle nodes", lambda: "idle 2" in on(hosts[0], "sinfo -h -o '%T %D'"))
        yield hosts[0]
    finally:
        for host in hosts:
            on(host, _TAKE_DOWN)


def run(lab: Lab, folder: Path, name: str, *, timeout_s: float = 60.0, **asked: Any) -> Launched:
    program = PROGRAMS[name]
    parameters = program.parameters.model_validate(asked)
    setup = LaunchSetup(folder=folder, timeout_s=timeout_s, choice=chosen("slurm", "--mpi=pmix", {}))
    return launch(lab, program, parameters, Placement(_TWO, 1), setup)


def test_srun_starts_ranks_and_gets_its_nodes_back(lab: Lab, first: Host, tmp_path: Path) -> None:
    done = run(lab, tmp_path, "alltoall", iterations=5, warm_up_iterations=0, array_byte=4096, sleep_us=0)
    assert done.answer.right is True

    with pytest.raises(DeviceError, match=r"a rank ended there \(Exited with exit code 3\)"):
        run(lab, tmp_path, "command", words=["sh", "-c", "echo no licence >&2; exit 3"])
    assert "no licence" in (tmp_path / "program.err").read_text(encoding="utf-8")

    with pytest.raises(LabError, match="did not end within 4 s"):
        run(lab, tmp_path, "command", timeout_s=4.0, words=["sleep", "600"])
    eventually("no job holds a node", lambda: not on(first, "squeue -h -t R,PD").strip())
