"""Whether paths can wait for each other in a circle when switches pause their neighbours (802.3x). Pure.

With flow control a full switch pauses the sender of a channel as a whole, so a channel waits for those that its frames
take next. Frames never stop for ever if these dependencies have no cycle (Dally and Seitz 1987, theorem 1). The
paper's multi-tree routing ran with flow control on every port (Koibuchi 2011, V.A).

Simplification: hosts are taken to accept what they are sent, as they pause for a while but not for ever, and receivers
are always sinks. Frames that a switch floods run over the same trees, from the same roots.
"""

from collections.abc import Callable, Sequence

from eee_testbed.regulation.network import Channel, Ways

Dependencies = dict[Channel, dict[Channel, None]]
"""Of each channel those that it waits for, in the order in which they were found."""


def dependencies(trees: Sequence[Ways], pauses: Callable[[int], bool] = lambda _number: True) -> Dependencies:
    """What waits for what. `trees` are those of all senders, seen from them; only trunks that pause hold others up.

    A channel waits for the next if the trunk that it is on pauses its sender when that next one is held up.
    """
    found: Dependencies = {}
    for ways in trees:
        for here, number in ways.values():
            if here in ways:
                before, earlier = ways[here]
                if pauses(earlier) and pauses(number):
                    found.setdefault((earlier, before), {})[number, here] = None
    return found


def cycle_of(waiting: Dependencies) -> tuple[Channel, ...]:
    """Channels that wait for each other in a circle, each for the one behind it; empty if no channels do."""
    done: set[Channel] = set()
    for start in waiting:
        if start in done:
            continue
        path: dict[Channel, None] = {start: None}
        todo = [iter(waiting.get(start, {}))]
        while todo:
            following = next(todo[-1], None)
            if following is None:
                todo.pop()
                done.add(path.popitem()[0])
            elif following in path:
                around = list(path)
                return tuple(around[around.index(following) :])
            elif following not in done:
                path[following] = None
                todo.append(iter(waiting.get(following, {})))
    return ()
