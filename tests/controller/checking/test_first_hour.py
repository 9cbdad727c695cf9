"""A checklist that only reads: what is proven, from memory, refused."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from eee_testbed.controller.applying.port_proof import PortProofs, prove_ports
from eee_testbed.controller.applying.statefolder import StateFolder
from eee_testbed.controller.checking.first_hour import Ability, first_hour
from eee_testbed.controller.drivers.driver import Answers, Command, Query
from eee_testbed.controller.drivers.places import IF_ALIAS
from eee_testbed.controller.transports.session import Acknowledged
from eee_testbed.lab.model import Lab, Switch
from tests.support.switches import m4300_face, ros_face

Face = ros_face.RosFace | m4300_face.Face


class Reading:
    """A session that takes no command; `crossed` exchanges the descriptions of two ports over SNMP."""

    def __init__(self, face: Face, *, crossed: bool = False) -> None:
        self.face = face
        self.crossed = crossed

    def ask(self, queries: Sequence[Query]) -> Answers:
        answers = dict(self.face.ask(queries))
        aliases = answers.get(IF_ALIAS)
        if self.crossed and aliases is not None:
            assert not isinstance(aliases, str)
            answers[IF_ALIAS] = {**aliases, "1": aliases["2"], "2": aliases["1"]}
        return answers

    def send(self, command: Command) -> Acknowledged:
        raise AssertionError(command)

    def close(self) -> None:
        return


class Writing(Reading):
    def send(self, command: Command) -> Acknowledged:
        self.face.execute([command])
        return Acknowledged(command, 1, 2)


def hour(face: Face, switch: Switch, *, crossed: bool = False) -> dict[str, Ability]:
    return {one.name: one for one in first_hour(_lab(switch), switch, Reading(face, crossed=crossed))}


def _lab(switch: Switch) -> Lab:
    return Lab("one", "/", "192.0.2.0/24", "198.51.100.0/24", (switch,), (), (), (), ())


def describe(face: Face, *texts: str) -> None:
    for number, text in enumerate(texts, 1):
        port = f"gi1/0/{number}" if isinstance(face, ros_face.RosFace) else f"1/0/{number}"
        lines = (f"interface {port}", f"description {text}")
        face.setup(*lines) if isinstance(face, ros_face.RosFace) else face.setup("configure", *lines)


def test_reading_is_proven_and_setting_is_not(scene: tuple[Face, Switch]) -> None:
    found = hour(*scene)
    readings = [one for name, one in found.items() if name.startswith(("read ", "log in", "answer", "say", "count"))]
    assert len(readings) >= 9
    assert {one.standing for one in readings if one.name != "read EEE in force"} == {"proven"}
    settings = [one for name, one in found.items() if name.startswith(("set ", "untag "))]
    assert settings
    assert all(one.standing != "proven" for one in settings)
    assert all(one.by for one in found.values())


def test_ports_are_proven_by_descriptions_or_a_kept_proof(
    scene: tuple[Face, Switch], monkeypatch: pytest.MonkeyPatch, tmp_path: object
) -> None:
    monkeypatch.setenv("EEE_CONTROLLER_DIR", str(tmp_path))
    face, switch = scene
    assert hour(face, switch)["tell its ports apart"].standing == "from memory"
    describe(face, "roof", "cellar")
    assert "2 of them by their descriptions" in hour(face, switch)["tell its ports apart"].by
    refused = hour(face, switch, crossed=True)["tell its ports apart"]
    assert refused.standing == "refused"
    assert "SNMP has 'cellar'" in refused.by
    folder = StateFolder.of(_lab(switch))
    folder.make()
    prove_ports(switch, Writing(face), PortProofs(folder.port_proofs))
    assert hour(face, switch)["tell its ports apart"].standing == "proven"


def test_another_family_is_refused_and_says_why(scene: tuple[Face, Switch]) -> None:
    face, switch = scene
    other = replace(switch, family="cisco_ios")
    found = hour(face, other)
    assert found["answer over SNMP"].standing == "refused"
    assert f"correct `family: {switch.family}` in hosts.yml" in found["answer over SNMP"].by
    assert found["say who it is"].standing == "refused"


def test_what_the_family_cannot_do_is_refused(scene: tuple[Face, Switch]) -> None:
    face, switch = scene
    found = hour(face, replace(switch, quirks={"eee": False}))
    assert found["set EEE"].standing == "refused"
