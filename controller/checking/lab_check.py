"""Check a lab without changing it: which devices answer, accept the login, and are what the inventory says.

A device that does not answer is one line in the report; all others are still checked.
"""

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Final

from controller.applying.observe import ask_switches
from controller.applying.port_proof import PortProofs, prove_ports
from controller.applying.statefolder import StateFolder
from controller.checking.cabling import QUERIES, Sight, Verdict, compare, read_sight, unlisted
from controller.checking.capabilities import Abilities, Trial, probe_switch, read_abilities, spare_port
from controller.drivers import lldp_shows
from controller.drivers.driver import ASPECTS, Show, Walk
from controller.drivers.lldp_shows import Neighbour
from controller.drivers.table import driver_of
from controller.transports.hosts import Program, run_on_hosts
from controller.transports.session import Connect, Session
from controller.transports.snmp import Agent
from controller.transports.snmp_access import access_of
from controller.transports.switches import open_session
from lab.errors import DeviceError, LabError, Rejected, RollbackFailed
from lab.model import End, Host, Lab, Strip, Switch

_SYS_OBJECT_ID: Final = Walk("1.3.6.1.2.1.1.2")
_NODE_S: Final = 30.0

# It also sends one empty datagram (to the discard port) over the data network, so that switches learn where it is.
_CARD: Final = Program(
    "the check of its network card",
    """
import json, socket, sys
interface, neighbour = json.loads(sys.argv[1])
folder = "/sys/class/net/" + interface + "/"
try:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as card:
        card.sendto(b"", (neighbour, 9))
except OSError:
    pass
try:
    with open(folder + "address") as address, open(folder + "mtu") as mtu:
        print(json.dumps({"mac": address.read().strip(), "mtu_byte": int(mtu.read())}))
except FileNotFoundError:
    print(json.dumps(None))
""",
)


@dataclass(frozen=True, slots=True)
class Contact:
    """One service of a device; `problem` is empty if it answered and accepted the login."""

    device: str
    service: str
    address: str
    problem: str = ""


@dataclass(frozen=True, slots=True)
class SwitchReport:
    """The findings for one switch; None where it could not be queried."""

    contacts: tuple[Contact, ...]
    abilities: Abilities | None = None
    sight: Sight | None = None
    trials: tuple[Trial, ...] = ()
    problem: str = ""
    """What failed after the login."""


@dataclass(frozen=True, slots=True)
class LabReport:
    """The findings for a lab; `problems` is everything to repair, one sentence each."""

    contacts: tuple[Contact, ...]
    switches: dict[str, SwitchReport]
    cables: tuple[Verdict, ...]
    unlisted: tuple[End, ...]
    node_problems: tuple[str, ...]

    @property
    def problems(self) -> tuple[str, ...]:
        """Empty if no finding contradicts the inventory."""
        return (
            *(contact.problem for contact in self.contacts if contact.problem),
            *(report.problem for report in self.switches.values() if report.problem),
            *(verdict.sentence for verdict in self.cables if verdict.finding == "wrong"),
            *self.node_problems,
        )


def check_lab(lab: Lab, *, probe: bool = False, connect: Connect = open_session) -> LabReport:
    """Reach every device. With `probe`, switches are also written to, as `controller.checking.capabilities` says."""
    node_contacts, node_problems = _check_nodes(lab)  # first, so that the switches learn the nodes' addresses
    asked = ask_switches(lab, lambda switch, session: _check_switch(lab, switch, session, probe=probe), connect)
    switches = {name: report for name, report in asked.items() if isinstance(report, SwitchReport)}
    for switch in lab.switches:
        failed = asked[switch.name]
        if isinstance(failed, DeviceError):
            where = f"{switch.address}:{switch.ssh_port}"
            switches[switch.name] = SwitchReport((Contact(switch.name, "ssh", where, str(failed)),))
    sights = {name: report.sight for name, report in switches.items() if report.sight is not None}
    return LabReport(
        contacts=(
            *(contact for report in switches.values() for contact in report.contacts),
            *node_contacts,
            *_check_strips(lab),
        ),
        switches=switches,
        cables=compare(lab, sights),
        unlisted=unlisted(lab, sights),
        node_problems=node_problems,
    )


