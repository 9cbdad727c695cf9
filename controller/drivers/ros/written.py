"""Lines that the driver of ROS switches writes and that no setting of a state holds, and how they are taken back. Pure.

Ports and LAGs stay in general mode, where an access port does the same; link-flap prevention stays off; a VLAN that a
plan removes and a rollback makes again has lost its name. A restricted list of speeds and flow control by negotiation
(`auto`) are replaced for good, as typing them would restart the link.
"""

import re
from collections.abc import Iterator

from eee_testbed.controller.drivers.driver import Command, Line
from eee_testbed.controller.drivers.leftovers import VIDS, LineTable, Rule, vlan_block
from eee_testbed.controller.drivers.ros.commands import CONFIG, INTERFACE, PRIVILEGED, interface_name
from eee_testbed.controller.drivers.ros.text import listed, rows
from eee_testbed.controller.model.config_text import WHOLE_SWITCH, ConfigText

_GENERAL = "switchport general allowed vlan {vids}"

LINES = LineTable(
    mode=Rule(r"switchport mode (?P<mode>\w+)", "switchport mode access"),
    factory_mode="access",
    port=(
        Rule(
            r"switchport general allowed vlan \w+ (?P<vids>1)(?: tagged)?",
            "switchport general allowed vlan add 1 untagged",
            _GENERAL,
            mode="general",
        ),
        Rule(
            rf"switchport general allowed vlan add {VIDS}(?: tagged| untagged)?",
            "switchport general allowed vlan remove {vids}",
            _GENERAL,
            mode="general",
        ),
        Rule(r"switchport general pvid \d+", "no switchport general pvid", mode="general"),
        Rule(
            "switchport general ingress-filtering disable",
            "no switchport general ingress-filtering disable",
            mode="general",
        ),
        Rule(
            r"switchport general acceptable-frame-type \S+",
            "switchport general acceptable-frame-type all",
            mode="general",
            guards=True,  # as PVID 4095 does
        ),
        Rule(r"switchport access vlan \d+", "no switchport access vlan", mode="access"),
        Rule(r"switchport trunk native vlan \S+", "no switchport trunk native vlan", mode="trunk"),
        Rule(
            rf"switchport trunk allowed vlan add {VIDS}",
            "switchport trunk allowed vlan remove {vids}",
            "switchport trunk allowed vlan {vids}",
            mode="trunk",
        ),
        Rule("no eee enable", "eee enable"),  # says nothing where the whole switch has it off
    ),
    switch=(Rule("link-flap prevention disable", "link-flap prevention enable"),),
    vlan=(Rule("name .+"),),
    lost={"speed_mbps": (r"negotiation \S.*", "duplex half"), "flow_control": ("flowcontrol auto",)},
)


def read(output: str) -> ConfigText:
    """From `show running-config`."""
    blocks: dict[str, list[str]] = {}
    names: frozenset[str] = frozenset({WHOLE_SWITCH})
    for row in rows(output):
        line = row.strip()
        head = re.fullmatch(r"interface (?:range )?(.+)", line, re.IGNORECASE)
        if head:
            vlan = re.fullmatch(r"vlan (\d+)", head[1], re.IGNORECASE)
            ports = listed(re.sub(r"^ethernet\s+", "", head[1], flags=re.IGNORECASE))
            names = frozenset({vlan_block(vlan[1])}) if vlan else ports or frozenset()
        elif line in {"!", "exit"}:
            names = frozenset({WHOLE_SWITCH})
        else:
            for name in names:
                blocks.setdefault(name, []).append(line)
    return LINES.read(blocks)


def put_back(now: ConfigText, wanted: ConfigText) -> Iterator[Command]:
    """The lines that lead from one text to the other, with the modes that they are typed in."""
    typed = LINES.back(now, wanted)
    if not typed:
        return
    yield Line("configure", prompt=CONFIG)
    for block, lines in typed.items():
        if block == WHOLE_SWITCH:
            yield from (Line(line, prompt=CONFIG) for line in lines)
            continue
        yield Line(f"interface {block if block.startswith('vlan ') else interface_name(block)}", prompt=INTERFACE)
        yield from (Line(line, prompt=INTERFACE) for line in lines)
        yield Line("exit", prompt=CONFIG)
    yield Line("end", prompt=PRIVILEGED)
