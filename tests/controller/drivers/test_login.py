"""What the rows of logins say is what netmiko's classes do."""

from typing import Any

import netmiko
import paramiko
import pytest
from netmiko.base_connection import BaseConnection
from netmiko.ssh_auth import SSHClient_noauth

from eee_testbed.controller.drivers.login import Login
from eee_testbed.controller.drivers.table import FAMILIES

LOGINS = list(dict.fromkeys(family.driver.login for family in FAMILIES.values() if family.driver.login is not None))


def _of_netmiko(login: Login) -> BaseConnection:
    return netmiko.ConnectHandler(device_type=login.netmiko_type, host="127.0.0.1", auto_connect=False)


@pytest.mark.parametrize("login", LOGINS, ids=lambda login: login.netmiko_type)
def test_a_login_is_as_netmiko_knows_it(login: Login) -> None:
    connection = _of_netmiko(login)
    assert login.enter == connection.RETURN
    client = connection._get_ssh_client_instance()
    assert isinstance(client, paramiko.SSHClient)
    assert isinstance(client, SSHClient_noauth) == login.asks_inside


@pytest.mark.parametrize("login", LOGINS, ids=lambda login: login.netmiko_type)
def test_paging_is_turned_off_with_the_words_that_netmiko_types(login: Login) -> None:
    typed: list[str] = []

    def page(_: object, command: str = "terminal length 0", **__: object) -> None:
        typed.append(command)

    def widen(_: object, command: str = "", **__: object) -> None:
        typed.extend([command] if command else [])

    def nothing(*_: object, **__: object) -> str:
        return ""

    quiet = ("_test_channel_read", "set_base_prompt", "enable", "clear_buffer", "read_channel")
    own = {"disable_paging": page, "set_terminal_width": widen, **dict.fromkeys(quiet, nothing)}
    typist: Any = type("Typist", (netmiko.ssh_dispatcher(login.netmiko_type),), own)
    connection = typist(device_type=login.netmiko_type, host="127.0.0.1", auto_connect=False)
    connection.global_delay_factor = 0.0
    connection.session_preparation()
    assert sorted(typed) == sorted(login.paging_off)
