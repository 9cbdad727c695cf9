"""net-snmp's tools at the switches: what they set, the command line shows and forwarding follows."""

import pytest

from tests.support.labs.lab_client import (
    BASE_PORT_IF_INDEX,
    DOWN,
    IF_ADMIN,
    IF_NAME,
    IF_OPER,
    IF_OUT_UCAST,
    PATIENCE_S,
    UP,
    LabClient,
    eventually,
    run,
)

PVID = "1.3.6.1.2.1.17.7.1.4.5.1.1"
VLAN_STATIC = "1.3.6.1.2.1.17.7.1.4.3.1"
EGRESS, UNTAGGED, ROW_STATUS = f"{VLAN_STATIC}.2", f"{VLAN_STATIC}.4", f"{VLAN_STATIC}.5"
CREATE_AND_GO, DESTROY = "4", "6"
IN_OCTETS = "1.3.6.1.2.1.31.1.1.1.6"

SWITCHES = [
    pytest.param("sw1", "gi1/0/1", "n01", "n02", "v2c", id="dell-v2c"),
    pytest.param("sw6", "1/0/1", "n11", "n12", "v3", id="netgear-v3"),
]


def _how(lab: LabClient, version: str) -> list[str]:
    return lab.v2c() if version == "v2c" else lab.v3()


@pytest.mark.parametrize(("switch", "port", "a", "b", "version"), SWITCHES)
def test_shutting_a_port_by_snmp_is_shutting_it(
    lab: LabClient, switch: str, port: str, a: str, b: str, version: str
) -> None:
    how = _how(lab, version)
    index = lab.if_index(switch, port)
    with lab.terminal(switch) as terminal:

        def shut() -> bool:
            return "shutdown" in terminal.type(f"show running-config interface {port}")

        assert not shut()
        lab.set(switch, f"{IF_ADMIN}.{index}", "i", DOWN, how=how)
        assert shut()
        assert lab.get(switch, f"{IF_ADMIN}.{index}", how=how) == DOWN
        assert lab.get(switch, f"{IF_OPER}.{index}", how=how) == DOWN
        assert not lab.reaches(a, b)
        lab.set(switch, f"{IF_ADMIN}.{index}", "i", UP, how=how)
        assert not shut()
        lab.await_ping(a, b)
        assert lab.get(switch, f"{IF_OPER}.{index}", how=how) == UP


@pytest.mark.parametrize(("switch", "port"), [("sw1", "gi1/0/24"), ("sw5", "1/0/24")])
def test_snmp_shows_what_was_typed(lab: LabClient, switch: str, port: str) -> None:
    index = lab.if_index(switch, port)
    with lab.terminal(switch) as terminal:
        terminal.configure(f"interface {port}", "shutdown", "description spare")
        assert lab.get(switch, f"{IF_ADMIN}.{index}") == DOWN
        assert lab.get(switch, f"1.3.6.1.2.1.31.1.1.1.18.{index}") == "spare"
        terminal.configure(f"interface {port}", "no shutdown", "no description")
    assert lab.get(switch, f"{IF_ADMIN}.{index}") == UP


