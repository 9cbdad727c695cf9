"""Drivers of the FASTPATH families: Netgear M4300, Dell PowerConnect 62xx, Dell N-series (OS6). Pure.

One code base; what differs is data (`fastpath.dialect`). Changes go as command lines (`fastpath.render`), but for admin
status alone, which goes by SNMP: on this code base SNMP writes to VLANs were seen accepted and forgotten (M4250).
FASTPATH answers a line that it took with nothing: any text is a refusal.

M4300: unicast entries exist as port security only (`macfilter` takes destinations for multicast addresses; CLI manual
202-11997, and 202-11166 of its kin). So a port with entries is locked: it learns at most `max-dynamic` addresses (600
from the factory [M]) and drops frames from others. It stays locked when its entries go, until a rollback takes that
back (`fastpath.written`). It holds 20 entries.

Dell: whole-switch flow control is read and not set. 62xx has no EEE; N-series' EEE words are those of the M4300 [M].
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from eee_testbed.controller.drivers.driver import (
    Answers,
    Aspect,
    Command,
    EeeStatus,
    Family,
    Identity,
    Line,
    Query,
    Show,
)
from eee_testbed.controller.drivers.fastpath import read as fastpath_read
from eee_testbed.controller.drivers.fastpath import shows as fastpath_shows
from eee_testbed.controller.drivers.fastpath.config import RUNNING, read_config
from eee_testbed.controller.drivers.fastpath.dialect import EXEC_PROMPT, M4300, N_SERIES, POWERCONNECT_62XX, Dialect
from eee_testbed.controller.drivers.fastpath.render import describe, render
from eee_testbed.controller.drivers.fastpath.written import (
    M4300_LINES,
    N_SERIES_LINES,
    POWERCONNECT_62XX_LINES,
    put_back,
)
from eee_testbed.controller.drivers.leftovers import LineTable
from eee_testbed.controller.drivers.login import Login
from eee_testbed.controller.model.capabilities import Capabilities
from eee_testbed.controller.model.config_text import ConfigText
from eee_testbed.controller.model.state import Change, SwitchState
from eee_testbed.lab.model import Switch


@dataclass(frozen=True, slots=True)
class FastpathDriver:
    """See `controller.drivers.driver.Driver`."""

    dialect: Dialect
    table: LineTable
    description_query: ClassVar[Show] = Show(RUNNING)

    @property
    def login(self) -> Login:
        """How a terminal session begins."""
        return self.dialect.login

    @property
    def capabilities(self) -> Capabilities:
        """What the family can express."""
        return self.dialect.capabilities

    def render(self, switch: Switch, changes: Sequence[Change]) -> tuple[Command, ...]:
        """The commands that make the changes, in their order; NotExpressible if the family cannot express one."""
        return render(self.dialect, switch, changes)

    def queries(self, switch: Switch, aspects: frozenset[Aspect]) -> tuple[Query, ...]:
        """What to ask to know these aspects."""
        del switch
        return fastpath_read.queries(aspects)

    def parse(
        self, switch: Switch, aspects: frozenset[Aspect], answers: Answers, base: SwitchState | None
    ) -> SwitchState:
        """`base` with these aspects as the answers have them; None: all aspects are there."""
        return fastpath_read.parse(self.dialect, switch, aspects, answers, base)

    def refusal(self, line: Line, output: str) -> str:
        """What the switch says is wrong with a line; empty if it took it."""
        return fastpath_shows.refusal(line, output, self.dialect.save)

    def save(self, switch: Switch) -> tuple[Command, ...]:
        """What makes the running configuration the startup configuration."""
        del switch
        return (Line(self.dialect.save, replies=((r"\(y/n\)", "y"),), prompt=EXEC_PROMPT),)

    def text_queries(self, switch: Switch) -> tuple[Query, ...]:
        """The running configuration, which every reading asks for."""
        del switch
        return (Show(RUNNING),)

    def text(self, switch: Switch, answers: Answers) -> ConfigText:
        """The lines that the driver may write and that no setting holds."""
        return self.table.read(read_config(self.dialect, switch, fastpath_read.show(switch, answers, RUNNING)).blocks)

    def put_back(self, switch: Switch, now: ConfigText, wanted: ConfigText) -> tuple[Command, ...]:
        """What makes the lines those of `wanted` again."""
        del switch
        return put_back(self.dialect, self.table, now, wanted)

    def descriptions(self, switch: Switch, answers: Answers) -> Mapping[str, str]:
        """The line of each port's description, empty without one."""
        config = read_config(self.dialect, switch, fastpath_read.show(switch, answers, RUNNING))
        return {port.name: config.port(port.name).description for port in switch.ports}

    def describe(self, switch: Switch, lines: Mapping[str, str]) -> tuple[Command, ...]:
        """What gives ports these lines, an empty one taking the description away."""
        del switch
        return describe(self.dialect, lines)

    def eee_queries(self, switch: Switch) -> tuple[Query, ...]:
        """``show green-mode`` of each port; empty for models without EEE."""
        if self.dialect.eee is None:
            return ()
        return tuple(Show(f"{fastpath_shows.GREEN} {port.name}") for port in switch.ports)

    def eee(self, switch: Switch, answers: Answers) -> Mapping[str, EeeStatus]:
        """EEE of each port as the switch shows it."""
        if self.dialect.eee is None:
            none = EeeStatus(supported=False, enabled=False, active=False, partner=None, hold_us=None, wake_us=None)
            return {port.name: none for port in switch.ports}
        states = {}
        for port in switch.ports:
            text = fastpath_read.show(switch, answers, f"{fastpath_shows.GREEN} {port.name}")
            states[port.name] = fastpath_shows.eee_of_port(switch, port.name, text)
        return states

    def identity_queries(self, switch: Switch) -> tuple[Query, ...]:
        """``show version``; Dell's heading of the running configuration, as its shows differ between firmwares."""
        del switch
        return (Show(fastpath_shows.VERSION if self.dialect.identity == "version" else RUNNING),)

    def identity(self, switch: Switch, answers: Answers) -> Identity:
        """What the switch says that it is."""
        if self.dialect.identity == "version":
            text = fastpath_read.show(switch, answers, fastpath_shows.VERSION)
            return fastpath_shows.identity_of_version(switch, text)
        config = read_config(self.dialect, switch, fastpath_read.show(switch, answers, RUNNING))
        return Identity(model=config.description.split(",")[0], firmware=config.version, serial="")


