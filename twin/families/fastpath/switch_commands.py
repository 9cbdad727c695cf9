"""Global configuration, and lines that are stored without being interpreted (management addresses, SNMP, logging)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eee_testbed.twin.cli.grammar import Command, with_no
from eee_testbed.twin.families.fastpath.actions import Configure, Enter, Leave, flag, on_all, switch
from eee_testbed.twin.families.fastpath.config import (
    AGEING_DEFAULT_S,
    HISTORY_INTERVAL_DEFAULT_S,
    HISTORY_SAMPLES_DEFAULT,
)
from eee_testbed.twin.families.fastpath.personality import check_text
from eee_testbed.twin.switch.personality import Refused, password_digest

if TYPE_CHECKING:
    from eee_testbed.twin.cli.grammar import Match
    from eee_testbed.twin.cli.shell import Handler
    from eee_testbed.twin.families.fastpath.actions import Ports
    from eee_testbed.twin.families.fastpath.personality import FastpathPersonality

HOSTNAME_MAX_CHARACTERS = 64
SHA1_CHARACTERS = 40

# Lines whose first words may occur only once: a new one replaces the old.
_SINGLE_LINES = (
    "snmp-server sysname",
    "snmp-server location",
    "snmp-server contact",
    "serviceport protocol",
    "serviceport ip",
    "network parms",
    "ip management",
    "ip default-gateway",
    "ip ssh",
    "ip http",
    "clock timezone",
    "set prompt",
)


def _hostname(personality: FastpathPersonality, _ports: Ports, match: Match[Any]) -> None:
    name = match.get("name", "")
    check_text(name, HOSTNAME_MAX_CHARACTERS)
    personality.config.hostname = name


def _username(personality: FastpathPersonality, _ports: Ports, match: Match[Any]) -> None:
    name, password = match.get("name"), match.get("password")
    check_text(name, 64)
    if match.has("encrypted"):
        if len(password) != SHA1_CHARACTERS or set(password) - set("0123456789abcdef"):
            raise Refused("an encrypted password has 40 hexadecimal digits", reason="bad-value")
        digest = password
    else:
        digest = password_digest(password)
    personality.config.users[name] = (digest, match.get("level", 1))


def _no_username(personality: FastpathPersonality, _ports: Ports, match: Match[Any]) -> None:
    if match.get("name") not in personality.config.users:
        raise Refused(f"user {match.get('name')!r} is not configured", reason="no-entry")
    del personality.config.users[match.get("name")]


def _ageing(personality: FastpathPersonality, _ports: Ports, match: Match[Any]) -> None:
    personality.set_ageing(match.get("seconds", AGEING_DEFAULT_S))


def _history(personality: FastpathPersonality, _ports: Ports, match: Match[Any]) -> None:
    if match.has("sampling-interval"):
        personality.config.history_interval_s = match.get("seconds", HISTORY_INTERVAL_DEFAULT_S)
    else:
        personality.config.history_samples = match.get("count", HISTORY_SAMPLES_DEFAULT)


def _keep(lines: dict[str, str], text: str, *, negated: bool) -> None:
    """Store a line, or delete every line that begins like it."""
    single = next((s for s in _SINGLE_LINES if text.startswith(s)), text)
    if not negated:
        lines[single] = text
        return
    for key in [k for k, line in lines.items() if line == text or line.startswith(text + " ")]:
        del lines[key]


def _global_line(personality: FastpathPersonality, _ports: Ports, match: Match[Any]) -> None:
    _keep(personality.config.global_lines, _line(match), negated=match.negated)


def _exec_line(personality: FastpathPersonality, _ports: Ports, match: Match[Any]) -> None:
    _keep(personality.config.exec_lines, _line(match), negated=match.negated)


def _line(match: Match[Any]) -> str:
    words = [w for w in match.keywords if w != "no"]
    return " ".join([*words, match.get("rest", "")]).strip()


_EXEC = frozenset({"exec"})
_CONFIG = frozenset({"config"})
_ANY_MODE = frozenset({"exec", "config", "if", "vlan", "line"})

COMMANDS: tuple[Command[Handler], ...] = (
    Command("configure [terminal]", Enter("config"), _EXEC, "Enter into Global Config mode."),
    Command("exit", Leave(), _ANY_MODE - _EXEC, "To exit from the mode."),
    Command("line (console|telnet|ssh)", Enter("line"), _CONFIG, "Enter into Line Config mode."),
    *with_no("hostname <name:hostname>", Configure(_hostname), _CONFIG, "Change the system hostname."),
    Command(
        "username <name> password <password> [level <level>] [encrypted]",
        Configure(_username),
        _CONFIG,
        "Add a new user or configure a user.",
    ),
    Command("no username <name>", Configure(_no_username), _CONFIG, "Delete a user."),
    Command("[no] spanning-tree", switch("spanning_tree"), _CONFIG, "Enable/Disable spanning tree."),
    Command("[no] spanning-tree port mode all", on_all(flag("spanning_tree")), _CONFIG, "Spanning tree on all ports."),
    Command("[no] storm-control flowcontrol", switch("flow_control"), _CONFIG, "Enable/Disable 802.3x flow control."),
    Command("[no] flowcontrol", switch("flow_control"), _CONFIG, "Enable/Disable 802.3x flow control."),
    *with_no("bridge aging-time <seconds:ageing_s>", Configure(_ageing), _CONFIG, "Set the address aging timeout."),
    *with_no("green-mode eee-lpi-history sampling-interval <seconds:interval_s>", Configure(_history), _CONFIG),
    *with_no("green-mode eee-lpi-history max-samples <count:samples>", Configure(_history), _CONFIG),
    Command("[no] port-security", switch("port_security"), _CONFIG, "Enable/Disable Port MAC Locking."),
    Command("[no] (snmp-server|logging|sntp|clock|lldp|link-flap) <rest>", Configure(_global_line), _CONFIG),
    Command(
        "[no] ip (management|default-gateway|ssh|http|name|domain|telnet) <rest>", Configure(_global_line), _CONFIG
    ),
    Command("[no] set prompt <rest>", Configure(_global_line), _CONFIG),
    Command("serviceport (protocol|ip) <rest>", Configure(_exec_line), _EXEC, "Configure service port parameters."),
    Command("[no] ip ssh <rest>", Configure(_exec_line), _EXEC, "Configure the SSH server."),
    Command("network parms <rest>", Configure(_exec_line), _EXEC, "Configure network parameters of the switch."),
    Command("no serviceport (protocol|ip) [<rest>]", Configure(_exec_line), _EXEC),
)
