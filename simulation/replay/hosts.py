"""What messages cost at hosts, and when they need a handshake: named sets, and numbers of one's own.

The sets hold what each system's source or documents print (Open MPI's limits: `pml_ob1_sendreq.h` and the BTLs of 4.1,
its reads: `pml_ob1_recvreq.c`; TraceR: `tracer-driver.C` and `examples/conf`; CODES: `model-net-mpi-replay.c`; SimGrid
SMPI: its configuration page; LogGOPSim: `loggopsim_cmdline.ggo`). Open MPI's processor times depend on the machine and
are 0 in its sets: give your own.

TCP's receiver acknowledges every second full segment at once (RFC 1122, 4.2.3.2), and so wakes links of hosts that have
nothing to send. What is left of a message rides on later data or is acknowledged up to 40 ms later: that is left out,
as is a sender whose window is full.

Without a network (`log_gops`) all of a message travels at once, as in LogGOPSim: `rendezvous`, `request_byte`,
`header_byte`, `ack_byte`, `in_turn`, `adapter_ns` and `answer_ns` have no effect there.

Cards send one message after the other, or take turns between nodes (`in_turn`). Linux hands to the card what a
connection of TCP is given in the order of the sends, as long as its window has room: 40 calls of MPI_Alltoallv of 20 kB
and their pauses took 201.3 ms on 12 hosts of a live lab. With messages that cost hosts nothing, a replay takes 201.2 ms
one message after the other, and 214.4 ms in turns. Turns treat all messages from one node to another as one connection,
where each pair of ranks has its own.

Frames that a full switch drops are left out, and with them the time that TCP takes to send them again: 8 calls of 200
kB took 616 ms live, and 284 ms in a replay.

Simplifications: ob1 announces a synchronous message below the eager limit with all its bytes. Here such a message
follows by `rendezvous` unless `request_byte` holds it. TraceR's receiver asks for a large message as soon as it posts
the receive. Here the sender announces it first, which costs the announcement's way where the receive was posted
early. A shared-memory message is as long as `memory_ns` and its bytes say, however many there are at a time.
"""

from collections.abc import Mapping
from typing import Annotated, Final, Literal

from pydantic import Field

from eee_testbed.simulation.part import Form, Part

HostsName = Literal["free", "ompi-tcp", "ompi-openib", "tracer", "codes", "smpi", "loggopsim"]

Rendezvous = Literal["send", "get"]
"""How an announced message comes to its receiver: cleared by it and sent, or read by its card (RGET)."""

Ns = Annotated[float, Field(ge=0, le=1e9)]
NsPerByte = Annotated[float, Field(ge=0, le=1e6)]
MessageByte = Annotated[int, Field(ge=0, le=1 << 62)]
ACK_BYTE: Final = 90
"""Of TCP's with time stamps, on the wire: 32 bytes behind those of IP (20) and Ethernet (38, the gap included)."""

_ALL_EAGER_BYTE: Final = 1 << 62
"""Bytes that no message exceeds: every message is eager."""


