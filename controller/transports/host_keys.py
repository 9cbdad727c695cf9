"""Which SSH host key is trusted, and under which name; a switch with an unconfirmed key is not contacted."""

import base64
import hashlib
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import NamedTemporaryFile, gettempdir

from eee_testbed.controller.transports.light_paramiko import paramiko
from eee_testbed.lab.errors import HostKeyChanged, LabError
from eee_testbed.lab.model import Switch


def known_hosts_of(switch: Switch) -> Path:
    """The file with the trusted keys: the inventory's, or else the user's own."""
    return Path(switch.known_hosts_file or "~/.ssh/known_hosts").expanduser()


def fingerprint(key: paramiko.PKey) -> str:
    """The key's fingerprint, as `ssh-keygen -l` shows it."""
    return "SHA256:" + base64.b64encode(hashlib.sha256(key.asbytes()).digest()).decode().rstrip("=")


@dataclass(frozen=True, slots=True)
class Trusted:
    """Under which `name` a switch's key is trusted, and a `file` with the keys of that name and no others."""

    name: str
    file: str


@contextmanager
def trusted(switch: Switch) -> Iterator[Trusted]:
    """The switch's own name, or its address; HostKeyChanged if its key is trusted under neither.

    Reading all keys of a large lab takes paramiko longer than logging in, so it is given those that matter.
    """
    file = known_hosts_of(switch)
    address = switch.address if switch.ssh_port == 22 else f"[{switch.address}]:{switch.ssh_port}"
    names = (switch.name, address)
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise HostKeyChanged(
            switch.name, f"its SSH host key cannot be checked, as {file} cannot be read ({error}): {_add(switch)}"
        ) from error
    with _written("".join(f"{line}\n" for line in lines if _may_be_of(line, names))) as few:
        keys = paramiko.HostKeys(few)
        for name in names:
            if keys.lookup(name) is not None:
                yield Trusted(name, few)
                return
    raise HostKeyChanged(switch.name, f"its SSH host key is not confirmed in {file} yet: {_add(switch)}")


@contextmanager
def _written(text: str) -> Iterator[str]:
    """A file of ours with this text, for as long as the context."""
    with ExitStack() as stack:
        try:
            file = stack.enter_context(NamedTemporaryFile("w", encoding="utf-8", prefix="known_hosts."))
            file.write(text)
            file.flush()
        except OSError as error:
            raise LabError(f"no file can be written in {gettempdir()} ({error.strerror}): make room there.") from error
        yield file.name


def _may_be_of(line: str, names: Sequence[str]) -> bool:
    """A line that has one of the names, or a hashed one."""
    hosts = line.split(maxsplit=1)[:1]
    return any(host.startswith("|") or not set(names).isdisjoint(host.split(",")) for host in hosts)


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
