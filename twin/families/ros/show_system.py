"""`show version`, `show system`, `show users` and other shows of the system (recordings of a 3548 and SG300)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eee_testbed.twin.families.ros.clock import days, stamp
from eee_testbed.twin.families.ros.columns import row, rule
from eee_testbed.twin.families.ros.models import model_named
from eee_testbed.twin.families.ros.render import mac_text
from eee_testbed.twin.families.ros.show_interfaces import config_of, running_of

if TYPE_CHECKING:
    from eee_testbed.twin.cli.grammar import Match
    from eee_testbed.twin.cli.shell import Session

SOFTWARE = "4.1.0.19"  # a release of the 55xx series [M]


def version(_session: Session, _match: Match[Any]) -> str:
    """`show version`."""
    return (
        f"SW version    {SOFTWARE} ( date  22-Apr-2014 time  15:42:38 )\n"
        "Boot version    1.0.0.13 ( date  15-Jul-2012 time  11:28:49 )\n"
        "HW version    00.00.02\n"
    )


def system(session: Session, _match: Match[Any]) -> str:
    """`show system`."""
    device = session.device
    config = config_of(device)
    model = model_named(device.spec.model)
    lines = (
        ("System Description:", model.name),
        ("System Up Time (days,hour:min:sec):", days(device.uptime_s)),
        ("System Contact:", config.contact),
        ("System Name:", config.hostname),
        ("System Location:", config.location),
        ("System MAC Address:", mac_text(device.spec.base_mac)),
        ("System Object ID:", model.object_id),
        ("Type:", model.name),
        ("Asset tag:", ""),
    )
    text = "".join(f"{name:<41} {value}".rstrip() + "\n" for name, value in lines)
    text += "\nMain Power Supply Status:                 OK\nFan 1 Status:                             OK\n"
    text += "Fan 2 Status:                             OK\n\n"
    widths = (24, 24, 24)
    text += row(("Unit", "Temperature (Celsius)", "Status"), widths, ("^", "^", "^")) + "\n" + rule(widths) + "\n"
    return text + row(("1", "35", "OK"), widths, ("^", "^", "^")) + "\n"


def users(session: Session, _match: Match[Any]) -> str:
    """`show users`: who is logged in."""
    text = " Username        Protocol          Location\n--------------- ------------ -----------------------\n"
    for other in session.device.sessions:
        if other.user is not None:
            text += f"{other.user.name:^15} {'SSH':^12} {other.peer:^23}".rstrip() + "\n"
    return text


def users_accounts(session: Session, _match: Match[Any]) -> str:
    """`show users accounts`: who may log in [M]."""
    text = " Username          Privilege\n-----------------  ---------\n"
    accounts = sorted(session.device.users().values(), key=lambda u: u.name)
    return text + "".join(f"{u.name:<17}  {u.privilege:^9}".rstrip() + "\n" for u in accounts)


def privilege(session: Session, _match: Match[Any]) -> str:
    """`show privilege`."""
    return f"Current privilege level is {1 if session.mode.name == 'user' else 15}\n"


def clock(session: Session, _match: Match[Any]) -> str:
    """`show clock`: it is never set, so it counts from power-on."""
    date, _, time = stamp(session.device.uptime_s).partition(" ")
    return f"*{time}  {date}\nNo time source\n"


def history(session: Session, _match: Match[Any]) -> str:
    """`show history`."""
    return "".join(f"{line}\n" for line in session.history)


def line(session: Session, _match: Match[Any]) -> str:
    """`show line`."""
    seconds = config_of(session.device).exec_timeout_s
    minutes, rest = divmod(seconds, 60)
    shown = f"{minutes} minute(s)" + (f" {rest} second(s)" if rest else "") if seconds else "disabled"
    return f"SSH configuration:\nInteractive timeout:  {shown}\nHistory:  10\n"


def ip_ssh(session: Session, _match: Match[Any]) -> str:
    """`show ip ssh` [M]."""
    config = config_of(session.device)
    return (
        f"SSH Server {'enabled' if config.ssh_server else 'disabled'}. Port: 22\n"
        f"SSH Password Authentication is {'enabled' if config.ssh_password_auth else 'disabled'}.\n"
        f"SSH Public Key Authentication is {'enabled' if config.ssh_pubkey_auth else 'disabled'}.\n"
    )


def running_config(session: Session, match: Match[Any]) -> str:
    """`show running-config [interface PORT]`."""
    device = session.device
    if match.get("ports") is not None:
        return running_of([device.port(n) for n in match.get("ports")], config_of(device))
    return device.personality.render() or "Empty configuration\n"


def startup_config(session: Session, _match: Match[Any]) -> str:
    """`show startup-config`."""
    return session.device.startup or "Empty configuration\n"
