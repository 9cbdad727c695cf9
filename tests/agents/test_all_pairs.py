"""The check of all pairs: what it asks of a peer whose answers are lost."""

import json
import socket
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from eee_testbed.agents.all_pairs import PORT, Seen, pack, unpack
from eee_testbed.twin.machine import namespaces
from tests.support.nodes.agent_nodes import PATIENCE_S, Node, Pair, Running

_RUN = 7
_MEET, _BURST, _DONE = 0, 1, 2
_REQUEST, _ANSWER = 0, 1


def _socket_on(node: Node) -> socket.socket:
    """A UDP socket in the node's namespace, on the agent's port."""

    def opened() -> socket.socket:
        with Path(f"/run/netns/{node.namespace}").open() as there:
            namespaces.enter(there.fileno(), namespaces.CLONE_NEWNET)
        made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        made.bind((node.address, PORT))
        made.settimeout(PATIENCE_S)
        return made

    with ThreadPoolExecutor(max_workers=1) as pool:
        return pool.submit(opened).result()


def test_no_probe_is_sent_twice_to_a_peer_whose_answers_are_lost(
    own_pair: Pair, start_agent: Callable[..., Running]
) -> None:
    """The second one of a number would count as a copy of the first: a loop, where there is none."""
    hosts = {"own": own_pair.a.address, "peer": own_pair.b.address}
    given = {
        "host": "own", "interface": own_pair.a.interface, "burst": 2, "meet_s": 30, "run": _RUN, "turns": False,
        "hosts": hosts,
    }  # fmt: skip
    told: Counter[Seen] = Counter()
    with _socket_on(own_pair.b) as peer:

        def say(phase: int, kind: int, number: int) -> None:
            peer.sendto(pack(_RUN, (phase, kind, 1, 0, number)), (own_pair.a.address, PORT))

        def hear() -> Seen:
            seen = unpack(_RUN, peer.recvfrom(2048)[0])
            assert seen
            told[seen] += 1
            return seen

        agent = start_agent(own_pair.a, "all_pairs", json.dumps(given))
        hear()
        for turn in range(3):
            for number in (turn, 1 << 31 | turn):  # whatever numbers a peer gives to what it asks
                say(_MEET, _REQUEST, number)
                while hear()[:2] != (_MEET, _REQUEST):  # its answer is lost, what it asks in its turn is not
                    pass
        say(_MEET, _ANSWER, 0)
        while True:
            phase, kind, _, _, number = hear()
            if kind == _REQUEST and phase in {_BURST, _DONE}:
                say(phase, _ANSWER, number)
            if phase == _DONE:
                break
        say(_DONE, _REQUEST, 0)
        ended = agent.ended()
    assert (ended.status, ended.errors) == (0, "")
    assert set(told.values()) == {1}, told
