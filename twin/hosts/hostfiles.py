"""The configuration files of virtual hosts, as text: accounts, names, sshd, Open MPI."""

from collections.abc import Iterable, Mapping
from itertools import count
from pathlib import Path

from eee_testbed.lab.model import Host, Lab
from eee_testbed.twin.machine.credentials import SWITCH_KEY_USER

USER = "lab"
"""The unprivileged account of every host."""

HOMES = {USER: f"/home/{USER}", "root": "/home/root"}
"""Not the machine's /root: what its user's shell does at each login is no part of the lab."""

_SSHD_CONFIG = """\
Port 22
ListenAddress 0.0.0.0
HostKey /etc/ssh/ssh_host_ed25519_key
PidFile /run/sshd.ready
AuthorizedKeysFile .ssh/authorized_keys /etc/ssh/authorized_keys
PermitRootLogin prohibit-password
PasswordAuthentication no
KbdInteractiveAuthentication no
UsePAM no
UseDNS no
MaxStartups 512
MaxSessions 512
PrintMotd no
AcceptEnv LANG LC_*
Subsystem sftp internal-sftp
"""


def sshd_config(environment: Mapping[str, str]) -> str:
    """The configuration of a host's SSH server; `environment` is set in every session."""
    variables = " ".join(f"{name}={value}" for name, value in environment.items())
    return _SSHD_CONFIG + (f"SetEnv {variables}\n" if variables else "")


KEY_EXCHANGE = "curve25519-sha256"
"""Nothing in a virtual lab leaves the machine: OpenSSH's own first choice takes a processor 0.1 s at each login."""

SSH_CONFIG = f"""\
Host *
    GSSAPIAuthentication no
    KexAlgorithms {KEY_EXCHANGE}
    StrictHostKeyChecking yes
    SendEnv LANG LC_*
"""


def management_name(host: str) -> str:
    """Return the name under which a host is reached over the management network from another host."""
    return f"{host}-mgmt"


def etc_hosts(lab: Lab, host_name: str) -> str:
    """/etc/hosts: plain names mean the data network, `NAME-mgmt` the management network."""
    lines = ["127.0.0.1 localhost", f"# lab {lab.name}; this is {host_name}"]
    lines += [f"{host.data_address} {host.name}" for host in lab.hosts]
    lines += [f"{host.management_address} {management_name(host.name)}" for host in lab.hosts]
    return "\n".join(lines) + "\n"


def known_hosts(hosts: Iterable[Host], public_keys: Mapping[str, str]) -> str:
    """One line per host under all its names; `public_keys` maps a host to `ssh-ed25519 AAAA...`."""
    lines = []
    for host in hosts:
        names = (host.name, management_name(host.name), host.data_address, host.management_address)
        lines.append(f"{','.join(names)} {public_keys[host.name]}\n")
    return "".join(lines)


def openmpi_params(data_network: str, management_network: str) -> str:
    """Open MPI's system-wide parameters on a host.

    Messages of a job use the data network, whatever else the host is connected to. Open MPI's daemons talk over the
    management network, so that a job can be started from outside and the data network carries nothing but the job.
    Ranks are not bound: all hosts share the machine's cores, and each would bind its first rank to the same core.
    """
    return (
        f"pml = ob1\nbtl = self,vader,tcp\nbtl_tcp_if_include = {data_network}\n"
        f"oob_tcp_if_include = {management_network}\nhwloc_base_binding_policy = none\n"
        "mpi_yield_when_idle = 1\nplm_rsh_no_tree_spawn = 1\nplm_rsh_num_concurrent = 256\n"
    )


def prrte_params(management_network: str) -> str:
    """The same for PRRTE, which starts the ranks of Open MPI 5.0 and does not read its parameters."""
    return (
        f"prte_if_include = {management_network}\nhwloc_default_binding_policy = none\n"
        "plm_ssh_no_tree_spawn = 1\nplm_ssh_num_concurrent = 256\n"
    )


