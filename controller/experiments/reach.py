"""Waiting until the hosts of a trial answer each other: links are up and switches forward, addresses are known."""

from collections.abc import Sequence
from typing import Final

from controller.transports.hosts import Program, run_on_hosts
from lab.errors import DeviceError, Unreachable
from lab.model import Host

_PATIENCE_S: Final = 60
_PROGRAM: Final = Program(
    "reach",
    """
import json, subprocess, sys, time
given = json.loads(sys.argv[1])
end_s, silent = time.monotonic() + given["patience_s"], list(given["addresses"])
while silent and time.monotonic() < end_s:
    silent = [one for one in silent if subprocess.call(["ping", "-q", "-n", "-c", "1", "-W", "1", one],
              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)]
print(json.dumps(silent))
""",
)


def await_reach(hosts: Sequence[Host], patience_s: float = _PATIENCE_S) -> None:
    """Let the first host ask the others until all have answered; DeviceError if it is not there, or one is silent.

    Simplification: pairs without the first host are not asked; where the first reaches all over trees, they do too.
    """
    first, *others = hosts
    addresses = {host.data_address: host.name for host in others}
    asked = {"addresses": list(addresses), "patience_s": patience_s}
    answer = run_on_hosts(_PROGRAM, {first: asked}, timeout_s=patience_s + 30)[first.name]
    if isinstance(answer, DeviceError):
        raise answer
    if answer:
        name = addresses[answer[0]]
        raise Unreachable(
            name, f"does not answer echoes of {first.name} after {patience_s:g} s: look at the way there."
        )
