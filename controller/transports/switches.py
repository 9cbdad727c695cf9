"""Sessions with switches: SSH when a command line is needed, SNMP when an object is, neither before.

A plan that only shuts ports over SNMP so never pays for a login.
"""

from collections.abc import Callable, Sequence

from eee_testbed.controller.drivers.driver import (
    AdminSet,
    Answers,
    Command,
    Driver,
    Line,
    Query,
    Show,
    SnmpSet,
    SnmpValue,
    Walk,
)
from eee_testbed.controller.drivers.places import FINDERS, Resolved, resolve
from eee_testbed.controller.drivers.table import driver_of
from eee_testbed.controller.transports.command_line import CommandLine
from eee_testbed.controller.transports.session import Acknowledged
from eee_testbed.controller.transports.snmp import Agent
from eee_testbed.controller.transports.snmp_access import access_of
from eee_testbed.controller.transports.terminal import PATIENCE_S
from eee_testbed.lab.errors import Rejected, Unreachable
from eee_testbed.lab.model import Switch

OpenLine = Callable[[Switch, Driver, float], CommandLine]


def _open_line(switch: Switch, driver: Driver, patience_s: float) -> CommandLine:
    from eee_testbed.controller.transports.ssh import open_line  # noqa: PLC0415 - netmiko takes longer to import than links to shut

    return open_line(switch, driver, patience_s)


class SwitchSession:
    """A `Session` with one switch."""

    def __init__(
        self, switch: Switch, driver: Driver, *, patience_s: float = PATIENCE_S, dial: OpenLine = _open_line
    ) -> None:
        self.switch = switch
        self._driver = driver
        self._patience_s = patience_s
        self._dial = dial
        self._line: CommandLine | None = None
        self._agent: Agent | None = None
        self._closed = False
        self._resolved: dict[AdminSet, Resolved] = {}

    def ask(self, queries: Sequence[Query]) -> Answers:
        """Answers to all queries, each asked once."""
        answers: dict[Query, str | dict[str, SnmpValue]] = {}
        for query in dict.fromkeys(queries):
            match query:
                case Show():
                    answers[query] = self._show(query)
                case Walk():
                    answers[query] = self._snmp().walk(query.oid)
        return answers

    def _show(self, query: Show) -> str:
        try:
            return self._command_line().show(query.command)
        except Rejected:
            if query.may_lack:
                return ""
            raise

    def send(self, command: Command) -> Acknowledged:
        """Send one command and wait until the switch has accepted it."""
        match command:
            case Line():
                times_ns = self._command_line().execute(command)
            case SnmpSet():
                times_ns = self._snmp().put(command)
            case AdminSet():
                times_ns = self._snmp().put(self._named(command))
        return Acknowledged(command, *times_ns)

    def _named(self, command: AdminSet) -> SnmpSet:
        """The SET at the port's ifIndex.

        It is looked up once a session; the names of the interface are read before each SET, as a switch that restarted
        may number its interfaces anew.
        """
        resolved = self._resolved.get(command)
        if resolved is None or self._snmp().get(list(resolved.names)) != resolved.names:
            resolved = self._resolved[command] = resolve(self.switch, command, self.ask(FINDERS))
        return resolved.request

    def close(self) -> None:
        """End it; harmless when it is broken or closed already."""
        self._closed = True
        if self._line is not None:
            self._line.close()
            self._line = None
        if self._agent is not None:
            self._agent.close()
            self._agent = None

    def _command_line(self) -> CommandLine:
        if self._line is None:
            self._check_open()
            self._line = self._dial(self.switch, self._driver, self._patience_s)
        return self._line

    def _snmp(self) -> Agent:
        if self._agent is None:
            self._check_open()
            self._agent = Agent(access_of(self.switch))
        return self._agent

    def _check_open(self) -> None:
        if self._closed:
            raise Unreachable(self.switch.name, "the session was closed: open another.")


def open_session(switch: Switch, *, patience_s: float = PATIENCE_S) -> SwitchSession:
    """A session with a switch, not connected yet: what would go wrong with a login goes wrong at the first need of it.

    `patience_s` is how long a command line may be silent before it counts as hanging.
    """
    return SwitchSession(switch, driver_of(switch), patience_s=patience_s)
