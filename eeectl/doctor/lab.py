"""What a lab lacks: its files, its secrets, its devices, and the tools of its nodes."""

import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path

from eee_testbed.controller.checking.lab_check import check_lab
from eee_testbed.controller.checking.node_tools import NodeNeed, absent_on
from eee_testbed.controller.checking.switch_check import Contact
from eee_testbed.eeectl.doctor.finding import Finding, command_in
from eee_testbed.eeectl.lab_name import lab_operand, require_up
from eee_testbed.eeectl.shipped import playbook
from eee_testbed.lab.credentials import read_secret
from eee_testbed.lab.errors import AccessDenied, DeviceError, InventoryError, LabError
from eee_testbed.lab.folder import find_lab, load_lab, operand_of
from eee_testbed.lab.model import Host, Lab, Secret, Strip, Switch


def lab_findings(name: str) -> Iterator[Finding]:
    """What is missing in a lab; what makes a further look impossible ends it. LabError if no lab has that name."""
    folder = find_lab(lab_operand(name))
    try:
        lab = load_lab(folder)
    except InventoryError as error:
        for problem in error.problems:
            line = f" +{problem.line}" if problem.line else ""
            command = f"${{EDITOR:-vi}}{line} {shlex.quote(problem.file)}"
            key = f"{problem.key}: " if problem.key else ""
            yield Finding(Path(problem.file).name, f"{key}{problem.sentence}; {problem.remedy}.", command)
        return
    try:
        require_up(lab)
    except LabError as error:
        sentence = str(error).partition(": ")[0].removeprefix(f"lab {lab.name} ") + "."
        yield Finding(f"lab {lab.name}", sentence, command_in(str(error), f"eeectl lab up {operand_of(lab)}"))
        return
    secrets = list(secret_findings(lab))
    yield from secrets
    if not secrets:
        yield from device_findings(lab)


def secret_findings(lab: Lab) -> Iterator[Finding]:
    """Secrets that cannot be read, each once with the devices that need it."""
    needed: dict[Secret, list[str]] = {}
    devices: tuple[Switch | Strip, ...] = (*lab.switches, *lab.strips)
    for device in devices:
        for secret in _secrets(device):
            needed.setdefault(secret, []).append(device.name)
    for secret, names in needed.items():
        try:
            read_secret(secret, names[0])
        except AccessDenied as error:
            sentence = str(error).removeprefix(f"{names[0]}: ")
            yield Finding(_names(names), sentence, command_in(sentence, _writing(secret)))


def _secrets(device: Switch | Strip) -> Iterator[Secret]:
    keys = (device.snmp_user.auth_key, device.snmp_user.privacy_key) if device.snmp_user is not None else ()
    community = () if device.snmp_user is not None else (device.community,)
    logins = (device.password, device.enable) if isinstance(device, Switch) else ()
    yield from (secret for secret in (*logins, *community, *keys) if secret)


def _writing(secret: Secret) -> str:
    """The command that writes a secret; it is typed in, and stands in no history of commands."""
    if secret.variable:
        return f"read -rs {secret.variable} && export {secret.variable}"
    file, folder = shlex.quote(secret.file), shlex.quote(str(Path(secret.file).parent))
    return f'(umask 077; mkdir -p {folder} && read -rs SECRET && echo "$SECRET" > {file})'


def device_findings(lab: Lab) -> Iterator[Finding]:
    """Devices that do not answer or are not what the inventory says, and what nodes lack."""
    report = check_lab(lab)
    operand = operand_of(lab)
    silent = [contact for contact in report.contacts if contact.problem]
    for contact in silent:
        sentence = contact.problem.removeprefix(f"{contact.device}: ")
        yield Finding(contact.device, sentence, command_in(sentence, _trying(lab, contact)))
    told = {contact.problem for contact in silent}
    for problem in report.problems:
        if problem not in told:
            what, _, sentence = problem.partition(": ")
            yield Finding(what, sentence or problem, command_in(problem, f"eeectl lab check {operand}"))
    yield from node_findings(lab, absent_on(lab))


def _trying(lab: Lab, contact: Contact) -> str:
    """The command that tries the same service by hand."""
    address, _, port = contact.address.rpartition(":")
    if contact.service == "snmp":
        return f"snmpget -v2c -c COMMUNITY {address}:{port} 1.3.6.1.2.1.1.1.0"
    devices: tuple[Switch | Host, ...] = (*lab.switches, *lab.hosts)
    user = next((f"{one.user}@" for one in devices if one.name == contact.device and one.user), "")
    arguments = next((f"{one.ssh_arguments} " for one in lab.hosts if one.name == contact.device), "").lstrip()
    return f"ssh -v {arguments}-p {port} {user}{address}"


def node_findings(lab: Lab, absent: Mapping[str, tuple[NodeNeed, ...] | DeviceError]) -> Iterator[Finding]:
    """What nodes lack, each once with the nodes that lack it. Unreachable nodes have a finding of their own."""
    lacking: dict[NodeNeed, list[str]] = {}
    for name, needs in absent.items():
        for need in () if isinstance(needs, DeviceError) else needs:
            lacking.setdefault(need, []).append(name)
    folder = shlex.quote(lab.folder)
    for need, names in lacking.items():
        tags = " --tags probe" if need.name == "CAP_NET_RAW" else ""
        command = f"ansible-playbook -i {folder}/hosts.yml {shlex.quote(str(playbook('nodes.yml')))}{tags}"
        if not need.by_playbook:
            command = f"ansible -i {folder}/hosts.yml nodes --become -m apt -a 'name={need.package.replace(' ', ',')}'"
        severity = "optional" if need.optional else "missing"
        who = "every node" if len(names) == len(lab.hosts) else _names(names)
        yield Finding(who, f"{need.name} is missing; for {need.purpose}.", command, severity)  # type: ignore[arg-type]


def _names(names: list[str]) -> str:
    return ", ".join(names) if len(names) < 4 else f"{names[0]} to {names[-1]} ({len(names)})"
