"""What agents record during a trial, over SSH: idle gaps of the hosts' links, and samples of the nodes.

Every recorder starts before the trial begins and stops after it has ended; readers drop rows outside the trial's
window. If a recorder lacks a right (CAP_NET_RAW), the trial fails with a sentence that says how to grant it.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from eee_testbed.controller.transports.agent_streams import AgentStream, at_once
from eee_testbed.lab.errors import DeviceError, Rejected
from eee_testbed.lab.model import Host
from eee_testbed.measuring.experiments.experiment import Recordings
from eee_testbed.measuring.experiments.raw_files import RawFile

_FINE: Final = ("--every-s", "0.02", "--share", "0.002")
"""Fine enough to separate the gaps within a program's loop from those at its start and end."""


Recorder = Callable[[Host, str, Sequence[str], Callable[[bytes], None], str], AgentStream]
"""Makes an agent's stream of a host, an agent, its words, what takes its lines, and its user."""


def require_rights(hosts: Sequence[Host], options: Recordings, recorder: Recorder = AgentStream) -> None:
    """Before anything else begins: start all recorders once, and end them. DeviceError if one lacks a right."""
    if options.gaps or options.nodes:
        with TemporaryDirectory(prefix="eee-recordings-") as folder, recording(hosts, options, Path(folder), recorder):
            pass


@contextmanager
def recording(
    hosts: Sequence[Host], options: Recordings, folder: Path, recorder: Recorder = AgentStream
) -> Iterator[None]:
    """Record on hosts while in the context, which begins when all recorders run; DeviceError if one fails."""
    with ExitStack() as files:
        streams = []
        for host in hosts:
            for agent, name, arguments, enabled in (
                ("idle_gaps", "gaps", _FINE, options.gaps),
                ("node_sampler", "node", (), options.nodes),
            ):
                if enabled:
                    file = files.enter_context(RawFile(folder / f"{name}-{host.name}.jsonl"))
                    streams.append(recorder(host, agent, [host.interface, *arguments], file.append, options.user))
        with at_once(streams, _await):
            yield


def _await(stream: AgentStream) -> None:
    try:
        stream.await_first()
    except Rejected as error:
        if "CAP_NET_RAW" not in str(error) and "not permitted" not in str(error):
            raise
        sentence = (
            f"{stream.agent} needs CAP_NET_RAW there: give --agent-user root (in an experiment's file `recordings: "
            "{user: root}`), or set `agent_python` in the inventory to a Python that has it."
        )
        raise DeviceError(stream.host.name, sentence) from error
