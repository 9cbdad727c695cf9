"""Which SSH host key is trusted, and under which name; a switch whose key nobody confirmed is not talked to."""

import base64
import hashlib
from pathlib import Path

import paramiko
from paramiko.hostkeys import HostKeys

from controller.errors import HostKeyChanged
from controller.model.lab import Switch


def known_hosts_of(switch: Switch) -> Path:
    """The file with the trusted keys: the inventory's, or else the user's own."""
    return Path(switch.known_hosts_file or "~/.ssh/known_hosts").expanduser()


def fingerprint(key: paramiko.PKey) -> str:
    """The key's fingerprint, as `ssh-keygen -l` shows it."""
    return "SHA256:" + base64.b64encode(hashlib.sha256(key.asbytes()).digest()).decode().rstrip("=")


def trusted_name(switch: Switch) -> str:
    """The name under which the switch's key is trusted: its own name, or its address; HostKeyChanged if none is."""
    file = known_hosts_of(switch)
    address = switch.address if switch.ssh_port == 22 else f"[{switch.address}]:{switch.ssh_port}"
    try:
        known = HostKeys(str(file))
    except (OSError, UnicodeDecodeError) as error:
        raise HostKeyChanged(
            switch.name, f"its SSH host key cannot be checked, as {file} cannot be read ({error}): {_add(switch)}"
        ) from error
    for name in (switch.name, address):
        if known.lookup(name) is not None:
            return name
    raise HostKeyChanged(switch.name, f"nobody has confirmed its SSH host key in {file} yet: {_add(switch)}")


def changed(switch: Switch, error: paramiko.BadHostKeyException) -> HostKeyChanged:
    """What to say when the switch shows another key than the trusted one."""
    return HostKeyChanged(
        switch.name,
        f"shows the SSH host key {fingerprint(error.key)}, but {known_hosts_of(switch)} trusts "
        f"{fingerprint(error.expected_key)}: if it was replaced or reset, compare on its console, then remove the old "
        f"line there and {_add(switch)}",
    )


def _add(switch: Switch) -> str:
    scan = f"ssh-keyscan -p {switch.ssh_port} {switch.address} >> {known_hosts_of(switch)}"
    return f"run `{scan}` and compare the fingerprint with the console's."
