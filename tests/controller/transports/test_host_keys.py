"""Which keys a session is given to trust."""

import dataclasses
from pathlib import Path

import asyncssh
import pytest
from paramiko.hostkeys import HostKeys

from eee_testbed.controller.transports.host_keys import trusted
from eee_testbed.lab.errors import HostKeyChanged
from eee_testbed.lab.folder import find_lab, load_lab
from eee_testbed.lab.model import Switch


def _key() -> str:
    return " ".join(asyncssh.generate_private_key("ssh-ed25519").export_public_key("openssh").decode().split()[:2])


@pytest.fixture
def switch(tmp_path: Path) -> Switch:
    known = load_lab(find_lab("virtual")).switch("sw1")
    return dataclasses.replace(known, known_hosts_file=str(tmp_path / "known_hosts"))


def _write(switch: Switch, *lines: str) -> None:
    Path(switch.known_hosts_file).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def test_a_session_is_given_the_keys_of_its_switch_alone(switch: Switch) -> None:
    own = _key()
    _write(switch, "# of the lab", "", f"sw11 {_key()}", f"n01,{switch.name},sw1-mgmt {own}", f"n02 {_key()}")
    with trusted(switch) as known:
        assert known.name == switch.name
        given = HostKeys(known.file)
        assert set(given.keys()) == {"n01", "sw1", "sw1-mgmt"}
        assert given["sw1"]["ssh-ed25519"].get_base64() == own.split()[1]
        file = Path(known.file)
        assert file.stat().st_mode & 0o777 == 0o600
    assert not file.exists()


@pytest.mark.parametrize(("port", "name"), [(22, "{}"), (2022, "[{}]:2022")])
def test_a_key_may_be_known_by_the_address(switch: Switch, port: int, name: str) -> None:
    switch = dataclasses.replace(switch, ssh_port=port)
    name = name.format(switch.address)
    _write(switch, f"n01 {_key()}", f"{name} {_key()}")
    with trusted(switch) as known:
        assert known.name == name


def test_a_name_may_be_hashed(switch: Switch) -> None:
    _write(switch, f"{HostKeys.hash_host('other')} {_key()}", f"{HostKeys.hash_host(switch.name)} {_key()}")
    with trusted(switch) as known:
        assert known.name == switch.name


def test_without_a_key_there_is_no_session(switch: Switch) -> None:
    _write(switch, f"sw2 {_key()}", f"sw1.example {_key()}")
    with pytest.raises(HostKeyChanged, match="is not confirmed in"), trusted(switch):
        raise AssertionError("no session")
    Path(switch.known_hosts_file).unlink()
    with pytest.raises(HostKeyChanged, match="cannot be read"), trusted(switch):
        raise AssertionError("no session")