UCX_CONFIG = "UCX_TLS=^cma\n"
"""UCX's system-wide parameters, for MPICH: the kernel's copying between processes does not reach other hosts.

All hosts share one kernel, and UCX takes that for one machine: of MPICH's programs on two hosts some hung at the start.
"""


def _with_line(text: str, name: str, line: str) -> str:
    kept = [present for present in text.splitlines() if not present.startswith(f"{name}:")]
    return "\n".join([*kept, line]) + "\n"


def free_id(passwd: str, group: str) -> int:
    """Return a number, from 2000 up, that neither a user nor a group of the machine has."""
    taken = {line.split(":")[2] for text in (passwd, group) for line in text.splitlines() if line.count(":") > 2}
    return next(number for number in count(2000) if str(number) not in taken)


def accounts() -> tuple[int, dict[str, str]]:
    """Return the number of the hosts' user, and the account files: the machine's own, that user, and root's home."""
    read = {path: Path(path).read_text(encoding="utf-8") for path in ("/etc/passwd", "/etc/group", "/etc/shadow")}
    number = free_id(read["/etc/passwd"], read["/etc/group"])
    users = _with_line(read["/etc/passwd"], USER, f"{USER}:x:{number}:{number}:Lab user:{HOMES[USER]}:/bin/bash")
    return number, {
        "/etc/passwd": _with_line(users, "root", f"root:x:0:0:root:{HOMES['root']}:/bin/bash"),
        "/etc/group": _with_line(read["/etc/group"], USER, f"{USER}:x:{number}:"),
        "/etc/shadow": _with_line(read["/etc/shadow"], USER, f"{USER}:*:20000:0:99999:7:::"),
    }


def outside_ssh_config(lab: Lab, *, folder: str) -> str:
    """SSH client configuration for the machine itself: every host and switch by name, host keys checked."""
    lines = [f"# ssh -F {folder}/ssh_config NAME"]
    for host in lab.hosts:
        lines += [f"Host {host.name}", f"    HostName {host.management_address}", f"    Port {host.ssh_port}"]
        lines += [f"    User {host.user}", f"    HostKeyAlias {host.name}"]
    for switch in lab.switches:
        lines += [f"Host {switch.name}", f"    HostName {switch.address}", f"    Port {switch.ssh_port}"]
        lines += [f"    User {SWITCH_KEY_USER}", f"    HostKeyAlias {switch.name}"]
    lines += [
        "Host *",
        f"    IdentityFile {folder}/keys/lab_ed25519",
        "    IdentitiesOnly yes",
        f"    UserKnownHostsFile {folder}/known_hosts",
        "    GlobalKnownHostsFile /dev/null",
        "    StrictHostKeyChecking yes",
        "    GSSAPIAuthentication no",
        f"    KexAlgorithms {KEY_EXCHANGE}",
        "    LogLevel ERROR",
    ]
    return "\n".join(lines) + "\n"


def openmpi_outside(lab: Lab, *, folder: str) -> str:
    """Shell commands that let `mpirun --host n01,n02 PROGRAM` on the machine itself reach the lab's hosts."""
    settings = {
        "OMPI_MCA_plm_rsh_args": f"-F {folder}/ssh_config",
        "OMPI_MCA_oob_tcp_if_include": lab.management_network,
        "OMPI_MCA_btl_tcp_if_include": lab.data_network,
        "OMPI_MCA_pml": "ob1",
        "OMPI_MCA_btl": "self,vader,tcp",
        "OMPI_MCA_hwloc_base_binding_policy": "none",
        "OMPI_MCA_mpi_yield_when_idle": "1",
        "PRTE_MCA_plm_ssh_args": f"-F {folder}/ssh_config",
        "PRTE_MCA_prte_if_include": lab.management_network,
        "PRTE_MCA_hwloc_default_binding_policy": "none",
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    }
    lines = [f"# . {folder}/mpi/environment", *(f"export {key}='{value}'" for key, value in settings.items())]
    return "\n".join(lines) + "\n"
