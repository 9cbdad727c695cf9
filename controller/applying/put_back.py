"""Remove configuration lines that plans left behind, once the lab's settings are restored, and report what stays."""

from collections.abc import Callable, Sequence

from eee_testbed.controller.applying.journal import Entry, PuttingBack
from eee_testbed.controller.applying.rounds import words_by_switch
from eee_testbed.controller.applying.work import Work
from eee_testbed.controller.model.config_text import differences
from eee_testbed.controller.model.state import State, diff
from eee_testbed.lab.errors import Drift

_SHOWN_LINES = 6  # lines that a sentence names


def differs(found: State, wanted: State) -> bool:
    """Whether a configuration says something else in lines that can be put back."""
    pairs = ((switch.text, wanted.switches[name].text) for name, switch in found.switches.items())
    return any(now is not None and then is not None and now.blocks != then.blocks for now, then in pairs)


def put_back(work: Work, wanted: State, announce: Callable[[Entry], None], halt: Callable[[], bool]) -> tuple[str, ...]:
    """Read the lab, and type the lines of configurations anew that are not as in `wanted`.

    Returns what stays, as `stays` does. Drift if a setting is not as wanted, before or after; Stopped if `halt`
    says so. A line that a switch refuses stays as it is, and is named.
    """
    found = _as_wanted(work, wanted)
    orders = work.executor.orders_back(found, wanted)
    if orders:
        work.progress.say("taking back lines that plans left in configurations")
        announce(PuttingBack(orders=words_by_switch(orders)))
        for error in work.executor.type_in(orders, halt):
            work.progress.say(str(error))
        found = _as_wanted(work, wanted)
    return stays(found, wanted)


def stays(found: State, wanted: State) -> tuple[str, ...]:
    """What configurations say otherwise than in `wanted`, a phrase for each line."""
    return tuple(
        f"{name} {phrase}"
        for name, switch in found.switches.items()
        if switch.text is not None and (then := wanted.switches[name].text) is not None
        for phrase in differences(switch.text, then)
    )


def as_it_was(stay: Sequence[str], when: str) -> str:
    """How a lab with the settings of `when` (such as "before") is, as a clause: it names what stays."""
    if not stay:
        return f"the lab is as it was {when}"
    more = f"; and {len(stay) - _SHOWN_LINES} lines more" if len(stay) > _SHOWN_LINES else ""
    return (
        f"every setting of the lab is as it was {when}, but the text of its configurations is not "
        f"({'; '.join(stay[:_SHOWN_LINES])}{more})"
    )


def _as_wanted(work: Work, wanted: State) -> State:
    found = work.executor.observe()
    left = diff(found, wanted)
    if left:
        raise Drift(left)
    return found
