"""Lines that the driver of Cisco IOS writes and that no setting of a state holds, and how they are taken back. Pure.

Lines of the mode that a port is not in stay, and so does the interface of a channel that has lost its members. A VLAN
that a plan removes and a rollback makes again has lost its name. Flow control by negotiation (`desired`), lists of
speeds and half duplex are replaced for good, as typing them would restart the link.
"""

from collections.abc import Iterator

from eee_testbed.controller.drivers.cisco_ios.names import interface_key, interface_name
from eee_testbed.controller.drivers.cisco_ios.read import Configured
from eee_testbed.controller.drivers.cisco_ios.render import CONFIG, EXEC, INTERFACE, VLAN
from eee_testbed.controller.drivers.driver import Command, Line
from eee_testbed.controller.drivers.leftovers import LineTable, Rule, vlan_block
from eee_testbed.controller.model.config_text import WHOLE_SWITCH, ConfigText
from eee_testbed.lab.model import Switch, lag_port

LINES = LineTable(
    mode=Rule(r"switchport mode (?P<mode>.+)"),  # a mode that negotiates has no line, and is a setting
    factory_mode="dynamic",
    port=(
        Rule(r"switchport access vlan \d+", "switchport access vlan 1", mode="access"),
        Rule(r"switchport trunk native vlan \d+", "switchport trunk native vlan 1", mode="trunk"),
        Rule(r"switchport trunk allowed vlan .+", "switchport trunk allowed vlan all", mode="trunk"),
        Rule("switchport nonegotiate", "no switchport nonegotiate"),
        Rule(r"switchport trunk encapsulation \S+", "switchport trunk encapsulation negotiate"),
    ),
    switch=(
        Rule(r"interface Port-channel(?P<number>\d+)", "no interface Port-channel{number}", typed=False),
        Rule(r"no spanning-tree vlan (?P<list>\S+)", "spanning-tree vlan {list}"),
    ),
    vlan=(Rule("name .+"),),
    lost={
        "speed_mbps": (r"speed auto \S.*", r"duplex (?!auto)\S+"),
        "flow_control": ("flowcontrol receive desired",),
    },
)


def read(switch: Switch, configured: Configured) -> ConfigText:
    """From the running configuration, of the inventory's ports and all channels."""
    names = {key: port.name for port in switch.ports if (key := interface_key(port.name))}
    names |= {key: lag_port(int(key[1])) for key in configured.interfaces if key[0] == "po"}
    blocks = {name: configured.interfaces.get(key, []) for key, name in names.items()}
    channels = [f"interface Port-channel{key[1]}" for key in configured.interfaces if key[0] == "po"]
    vlans = {vlan_block(vid): lines for vid, lines in configured.vlans.items()}
    return LINES.read({**blocks, **vlans, WHOLE_SWITCH: [*channels, *configured.lines]})


def put_back(now: ConfigText, wanted: ConfigText) -> Iterator[Command]:
    """The lines that lead from one text to the other, with the modes that they are typed in."""
    typed = LINES.back(now, wanted)
    if not typed:
        return
    yield Line("configure terminal", prompt=CONFIG)
    gone = {line.removeprefix("no interface Port-channel") for line in typed.get(WHOLE_SWITCH, ())}
    for block, lines in typed.items():
        if block == WHOLE_SWITCH:
            yield from (Line(line, prompt=CONFIG) for line in lines)
            continue
        if block.removeprefix("lag") in gone:
            continue
        is_vlan = block.startswith("vlan ")
        prompt = VLAN if is_vlan else INTERFACE
        yield Line(block if is_vlan else f"interface {interface_name(block)}", prompt=prompt)
        yield from (Line(line, prompt=prompt) for line in lines)
        yield Line("exit", prompt=CONFIG)
    yield Line("end", prompt=EXEC)
