"""VLAN database, VLAN lines of interfaces, ``switchport`` (CLI manual 202-11997: "VLAN" and "Switch Port")."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eee_testbed.twin.cli.grammar import Command, with_no
from eee_testbed.twin.families.fastpath.actions import Configure, Enter, flag, on_all, value
from eee_testbed.twin.families.fastpath.config import VID_MAX
from eee_testbed.twin.switch.personality import Refused

if TYPE_CHECKING:
    from eee_testbed.twin.cli.grammar import Match
    from eee_testbed.twin.cli.shell import Handler
    from eee_testbed.twin.families.fastpath.actions import Ports
    from eee_testbed.twin.families.fastpath.personality import FastpathPersonality
    from eee_testbed.twin.switch.effect import Acceptable

_ACCEPT: dict[str, Acceptable] = {"vlanonly": "tagged", "admituntaggedonly": "untagged", "all": "all"}
_EVERY_VID = frozenset(range(1, VID_MAX + 1))


def _create(personality: FastpathPersonality, _ports: Ports, match: Match[Any]) -> None:
    for vid in match.get("vids"):
        if match.negated:
            personality.destroy_vlan(vid)
        else:
            personality.create_vlan(vid)


def _name(personality: FastpathPersonality, _ports: Ports, match: Match[Any]) -> None:
    personality.rename_vlan(match.get("vid"), match.get("name", ""))


def _participation(personality: FastpathPersonality, ports: Ports, match: Match[Any]) -> None:
    vids = _existing(personality, match)
    for number in ports:
        port_config = personality.config.ports[number]
        include, exclude = port_config.include - vids, port_config.exclude - vids
        if match.has("include"):
            include |= vids
        elif match.has("exclude"):
            exclude |= vids
        personality.config.change([number], include=include, exclude=exclude)


def _tagging(personality: FastpathPersonality, ports: Ports, match: Match[Any]) -> None:
    vids = _existing(personality, match)
    for number in ports:
        port_config = personality.config.ports[number]
        tagging = port_config.tagging - vids if match.negated else port_config.tagging | vids
        personality.config.change([number], tagging=tagging)


def _pvid(personality: FastpathPersonality, ports: Ports, match: Match[Any]) -> None:
    vid = match.get("vid", 1)
    personality.need_vlan(vid)
    personality.config.change(ports, pvid=vid)


def _acceptframe(personality: FastpathPersonality, ports: Ports, match: Match[Any]) -> None:
    words = [w for w in match.keywords if w in _ACCEPT]
    personality.config.change(ports, acceptable="all" if match.negated else _ACCEPT[words[-1]])


def _mode(personality: FastpathPersonality, ports: Ports, match: Match[Any]) -> None:
    mode = None if match.negated else match.keywords[-1]
    personality.config.change(ports, mode=mode)


def _access_vlan(personality: FastpathPersonality, ports: Ports, match: Match[Any]) -> None:
    vid = match.get("vid", 1)
    personality.need_vlan(vid)
    personality.config.change(ports, access_vid=vid)


def _allowed_vlan(personality: FastpathPersonality, ports: Ports, match: Match[Any]) -> None:
    named = frozenset(match.get("vids", ()))
    for number in ports:
        allowed = personality.config.ports[number].allowed
        now = _EVERY_VID if allowed is None else allowed
        if match.negated or match.keywords[-1] == "all":
            vids = _EVERY_VID
        elif match.has("add"):
            vids = now | named
        elif match.has("remove"):
            vids = now - named
        elif match.has("except"):
            vids = _EVERY_VID - named
        else:
            vids = named
        personality.config.change([number], allowed=None if vids == _EVERY_VID else vids)


def _existing(personality: FastpathPersonality, match: Match[Any]) -> frozenset[int]:
    vids = frozenset(match.get("vids"))
    missing = sorted(vids - personality.config.vlans.keys())
    if missing:
        raise Refused(f"VLAN {missing[0]} does not exist: create it in the VLAN database", reason="no-vlan")
    return vids


_IF = frozenset({"if"})
_VLAN = frozenset({"vlan"})
_CONFIG = frozenset({"config"})

COMMANDS: tuple[Command[Handler], ...] = (
    Command("vlan database", Enter("vlan"), frozenset({"exec"}), "Type 'vlan database' into the vlan mode."),
    Command("[no] vlan <vids>", Configure(_create), _VLAN, "Create a new VLAN or delete an existing VLAN."),
    Command("vlan name <vid> <name>", Configure(_name), _VLAN, "Configure an optional VLAN Name."),
    Command("no vlan name <vid>", Configure(_name), _VLAN, "Configure an optional VLAN Name."),
    Command(
        "vlan participation (include|exclude|auto) <vids>",
        Configure(_participation),
        _IF,
        "Configure how ports participate in a specific VLAN.",
    ),
    Command(
        "vlan participation all (include|exclude|auto) <vids>",
        on_all(Configure(_participation)),
        _CONFIG,
        "Configure how all ports participate in a specific VLAN.",
    ),
    Command("[no] vlan tagging <vids>", Configure(_tagging), _IF, "Configure tagging for a specific VLAN port."),
    *with_no("vlan pvid <vid>", Configure(_pvid), _IF, "Configure the VLAN id for a specific port."),
    *with_no(
        "vlan acceptframe (admituntaggedonly|vlanonly|all)", Configure(_acceptframe), _IF, "Sets how to accept frames."
    ),
    Command("[no] vlan ingressfilter", flag("ingress_filter"), _IF, "Enable/Disable application of Ingress Filtering."),
    *with_no("vlan port pvid all <vid>", on_all(Configure(_pvid)), _CONFIG, "Configure the VLAN id for all ports."),
    Command(
        "[no] vlan port tagging all <vids>", on_all(Configure(_tagging)), _CONFIG, "Configure tagging for all ports."
    ),
    *with_no(
        "vlan port acceptframe all (admituntaggedonly|vlanonly|all)",
        on_all(Configure(_acceptframe)),
        _CONFIG,
        "Sets how all ports accept frames.",
    ),
    Command(
        "[no] vlan port ingressfilter all", on_all(flag("ingress_filter")), _CONFIG, "Ingress Filtering on all ports."
    ),
    *with_no("switchport mode (access|general|trunk)", Configure(_mode), _IF, "Set the switchport mode."),
    *with_no("switchport access vlan <vid>", Configure(_access_vlan), _IF, "Set the access VLAN."),
    *with_no(
        "switchport trunk native vlan <vid>", value("native_vid", "vid", 1), _IF, "Set the native VLAN of the trunk."
    ),
    *with_no(
        "switchport trunk allowed vlan (all|<vids>|add <vids>|remove <vids>|except <vids>)",
        Configure(_allowed_vlan),
        _IF,
        "Set the VLANs allowed on the trunk.",
    ),
)
