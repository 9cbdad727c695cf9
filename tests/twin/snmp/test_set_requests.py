"""SETs: what each object does, and that a PDU is executed completely or not at all."""

import pytest

from eee_testbed.twin.snmp.values import parse_port_list, port_list
from tests.support.twin.snmp_bench import Bench

IF_ADMIN = ".1.3.6.1.2.1.2.2.1.7"
IF_ALIAS = ".1.3.6.1.2.1.31.1.1.1.18"
PVID = ".1.3.6.1.2.1.17.7.1.4.5.1.1"
VLAN = ".1.3.6.1.2.1.17.7.1.4.3.1"
STATIC = ".1.3.6.1.2.1.17.7.1.3.1.1"
MAU_DEFAULT = ".1.3.6.1.2.1.26.2.1.1.11"
COPY = ".1.3.6.1.4.1.89.87.2.1"
GO, WAIT, DESTROY, ACTIVE = "4", "5", "6", "1"


def ports_hex(bench: Bench, *numbers: int) -> str:
    return port_list(numbers, len(bench.device.ports)).hex()


def done(bench: Bench, *triples: str) -> None:
    reply = bench.manager.set(*triples)
    assert reply.code == 0, reply.complaint


def refused(bench: Bench, status: str, *triples: str) -> None:
    before = bench.device.personality.render()
    reply = bench.manager.set(*triples)
    assert reply.code != 0
    assert f"Reason: {status}" in reply.complaint, reply.complaint
    assert bench.device.personality.render() == before


def test_a_port_is_shut_and_opened(ros: Bench) -> None:
    port = ros.device.ports[0].engine_port
    done(ros, f"{IF_ADMIN}.1", "i", "2")
    assert not ros.engine.port(port)["admin_up"]
    assert ros.manager.get(f"{IF_ADMIN}.1").lines[0].endswith("INTEGER: 2")
    done(ros, f"{IF_ADMIN}.1", "i", "1")
    assert ros.engine.port(port)["admin_up"]


@pytest.mark.parametrize("family", ["ros", "fastpath"])
def test_a_vlan_lives_in_one_pdu_whatever_the_order(make_bench: object, family: str) -> None:
    bench: Bench = make_bench(family)  # type: ignore[operator]
    done(
        bench,
        f"{PVID}.1", "u", "11",
        f"{VLAN}.4.11", "x", ports_hex(bench, 1),
        f"{VLAN}.2.11", "x", ports_hex(bench, 1, 2),
        f"{VLAN}.1.11", "s", "tree1",
        f"{VLAN}.5.11", "i", GO,
    )  # fmt: skip
    ids = [p.engine_port for p in bench.device.ports]
    assert bench.engine.vlans(bench.device.switch)[11] == ([ids[0], ids[1]], [ids[0]])
    assert bench.engine.port(ids[0])["pvid"] == 11
    assert bench.manager.get(f"{VLAN}.1.11").lines[0].endswith('STRING: "tree1"')
    done(bench, f"{VLAN}.2.11", "x", ports_hex(bench, 2))
    assert bench.engine.vlans(bench.device.switch)[11] == ([ids[1]], [])
    done(bench, f"{VLAN}.5.11", "i", DESTROY)
    assert 11 not in bench.engine.vlans(bench.device.switch)
    assert "No Such Instance" in bench.manager.get(f"{VLAN}.5.11").lines[0]


def test_many_vlans_untagged_on_one_port(ros: Bench) -> None:
    for vid in (11, 12, 13):
        done(
            ros,
            f"{VLAN}.5.{vid}",
            "i",
            GO,
            f"{VLAN}.2.{vid}",
            "x",
            ports_hex(ros, 1, 2),
            f"{VLAN}.4.{vid}",
            "x",
            ports_hex(ros, 1),
        )
    first = ros.device.ports[0].engine_port
    vlans = ros.engine.vlans(ros.device.switch)
    assert [vid for vid, (_, untagged) in vlans.items() if first in untagged] == [1, 11, 12, 13]


def test_a_row_may_wait(ros: Bench) -> None:
    done(ros, f"{VLAN}.5.11", "i", WAIT)
    assert ros.manager.get(f"{VLAN}.5.11").lines[0].endswith("INTEGER: 2")
    assert 11 not in ros.engine.vlans(ros.device.switch)
    done(ros, f"{VLAN}.1.11", "s", "later")
    done(ros, f"{VLAN}.2.11", "x", ports_hex(ros, 3))
    refused(ros, "inconsistentValue", f"{VLAN}.5.11", "i", GO)
    done(ros, f"{VLAN}.5.11", "i", ACTIVE)
    assert ros.engine.vlans(ros.device.switch)[11] == ([ros.device.ports[2].engine_port], [])
    assert ros.device.personality.vlan_names()[11] == "later"
    assert ros.manager.get(f"{VLAN}.5.11").lines[0].endswith("INTEGER: 1")