def _check_switch(lab: Lab, switch: Switch, session: Session, *, probe: bool) -> SwitchReport:
    contacts = tuple(_contacts(switch, session))
    if any(contact.problem for contact in contacts):
        return SwitchReport(contacts)
    try:
        abilities = read_abilities(lab, switch, session)
        speaks_snmp = any(contact.service == "snmp" for contact in contacts)
        sight = read_sight(switch, session.ask(QUERIES), _shown(switch, session)) if speaks_snmp else None
        port = spare_port(lab, switch, sight.link if sight else {}) if probe else None
        trials = _probed(lab, switch, port, session) if port else ()
    except RollbackFailed:
        raise
    except LabError as error:
        return SwitchReport(contacts, problem=str(error))
    return SwitchReport(contacts, abilities, sight, trials)


def _probed(lab: Lab, switch: Switch, port: str, session: Session) -> tuple[Trial, ...]:
    folder = StateFolder(lab.name)
    folder.make()
    prove_ports(switch, session, PortProofs(folder.port_proofs))
    return probe_switch(switch, port, session)


def _shown(switch: Switch, session: Session) -> Mapping[str, Neighbour]:
    """Neighbours as the command line shows them; empty if this firmware has no such command."""
    query = lldp_shows.query(switch.family)
    if query is None:
        return {}
    try:
        return lldp_shows.read(switch.family, str(session.ask([query])[query]))
    except Rejected:
        return {}


def _contacts(switch: Switch, session: Session) -> Iterator[Contact]:
    """Each service that the switch's driver needs, tried by itself."""
    driver = driver_of(switch)
    queries = (*driver.identity_queries(switch), *driver.queries(switch, frozenset(ASPECTS)))
    shows = [query for query in queries if isinstance(query, Show)]
    if shows:
        yield _contact(switch.name, "ssh", switch.address, switch.ssh_port, lambda: session.ask(shows[:1]))
    if switch.snmp_user is not None or switch.community:
        yield _contact(switch.name, "snmp", switch.address, switch.snmp_port, lambda: session.ask([_SYS_OBJECT_ID]))


def _contact(device: str, service: str, address: str, port: int, attempt: Callable[[], object]) -> Contact:
    try:
        attempt()
    except DeviceError as error:
        return Contact(device, service, f"{address}:{port}", str(error))
    return Contact(device, service, f"{address}:{port}")


def _check_nodes(lab: Lab) -> tuple[tuple[Contact, ...], tuple[str, ...]]:
    neighbours = zip(lab.hosts, (*lab.hosts[1:], *lab.hosts[:1]), strict=True)
    given = {host: (host.interface, neighbour.data_address) for host, neighbour in neighbours}
    answers = run_on_hosts(_CARD, given, timeout_s=_NODE_S)
    contacts: list[Contact] = []
    problems: list[str] = []
    for host in lab.hosts:
        found = answers[host.name]
        failed = str(found) if isinstance(found, DeviceError) else ""
        contacts.append(Contact(host.name, "ssh", f"{host.management_address}:{host.ssh_port}", failed))
        if not failed:
            problems += _card_problems(host, found)
    return tuple(contacts), tuple(problems)


def _card_problems(host: Host, found: Any) -> Iterator[str]:
    if found is None:
        yield f"{host.name} has no interface {host.interface}: correct `interface` in hosts.yml."
        return
    mac = host.mac.hex(":")
    if found["mac"] != mac:
        yield f"{host.name}:{host.interface} has the MAC address {found['mac']}, and hosts.yml says {mac}: correct one."
    if found["mtu_byte"] != host.mtu_byte:
        yield (
            f"{host.name}:{host.interface} has an MTU of {found['mtu_byte']} bytes, and hosts.yml says "
            f"{host.mtu_byte}: correct one."
        )


def _check_strips(lab: Lab) -> tuple[Contact, ...]:
    def contact(strip: Strip) -> Contact:
        def ask() -> None:
            agent = Agent(access_of(strip))
            try:
                agent.walk(_SYS_OBJECT_ID.oid)
            finally:
                agent.close()

        return _contact(strip.name, "snmp", strip.address, strip.snmp_port, ask)

    if not lab.strips:
        return ()
    with ThreadPoolExecutor(max_workers=len(lab.strips)) as pool:
        return tuple(pool.map(contact, lab.strips))
