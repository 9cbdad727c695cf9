"""MPICH's Hydra: its command line, and the diagnosis of its error messages. Pure.

Hydra starts a proxy on each other node by SSH, through a script of ours, so that the proxy has the job's mark, too.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from eee_testbed.benchmarks.program import Placement
from eee_testbed.measuring.experiments.launchers.launcher import Start, last_line, ucx_on

_REACH: Final = "reach_node"
_REACH_SCRIPT: Final = b"""#!/bin/sh
# Hydra calls it as it would ssh: [-x] HOST COMMAND...
[ "$1" = -x ] && shift
host=$1
shift
ssh -x -o BatchMode=yes -o ConnectTimeout=10 "$host" env "EEE_JOB=$EEE_JOB" "$@"
status=$?
[ $status -ne 255 ] || kill $PPID  # else Hydra would wait for the node for ever
exit $status
"""
_BAD: Final = re.compile(r"PID \d+ RUNNING AT (\S+)\s*\n=\s+EXIT CODE: (\d+)")
_OWN: Final = re.compile(r"^(?:\[(?:mpiexec|proxy:\S*?)@\S+\]|=).*$", re.MULTILINE)
"""Lines of Hydra about itself."""

_NO_LOGIN: Final = re.compile(
    r"^ssh: .*|.*Permission denied.*|Host key verification failed.*|.*Could not resolve hostname.*", re.MULTILINE
)


def files(placement: Placement) -> Mapping[str, bytes]:  # noqa: ARG001 - the same for all
    """The script that reaches a node."""
    return {_REACH: _REACH_SCRIPT}


def argv(start: Start) -> list[str]:
    """`mpiexec.hydra`; ranks are numbered host by host, and are not bound.

    Messages take the cards on the data network: UCX, which Debian's MPICH uses, would spread them over all networks.
    Ranks get nothing of the first host's environment: it may differ from theirs.
    """
    placement = start.placement
    hosts = ",".join(f"{host}:{placement.ranks_per_host}" for host in placement.hosts)
    words = ["mpiexec.hydra", "-launcher", "ssh", "-launcher-exec", f"{start.folder}/{_REACH}"]
    words += ["-hosts", hosts, "-n", str(placement.ranks), "-wdir", start.folder, "-genvnone"]
    environment = {**ucx_on(start.interfaces)}
    if start.crowded:
        environment["MPIR_CVAR_POLLS_BEFORE_YIELD"] = "1"
    for name, value in {**environment, **start.environment}.items():
        words += ["-genv", name, value]
    return [*words, *start.words, *start.launch.argv]


def diagnose(status: int, errors_text: str, hosts: Sequence[str]) -> tuple[str, str]:
    """Diagnose a failed `mpiexec.hydra` from what it said: the host at fault, and what happened."""
    if found := _NO_LOGIN.search(errors_text):
        line = found[0].strip().rstrip(".")
        faulty = next((host for host in hosts if re.search(rf"\b{re.escape(host)}\b", line)), "")
        return faulty, f"{hosts[0]} could not start MPICH there over SSH ({line}): set up key-based login for its user."
    if found := _BAD.search(errors_text):
        status_word = int(found[2])  # as of wait(2)
        signal = status_word & 0x7F
        how = f"by signal {signal}" if signal else f"with status {status_word >> 8}"
        return found[1], f"a rank was ended there {how}: check its output."
    words = last_line(_OWN.sub("", errors_text))
    return "", f"mpiexec.hydra ended with status {status} ({words}): check its output."
