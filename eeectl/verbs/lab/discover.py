"""`eeectl lab discover`: a first inventory from what a management network's devices say of themselves."""

import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from cyclopts import Parameter

from eee_testbed.controller.checking.discovery.asking import Credentials, ask
from eee_testbed.controller.checking.discovery.draft import Draft, draft
from eee_testbed.controller.checking.discovery.found import Device, FoundStrip, FoundSwitch
from eee_testbed.controller.checking.discovery.sweep import PER_S, addresses_of, longest_s, sweep
from eee_testbed.lab import durable
from eee_testbed.lab.credentials import read_secret
from eee_testbed.lab.errors import LabError
from eee_testbed.lab.model import NO_SECRET, Secret, SnmpAuthProtocol, SnmpPrivacyProtocol, SnmpUser

_FILES: Final = ("hosts.yml", "cables.csv", "outlets.csv")


@Parameter(name="*")
@dataclass(frozen=True)
class SnmpOptions:
    """What opens the devices' SNMP agents, by reference.

    Parameters
    ----------
    community_file
        File with the community of SNMP v2c, mode 0600.
    community_env
        Environment variable with the community, instead of a file.
    snmp_user
        User of SNMPv3, instead of a community.
    auth_protocol
        Authentication protocol of the SNMPv3 user.
    auth_key_file
        File with the authentication key, mode 0600. Default: no authentication.
    auth_key_env
        Environment variable with the authentication key, instead of a file.
    privacy_protocol
        Encryption of the SNMPv3 user.
    privacy_key_file
        File with the encryption key, mode 0600. Default: no encryption.
    privacy_key_env
        Environment variable with the encryption key, instead of a file.
    snmp_port
        UDP port of the agents.

    """

    community_file: str = ""
    community_env: str = ""
    snmp_user: str = ""
    auth_protocol: SnmpAuthProtocol = "sha"
    auth_key_file: str = ""
    auth_key_env: str = ""
    privacy_protocol: SnmpPrivacyProtocol = "aes"
    privacy_key_file: str = ""
    privacy_key_env: str = ""
    snmp_port: int = 161

    def credentials(self) -> Credentials:
        """The same, checked: LabError if nothing or too much is given, AccessDenied if a secret cannot be read."""
        community = _secret("community", self.community_file, self.community_env)
        if bool(community) is bool(self.snmp_user):
            raise LabError("give either --community-file (or --community-env) or --snmp-user.")
        if not self.snmp_user:
            read_secret(community, "discover")
            return Credentials(community, None, self.snmp_port)
        auth = _secret("auth-key", self.auth_key_file, self.auth_key_env)
        privacy = _secret("privacy-key", self.privacy_key_file, self.privacy_key_env)
        if privacy and not auth:
            raise LabError("SNMPv3 has no privacy without authentication: give --auth-key-file or --auth-key-env.")
        for key in (auth, privacy):
            if key:
                read_secret(key, "discover")
        user = SnmpUser(self.snmp_user, self.auth_protocol, auth, self.privacy_protocol, privacy)
        return Credentials(NO_SECRET, user, self.snmp_port)


def _secret(what: str, file: str, variable: str) -> Secret:
    if file and variable:
        raise LabError(f"give one of --{what}-file and --{what}-env, not both.")
    return Secret(os.path.abspath(Path(file).expanduser()), "") if file else Secret("", variable)  # noqa: PTH100 - links


_NO_OPTIONS: Final = SnmpOptions()


