"""Before the first write both services are proved to mean the same ports, and descriptions are as they were."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from eee_testbed.controller.applying.port_proof import PortProofs, prove_ports, restore_descriptions
from eee_testbed.controller.drivers.driver import Answers, Command, Describing, Line, Query, Show
from eee_testbed.controller.drivers.makers import SYSTEM
from eee_testbed.controller.drivers.places import BASE_PORT_IF_INDEX, IF_ALIAS, IF_DESCR, IF_NAME
from eee_testbed.controller.drivers.table import driver_of
from eee_testbed.controller.transports.session import Acknowledged
from eee_testbed.lab.errors import DeviceError, PortMismatch, Unreachable
from eee_testbed.lab.model import Port, Switch
from tests.support.switches import m4300_face, ros_face
from tests.support.switches.toy_ios import ToyIos


@dataclass
class Session:
    """A session with a twin's switch. `swapped`: SNMP has two names exchanged; `lost_at`: it ends at that command.

    `late_by`: so often after commands SNMP shows no descriptions yet. `doubled`: the first port's description appears
    at another number, too. `deaf_from`: commands from that number on are acknowledged, and change nothing.
    """

    face: ros_face.RosFace | m4300_face.Face
    swapped: bool = False
    silent: bool = False
    lost_at: int | None = None
    late_by: int = 0
    doubled: bool = False
    deaf_from: int | None = None
    sent: list[Command] = field(default_factory=list)

    def ask(self, queries: Sequence[Query]) -> Answers:
        answers = dict(self.face.ask(queries))
        names = answers.get(IF_NAME)
        if self.swapped and names is not None:
            assert not isinstance(names, str)
            answers[IF_NAME] = {**names, "1": names["2"], "2": names["1"]}
            answers[IF_DESCR] = {}
        if self.sent and IF_ALIAS in answers:
            self.late_by -= 1
        if (self.silent or self.late_by > 0) and IF_ALIAS in answers:
            answers[IF_ALIAS] = {}
        aliases = answers.get(IF_ALIAS)
        if self.doubled and aliases is not None:
            assert not isinstance(aliases, str)
            answers[IF_ALIAS] = {**aliases, "9999": aliases["1"]}
        return answers

    def send(self, command: Command) -> Acknowledged:
        if self.lost_at is not None and len(self.sent) >= self.lost_at:
            raise Unreachable("sw", "the session ended.")
        self.sent.append(command)
        if self.deaf_from is None or len(self.sent) <= self.deaf_from:
            self.face.execute([command])
        return Acknowledged(command, 1, 2)

    def close(self) -> None:
        return


@pytest.fixture(params=["ros", "fastpath"])
def scene(request: pytest.FixtureRequest) -> Iterator[tuple[ros_face.RosFace | m4300_face.Face, Switch]]:
    if request.param == "ros":
        ros = ros_face.RosFace()
        ros.setup("interface gi1/0/2", 'description "to the roof"')
        yield ros, ros_face.SWITCH
        ros.close()
    else:
        fastpath = m4300_face.Face()
        fastpath.setup("configure", "interface 1/0/2", "description 'to the roof'")
        yield fastpath, m4300_face.SWITCH


def lines_of(face: ros_face.RosFace | m4300_face.Face, switch: Switch) -> dict[str, str]:
    driver = driver_of(switch)
    assert isinstance(driver, Describing)
    return dict(driver.descriptions(switch, face.ask([driver.description_query])))


def test_a_proof_is_kept_and_descriptions_are_as_before(
    scene: tuple[ros_face.RosFace | m4300_face.Face, Switch], tmp_path: Path
) -> None:
    face, switch = scene
    before = lines_of(face, switch)
    assert "to the roof" in before[switch.ports[1].name]
    session = Session(face)
    prove_ports(switch, session, PortProofs(tmp_path / "ports.json"))
    assert lines_of(face, switch) == before
    assert set(PortProofs(tmp_path / "ports.json").proved(switch.name)) == {port.name for port in switch.ports}
    count = len(session.sent)
    assert count
    prove_ports(switch, session, PortProofs(tmp_path / "ports.json"))
    assert len(session.sent) == count  # it is known


def test_ports_that_are_others_over_snmp_are_refused(
    scene: tuple[ros_face.RosFace | m4300_face.Face, Switch], tmp_path: Path
) -> None:
    face, switch = scene
    before = lines_of(face, switch)
    proofs = PortProofs(tmp_path / "ports.json")
    first = switch.ports[0].name
    with pytest.raises(PortMismatch, match=rf"{first} is ifIndex 2 by its name, and .* appeared at ifIndex 1"):
        prove_ports(switch, Session(face, swapped=True), proofs)
    with pytest.raises(PortMismatch, match=r"appeared nowhere: .* set the quirk ports_proved"):
        prove_ports(switch, Session(face, silent=True), PortProofs(tmp_path / "ports.json", patience_s=0.0))
    assert lines_of(face, switch) == before
    assert not proofs.proved(switch.name)
    trusted = Session(face, silent=True)
    prove_ports(replace(switch, quirks={"ports_proved": True}), trusted, proofs)
    assert not trusted.sent


def test_a_description_that_appears_at_another_number_too_is_refused(
    scene: tuple[ros_face.RosFace | m4300_face.Face, Switch], tmp_path: Path
) -> None:
    face, switch = scene
    with pytest.raises(PortMismatch, match=r"appeared at ifIndex 1, 9999"):
        prove_ports(switch, Session(face, doubled=True), PortProofs(tmp_path / "ports.json"))


def test_a_proof_holds_only_for_the_numbers_that_it_was_made_with(
    scene: tuple[ros_face.RosFace | m4300_face.Face, Switch], tmp_path: Path
) -> None:
    face, switch = scene
    proofs = PortProofs(tmp_path / "ports.json")
    prove_ports(switch, Session(face), proofs)
    with pytest.raises(PortMismatch):
        prove_ports(switch, Session(face, swapped=True), proofs)


def test_descriptions_that_do_not_come_back_are_reported(
    scene: tuple[ros_face.RosFace | m4300_face.Face, Switch], tmp_path: Path
) -> None:
    face, switch = scene
    whole = Session(face)
    prove_ports(switch, whole, PortProofs(tmp_path / "whole.json"))
    deaf = Session(face, deaf_from=len(whole.sent) // 2)
    proofs = PortProofs(tmp_path / "ports.json")
    with pytest.raises(DeviceError, match="other descriptions than before"):
        prove_ports(switch, deaf, proofs)
    assert not proofs.proved(switch.name)


@pytest.mark.slow
def test_an_agent_that_shows_descriptions_late_is_waited_for(
    scene: tuple[ros_face.RosFace | m4300_face.Face, Switch], tmp_path: Path
) -> None:
    face, switch = scene
    late, said = Session(face, late_by=3), list[str]()
    prove_ports(switch, late, PortProofs(tmp_path / "ports.json", say=said.append))
    assert PortProofs(tmp_path / "ports.json").proved(switch.name)
    assert [sentence.partition(":")[0] for sentence in said] == [switch.name]


@pytest.mark.slow
def test_a_proof_that_was_cut_off_is_cleaned_up_first(
    scene: tuple[ros_face.RosFace | m4300_face.Face, Switch], tmp_path: Path
) -> None:
    face, switch = scene
    before = lines_of(face, switch)
    whole = Session(face)
    prove_ports(switch, whole, PortProofs(tmp_path / "whole.json"))
    for place in range(0, len(whole.sent), 4):
        path = tmp_path / f"{place}.json"
        with pytest.raises(DeviceError, match="the next apply restores them first"):
            prove_ports(switch, Session(face, lost_at=place), PortProofs(path))
        face.type("end")
        prove_ports(switch, Session(face), PortProofs(path))
        assert lines_of(face, switch) == before


class _Killed(BaseException):
    """The end of the process, as far as a session can have one."""


@dataclass
class _DyingSession(Session):
    """The process is killed before a command is sent."""

    def send(self, command: Command) -> Acknowledged:
        if len(self.sent) == self.lost_at:
            raise _Killed
        self.sent.append(command)
        self.face.execute([command])
        return Acknowledged(command, 1, 2)


def test_a_proof_whose_process_was_killed_is_known_and_its_descriptions_are_restored(
    scene: tuple[ros_face.RosFace | m4300_face.Face, Switch], tmp_path: Path
) -> None:
    face, switch = scene
    driver = driver_of(switch)
    assert isinstance(driver, Describing)
    before = lines_of(face, switch)
    whole = Session(face)
    prove_ports(switch, whole, PortProofs(tmp_path / "whole.json"))
    for place in range(0, len(whole.sent), 5):
        path = tmp_path / f"{place}.json"
        with pytest.raises(_Killed):
            prove_ports(switch, _DyingSession(face, lost_at=place), PortProofs(path))
        face.type("end")
        proofs = PortProofs(path)
        assert proofs.replaced == {switch.name: len(before)}
        restore_descriptions(switch, Session(face), proofs, driver)
        assert lines_of(face, switch) == before
        assert not PortProofs(path).replaced


def test_nothing_is_written_to_a_switch_of_another_maker(
    scene: tuple[ros_face.RosFace | m4300_face.Face, Switch], tmp_path: Path
) -> None:
    face, switch = scene
    session = Session(face)
    with pytest.raises(DeviceError, match="it is no cisco_sg: it calls itself"):
        prove_ports(replace(switch, family="cisco_sg"), session, PortProofs(tmp_path / "ports.json"))
    assert not session.sent


@dataclass
class IosSession:
    """A Catalyst's command line, and an agent that has its ports from ifIndex 10101 on, `shift` of them further."""

    toy: ToyIos
    shift: int = 0

    def ask(self, queries: Sequence[Query]) -> Answers:
        ports = list(self.toy.ports.values())
        moved = ports[self.shift :] + ports[: self.shift]
        columns: dict[Query, dict[str, int | bytes | str]] = {
            IF_NAME: {str(10_101 + n): port.short.encode() for n, port in enumerate(ports)},
            IF_DESCR: {str(10_101 + n): port.name.encode() for n, port in enumerate(ports)},
            IF_ALIAS: {str(10_101 + n): port.description.encode() for n, port in enumerate(moved)},
            BASE_PORT_IF_INDEX: {},
            SYSTEM: {"2.0": "1.3.6.1.4.1.9.1.1208", "1.0": b"Cisco IOS Software"},
        }
        return {q: self.toy.type(q.command) if isinstance(q, Show) else columns[q] for q in queries}

    def send(self, command: Command) -> Acknowledged:
        assert isinstance(command, Line)
        shown = self.toy.type(command.text)
        assert not driver_of(IOS).refusal(command, shown)
        return Acknowledged(command, 1, 2)

    def close(self) -> None:
        return


