"""Drafts of inventories: whatever was found, a lab loads what was written."""

import string
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eee_testbed.controller.checking.discovery.asking import Credentials, host_name
from eee_testbed.controller.checking.discovery.draft import draft, named, port_ranges, untemplated
from eee_testbed.controller.checking.discovery.found import (
    Device,
    FoundOther,
    FoundPort,
    FoundStrip,
    FoundSwitch,
    Station,
)
from eee_testbed.controller.checking.neighbours import Sight, one_line
from eee_testbed.controller.drivers.lldp_shows import Neighbour
from eee_testbed.lab.ansible import expand_range
from eee_testbed.lab.folder import load_lab
from eee_testbed.lab.model import Lab, Secret, SnmpUser

COMMUNITY = Credentials(Secret("/run/secret/community"))
USER = Credentials(
    user=SnmpUser("eee", "sha256", Secret("", "EEE_AUTH"), "aes", Secret("/run/secret/privacy")), port=1161
)

_names = st.text(string.ascii_letters + string.digits + "-. _#'\"{}:?,\n\x01é", max_size=12)
_ports = st.lists(
    st.builds(
        FoundPort,
        st.builds("{}{}".format, st.sampled_from(["gi1/0/", "te1/0/", "1/g", "port"]), st.integers(0, 60)),
        st.sampled_from([1000, 10_000]),
        st.booleans(),
    ),
    unique_by=lambda port: port.name,
    min_size=1,
    max_size=30,
)


@given(_ports)
def test_ranges_write_out_to_the_ports_in_their_order(ports: list[FoundPort]) -> None:
    written = [
        FoundPort(name, rate_mbps, guessed)
        for pattern, rate_mbps, guessed in port_ranges(ports)
        for name in expand_range(pattern)
    ]
    assert written == ports


def test_ports_in_a_row_are_one_range() -> None:
    ports = [FoundPort(f"gi1/0/{n}", 1000, guessed=n > 3) for n in range(1, 6)]
    assert list(port_ranges(ports)) == [("gi1/0/[1:3]", 1000, False), ("gi1/0/[4:5]", 1000, True)]


@st.composite
def _devices(draw: st.DrawFn) -> list[Device]:
    found: list[Device] = []
    addresses = iter(f"192.0.2.{n}" for n in range(1, 100))
    for _ in range(draw(st.integers(1, 3))):
        name = host_name(draw(_names))
        station = Station(name, "gi1/0/1", draw(_names), draw(st.sampled_from([b"", b"\2\0\0\0\0\1"])), "eth0", "")
        ports = tuple(draw(_ports))
        found.append(
            FoundSwitch(
                name, next(addresses), "M" + draw(_names), ("cisco_sg",), draw(_names), ports,
                stations=(station,) if draw(st.booleans()) else (), problem=draw(_names),
            )
        )  # fmt: skip
    for _ in range(draw(st.integers(0, 2))):
        outlets = tuple(draw(st.lists(_names, min_size=1, max_size=4)))
        found.append(FoundStrip(host_name(draw(_names)), next(addresses), "M" + draw(_names), "gude", outlets))
    others = draw(st.lists(st.tuples(_names, _names), max_size=2))
    found.extend(FoundOther(host_name(name), next(addresses), "1.3", said) for name, said in others)
    return found


def _loaded(devices: list[Device], credentials: Credentials) -> tuple[Lab, dict[str, str]]:
    made = draft("rack", "192.0.2.0/24", devices, credentials)
    texts = {"hosts.yml": made.hosts_yml, "cables.csv": made.cables_csv, "outlets.csv": made.outlets_csv}
    with TemporaryDirectory() as folder:
        place = Path(folder) / "rack"
        place.mkdir()
        for name, text in texts.items():
            (place / name).write_text(text, encoding="utf-8")
        return load_lab(place), texts


@pytest.mark.slow
@given(_devices(), st.sampled_from([COMMUNITY, USER]))
def test_whatever_was_found_is_an_inventory_that_loads(devices: list[Device], credentials: Credentials) -> None:
    lab, _ = _loaded(devices, credentials)
    known = named(devices)
    assert len({device.name for device in known}) == len(known)
    switches = [device for device in known if isinstance(device, FoundSwitch)]
    assert [(switch.name, switch.address, switch.model) for switch in lab.switches] == [
        (switch.name, switch.address, untemplated(one_line(switch.model))) for switch in switches
    ]
    for switch, found in zip(lab.switches, switches, strict=True):
        assert [(port.name, port.rate_mbps) for port in switch.ports] == [
            (port.name, port.rate_mbps) for port in found.ports
        ]
        assert switch.snmp_port == credentials.port
        assert switch.community == credentials.community
        assert switch.snmp_user == credentials.user


def _found_switch(name: str, address: str, neighbour: Neighbour, stations: tuple[Station, ...] = ()) -> FoundSwitch:
    ports = (FoundPort("1", 1000, guessed=False), FoundPort("2", 1000, guessed=False))
    sight = Sight({"1": True, "2": True}, {}, {"1": neighbour}, name.encode(), {b"1": "1", b"2": "2"})
    return FoundSwitch(name, address, "SG", ("cisco_sg",), "SG", ports, sight, stations)


def test_what_a_device_calls_itself_is_no_template() -> None:
    """Ansible evaluates templates of an inventory, and a device may say anything."""
    said = "{{ lookup('ansible.builtin.pipe', 'touch /tmp/x') }}{% raw %}{{{"
    strip = FoundStrip("pdu", "192.0.2.3", said, "gude", ("A",))
    a = replace(_found_switch("a", "192.0.2.1", Neighbour(b"b", b"1", "b")), model=said, description=said)
    lab, texts = _loaded([a, strip], COMMUNITY)
    values = [line.partition("#")[0] for line in texts["hosts.yml"].splitlines()]
    assert not [line for line in values if "{{" in line or "{%" in line]
    assert lab.strips[0].model.startswith("({ lookup(")


def test_cables_between_switches_are_rows_and_those_of_hosts_are_questions() -> None:
    host = Station("a", "2", "node7.example.org", b"\2\0\0\0\0\7", "eno1", "192.0.2.77")
    a = _found_switch("a", "192.0.2.1", Neighbour(b"b", b"1", "b"), (host,))
    assert a.sight is not None
    heard = {**a.sight.neighbours, "2": Neighbour(b"\2\0\0\0\0\7", b"\2\0\0\0\0\7", "node7.example.org")}
    a = FoundSwitch(
        a.name, a.address, a.model, a.families, a.description, a.ports,
        Sight(a.sight.link, {}, heard, a.sight.chassis, a.sight.port_ids), a.stations,
    )  # fmt: skip
    b = _found_switch("b", "192.0.2.2", Neighbour(b"a", b"1", "a"))
    strip = FoundStrip("pdu", "192.0.2.3", "8226", "gude", ("A", "node7", 'Heater "2"'))
    lab, texts = _loaded([a, b, strip], COMMUNITY)
    assert [link.name for link in lab.links] == ["a:1--b:1"]
    assert "# ? a:2,node7:eno1,1000,copper,no\n" in texts["cables.csv"]
    assert "# ? b:2 has a link, but no LLDP neighbour\n" in texts["cables.csv"]
    assert '#     node7: {ansible_host: 192.0.2.77, data_address: ?, mac: "02:00:00:00:00:07"' in texts["hosts.yml"]
    assert [(outlet.number, outlet.feeds) for outlet in lab.outlets] == [(1, "a")]
    assert "# ? pdu,2,node7\n# ? pdu,3,? the strip calls it Heater '2'\n" in texts["outlets.csv"]
