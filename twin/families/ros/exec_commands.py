"""Commands outside configuration: enable, show, clear, copy, reload.

Dialogues are word for word from recordings: copying over the startup configuration (PowerConnect 3548), deleting it and
reloading (SG300). One key answers them; the rest of the line is the next command.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eee_testbed.twin.cli.grammar import Command, Match
from eee_testbed.twin.cli.shell import Ask, Handler, Mode, Pause, Reply, Session
from eee_testbed.twin.families.ros import show_energy, show_interfaces, show_system, show_vlans
from eee_testbed.twin.families.ros.clock import stamp
from eee_testbed.twin.families.ros.show_interfaces import chosen_ports, config_of
from eee_testbed.twin.switch.personality import password_digest

if TYPE_CHECKING:
    from eee_testbed.twin.switch.device import SwitchDevice

USER = frozenset({"user", "exec"})
EXEC = frozenset({"exec"})
SAVE_S = 1.0  # how long writing to flash keeps the terminal busy (recording: eight seconds on an older switch)


def _enable(session: Session, _match: Match[Any]) -> Reply:
    digest = config_of(session.device).enable_digest
    if digest is None:
        session.modes = [Mode("exec")]
        return ""

    def check(password: str) -> Reply:
        if password_digest(password) != digest:
            return "% bad password\n"
        session.modes = [Mode("exec")]
        return ""

    return Ask("Password:", check, "secret", "*")


def _stay(_session: Session, _match: Match[Any]) -> Reply:
    return ""


def _disable(session: Session, _match: Match[Any]) -> Reply:
    session.modes = [Mode("user")]
    return ""


def _exit(session: Session, _match: Match[Any]) -> Reply:
    session.end()
    return ""


def _configure(session: Session, _match: Match[Any]) -> Reply:
    session.enter("config")
    return ""


def _datadump(session: Session, match: Match[Any]) -> Reply:
    session.page_rows = 24 if match.negated else 0
    return ""


def _copy(session: Session, _match: Match[Any]) -> Reply:
    device = session.device

    def written() -> Reply:
        device.save_startup()
        done = stamp(device.uptime_s + SAVE_S)
        return f"{done} %COPY-N-TRAP: The copy operation was completed successfully\nCopy succeeded\n"

    def answered(key: str) -> Reply:
        if key not in {"y", "Y"}:
            return "\n"
        return Pause(
            f"{stamp(device.uptime_s)} %COPY-I-FILECPY: Files Copy - source URL running-config "
            "destination URL flash://startup-config\n",
            SAVE_S,
            written,
        )

    return Ask("Overwrite file [startup-config] ?[Yes/press any key for no]....", answered, echo=False)


def _delete(session: Session, _match: Match[Any]) -> Reply:
    device = session.device

    def answered(key: str) -> Reply:
        if key not in {"y", "Y"}:
            return ""
        device.erase_startup()
        return f"{stamp(device.uptime_s)} %FILE-I-DELETE: File Delete - file URL flash://startup-config\n"

    return Ask("\nDelete startup-config [y/n]? ", answered)


def _make_key(_session: Session, match: Match[Any]) -> Reply:
    """A switch has keys from its first start, and asks [M]. Simplification: the twin keeps its host key."""
    kind = match.keywords[-1].upper()

    def answered(key: str) -> Reply:
        return f"The SSH service is generating a private {kind} key.\n" if key in {"y", "Y"} else ""

    return Ask(f"Replace Existing {kind} Key [y/n]? ", answered)


def _unsaved(device: SwitchDevice) -> bool:
    return device.startup != device.personality.render()


def _reload(session: Session, _match: Match[Any]) -> Reply:
    device = session.device

    def shut_down() -> Reply:
        device.reload()
        session.end()
        return ""

    def confirmed(key: str) -> Reply:
        return Pause("Shutting down ...\n", 0.0, shut_down) if key in {"y", "Y"} else ""

    really = Ask(
        "This command will reset the whole system and disconnect your current session. \n"
        "Do you want to continue ? (Y/N)[N] ",
        confirmed,
    )

    def unsaved_confirmed(key: str) -> Reply:
        return really if key in {"y", "Y"} else ""

    if _unsaved(device):
        return Ask("You haven't saved your changes. Are you sure you want to continue ? (Y/N)[N] ", unsaved_confirmed)
    return really


def _clear_counters(session: Session, match: Match[Any]) -> Reply:
    for port in chosen_ports(session, match):
        session.device.engine.clear_counters(port.engine_port)
    return ""


def _clear_macs(session: Session, match: Match[Any]) -> Reply:
    device = session.device
    ports = match.get("port")
    engine_port = device.port(ports[0]).engine_port if ports else None
    device.engine.flush_fdb(device.switch, port=engine_port, vid=match.get("vid"))
    return ""


COMMANDS: tuple[Command[Handler], ...] = (
    Command("enable [<level>]", _enable, frozenset({"user"}), "Privileged exec"),
    Command("enable [<level>]", _stay, EXEC, "Privileged exec"),
    Command("disable [<level>]", _disable, EXEC, "User exec"),
    Command("exit", _exit, USER, "Log out"),
    Command("logout", _exit, USER, "Log out"),
    Command("configure [terminal]", _configure, EXEC, "Configuration mode"),
    Command("[no] terminal datadump", _datadump, USER, "Print without stopping"),
    Command("copy running-config startup-config", _copy, EXEC, "Save the configuration"),
    Command("write [memory]", _copy, EXEC, "Save the configuration"),
    Command("delete startup-config", _delete, EXEC, "Erase the startup configuration"),
    Command("reload", _reload, EXEC, "Restart"),
    Command("crypto key generate (rsa|dsa)", _make_key, frozenset({"config"}), "SSH host keys"),
    Command("clear counters [<ports>]", _clear_counters, EXEC, "Interface counters"),
    Command("clear mac address-table dynamic [interface <port>] [vlan <vid>]", _clear_macs, EXEC, "Learned addresses"),
    Command("show running-config [interface <ports>]", show_system.running_config, EXEC, "Running configuration"),
    Command("show startup-config", show_system.startup_config, EXEC, "Startup configuration"),
    Command("show version", show_system.version, USER, "Software"),
    Command("show system", show_system.system, USER, "System"),
    Command("show users", show_system.users, USER, "Sessions"),
    Command("show users accounts", show_system.users_accounts, EXEC, "Logins"),
    Command("show privilege", show_system.privilege, USER, "Privilege level"),
    Command("show clock", show_system.clock, USER, "Time"),
    Command("show history", show_system.history, USER, "Command history"),
    Command("show line", show_system.line, USER, "Terminal lines"),
    Command("show ip ssh", show_system.ip_ssh, EXEC, "SSH server"),
    Command("show vlan [(tag <vid>|name <vlan-name>)]", show_vlans.vlan, EXEC, "VLANs"),
    Command("show interfaces status [<ports>]", show_interfaces.status, USER, "State of interfaces"),
    Command("show interfaces configuration [<ports>]", show_interfaces.configuration, EXEC, "Settings of interfaces"),
    Command("show interfaces counters [<ports>]", show_interfaces.counters, USER, "Counters of interfaces"),
    Command("show interfaces description [<ports>]", show_interfaces.description, USER, "Descriptions"),
    Command("show interfaces switchport [<ports>]", show_interfaces.switchport, EXEC, "VLANs of interfaces"),
    Command("show interfaces port-channel [<port>]", show_interfaces.port_channel, EXEC, "Port-channels"),
    Command(
        "show mac address-table [dynamic|static] [vlan <vid>] [interface <port>] [address <mac>]",
        show_vlans.mac_table,
        EXEC,
        "MAC addresses",
    ),
    Command("show mac address-table count", show_vlans.mac_count, EXEC, "Number of MAC addresses"),
    Command("show spanning-tree [<ports>]", show_vlans.spanning_tree, EXEC, "Spanning tree"),
    Command("show lldp neighbors [<ports>]", show_vlans.lldp_neighbours, EXEC, "LLDP neighbours"),
    Command("show eee [<port>]", show_energy.eee, EXEC, "Energy-Efficient Ethernet"),
    Command("show green-ethernet [<ports>]", show_energy.green_ethernet, EXEC, "Energy saving"),
)