def test_a_waiting_row_can_be_destroyed(ros: Bench) -> None:
    done(ros, f"{VLAN}.5.11", "i", WAIT)
    done(ros, f"{VLAN}.5.11", "i", DESTROY)
    assert "No Such Instance" in ros.manager.get(f"{VLAN}.5.11").lines[0]


def test_static_addresses(ros: Bench) -> None:
    row = "1.2.0.0.0.0.9.0"
    done(ros, f"{STATIC}.3.{row}", "x", ports_hex(ros, 5))
    assert ros.manager.get(f"{STATIC}.4.{row}").lines[0].endswith("INTEGER: 3")
    assert [(e["mac"].hex(), e["port"]) for e in ros.engine.fdb(ros.device.switch) if e["static"]] == [
        ("020000000009", ros.device.ports[4].engine_port)
    ]
    done(ros, f"{STATIC}.4.{row}", "i", "2")
    assert not [e for e in ros.engine.fdb(ros.device.switch) if e["static"]]
    refused(ros, "wrongValue", f"{STATIC}.3.{row}", "x", ports_hex(ros, 5, 6))
    refused(ros, "inconsistentValue", f"{STATIC}.3.77.2.0.0.0.0.9.0", "x", ports_hex(ros, 5))


def test_speed_and_negotiation(ros: Bench) -> None:
    done(ros, f"{MAU_DEFAULT}.1.1", "o", ".1.3.6.1.2.1.26.4.16")
    ros.run_for(10)
    state = ros.engine.port(ros.device.ports[0].engine_port)
    assert (state["autoneg"], state["advertised_mbps"]) == (False, [100])
    done(ros, ".1.3.6.1.2.1.26.5.1.1.1.1.1", "i", "1")
    assert ros.engine.port(ros.device.ports[0].engine_port)["autoneg"]
    refused(ros, "wrongValue", f"{MAU_DEFAULT}.1.1", "o", ".1.3.6.1.2.1.26.4.54")
    refused(ros, "noCreation", f"{MAU_DEFAULT}.1000.1", "o", ".1.3.6.1.2.1.26.4.16")


def test_eee_of_a_port_and_of_the_switch(ros: Bench) -> None:
    done(ros, ".1.3.6.1.4.1.89.149.2.1.1.1", "i", "2")
    assert [ros.engine.port(p.engine_port)["eee_admin"] for p in ros.device.ports[:2]] == [False, True]
    done(ros, ".1.3.6.1.4.1.89.149.1.0", "i", "2")
    assert not ros.engine.port(ros.device.ports[1].engine_port)["eee_admin"]
    assert ros.manager.get(".1.3.6.1.4.1.89.149.2.1.1.2").lines[0].endswith("INTEGER: 1")


def test_the_rest_of_the_ports_settings(ros: Bench) -> None:
    done(
        ros,
        ".1.3.6.1.2.1.17.4.2.0", "i", "100",
        ".1.3.6.1.2.1.17.7.1.4.5.1.2.3", "i", "2",
        ".1.3.6.1.2.1.17.7.1.4.5.1.3.3", "i", "2",
        ".1.3.6.1.2.1.17.2.15.1.4.3", "i", "2",
    )  # fmt: skip
    state = ros.engine.port(ros.device.ports[2].engine_port)
    assert (state["acceptable"], state["ingress_filtering"]) == ("tagged", False)
    assert 3 not in ros.device.stp_ports()
    assert ros.manager.get(".1.3.6.1.2.1.17.4.2.0").lines[0].endswith("INTEGER: 100")
    assert ros.manager.get(".1.3.6.1.2.1.17.2.15.1.4.3").lines[0].endswith("INTEGER: 2")


