"""Check a lab without changing it: which devices answer, accept the login, and are what the inventory says.

A device that does not answer is one line in the report; all others are still checked.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Final, Protocol

from eee_testbed.controller.applying.observe import ask_switches
from eee_testbed.controller.applying.port_proof import PortProofs
from eee_testbed.controller.applying.statefolder import StateFolder
from eee_testbed.controller.checking.cabling import Verdict, compare, unlisted, without_link
from eee_testbed.controller.checking.switch_check import Contact, SwitchReport, check_switch
from eee_testbed.controller.strips.outlet_names import wrong_names
from eee_testbed.controller.strips.outlets import Meter
from eee_testbed.controller.transports.hosts import Program, run_on_hosts
from eee_testbed.controller.transports.session import Connect, Session
from eee_testbed.controller.transports.switches import open_session
from eee_testbed.lab.errors import DeviceError, LabError
from eee_testbed.lab.model import End, Host, Lab, Strip, Switch

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


class CheckSwitch(Protocol):
    """Checks one switch; with `probe` it is also written to."""

    def __call__(self, lab: Lab, switch: Switch, session: Session, *, probe: PortProofs | None) -> SwitchReport:
        """What is found."""


@dataclass(frozen=True, slots=True)
class LabReport:
    """The findings for a lab; `problems` is everything to repair, one sentence each."""

    contacts: tuple[Contact, ...]
    switches: dict[str, SwitchReport]
    cables: tuple[Verdict, ...]
    unlisted: tuple[End, ...]
    down: tuple[End, ...]
    """Enabled ports with a cable and without link."""

    node_problems: tuple[str, ...]
    strip_problems: tuple[str, ...]

    @property
    def problems(self) -> tuple[str, ...]:
        """Empty if no finding contradicts the inventory."""
        return (
            *(contact.problem for contact in self.contacts if contact.problem),
            *(problem for report in self.switches.values() for problem in report.problems),
            *(verdict.sentence for verdict in self.cables if verdict.finding in {"wrong", "unclear"}),
            *self.node_problems,
            *self.strip_problems,
        )


def check_lab(lab: Lab, *, probe: bool = False, connect: Connect = open_session) -> LabReport:
    """Reach every device. With `probe`, switches are also written to, as `controller.checking.capabilities` says."""
    node_contacts, node_problems = _check_nodes(lab)  # first, so that the switches learn the nodes' addresses
    switches = check_switches(lab, probe=probe, connect=connect)
    strip_contacts, strip_problems = _check_strips(lab)
    sights = {name: report.sight for name, report in switches.items() if report.sight is not None}
    return LabReport(
        contacts=(
            *(contact for report in switches.values() for contact in report.contacts),
            *node_contacts,
            *strip_contacts,
        ),
        switches=switches,
        cables=compare(lab, sights),
        unlisted=unlisted(lab, sights),
        down=without_link(lab, sights),
        node_problems=node_problems,
        strip_problems=strip_problems,
    )


def check_switches(
    lab: Lab, *, probe: bool, connect: Connect = open_session, check: CheckSwitch = check_switch
) -> dict[str, SwitchReport]:
    """What is found of each switch, by name; all are checked at once."""
    proofs = _proofs_of(lab) if probe else None
    asked = ask_switches(lab, lambda switch, session: check(lab, switch, session, probe=proofs), connect)
    switches = {name: report for name, report in asked.items() if isinstance(report, SwitchReport)}
    for switch in lab.switches:
        failed = asked[switch.name]
        if isinstance(failed, DeviceError):
            where = f"{switch.address}:{switch.ssh_port}"
            switches[switch.name] = SwitchReport((Contact(switch.name, "ssh", where, str(failed)),))
    return switches


def _proofs_of(lab: Lab) -> PortProofs:
    """The one object that writes the lab's proofs: the threads of all switches share it."""
    folder = StateFolder.of(lab)
    folder.make()
    return PortProofs(folder.port_proofs)


def _check_nodes(lab: Lab) -> tuple[tuple[Contact, ...], tuple[str, ...]]:
    neighbours = zip(lab.hosts, (*lab.hosts[1:], *lab.hosts[:1]), strict=True)
    data_addresses = {host: (host.interface, neighbour.data_address) for host, neighbour in neighbours}
    answers = run_on_hosts(_CARD, data_addresses, timeout_s=_NODE_S)
    contacts: list[Contact] = []
    problems: list[str] = []
    for host in lab.hosts:
        answer = answers[host.name]
        failed = str(answer) if isinstance(answer, DeviceError) else ""
        contacts.append(Contact(host.name, "ssh", f"{host.management_address}:{host.ssh_port}", failed))
        if not failed:
            problems += _card_problems(host, answer)
    return tuple(contacts), tuple(problems)


def _card_problems(host: Host, answer: Any) -> Iterator[str]:
    if answer is None:
        yield f"{host.name} has no interface {host.interface}: correct `interface` in hosts.yml."
        return
    mac = host.mac.hex(":")
    if answer["mac"] != mac:
        yield (
            f"{host.name}:{host.interface} has the MAC address {answer['mac']}, and hosts.yml says {mac}: correct one."
        )
    if answer["mtu_byte"] != host.mtu_byte:
        yield (
            f"{host.name}:{host.interface} has an MTU of {answer['mtu_byte']} bytes, and hosts.yml says "
            f"{host.mtu_byte}: correct one."
        )


def _check_strips(lab: Lab) -> tuple[tuple[Contact, ...], tuple[str, ...]]:
    """Which strips answer, and what they say that the inventory does not."""

    def check(strip: Strip) -> tuple[Contact, tuple[str, ...]]:
        meter = Meter(strip)
        where = f"{strip.address}:{strip.snmp_port}"
        try:
            reading = meter.read()
        except DeviceError as error:
            return Contact(strip.name, "snmp", where, str(error)), ()
        except LabError as error:  # it answers, and is no strip of its family
            return Contact(strip.name, "snmp", where), (str(error),)
        finally:
            meter.close()
        return Contact(strip.name, "snmp", where), tuple(wrong_names(lab, strip.name, reading))

    if not lab.strips:
        return (), ()
    with ThreadPoolExecutor(max_workers=len(lab.strips)) as pool:
        checked = tuple(pool.map(check, lab.strips))
    return tuple(reached for reached, _ in checked), tuple(said for _, some in checked for said in some)
