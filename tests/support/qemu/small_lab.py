"""Linux switches, each cabled to each other, and their hosts, as a lab and as a script that builds it.

There are three switches, and four in `make soak`: on an emulated processor each of their commands takes half a second.

A switch is a network namespace with one bridge, a host one with an interface; a cable is a pair of virtual NICs. The
bridges come as from a factory: everything untagged in VLAN 1, spanning tree on, with its timers as short as they go.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, count

from eee_testbed.lab.model import End, Host, Lab, Link, Port, Switch
from tests.support.laws import effort
from tests.support.qemu.machine import Machine

SWITCHES = ("sw1", "sw2", "sw3", "sw4") if effort() == "soak" else ("sw1", "sw2", "sw3")
SPARE = "spare"
"""A switch without cables, to try any setting on."""

SPARE_PORTS = 3
HOMES = ("sw1", *SWITCHES)
"""Where the hosts are: two at the first switch."""


def small_lab() -> Lab:
    """The lab; its data addresses are those reserved for benchmarks (RFC 2544)."""
    free = {name: count(1) for name in SWITCHES}
    hosts = [f"h{n}" for n in range(1, len(HOMES) + 1)]
    ends = [(End(home, f"swp{next(free[home])}"), End(host, "eth0")) for home, host in zip(HOMES, hosts, strict=True)]
    ends += [(End(a, f"swp{next(free[a])}"), End(b, f"swp{next(free[b])}")) for a, b in combinations(SWITCHES, 2)]
    return Lab(
        name="small",
        folder="",
        management_network="127.0.0.0/8",
        data_network="198.18.0.0/24",
        switches=tuple(_switch(name, next(free[name]) - 1) for name in SWITCHES),
        hosts=tuple(
            Host(name, "root", "127.0.0.1", 22, f"198.18.0.{n}", bytes((2, 0, 0, 0, 0, n)), "eth0", 10_000, 1500)
            for n, name in enumerate(hosts, 1)
        ),
        links=tuple(Link(n, a, b, 10_000, "copper", switchable=True) for n, (a, b) in enumerate(ends, 1)),
        strips=(),
        outlets=(),
    )


def _switch(name: str, port_count: int) -> Switch:
    return Switch(
        name=name,
        family="linux_bridge",
        model="Debian",
        address="127.0.0.1",
        ssh_port=0,
        snmp_port=161,
        user="root",
        password_file="",
        community_file="",
        ports=tuple(Port(name, f"swp{n}", n, 10_000) for n in range(1, port_count + 1)),
    )


def reachable(lab: Lab, machine: Machine) -> Lab:
    """The same lab with the ports that its switches listen on."""
    return replace(lab, switches=tuple(login(switch, machine) for switch in lab.switches))


def login(switch: Switch, machine: Machine) -> Switch:
    """The same switch with what is needed to log in."""
    return replace(
        switch,
        ssh_port=machine.ports[switch.name],
        key_file=str(machine.key),
        known_hosts_file=str(machine.known_hosts),
    )


def spare_switch() -> Switch:
    """The switch without cables."""
    return _switch(SPARE, SPARE_PORTS)


def build_script(lab: Lab) -> str:
    """Shell commands that build the lab and the spare switch in a machine that has the switches' namespaces."""
    return "\n".join(_build(lab)) + "\n"


def _build(lab: Lab) -> Iterator[str]:
    for host in lab.hosts:
        yield f"ip netns add {host.name}"
    for link in lab.links:
        a, b = link.a, link.b
        yield f"ip link add {a.port} netns {a.device} type veth peer name {b.port} netns {b.device}"
    for n in range(1, SPARE_PORTS + 1):
        yield f"ip link add swp{n} netns {SPARE} type veth peer name far{n} netns {SPARE}"
        yield f"ip -n {SPARE} link set far{n} up"
    for host in lab.hosts:
        yield f"ip -n {host.name} link set {host.interface} address {host.mac.hex(':')} up"
    for switch in (*lab.switches, spare_switch()):
        timers = "forward_delay 200 hello_time 100 max_age 600"
        yield f"ip -n {switch.name} link add br0 type bridge vlan_filtering 1 stp_state 1 {timers}"
        yield f"ip -n {switch.name} link set br0 up"
        for port in switch.ports:
            yield f"ip -n {switch.name} link set {port.name} master br0 up"
