"""A login as the family's servers usually want it, and as one is set to want it."""

from dataclasses import replace
from pathlib import Path

import pytest

from eee_testbed.controller.drivers.driver import Show
from eee_testbed.controller.transports.switches import open_session
from eee_testbed.lab.errors import AccessDenied
from eee_testbed.lab.folder import find_lab, load_lab
from eee_testbed.lab.model import Switch
from eee_testbed.twin.switch.personality import User
from tests.support.switches.factory_switch import SSH_PORT, FactorySwitch, factory_switch

_PASSWORD = "secret-word"


def _known(box: FactorySwitch, folder: Path, password: str) -> Switch:
    """The switch as an inventory knows it."""
    secret, keys = folder / "password", folder / "known_hosts"
    secret.write_text(password, encoding="utf-8")
    secret.chmod(0o600)
    keys.write_text(f"sw1 {box.host_key.export_public_key('openssh').decode()}", encoding="utf-8")
    known = load_lab(find_lab("example")).switch("sw1")
    return replace(
        known, address=box.old, ssh_port=SSH_PORT, password_file=str(secret), known_hosts_file=str(keys), key_file=""
    )


@pytest.mark.parametrize("before", [False, True], ids=["asks inside the session", "asks before the session"])
def test_a_server_may_ask_before_or_inside_the_session(tmp_path: Path, *, before: bool) -> None:
    with factory_switch("dell_powerconnect_55xx", User("admin", _PASSWORD, 15)) as box:
        with box.device.change():
            box.device.personality.config.ssh_password_auth = before
        query = Show("show version")
        session = open_session(_known(box, tmp_path, _PASSWORD))
        assert session.ask([query])[query]
        session.close()
        wrong = open_session(_known(box, tmp_path, "another-word"))
        with pytest.raises(AccessDenied, match="does not let admin in"):
            wrong.ask([query])
        wrong.close()
