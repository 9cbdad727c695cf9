"""Lines that the FASTPATH drivers write and that no setting of a state holds, and how they are taken back. Pure.

M4300: general mode is that of a port without a mode line. A locked port and the room for its entries stay when the
entries go; lists of trunks lack VLANs that were made meanwhile; a LAG stays static without members. Dell: ports stay in
general mode, LAGs too; the line that names a VLAN and `no switchport access vlan` rest on memory [M]. A VLAN that a
plan removes and a rollback makes again has lost its name on all of them.
"""

from collections.abc import Mapping

from eee_testbed.controller.drivers.driver import Command
from eee_testbed.controller.drivers.fastpath.dialect import Dialect
from eee_testbed.controller.drivers.fastpath.render import Script, config_mode, interface_mode, vlan_mode
from eee_testbed.controller.drivers.leftovers import VIDS, LineTable, Rule
from eee_testbed.controller.model.config_text import WHOLE_SWITCH, ConfigText

_PARTICIPATION = "vlan participation {vids}"
_NAME = Rule(r"(vlan name \d+|name) .+")
_LISTS = {"speed_mbps": (r"speed auto \S+ \S.*", r"speed .*(?:full|half)-duplex", "no auto-negotiate")}

M4300_LINES = LineTable(
    mode=Rule(r"switchport mode (?P<mode>\w+)", "no switchport mode"),
    factory_mode="general",
    port=(
        Rule("vlan participation (?:exclude|auto) (?P<vids>1)", "vlan participation include 1", _PARTICIPATION),
        Rule(rf"vlan participation (?:include|exclude) {VIDS}", "vlan participation auto {vids}", _PARTICIPATION),
        Rule(rf"vlan tagging {VIDS}", "no vlan tagging {vids}", "vlan tagging {vids}"),
        Rule(r"vlan pvid \d+", "no vlan pvid", mode="general"),
        Rule(r"vlan acceptframe \w+", "no vlan acceptframe", mode="general"),
        Rule("vlan ingressfilter", "no vlan ingressfilter", mode="general"),
        Rule(r"switchport access vlan \d+", "no switchport access vlan", mode="access"),
        Rule(r"switchport trunk native vlan \d+", "no switchport trunk native vlan", mode="trunk"),
        Rule(r"switchport trunk allowed vlan .+", "no switchport trunk allowed vlan", mode="trunk"),
        Rule("port-security", "no port-security"),
        Rule(r"port-security max-static \d+", "no port-security max-static"),
        Rule("port-channel static", "no port-channel static"),
        Rule("flowcontrol", "no flowcontrol"),  # says nothing where the whole switch has it on
    ),
    switch=(Rule("port-security", "no port-security"),),
    vlan=(_NAME,),
    lost=_LISTS,
)
"""`no` forms and `vlan participation auto` by the CLI manual 202-11997."""

_GENERAL = "switchport general allowed vlan {vids}"


def _dell(*, lines_wait: bool, lost: Mapping[str, tuple[str, ...]]) -> LineTable:
    def general(pattern: str, undo: str, key: str = "") -> Rule:
        return Rule(f"switchport general {pattern}", undo, key, mode="general")

    return LineTable(
        mode=Rule(r"switchport mode (?P<mode>\w+)", "switchport mode access"),
        factory_mode="access",
        port=(
            general(r"allowed vlan \w+ (?P<vids>1)(?: tagged)?", f"{_GENERAL.format(vids='add 1')} untagged", _GENERAL),
            general(rf"allowed vlan add {VIDS}( untagged| tagged)?", _GENERAL.format(vids="remove {vids}"), _GENERAL),
            general(r"pvid \d+", "switchport general pvid 1"),
            general("ingress-filtering disable", "no switchport general ingress-filtering disable"),
            general("acceptable-frame-type tagged-only", "no switchport general acceptable-frame-type tagged-only"),
            Rule(r"switchport access vlan \d+", "no switchport access vlan", mode="access"),
            Rule(r"switchport trunk allowed vlan .+", mode="trunk"),
        ),
        vlan=(_NAME,),
        lost=lost,
        lines_wait=lines_wait,
    )


POWERCONNECT_62XX_LINES = _dell(lines_wait=False, lost={"speed_mbps": ("duplex half",)})
N_SERIES_LINES = _dell(lines_wait=True, lost=_LISTS)


def put_back(dialect: Dialect, table: LineTable, now: ConfigText, wanted: ConfigText) -> tuple[Command, ...]:
    """The lines that lead from one text to the other, with the modes that they are typed in."""
    script = Script(dialect)
    for block, lines in table.back(now, wanted).items():
        if block == WHOLE_SWITCH:
            script.at(config_mode(dialect))
        elif block.startswith("vlan "):
            script.at(*vlan_mode(dialect, int(block.removeprefix("vlan "))))
        else:
            script.at(config_mode(dialect), interface_mode(dialect, block))
        script.type(*lines)
    script.at()
    return tuple(script.commands)
