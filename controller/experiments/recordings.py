"""What is recorded beside a trial: idle gaps of its hosts' links, and the node sampler, by agents over SSH.

Every recorder runs before the trial begins and until it has ended; rows outside its window are for whoever reads them
to leave out. What a recorder says it cannot do (no CAP_NET_RAW) is the trial's failure, told once with the way out.
"""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

from controller.experiments.experiment import Recordings
from controller.experiments.raw_files import RawFile
from controller.transports.agent_streams import AgentStream
from lab.errors import DeviceError, Rejected
from lab.model import Host

_FINE: Final = ("--every-s", "0.02", "--share", "0.002")
"""So that the gaps of a program's own loop can be told from those of its start and end."""


@contextmanager
def recording(hosts: Sequence[Host], wanted: Recordings, folder: Path) -> Iterator[None]:
    """Record on hosts, from when all recorders have written their header to leaving the context; DeviceError if not."""
    with ExitStack() as stack:
        streams: list[AgentStream] = []
        for host in hosts:
            for agent, name, words, on in (
                ("idle_gaps", "gaps", _FINE, wanted.gaps),
                ("node_sampler", "node", (), wanted.nodes),
            ):
                if on:
                    file = stack.enter_context(RawFile(folder / f"{name}-{host.name}.jsonl"))
                    stream = AgentStream(host, agent, [host.interface, *words], file.append, wanted.user)
                    stream.begin()
                    stack.callback(stream.end)
                    streams.append(stream)
        for stream in streams:
            _await(stream)
        yield


def _await(stream: AgentStream) -> None:
    try:
        stream.await_first()
    except Rejected as error:
        if "CAP_NET_RAW" not in str(error) and "not permitted" not in str(error):
            raise
        sentence = f"{stream.agent} needs CAP_NET_RAW there: give `agent_python` in the inventory one that has it, "
        sentence += "or `recordings: user` one who has it, such as root."
        raise DeviceError(stream.host.name, sentence) from error