def discover(
    network: str,
    folder: Path,
    *,
    options: SnmpOptions = _NO_OPTIONS,
    per_second: float = PER_S,
    force: Annotated[bool, Parameter(negative="")] = False,
    as_json: Annotated[bool, Parameter(name="--json", negative="")] = False,
) -> int:
    """Ask a management network's switches and power strips who they are, and write a first inventory.

    Every address is asked over SNMP, a few each second; nothing is written on any device. The folder gets hosts.yml,
    cables.csv and outlets.csv with what was seen, and question marks for what was not seen. The next step is
    `eeectl lab check FOLDER --files-only`.

    Parameters
    ----------
    network
        The management network, such as 192.0.2.0/24; at most a /20.
    folder
        Where the inventory is written; its name is the lab's.
    options
        What opens the SNMP agents.
    per_second
        Addresses asked a second, at most 200.
    force
        Replace files of an inventory that is there already.
    as_json
        Print JSON.

    """
    addresses = addresses_of(network)
    credentials = options.credentials()
    if not 0 < per_second <= _PER_S_MOST:
        raise LabError(f"--per-second {per_second} is not possible: use more than 0 and at most {_PER_S_MOST}.")
    there = [name for name in _FILES if (folder / name).exists()]
    if there and not force:
        raise LabError(f"{folder} holds {', '.join(there)} already: name another folder, or add --force.")
    print(
        f"asking {len(addresses)} addresses of {network}: at most {longest_s(len(addresses), per_second):.0f} s, and "
        "what reading the devices takes",
        file=sys.stderr,
    )

    def one(address: str) -> Device | None:
        return ask(address, credentials)

    devices: tuple[Device, ...] = sweep(addresses, one, per_second)
    if not any(isinstance(device, FoundSwitch) for device in devices):
        others = ", ".join(f"{device.address} ({device.name or '?'})" for device in devices) or "nobody"
        raise LabError(
            f"no switch of a known family answered in {network} (but {others}): check network and credentials, or "
            "begin with a copy of inventory/example."
        )
    made = draft(folder.absolute().name, network, devices, credentials)
    _write(folder, made)
    if as_json:
        print(json.dumps(_json(folder, made), indent=1))
    else:
        _print(folder, made)
    return 0


_PER_S_MOST: Final = 200.0


def _write(folder: Path, made: Draft) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in zip(_FILES, (made.hosts_yml, made.cables_csv, made.outlets_csv), strict=True):
            durable.replace(folder / name, text)
    except OSError as error:
        raise LabError(f"{folder} cannot be written ({error.strerror}): name another folder.") from error


_Kind = Literal["switch", "strip", "other"]


def _json(folder: Path, made: Draft) -> dict[str, Any]:
    return {
        "folder": str(folder),
        "devices": [_device_json(device) for device in made.devices],
        "hosts": [
            {"name": one.name, "mac": one.mac.hex(":"), "interface": one.interface, "at": f"{one.switch}:{one.port}"}
            for one in made.stations
        ],
        "cables": [
            {"a": str(cable.a), "b": str(cable.b), "rate_mbps": cable.rate_mbps, "seen_by": cable.source}
            for cable in made.proposal.cables
        ],
        "remarks": [{"where": remark.where, "sentence": remark.sentence} for remark in made.proposal.remarks],
    }


def _device_json(device: Device) -> dict[str, Any]:
    kind: _Kind = "other"
    more: dict[str, Any] = {}
    if isinstance(device, FoundSwitch):
        kind = "switch"
        more = {"families": list(device.families), "model": device.model, "ports": len(device.ports)}
    elif isinstance(device, FoundStrip):
        kind = "strip"
        more = {"families": [device.family], "model": device.model, "outlets": len(device.outlets)}
    else:
        more = {"object_id": device.object_id, "description": device.description}
    return {"kind": kind, "name": device.name, "address": device.address, **more}


def _print(folder: Path, made: Draft) -> None:
    for device in made.devices:
        said = _device_json(device)
        what = said.get("model") or said.get("description", "")
        family = "/".join(said.get("families", ())) or "unknown"
        print(f"{device.address:<15} {said['kind']:<6} {device.name or '?':<20} {family}, {what}")
    print(
        f"{folder}: {len(made.stations)} hosts announce themselves; {len(made.proposal.cables)} cables were seen, "
        f"{len(made.proposal.remarks)} remarks. Answer the question marks in {', '.join(_FILES)}, then run "
        f"`eeectl lab check {folder} --files-only`."
    )
