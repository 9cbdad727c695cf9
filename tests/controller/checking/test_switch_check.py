"""A silent service blanks nothing that the other one delivers, and a switch of another family is noticed."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import pytest

from eee_testbed.controller.checking.switch_check import SwitchReport, check_switch
from eee_testbed.controller.drivers.driver import Answers, Command, Query, Show
from eee_testbed.controller.drivers.makers import wrong_maker
from eee_testbed.controller.drivers.table import driver_of
from eee_testbed.controller.transports.session import Acknowledged
from eee_testbed.lab.errors import AccessDenied, Rejected, Unreachable
from eee_testbed.lab.model import Lab, Switch
from tests.support.switches import m4300_face, ros_face

Face = ros_face.RosFace | m4300_face.Face


@dataclass
class Session:
    """A session that only reads. `silent`: the service that does not answer."""

    face: Face
    switch: Switch
    silent: Literal["ssh", "snmp", ""] = ""

    def ask(self, queries: Sequence[Query]) -> Answers:
        for query in queries:
            if isinstance(query, Show) and self.silent == "ssh":
                raise AccessDenied(self.switch.name, "it refuses the password.")
            if not isinstance(query, Show) and self.silent == "snmp":
                raise Unreachable(self.switch.name, "its SNMP agent did not answer.")
        answers = self.face.ask(queries)
        for query, answer in answers.items():
            if isinstance(query, Show) and "Unrecognized command" in str(answer):
                raise Rejected(self.switch.name, query.command, str(answer))
        return answers

    def send(self, command: Command) -> Acknowledged:
        raise AssertionError(command)

    def close(self) -> None:
        return


def check(face: Face, switch: Switch, silent: Literal["ssh", "snmp", ""] = "") -> SwitchReport:
    lab = Lab("one", "/", "192.0.2.0/24", "198.51.100.0/24", (switch,), (), (), (), ())
    return check_switch(lab, switch, Session(face, switch, silent), probe=None)


def test_everything_is_read_where_both_answer(scene: tuple[Face, Switch]) -> None:
    report = check(*scene)
    assert not report.problems
    assert {contact.service: contact.problem for contact in report.contacts} == {"ssh": "", "snmp": ""}
    assert report.abilities is not None
    assert report.sight is not None
    assert (report.abilities.vlan_count, report.abilities.static_count) == (1, 0)
    assert set(report.sight.link) == {port.name for port in scene[1].ports}


def test_without_snmp_the_command_line_still_says_who_it_is(scene: tuple[Face, Switch]) -> None:
    whole, report = check(*scene), check(*scene, silent="snmp")
    assert [contact.service for contact in report.contacts if contact.problem] == ["snmp"]
    assert not report.problems
    assert report.abilities is not None
    assert whole.abilities is not None
    assert report.abilities.identity.model == whole.abilities.identity.model
    assert report.abilities.identity.firmware == whole.abilities.identity.firmware
    assert report.abilities.vlan_count is report.abilities.vlans_left is None


def test_without_the_command_line_snmp_still_shows_links(scene: tuple[Face, Switch]) -> None:
    whole, report = check(*scene), check(*scene, silent="ssh")
    assert [contact.service for contact in report.contacts if contact.problem] == ["ssh"]
    assert not report.problems
    assert report.sight is not None
    assert whole.sight is not None
    assert report.sight.link == whole.sight.link
    assert report.abilities is not None
    assert report.abilities.identity.model  # by sysDescr


@pytest.mark.parametrize("family", ["cisco_ios", "cisco_sg", "dell_n_series", "netgear_m4300"])
def test_a_switch_of_another_family_is_noticed(scene: tuple[Face, Switch], family: str) -> None:
    face, switch = scene
    other = replace(switch, family=family)  # type: ignore[arg-type]
    alike = driver_of(switch) == driver_of(other)
    report = check(face, other)
    assert bool(report.problems) is not alike
    if report.problems:
        assert all(problem.startswith(switch.name) for problem in report.problems)


@pytest.mark.parametrize(
    ("family", "object_id", "right"),
    [
        ("cisco_ios", "1.3.6.1.4.1.9.1.716", True),
        ("cisco_ios", "1.3.6.1.4.1.9.6.1.95.26.1", False),  # a small business switch
        ("cisco_sg", "1.3.6.1.4.1.9.6.1.95.26.1", True),
        ("cisco_sg", "1.3.6.1.4.1.9.1.716", False),
        ("netgear_m4300", "1.3.6.1.4.1.4413", True),
        ("netgear_m4300", "1.3.6.1.4.1.44131.2", False),
        ("dell_n_series", "1.3.6.1.4.1.674.10895.3060", True),
        ("dell_n_series", "1.3.6.1.4.1.11.2.3.7.11.1", False),
        ("linux_bridge", "1.3.6.1.4.1.8072.3.2.10", True),
        ("cisco_ios", "", True),  # it does not say
    ],
)
def test_makers_by_number(family: str, object_id: str, *, right: bool) -> None:
    switch = replace(ros_face.SWITCH, family=family)  # type: ignore[arg-type]
    sentence = wrong_maker(switch, object_id, "Some Switch of 1999")
    assert (not sentence) is right
    assert right or "calls itself 'Some Switch of 1999'" in sentence


@pytest.mark.parametrize(
    ("family", "description", "right"),
    [
        ("dell_n_series", "Dell Networking N2048, 6.3.0.6, Linux 3.7.10", True),
        ("dell_powerconnect_62xx", "Dell Networking N2048, 6.3.0.6, Linux 3.7.10", False),
        ("dell_n_series", "PowerConnect 6248, 3.3.7.2, VxWorks 6.5", False),
        ("dell_powerconnect_62xx", "PowerConnect 6224P, 3.3.4.1, VxWorks 6.5", True),
        ("dell_powerconnect_62xx", "PowerConnect M6348, 4.1.0.6, VxWorks 6.5", True),  # a model of no family
        ("dell_powerconnect_55xx", "PowerConnect 6224, 3.3.4.1, VxWorks 6.5", False),
    ],
)
def test_families_of_one_maker_by_their_models(family: str, description: str, *, right: bool) -> None:
    switch = replace(ros_face.SWITCH, family=family)  # type: ignore[arg-type]
    sentence = wrong_maker(switch, "1.3.6.1.4.1.674.10895.3060", description)
    assert (not sentence) is right
    assert right or "correct `family: dell_" in sentence