NETGEAR_M4300 = FastpathDriver(M4300, M4300_LINES)
DELL_POWERCONNECT_62XX = FastpathDriver(POWERCONNECT_62XX, POWERCONNECT_62XX_LINES)
DELL_N_SERIES = FastpathDriver(N_SERIES, N_SERIES_LINES)

NETGEAR_M4300_FAMILY = Family(
    title="Netgear M4300 (FASTPATH)",
    driver=NETGEAR_M4300,
    verified="the twin's M4300: every kind of change from every mode, checked after each line by the switch's output "
    "and by forwarded frames; published outputs of ICOS and EdgeSwitch switches; no real M4300",
    from_memory="`switchport trunk allowed vlan remove` for future VLANs; that a change of EEE restarts the link by "
    "itself; that a locked port learns up to 600 addresses; that a static LAG shows `port-channel static`",
)
DELL_POWERCONNECT_62XX_FAMILY = Family(
    title="Dell PowerConnect 62xx (FASTPATH)",
    driver=DELL_POWERCONNECT_62XX,
    verified="a simulated switch written from published transcripts of a PowerConnect 6224P and manuals of "
    "related models; no real switch",
    from_memory="ingress filtering, acceptable frames, fixed speed, static entries (`bridge address`), the default "
    "flow control, and what Q-BRIDGE-MIB shows of access and trunk mode",
)
DELL_N_SERIES_FAMILY = Family(
    title="Dell N-series (OS6, FASTPATH)",
    driver=DELL_N_SERIES,
    verified="a simulated switch written from published configurations and manuals of related models; no real switch",
    from_memory="as for PowerConnect 62xx, and `green-mode eee`, that lines of general mode are kept in other "
    "modes, that trunks join new VLANs, `mac address-table static`",
)