@pytest.mark.parametrize(
    ("switch", "port", "other", "a", "b"),
    [
        pytest.param("sw1", "gi1/0/1", "gi1/0/2", "n01", "n02", id="dell"),
        pytest.param("sw5", "1/0/1", "1/0/2", "n09", "n10", id="netgear"),
    ],
)
def test_a_vlan_made_by_snmp_separates_and_joins(
    lab: LabClient, switch: str, port: str, other: str, a: str, b: str
) -> None:
    bridge_port = {index: number for number, index in lab.walk(switch, BASE_PORT_IF_INDEX).items()}
    ports = [int(bridge_port[lab.if_index(switch, name)]) for name in (port, other)]
    octets = bytearray(8)
    for number in ports:
        octets[(number - 1) // 8] |= 0x80 >> (number - 1) % 8
    both = octets.hex()
    lab.configure(switch, f"interface {port}", "switchport mode general", "exit", f"interface {other}",
                  "switchport mode general")  # fmt: skip
    try:
        lab.set(switch, f"{ROW_STATUS}.88", "i", CREATE_AND_GO)
        lab.set(switch, f"{EGRESS}.88", "x", both, f"{UNTAGGED}.88", "x", both)
        lab.set(switch, f"{PVID}.{ports[0]}", "u", "88")
        assert lab.get(switch, f"{PVID}.{ports[0]}") == "88"
        # Both ports are untagged members of both VLANs, and only the PVID differs: they still meet.
        lab.await_ping(a, b)
        with lab.terminal(switch) as terminal:
            assert "88" in terminal.type("show vlan")
        # Without membership of the other port, what enters VLAN 88 stays there.
        lab.set(switch, f"{EGRESS}.88", "x", _only(ports[0]), f"{UNTAGGED}.88", "x", _only(ports[0]))
        assert not lab.reaches(a, b)
        lab.set(switch, f"{PVID}.{ports[0]}", "u", "1")
        lab.await_ping(a, b)
    finally:
        lab.set(switch, f"{PVID}.{ports[0]}", "u", "1")
        lab.set(switch, f"{ROW_STATUS}.88", "i", DESTROY)
        lab.configure(switch, f"interface {port}", "no switchport mode", "exit", f"interface {other}",
                      "no switchport mode")  # fmt: skip
    assert f"{ROW_STATUS}.88" not in lab.walk(switch, ROW_STATUS)
    lab.await_ping(a, b)


def _only(port: int) -> str:
    octets = bytearray(8)
    octets[(port - 1) // 8] |= 0x80 >> (port - 1) % 8
    return octets.hex()


@pytest.mark.parametrize(
    ("switch", "port", "a", "b"), [("sw1", "gi1/0/2", "n01", "n02"), ("sw6", "1/0/2", "n11", "n12")]
)
def test_counters_rise_with_traffic(lab: LabClient, switch: str, port: str, a: str, b: str) -> None:
    index = lab.if_index(switch, port)

    def counted() -> tuple[int, int]:
        return int(lab.get(switch, f"{IF_OUT_UCAST}.{index}")), int(lab.get(switch, f"{IN_OCTETS}.{index}"))

    frames, octets = counted()
    lab.ssh(a, f"ping -q -n -c 50 -i 0.01 -s 1000 {b}")
    # 50 echoes to b leave the port, 50 answers of 1046 bytes (with FCS) enter it.
    eventually("50 frames out", lambda: counted()[0] >= frames + 50)
    assert counted()[1] >= octets + 50 * 1046


def test_every_port_is_named_and_both_versions_agree(lab: LabClient) -> None:
    for switch in lab.lab.switches:
        v2c, v3 = (lab.walk(switch.name, IF_NAME, how=how) for how in (lab.v2c(), lab.v3()))
        assert v2c == v3
        assert {port.name for port in switch.ports} <= set(v2c.values())


@pytest.mark.parametrize("switch", ["sw1", "sw5"])
def test_a_reader_cannot_write(lab: LabClient, switch: str) -> None:
    reader = lab.v2c("snmp_read_community")
    assert lab.get(switch, f"{IF_ADMIN}.24", how=reader) == UP
    done = lab.set(switch, f"{IF_ADMIN}.24", "i", DOWN, how=reader, check=False)
    assert done.returncode != 0
    assert "Reason: " in done.stderr  # refused by the agent, not lost
    assert lab.get(switch, f"{IF_ADMIN}.24") == UP


@pytest.mark.parametrize("device", ["sw1", "sw5", "pdu1", "pdu2"])
def test_a_wrong_password_is_refused(lab: LabClient, device: str) -> None:
    how = [word if word != lab.secret("snmp_auth_password") else "no-such-password" for word in lab.v3()]
    done = run(["snmpget", *how, lab.agent(device), "1.3.6.1.2.1.1.1.0"], check=False, patience_s=PATIENCE_S)
    assert done.returncode != 0
    assert "Authentication failure" in done.stderr