@pytest.mark.parametrize("family", ["ros", "fastpath"])
def test_the_running_configuration_is_saved(make_bench: object, family: str) -> None:
    bench: Bench = make_bench(family)  # type: ignore[operator]
    done(bench, f"{IF_ALIAS}.1", "s", "kept")
    assert "kept" not in bench.device.startup
    if family == "ros":
        cells = {3: 1, 7: 2, 8: 1, 12: 3, 17: 4}
        done(bench, *(word for column, value in cells.items() for word in (f"{COPY}.{column}.1", "i", str(value))))
    else:
        done(bench, ".1.3.6.1.4.1.4526.10.1.3.1.0", "i", "1")
    assert "kept" in bench.device.startup


@pytest.mark.parametrize(
    ("status", "triple"),
    [
        ("wrongType", (f"{IF_ADMIN}.1", "s", "down")),
        ("wrongValue", (f"{IF_ADMIN}.1", "i", "7")),
        ("noCreation", (f"{IF_ADMIN}.999", "i", "2")),
        ("notWritable", (".1.3.6.1.2.1.2.2.1.8.1", "i", "2")),
        ("notWritable", (".1.3.6.1.9.9.9.0", "i", "2")),
        ("wrongLength", (f"{IF_ALIAS}.1", "s", "x" * 65)),
        ("wrongValue", (f"{PVID}.1", "u", "4095")),
        ("inconsistentValue", (f"{PVID}.1", "u", "77")),
        ("inconsistentName", (f"{VLAN}.1.77", "s", "nowhere")),
        ("noCreation", (f"{VLAN}.5.5000", "i", GO)),
        ("inconsistentValue", (f"{VLAN}.5.1", "i", GO)),
        ("inconsistentValue", (f"{VLAN}.5.1", "i", DESTROY)),
        ("wrongValue", (f"{VLAN}.5.77", "i", "3")),
        ("wrongValue", (f"{VLAN}.2.1", "x", "00" * 40 + "80")),
        ("wrongValue", (".1.3.6.1.2.1.17.4.2.0", "i", "5")),
    ],
)
def test_a_refusal_says_what_is_wrong(ros: Bench, status: str, triple: tuple[str, str, str]) -> None:
    refused(ros, status, *triple)


def test_one_bad_varbind_undoes_the_others(ros: Bench) -> None:
    good = (f"{IF_ALIAS}.1", "s", "changed", f"{VLAN}.5.11", "i", GO)
    refused(ros, "inconsistentValue", *good, f"{PVID}.1", "u", "77")
    assert 11 not in ros.engine.vlans(ros.device.switch)
    refused(ros, "wrongType", *good, f"{IF_ADMIN}.1", "s", "down")
    reply = ros.manager.set(*good, f"{PVID}.1", "u", "77")
    assert f"Failed object: {PVID}.1" in reply.complaint


def test_untagged_ports_are_members(ros: Bench) -> None:
    refused(ros, "inconsistentValue", f"{VLAN}.5.11", "i", GO, f"{VLAN}.4.11", "x", ports_hex(ros, 1))


def test_a_netgear_keeps_speed_and_eee_to_its_command_line(fastpath: Bench) -> None:
    refused(fastpath, "notWritable", f"{MAU_DEFAULT}.1.1", "o", ".1.3.6.1.2.1.26.4.16")
    refused(fastpath, "notWritable", ".1.3.6.1.4.1.89.149.2.1.1.1", "i", "1")
    refused(fastpath, "noCreation", f"{VLAN}.5.4094", "i", GO)


def test_a_switch_that_ignores_writes_reports_success(ros: Bench) -> None:
    ros.device.faults.ignore_writes = True
    done(ros, f"{IF_ALIAS}.1", "s", "lost")
    done(ros, f"{VLAN}.5.11", "i", WAIT)
    assert ros.device.personality.alias(1) == ""
    assert "No Such Instance" in ros.manager.get(f"{VLAN}.5.11").lines[0]


def test_without_power_the_agent_is_silent_and_boots_anew(ros: Bench) -> None:
    boots = ".1.3.6.1.6.3.10.2.1.2.0"
    before = int(ros.manager.get(boots).lines[0].split()[-1])
    ros.manager.timeout_s = 0.2
    done(ros, f"{VLAN}.5.11", "i", WAIT)
    ros.device.power_off()
    assert ros.manager.get(boots).code != 0
    ros.boot()
    assert int(ros.manager.get(boots).lines[0].split()[-1]) == before + 1
    assert "No Such Instance" in ros.manager.get(f"{VLAN}.5.11").lines[0]


def test_port_lists_come_back() -> None:
    for ports in (frozenset[int](), frozenset({1}), frozenset({8, 9, 58}), frozenset(range(1, 59))):
        assert parse_port_list(port_list(ports, 58), 58) == ports
