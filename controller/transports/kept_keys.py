"""Host keys of switches that are met for the first time: which are kept already, and keeping one."""

from typing import TypeAlias

from eee_testbed.controller.transports.host_keys import known_hosts_of, trusted
from eee_testbed.controller.transports.light_paramiko import paramiko
from eee_testbed.lab.errors import HostKeyChanged, LabError
from eee_testbed.lab.model import Switch

HostKey: TypeAlias = paramiko.PKey


def kept_keys(switch: Switch) -> tuple[HostKey, ...]:
    """The keys that are trusted for a switch; none if the file is not there or cannot be read."""
    try:
        with trusted(switch) as trusted_keys:
            keys = paramiko.HostKeys(trusted_keys.file).lookup(trusted_keys.name)
            return tuple(keys.values()) if keys is not None else ()
    except HostKeyChanged:
        return ()


def keep_key(switch: Switch, key: HostKey) -> None:
    """Trust a key that a person confirmed, under the switch's name and address; LabError if that cannot be written."""
    file = known_hosts_of(switch)
    address = switch.address if switch.ssh_port == 22 else f"[{switch.address}]:{switch.ssh_port}"
    line = f"{switch.name},{address} {key.get_name()} {key.get_base64()}\n"
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        before = file.read_text(encoding="utf-8") if file.exists() else ""
        with file.open("a", encoding="utf-8") as opened:
            opened.write(line if before.endswith("\n") or not before else f"\n{line}")
    except (OSError, UnicodeDecodeError) as error:
        raise LabError(f"{file} cannot be written ({error}): correct known_hosts_file of {switch.name}.") from error