class Hosts(Part):
    """Costs and limits of messages. Times in ns."""

    send_ns: Ns = 0
    """Processor time of a send (LogGOPS o)."""

    send_byte_ns: NsPerByte = 0
    """Processor time of a send for each byte behind the first: LogGOPS O, or the copy."""

    receive_ns: Ns = 0
    """Processor time of a receive."""

    receive_byte_ns: NsPerByte = 0
    """Processor time of a receive for each byte behind the first."""

    adapter_ns: Ns = 0
    """From when a message leaves the processor to when it enters the network."""

    answer_ns: Ns = 0
    """From an announcement's or a clearance's arrival to the processor's answer. A card that is read needs none."""

    combine_byte_ns: NsPerByte = 0
    """Processor time of a reduction's operation, for each byte."""

    memory_ns: Ns = 0
    """Of a message between ranks of one node."""

    memory_byte_ns: NsPerByte = 0
    """The same, for each byte."""

    eager_byte: MessageByte = _ALL_EAGER_BYTE
    """The largest message that travels at once. A larger one is announced; see `rendezvous`."""

    rendezvous: Rendezvous = "send"
    """How an announced message comes once its receive is posted. `send`: the receiver clears it, and the sender sends
    it. `get`: the receiver's card reads it from the sender's, and then frees the sender by a word (ob1's RGET)."""

    request_byte: MessageByte = 0
    """Bytes of a message that travel with its announcement. If these are all, the receiver only acknowledges them."""

    header_byte: Annotated[int, Field(ge=0, le=65_535)] = 0
    """In front of every message, and of an announcement and what answers it by themselves."""

    ack_byte: Annotated[int, Field(ge=0, le=65_535)] = 0
    """Of an acknowledgement, which wakes links on its way, and takes a packet at most; 0: there are none."""

    ack_packets: Annotated[int, Field(ge=1, le=1 << 20)] = 2
    """Packets of a message that one acknowledges, when the last of them has come."""

    in_turn: bool = False
    """The card takes turns between the nodes that it sends to, packet by packet; messages to one node go in order.
    Otherwise it sends one message after the other, in the order of the sends."""

    def form(self) -> Form:
        """For the engine."""
        return {
            "send": self.send_ns,
            "send_byte": self.send_byte_ns,
            "receive": self.receive_ns,
            "receive_byte": self.receive_byte_ns,
            "adapter": self.adapter_ns,
            "answer": self.answer_ns,
            "combine_byte": self.combine_byte_ns,
            "memory": self.memory_ns,
            "memory_byte": self.memory_byte_ns,
            "eager_bytes": self.eager_byte,
            "rendezvous": self.rendezvous,
            "request_carries": self.request_byte,
            "header_bytes": self.header_byte,
            "ack_bytes": self.ack_byte,
            "ack_packets": self.ack_packets,
            "in_turn": self.in_turn,
        }


HOSTS: Final[Mapping[HostsName, tuple[str, Hosts]]] = {
    "free": ("messages cost hosts nothing, and all are eager", Hosts()),
    "ompi-tcp": (
        "Open MPI 4.1 over TCP: eager up to 65,480 bytes, also with an announcement; acknowledges every second packet",
        Hosts(eager_byte=65_480, request_byte=65_480, header_byte=56, ack_byte=ACK_BYTE),
    ),
    "ompi-openib": (
        "Open MPI 4.1 over InfiniBand (openib): eager up to 12,232 bytes; the receiver's card reads larger messages",
        Hosts(eager_byte=12_232, rendezvous="get", header_byte=56),
    ),
    "tracer": (
        "TraceR: eager up to 8,192 bytes; 100 ns a call, 400 ns the adapter, 1,000 ns an answer",
        Hosts(send_ns=100, adapter_ns=400, answer_ns=1_000, eager_byte=8_192),
    ),
    "codes": (
        "CODES: eager below 8,192 bytes, requests of 64 bytes; 2,500 ns and 0.55 ns a byte a call, 1,000 ns the card",
        Hosts(send_ns=2_500, send_byte_ns=0.55, adapter_ns=1_000, eager_byte=8_191, header_byte=64, memory_ns=10),
    ),
    "smpi": (
        "SimGrid SMPI: a send of less than 65,536 bytes is free at once; cards send in turn",
        Hosts(eager_byte=65_535, in_turn=True),
    ),
    "loggopsim": (
        "LogGOPSim: o 1,500 ns, G 6 ns a byte at the receiver, eager up to 65,535 bytes",
        Hosts(send_ns=1_500, receive_ns=1_500, receive_byte_ns=6, eager_byte=65_535),
    ),
}
"""By name: what it is, and its numbers."""


def hosts_of(hosts: HostsName | Hosts) -> Hosts:
    """The numbers of a name, or those given."""
    return hosts if isinstance(hosts, Hosts) else HOSTS[hosts][1]