NAMES = ["GigabitEthernet1/0/1", "GigabitEthernet1/0/2", "GigabitEthernet1/0/3"]
IOS = replace(
    ros_face.SWITCH, family="cisco_ios", ports=tuple(Port("sw1", name, n, 1000) for n, name in enumerate(NAMES, 1))
)


def test_a_catalyst_is_proved_too(tmp_path: Path) -> None:
    toy = ToyIos(NAMES)
    toy.ports[NAMES[1]].description = "to the roof"
    running = toy.running()
    proofs = PortProofs(tmp_path / "ports.json", patience_s=0.0)
    prove_ports(IOS, IosSession(toy), proofs)
    assert proofs.proved("sw1") == {name: 10_101 + n for n, name in enumerate(NAMES)}
    assert toy.running() == running
    other = PortProofs(tmp_path / "other.json", patience_s=0.0)
    with pytest.raises(PortMismatch, match=r"GigabitEthernet1/0/1 is ifIndex 10101 by its name, .* at ifIndex 10103"):
        prove_ports(IOS, IosSession(toy, shift=1), other)
    assert toy.running() == running


def test_a_switch_with_one_service_needs_no_proof(tmp_path: Path) -> None:
    switch = replace(ros_face.SWITCH, family="openvswitch")
    prove_ports(switch, None, PortProofs(tmp_path / "ports.json"))  # type: ignore[arg-type]
    assert not (tmp_path / "ports.json").exists()
