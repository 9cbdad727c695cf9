"""What somebody wants of a lab's network: a person, a level of an experiment, or a closed loop. Frozen values. Pure.

`controller.planning.planner.plan_for` turns a wish into a proved plan; the journal of an apply keeps it, so a field
that is renamed or removed would make journals unreadable. Links are named as `Link.name` has them: a LAG is its own
link, and each of its cables is another one. Trunks by number are those of `Topology.trunks`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from eee_testbed.controller.planning.assignment import Statics

PolicyName = Literal["shortest", "star", "one", "file"]

LinkLevel = Literal["on", "off", "half"]

Routes = tuple[tuple[tuple[str, ...], frozenset[int]], ...]
"""Of each tree, the names of those who send over it, and the numbers of its trunks."""


@dataclass(frozen=True, slots=True)
class MultiTree:
    """Multi-tree routing: trees by a policy over all trunks but those that are `off`, which are shut.

    `trees`, of the policy `file`: switches whose hosts send over a tree.
    """

    policy: PolicyName = "shortest"
    roots: tuple[str, ...] = ()
    trees_per_switch: int = 1
    trees: Routes = ()
    off: tuple[int, ...] = ()
    statics: Statics = "needed"
    kind: Literal["multi-tree"] = "multi-tree"


@dataclass(frozen=True, slots=True)
class LinkOff:
    """A link between switches is shut at both ends, its traffic moved away; of a LAG the whole, or one of its cables.

    `leave`: a LAG's cable leaves the LAG, too. `may_lose`: frames on it may be lost if the LAG has no other path.
    """

    link: str
    leave: bool = False
    may_lose: bool = False
    kind: Literal["link off"] = "link off"


@dataclass(frozen=True, slots=True)
class LinkOn:
    """A link between switches is on and in trees; of a LAG the whole, or one of its cables, which joins it again."""

    link: str
    may_lose: bool = False
    kind: Literal["link on"] = "link on"


@dataclass(frozen=True, slots=True)
class LinkLevels:
    """Trunks are on, off, or `half` open: enabled at their first end only. Those that are so stay as they are."""

    links: tuple[str, ...]
    level: LinkLevel
    kind: Literal["link levels"] = "link levels"


@dataclass(frozen=True, slots=True)
class LinkSpeed:
    """Both ends of trunks have a speed; None: they negotiate. Of a LAG every cable has it."""

    links: tuple[str, ...]
    speed_mbps: int | None
    kind: Literal["link speed"] = "link speed"


@dataclass(frozen=True, slots=True)
class Eee:
    """EEE is on or off at the switch ends of links, with a hold time where an end can set it (None: as it is).

    `may_flap`: links may restart under hosts that have no other path.
    """

    links: tuple[str, ...]
    on: bool
    hold_us: int | None = None
    may_flap: bool = False
    kind: Literal["eee"] = "eee"


@dataclass(frozen=True, slots=True)
class FlowControl:
    """802.3x flow control is on or off at the switch ends of links; `may_flap` as of EEE."""

    links: tuple[str, ...]
    on: bool
    may_flap: bool = False
    kind: Literal["flow control"] = "flow control"


@dataclass(frozen=True, slots=True)
class SetUpLag:
    """A static LAG of cables.csv is set up at both ends."""

    link: str
    kind: Literal["set up lag"] = "set up lag"


@dataclass(frozen=True, slots=True)
class TakeDownLag:
    """A LAG is taken down; its cables stay shut."""

    link: str
    kind: Literal["take down lag"] = "take down lag"


@dataclass(frozen=True, slots=True)
class Regulated:
    """What links and hosts are set to. Trunks by number; those that are not named stay as they are.

    `routes`: hosts of one switch that send over a tree. `speed_mbps` None: negotiated.
    `hold_us`: the hold time of links whose EEE is switched on, where an end can set it; None: as it is.
    `cables`: of a LAG that is on, how many of its cables are. No new tree gets a VID of `spared`.
    """

    routes: Routes
    on: frozenset[int]
    off: frozenset[int] = frozenset()
    speed_mbps: Mapping[int, int | None] = field(default_factory=dict)
    eee: Mapping[int, bool] = field(default_factory=dict)
    cables: Mapping[int, int] = field(default_factory=dict)
    hold_us: int | None = None
    spared: frozenset[int] = frozenset()
    kind: Literal["regulated"] = "regulated"


Wish = MultiTree | LinkOff | LinkOn | LinkLevels | LinkSpeed | Eee | FlowControl | SetUpLag | TakeDownLag | Regulated
