"""The interface of a switch family's driver: pure functions between `SwitchState` and the family's commands and output.

A driver opens no socket. It turns changes into commands (`render`), says what to ask for (`queries`), and reads the
answers into a `SwitchState` (`parse`). `controller.transports` carries both; `controller.applying.apply` decides when.

The law of every driver, tested against a simulated switch that shares no code with it: executing the commands rendered
for a change takes a switch from the change's `before` to its `after`, and reading that switch returns `after`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal, Protocol, runtime_checkable

from eee_testbed.controller.drivers.login import Login
from eee_testbed.controller.model.capabilities import Capabilities
from eee_testbed.controller.model.config_text import ConfigText
from eee_testbed.controller.model.state import Change, PortChange, StaticsChange, StpChange, SwitchState, VlanChange
from eee_testbed.lab.model import Switch

Aspect = Literal["link", "vlan", "statics", "stp", "energy"]
"""Parts of a switch's state that are read apart: admin status, speed and flow control; VLANs that exist and
membership, PVID, filters and LAGs; static entries; spanning tree of switch and ports; EEE and hold."""

ASPECTS: tuple[Aspect, ...] = ("link", "vlan", "statics", "stp", "energy")

ASPECT_FIELDS: Mapping[Aspect, tuple[str, ...]] = {
    "link": ("admin_up", "speed_mbps", "flow_control"),
    "vlan": (
        "untagged_vids",
        "tagged_vids",
        "pvid",
        "acceptance",
        "ingress_filtering",
        "lag",
        "lag_mode",
        "found_mode",
    ),
    "stp": ("stp",),
    "energy": ("eee", "hold_us"),
}
"""The fields of a port that belong to each aspect."""


def aspects_of(change: Change) -> frozenset[Aspect]:
    """The parts of a switch's state that a change touches."""
    match change:
        case PortChange():
            return frozenset(
                aspect
                for aspect, fields in ASPECT_FIELDS.items()
                if any(getattr(change.before, field) != getattr(change.after, field) for field in fields)
            )
        case VlanChange():
            return frozenset({"vlan"})
        case StaticsChange():
            return frozenset({"statics"})
        case StpChange():
            return frozenset({"stp"})


@dataclass(frozen=True, slots=True)
class Line:
    """A line for the command line. Lines come in the order in which they are typed, from privileged mode back to it.

    `replies` are questions that the switch may ask, as patterns, with what to type at them: exactly that, a newline
    being the Enter key. `prompt` is a pattern that the prompt must match afterwards, empty if any does: a mode that
    was not entered must stop what follows.
    """

    text: str
    replies: tuple[tuple[str, str], ...] = ()
    prompt: str = ""


@dataclass(frozen=True, slots=True)
class SnmpSet:
    """One SNMP SET request. Several objects go in one PDU; the agent takes all of them or none."""

    objects: tuple[tuple[str, int], ...]
    """(OID in dotted form, value of an INTEGER)."""

    what: str
    """What it does, in words, for the journal and for errors."""


@dataclass(frozen=True, slots=True)
class AdminSet:
    """One SNMP SET of a port's ifAdminStatus.

    It names the port; the session finds the port's ifIndex on the device by that name, as readers do
    (`controller.drivers.places`).
    """

    port: str
    up: bool

    @property
    def what(self) -> str:
        """What it does, in words, for the journal and for errors."""
        return f"{'wake' if self.up else 'shut'} {self.port}"


Command = Line | SnmpSet | AdminSet


@dataclass(frozen=True, slots=True)
class Show:
    """A command that is asked for its whole output, without paging.

    `may_lack`: some firmware does not know it; its answer is then empty text.
    """

    command: str
    may_lack: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class Walk:
    """A column or table to be walked; the answer maps the rest of each OID, in dotted form, to its value.

    `name` is the object's name in its MIB, for errors.
    """

    oid: str
    name: str = field(default="", compare=False)


Query = Show | Walk
SnmpValue = int | bytes | str
"""An OBJECT IDENTIFIER is a str in dotted form."""

