"""Inventories: the shipped ones are what they promise, wrong ones are refused with every mistake and its place."""

import importlib.util
import re
import shutil
from collections import Counter
from ipaddress import IPv4Address, IPv4Network
from pathlib import Path
from types import ModuleType

import networkx as nx
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from ruamel.yaml import YAML

from eee_testbed.controller.model.state import factory_state
from eee_testbed.controller.planning.plan import make_plan
from eee_testbed.controller.planning.regulate import multi_tree
from eee_testbed.controller.planning.trees import shortest_routes
from eee_testbed.lab.ansible import expand_range, read_ansible
from eee_testbed.lab.errors import InventoryError, LabError, Problem
from eee_testbed.lab.folder import find_lab, known_labs, load_lab
from eee_testbed.lab.model import Lab
from eee_testbed.twin.lab.lifecycle import check_files
from tests.support import ROOT
from tests.support.laws import law

INVENTORY = ROOT / "inventory"


def _draw() -> ModuleType:
    spec = importlib.util.spec_from_file_location("draw", INVENTORY / "draw.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    import sys  # noqa: PLC0415 - dataclasses look their module up

    sys.modules["draw"] = module
    spec.loader.exec_module(module)
    return module


DRAW = _draw()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the virtual lab to break."""
    return Path(shutil.copytree(INVENTORY / "virtual", tmp_path / "broken"))


def _edit(path: Path, old: str, new: str) -> int:
    """Replace the only occurrence; returns its line."""
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1, old
    path.write_text(text.replace(old, new), encoding="utf-8")
    return text[: text.index(old)].count("\n") + 1


def _problems(folder: Path) -> list[tuple[str, int, str, str]]:
    with pytest.raises(InventoryError) as caught:
        load_lab(folder)
    return [(Path(p.file).name, p.line, p.key, f"{p.sentence}; {p.remedy}") for p in caught.value.problems]


def _found(folder: Path) -> tuple[Problem, ...]:
    try:
        load_lab(folder)
    except InventoryError as error:
        return error.problems or (Problem("", 0, "", "", ""),)
    return ()


@pytest.mark.parametrize("plan", DRAW.PLANS, ids=lambda plan: str(plan.name))
def test_the_shipped_files_are_what_is_drawn(plan: object) -> None:
    for name, text in DRAW.draw(plan).items():
        assert (INVENTORY / plan.name / name).read_text(encoding="utf-8") == text, name  # type: ignore[attr-defined]


def test_the_shipped_labs_have_the_promised_size() -> None:
    labs = {name: load_lab(find_lab(str(INVENTORY / name))) for name in ("virtual", "miwa", "koibuchi")}
    virtual, miwa, koibuchi = labs["virtual"], labs["miwa"], labs["koibuchi"]
    assert (len(virtual.switches), len(virtual.hosts), len(virtual.strips)) == (6, 12, 2)
    assert Counter(switch.family for switch in virtual.switches) == {"dell_powerconnect_55xx": 4, "netgear_m4300": 2}
    assert set(_pairs(virtual).values()) == {2}
    assert len(_pairs(virtual)) == 15
    assert (len(miwa.switches), len(miwa.hosts), len(miwa.strips)) == (1, 4, 1)
    assert (len(koibuchi.switches), len(koibuchi.hosts)) == (6, 66)
    assert all(len(switch.ports) >= 48 for switch in koibuchi.switches)
    assert set(_pairs(koibuchi).values()) == {5}
    assert len(_pairs(koibuchi)) == 15
    for lab in labs.values():
        fed = Counter(outlet.feeds for outlet in lab.outlets)
        assert fed == dict.fromkeys([s.name for s in lab.switches] + [h.name for h in lab.hosts], 1)


def _pairs(lab: Lab) -> Counter[tuple[str, str]]:
    return Counter((min(ends), max(ends)) for ends in ((link.a.device, link.b.device) for link in lab.trunks()))


@pytest.mark.parametrize("name", ["virtual", "miwa", "koibuchi"])
def test_what_the_startup_configurations_leave_open_is_one_tree(name: str) -> None:
    lab = load_lab(INVENTORY / name)
    shut = set()
    for switch in lab.switches:
        text = (INVENTORY / name / "twin" / "startup" / f"{switch.name}.cfg").read_text(encoding="utf-8")
        shut |= {f"{switch.name}:{port}" for port in re.findall(r"interface (\S+)\nshutdown", text)}
        assert "no spanning-tree" in text
    graph = nx.MultiGraph()
    graph.add_nodes_from([switch.name for switch in lab.switches] + [host.name for host in lab.hosts])
    for link in lab.links:
        assert (str(link.a) in shut) == (str(link.b) in shut) or link.b.device in {h.name for h in lab.hosts}
        if not {str(link.a), str(link.b)} & shut:
            graph.add_edge(link.a.device, link.b.device)
    assert nx.is_tree(graph)
    if name != "miwa":
        assert shut


def test_no_address_is_in_two_shipped_labs() -> None:
    seen: Counter[str] = Counter()
    for name in ("virtual", "miwa", "koibuchi"):
        lab = load_lab(INVENTORY / name)
        seen.update(switch.address for switch in lab.switches)
        seen.update(strip.address for strip in lab.strips)
        seen.update(host.management_address for host in lab.hosts)
        seen.update([lab.management_network])
    assert max(seen.values()) == 1


def test_labs_are_found_by_name_and_path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, folder: Path) -> None:
    monkeypatch.chdir(ROOT)
    assert find_lab("miwa") == INVENTORY / "miwa"
    monkeypatch.chdir(tmp_path)
    assert find_lab("miwa") == INVENTORY / "miwa"
    assert find_lab(str(folder)) == folder
    nearer = shutil.copytree(folder, tmp_path / "inventory" / "miwa")
    assert find_lab("miwa") == nearer
    assert set(known_labs()) == {"virtual", "miwa", "koibuchi", "example"}
    with pytest.raises(LabError, match=r"no lab 'moon'.*koibuchi, miwa, virtual"):
        find_lab("moon")


def test_a_state_root_moves_the_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    assert load_lab(INVENTORY / "miwa").switch("sw1").password_file.startswith("/run/eee-testbed/miwa/")
    monkeypatch.setenv("EEE_STATE_DIR", "/elsewhere")
    assert load_lab(INVENTORY / "miwa").switch("sw1").password_file == "/elsewhere/miwa/secrets/cli_password"


def test_the_example_of_a_real_rack_is_whole_and_is_not_played_by_the_twin() -> None:
    lab = load_lab(INVENTORY / "example")
    addresses = [
        *(switch.address for switch in lab.switches),
        *(strip.address for strip in lab.strips),
        *(host.management_address for host in lab.hosts),
        *(host.data_address for host in lab.hosts),
    ]
    documentation = [IPv4Network(text) for text in ("192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24")]  # RFC 5737
    assert all(any(IPv4Address(text) in network for network in documentation) for text in addresses)
    assert {switch.family for switch in lab.switches} == {"dell_powerconnect_55xx", "dell_powerconnect_62xx"}
    assert {strip.family for strip in lab.strips} == {"apc_rpdu2"}
    assert [len(lag.members) for lag in lab.lags] == [2]
    assert len({outlet.feeds for outlet in lab.outlets}) == len(lab.switches) + len(lab.hosts)
    with pytest.raises(
        LabError, match=r"hosts.yml:\d+: sw3: is a dell_powerconnect_62xx, which has no twin .*; bring up"
    ):
        check_files(INVENTORY / "example")
    start = factory_state(lab)
    assert make_plan(lab, start, multi_tree(lab, start, shortest_routes)[1]).steps


def test_a_misspelled_variable_of_a_group_is_said_once_with_the_nearest_known_one(folder: Path) -> None:
    line = _edit(folder / "hosts.yml", "        ansible_user: admin", "        ansible_usr: admin")
    found = [problem for problem in _problems(folder) if problem[2] == "ansible_usr"]
    assert found == [
        (
            "hosts.yml",
            line,
            "ansible_usr",
            "sw1 has no such variable, and Ansible knows none; did you mean ansible_user?",
        )
    ]


def test_a_mistake_of_a_group_is_said_once_and_those_of_its_members_each(folder: Path) -> None:
    line = _edit(folder / "hosts.yml", "            family: netgear_m4300", "            family: netgear")
    assert [problem[1:3] for problem in _problems(folder)] == [(line, "family")]
    for name in ("n05", "n06"):
        _edit(folder / "hosts.yml", f"        {name}: {{", f"        {name}: {{mtu_bite: 9000, ")
    found = [problem for problem in _problems(folder) if problem[2] == "mtu_bite"]
    assert len(found) == 2
    assert "did you mean mtu_byte? known are" in found[0][3]


def test_variables_that_only_ansible_reads_are_left_to_it(folder: Path) -> None:
    _edit(
        folder / "hosts.yml",
        "        ansible_port: 22",
        "        ansible_port: 22\n        ansible_become_method: enable",
    )
    load_lab(folder)


def test_links_are_found_by_number_end_and_host() -> None:
    lab = load_lab(INVENTORY / "virtual")
    assert lab.find_link("1") is lab.links[0]
    assert lab.find_link("n01") is lab.links[0]
    assert lab.find_link("sw1:gi1/0/1") is lab.links[0]
    assert lab.find_link(lab.links[20].name) is lab.links[20]
    with pytest.raises(KeyError):
        lab.find_link("sw1")


@pytest.mark.parametrize(
    ("file", "old", "new", "key", "words"),
    [
        ("hosts.yml", "ansible_host: 127.18.1.2", "ansible_host: 127.18.1.999", "ansible_host", "127.18.1.999"),
        ("hosts.yml", "ansible_host: 127.18.1.2", "ansible_host: 127.18.1.1", "ansible_host", "sw1 has already"),
        ("hosts.yml", "ansible_host: 127.18.1.2", "ansible_hots: 127.18.1.2", "ansible_host", "add it"),
        ("hosts.yml", "02:ee:00:00:00:03", "03:ee:00:00:00:03", "mac", "even"),
        ("hosts.yml", "02:ee:00:00:00:03", "02:ee:00:00:00:01", "mac", "n01 has already"),
        ("hosts.yml", "data_address: 198.19.0.3", "data_address: 10.0.0.3", "data_address", "198.19.0.0/16"),
        ("hosts.yml", "data_address: 198.19.0.3", "data_adress: 198.19.0.3", "data_adress", "known are"),
        ("hosts.yml", "ansible_host: 198.18.0.3,", "ansible_host: 198.18.0.255,", "ansible_host", "not a host address"),
        ("hosts.yml", "family: netgear_m4300", "family: netgear", "family", "netgear_m4300"),
        ("hosts.yml", "gi1/0/[1:24]: 1000", "gi1/0/[1:24]: 1024", "ports", "Ethernet runs at"),
        ("hosts.yml", "gi1/0/[1:24]: 1000", "gi1/0/[24:1]: 1000", "ports", "empty"),
        ("hosts.yml", "198.19.0.0/16", "198.18.0.0/16", "data_network", "overlaps"),
        ("hosts.yml", "198.19.0.0/16", "198.19.0.1/16", "data_network", "host bits"),
        ("hosts.yml", "        n03:", "        N03:", "N03", "host name"),
        ("hosts.yml", "outlets: 12", "outlets: none", "outlets", "none"),
        ("cables.csv", "sw2:gi1/0/1,n03:eth0", "sw2:gi1/0/99,n03:eth0", "end_a", "no port gi1/0/99"),
        ("cables.csv", "sw2:gi1/0/1,n03:eth0", "sw9:gi1/0/1,n03:eth0", "end_a", "no device sw9"),
        ("cables.csv", "sw2:gi1/0/1,n03:eth0", "sw2:gi1/0/2,n03:eth0", "end_a", "holds the cable of line"),
        ("cables.csv", "sw2:gi1/0/1,n03:eth0,1000", "sw2:gi1/0/1,n03:eth0,10000", "rate_mbps", "1000 Mb/s at most"),
        ("cables.csv", "sw2:gi1/0/1,n03:eth0,1000", "sw2:gi1/0/1,n03:eth0,fast", "rate_mbps", "fast"),
        ("cables.csv", "n03:eth0,1000,copper", "n03:eth0,1000,string", "kind", "copper"),
        ("cables.csv", "n03:eth0,1000,copper,no", "n03:eth0,1000,copper,maybe", "switchable", "maybe"),
        ("cables.csv", "sw2:gi1/0/1,n03:eth0,1000,copper,no", "sw2:gi1/0/1,n03:eth0", "", "2 fields"),
        ("cables.csv", "sw2:gi1/0/1,n03:eth0", "n04:eth0,n03:eth0", "end_b", "joins two nodes"),
        ("outlets.csv", "pdu2,3,n03", "pdu2,99,n03", "outlet", "24 outlets, not 99"),
        ("outlets.csv", "pdu2,3,n03", "pdu9,3,n03", "strip", "no strip pdu9"),
        ("outlets.csv", "pdu2,3,n03", "pdu2,2,n03", "outlet", "in use in line"),
        ("outlets.csv", "pdu2,3,n03", "pdu2,3,moon", "feeds", "no device moon"),
    ],
)
def test_a_mistake_is_told_with_file_line_and_key(
    folder: Path, file: str, old: str, new: str, key: str, words: str
) -> None:
    line = _edit(folder / file, old, new)
    found = _problems(folder)
    here = [problem for problem in found if problem[0] == file and problem[2] == key and words in problem[3]]
    assert here, found
    near = {line, line + 1} if key in {"end_a", "outlet"} else {line}
    assert {problem[1] for problem in here} & near or key == "ports", (line, here)


def test_all_mistakes_are_told_at_once(folder: Path) -> None:
    _edit(folder / "hosts.yml", "ansible_host: 127.18.1.2", "ansible_host: nowhere")
    _edit(folder / "hosts.yml", "02:ee:00:00:00:03", "02:ee")
    _edit(folder / "cables.csv", "n05:eth0,1000,copper,no", "n05:eth0,1000,copper,perhaps")
    assert len({problem[0] for problem in _problems(folder)}) == 2
    assert len(_problems(folder)) == 3


@pytest.mark.parametrize(
    ("file", "text", "words"),
    [
        ("hosts.yml", "all: [", "not YAML"),
        ("hosts.yml", "all:\n  children:\n    a: {}\n    a: {}\n", "not YAML"),
        ("hosts.yml", "- a list", "mapping"),
        ("hosts.yml", "everything: {}", "`all` is missing"),
        ("hosts.yml", "all:\n  hots: {}\n", "not a part of a group"),
        ("hosts.yml", "", "`all` is missing"),
        ("cables.csv", "", "columns"),
        ("cables.csv", "from,to\n", "columns from,to"),
        ("cables.csv", 'end_a,end_b,rate_mbps,kind,switchable\n"sw1', "not CSV"),
    ],
)
def test_a_file_that_is_none(folder: Path, file: str, text: str, words: str) -> None:
    (folder / file).write_text(text, encoding="utf-8")
    assert any(words in problem[3] and problem[0] == file for problem in _problems(folder))


@pytest.mark.parametrize("file", ["hosts.yml", "cables.csv", "outlets.csv"])
def test_a_missing_or_unreadable_file(folder: Path, file: str) -> None:
    (folder / file).write_bytes(b"\xff\xfe\x00")
    assert any("UTF-8" in problem[3] for problem in _problems(folder))
    (folder / file).unlink()
    assert any("cannot be read" in problem[3] for problem in _problems(folder))


@law(150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_damaged_inventory_is_read_or_refused_and_nothing_else(folder: Path, data: st.DataObject) -> None:
    shutil.rmtree(folder)
    shutil.copytree(INVENTORY / "virtual", folder)
    path = folder / data.draw(st.sampled_from(["hosts.yml", "cables.csv", "outlets.csv"]))
    text = path.read_text(encoding="utf-8")
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 40)))
    inserted = data.draw(st.text(alphabet="ab1:,[]{}-\n\t \"'&*!%#0", max_size=8))
    path.write_text(text[:start] + inserted + text[end:], encoding="utf-8")
    assert all(problem.remedy and problem.sentence for problem in _found(folder))


@given(st.integers(0, 99), st.integers(0, 99), st.integers(1, 9))
def test_ranges_write_out_what_ansible_writes_out(first: int, last: int, step: int) -> None:
    pattern = f"n[{first:02d}:{last:02d}:{step}]x"
    if last < first:
        with pytest.raises(ValueError, match="empty"):
            expand_range(pattern)
    elif first < 10:
        assert expand_range(pattern) == [f"n{n:02d}x" for n in range(first, last + 1, step)]
    else:
        assert expand_range(pattern) == [f"n{n}x" for n in range(first, last + 1, step)]


def test_variables_are_merged_from_the_outer_group_inwards(tmp_path: Path) -> None:
    path = tmp_path / "hosts.yml"
    path.write_text(
        "all:\n  vars: {x: all, y: all, z: all}\n  children:\n    outer:\n      vars: {y: outer, z: outer}\n"
        '      children:\n        inner:\n          vars: {z: inner}\n          hosts: {"h[1:2]": , g: {z: own}}\n',
        encoding="utf-8",
    )
    entries = {entry.name: entry for entry in read_ansible(path).entries}
    assert {name: var.value for name, var in entries["h2"].variables.items()} == {
        "x": "all",
        "y": "outer",
        "z": "inner",
    }
    assert entries["g"].variables["z"].value == "own"
    assert entries["g"].groups == {"all", "outer", "inner"}
    assert entries["h1"].variables["z"].line == 8


def test_a_group_inside_itself_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "hosts.yml"
    path.write_text("all:\n  children:\n    a:\n      children:\n        a:\n", encoding="utf-8")
    with pytest.raises(InventoryError, match="inside itself"):
        read_ansible(path)


@pytest.mark.parametrize("name", ["virtual", "miwa", "koibuchi", "example"])
def test_the_files_have_only_what_ansible_takes(name: str) -> None:
    """Ansible's yaml inventory plugin takes groups of vars, hosts and children, each a mapping or nothing."""
    tree = YAML(typ="safe").load(INVENTORY / name / "hosts.yml")
    assert list(tree) == ["all"]

    def walk(group: dict[str, object]) -> None:
        assert set(group) <= {"vars", "hosts", "children"}
        for part in group.values():
            assert isinstance(part, dict)
        for held in group.get("hosts", {}).values():  # type: ignore[attr-defined]
            assert isinstance(held, dict)
        for child in group.get("children", {}).values():  # type: ignore[attr-defined]
            walk(child)

    walk(tree["all"])