Answers = Mapping[Query, str | Mapping[str, SnmpValue]]
"""Text for `Show`, a mapping from index to value for `Walk`."""


@dataclass(frozen=True, slots=True)
class EeeStatus:
    """EEE of one port as the switch shows it. None where it does not say."""

    supported: bool | None
    enabled: bool
    active: bool | None
    """Negotiated with the partner and in force."""

    partner: bool | None
    """The partner advertises it."""

    hold_us: int | None
    wake_us: int | None


@dataclass(frozen=True, slots=True)
class Identity:
    """What a switch says that it is; empty where it does not say."""

    model: str
    firmware: str
    serial: str


class Driver(Protocol):
    """One family. Every method is pure; `Unreadable` is raised for an answer that cannot be understood."""

    @property
    def login(self) -> Login | None:
        """How a terminal session begins; None: a Linux machine, one command an exec channel."""

    @property
    def capabilities(self) -> Capabilities:
        """What the family can express."""

    def render(self, switch: Switch, changes: Sequence[Change]) -> tuple[Command, ...]:
        """The commands that make the changes, in their order; NotExpressible if the family cannot express one."""

    def queries(self, switch: Switch, aspects: frozenset[Aspect]) -> tuple[Query, ...]:
        """What to ask to know these aspects."""

    def parse(
        self, switch: Switch, aspects: frozenset[Aspect], answers: Answers, base: SwitchState | None
    ) -> SwitchState:
        """`base` with these aspects as the answers have them; None: all aspects are there."""

    def refusal(self, line: Line, output: str) -> str:
        """What the switch says is wrong with a line; empty if it took it. Commands of `Show` are judged too.

        The line's echo, the prompt and messages of the switch's log are not in `output`.
        """

    def save(self, switch: Switch) -> tuple[Command, ...]:
        """What makes the running configuration the startup configuration."""

    def eee_queries(self, switch: Switch) -> tuple[Query, ...]:
        """What to ask for `eee`."""

    def eee(self, switch: Switch, answers: Answers) -> Mapping[str, EeeStatus]:
        """EEE of each port as the switch shows it."""

    def identity_queries(self, switch: Switch) -> tuple[Query, ...]:
        """What to ask for `identity`."""

    def identity(self, switch: Switch, answers: Answers) -> Identity:
        """What the switch says that it is."""


@runtime_checkable
class Describing(Protocol):
    """A driver of switches whose ports are read over SNMP and written by lines, or the other way round.

    Descriptions prove that both mean the same ports: one that is typed appears as ifAlias (RFC 2863) at the port's
    ifIndex. A description is kept as the whole line that the configuration has for it, empty without one.
    """

    description_query: ClassVar[Show]

    def descriptions(self, switch: Switch, answers: Answers) -> Mapping[str, str]:
        """The line of each port of the inventory, from the answer to `description_query`."""

    def describe(self, switch: Switch, lines: Mapping[str, str]) -> tuple[Command, ...]:
        """What gives ports these lines, an empty one taking the description away."""


@runtime_checkable
class KeepsText(Protocol):
    """A driver of switches with configuration lines that no setting stands for (`controller.drivers.leftovers`).

    The law: if two readings agree in settings and text, they agree in every line that the driver may write.
    """

    def text_queries(self, switch: Switch) -> tuple[Query, ...]:
        """What to ask for `text`."""

    def text(self, switch: Switch, answers: Answers) -> ConfigText:
        """The lines that the driver may write and that no setting holds."""

    def put_back(self, switch: Switch, now: ConfigText, wanted: ConfigText) -> tuple[Command, ...]:
        """Commands that restore the lines of `wanted`, on a switch that has the settings of `wanted` already."""


@dataclass(frozen=True, slots=True)
class Family:
    """A row of the table of families: the driver and how far each part of it was verified."""

    title: str
    driver: Driver
    verified: str
    """Against what the driver was tried, in words for the table of families."""

    from_memory: str
    """What rests on memory alone; empty if nothing."""
