# ruff: noqa: INP001 - a script beside the labs, not a package
"""Generate the shipped labs' files: ``python inventory/draw.py`` writes them; a test checks that they are up to date.

hosts.yml, cables.csv, outlets.csv and the switches' startup configurations are generated; the twin's ground truth
(twin/truth.yaml) is written by hand.
"""

import csv
import io
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

FOLDER = Path(__file__).resolve().parent


@dataclass(frozen=True, slots=True)
class Model:
    """A switch model: `groups` are ranges of port names with their rate in Mb/s."""

    family: str
    name: str
    groups: tuple[tuple[str, int], ...]
    copper: str  # pattern of a copper port's name; {} is its number

    def port(self, number: int) -> str:
        """Name of a copper port."""
        return self.copper.format(number)


DELL_24 = Model(
    "dell_powerconnect_55xx", "PowerConnect 5524", (("gi1/0/[1:24]", 1000), ("te1/0/[1:2]", 10_000)), "gi1/0/{}"
)
DELL_48 = Model(
    "dell_powerconnect_55xx", "PowerConnect 5548", (("gi1/0/[1:48]", 1000), ("te1/0/[1:2]", 10_000)), "gi1/0/{}"
)
NETGEAR_28 = Model("netgear_m4300", "M4300-28G", (("1/0/[1:24]", 1000), ("1/0/[25:28]", 10_000)), "1/0/{}")


@dataclass(frozen=True, slots=True)
class StripModel:
    """A power strip model."""

    family: str
    name: str
    outlet_count: int


APC = StripModel("apc_rpdu2", "AP8653", 24)
GUDE = StripModel("gude", "Expert Power Control 8226", 12)


@dataclass(frozen=True, slots=True)
class Plan:
    """A lab. `subnet`: third byte of its management addresses; `loopback`: second byte of its devices' addresses."""

    name: str
    title: str
    subnet: int
    loopback: int
    switches: tuple[Model, ...]
    strips: tuple[StripModel, ...]
    hosts: int
    first_trunk: int  # first copper port of a switch for links to other switches
    links_per_pair: int

    def switch_name(self, index: int) -> str:
        """Name of a switch, by its index from 0."""
        return f"sw{index + 1}"

    def host_name(self, index: int) -> str:
        """Name of a host, by its index from 0."""
        return f"n{index + 1:02d}"

    def hosts_of(self, switch: int) -> range:
        """Indices of the hosts at a switch: hosts are distributed evenly, in order."""
        share = self.hosts // len(self.switches)
        return range(switch * share, (switch + 1) * share)

    def trunk_port(self, switch: int, peer: int, lane: int) -> str:
        """Port of a switch that holds the lane-th link to a peer."""
        slot = peer - (peer > switch)
        return self.switches[switch].port(self.first_trunk + slot * self.links_per_pair + lane)


VIRTUAL = Plan(
    "virtual",
    "6 switches of two families in a complete graph with two links per pair, 12 nodes, 2 strips",
    subnet=0,
    loopback=18,
    switches=(DELL_24, DELL_24, DELL_24, DELL_24, NETGEAR_28, NETGEAR_28),
    strips=(GUDE, APC),
    hosts=12,
    first_trunk=11,
    links_per_pair=2,
)
MIWA = Plan(
    "miwa",
    "one switch and 4 nodes, as in Miwa's measurements of 2013",
    subnet=1,
    loopback=19,
    switches=(DELL_48,),
    strips=(GUDE,),
    hosts=4,
    first_trunk=41,
    links_per_pair=0,
)
KOIBUCHI = Plan(
    "koibuchi",
    "6 switches of 48 ports in a complete graph with 5 links per pair, 66 nodes, as in Koibuchi's cluster of 2011",
    subnet=2,
    loopback=20,
    switches=(DELL_48,) * 6,
    strips=(GUDE, APC, APC, APC),
    hosts=66,
    first_trunk=21,
    links_per_pair=5,
)
PLANS = (VIRTUAL, MIWA, KOIBUCHI)


_WATTS_NOTE = (
    "    watts_note: >-",
    "      The watts of this virtual lab are invented: they were set so that shutting four of five parallel links",
    "      saves the 23 to 26 % of the network's power that Koibuchi et al. (2011) report. A saving in them confirms",
    "      nothing.",
)


def _hosts_yml(plan: Plan) -> str:
    secrets = f"/run/eee-testbed/{plan.name}/secrets"
    lines = [
        f"# {plan.title}.",
        "# Ansible and eeectl read this file; `python inventory/draw.py` generates it.",
        "all:",
        "  vars:",
        f"    management_network: 198.18.{plan.subnet}.0/24",
        "    data_network: 198.19.0.0/16",
        *_WATTS_NOTE,
        "  children:",
        "    switches:",
        "      vars:",
        "        ansible_port: 22",
        "        ansible_user: admin",
        "        ansible_password: \"{{ lookup('ansible.builtin.file', password_file) }}\"",
        f"        password_file: {secrets}/cli_password",
        f"        community_file: {secrets}/snmp_write_community",
        f"        known_hosts_file: /run/eee-testbed/{plan.name}/known_hosts",
        "      children:",
    ]
    for model in dict.fromkeys(plan.switches):
        lines += [
            f"        {model.family}:",
            "          vars:",
            f"            family: {model.family}",
            f"            model: {model.name}",
            "            ports:",
            *(f"              {pattern}: {rate_mbps}" for pattern, rate_mbps in model.groups),
            "          hosts:",
        ]
        for index, held in enumerate(plan.switches):
            if held is model:
                lines.append(
                    f"            {plan.switch_name(index)}: {{ansible_host: 127.{plan.loopback}.1.{index + 1}}}"
                )
    lines += [
        "    nodes:",
        "      vars:",
        "        ansible_user: lab",
        f"        ansible_ssh_common_args: -F /run/eee-testbed/{plan.name}/ssh_config",
        "      hosts:",
    ]
    for index in range(plan.hosts):
        number = index + 1
        lines.append(
            f"        {plan.host_name(index)}: {{ansible_host: 198.18.{plan.subnet}.{number},"
            f' data_address: 198.19.{plan.subnet}.{number}, mac: "02:ee:{plan.subnet:02x}:00:00:{number:02x}"}}'
        )
    lines += [
        "    strips:",
        "      vars:",
        f"        community_file: {secrets}/snmp_write_community",
        "      hosts:",
    ]
    for index, strip in enumerate(plan.strips):
        lines.append(
            f"        pdu{index + 1}: {{ansible_host: 127.{plan.loopback}.2.{index + 1}, family: {strip.family},"
            f" model: {strip.name}, outlets: {strip.outlet_count}}}"
        )
    return "\n".join(lines) + "\n"


def _table(rows: list[tuple[object, ...]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def _cables_csv(plan: Plan) -> str:
    rows: list[tuple[object, ...]] = [("end_a", "end_b", "rate_mbps", "kind", "switchable")]
    for switch, model in enumerate(plan.switches):
        for slot, host in enumerate(plan.hosts_of(switch)):
            end = f"{plan.switch_name(switch)}:{model.port(slot + 1)}"
            rows.append((end, f"{plan.host_name(host)}:eth0", 1000, "copper", "no"))
    for a, b in combinations(range(len(plan.switches)), 2):
        for lane in range(plan.links_per_pair):
            ends = [f"{plan.switch_name(x)}:{plan.trunk_port(x, y, lane)}" for x, y in ((a, b), (b, a))]
            rows.append((*ends, 1000, "copper", "yes"))
    return _table(rows)


def _outlets_csv(plan: Plan) -> str:
    """The first strip feeds the switches, the others feed the nodes; a single strip feeds all."""
    switches = [plan.switch_name(index) for index in range(len(plan.switches))]
    hosts = [plan.host_name(index) for index in range(plan.hosts)]
    sockets = [
        (index, number) for index, strip in enumerate(plan.strips) for number in range(1, strip.outlet_count + 1)
    ]
    for_switches = [socket for socket in sockets if socket[0] == 0]
    for_hosts = [socket for socket in sockets if socket[0] > 0] or for_switches[len(switches) :]
    fed = [*zip(for_switches, switches, strict=False), *zip(for_hosts, hosts, strict=False)]
    return _table([("strip", "outlet", "feeds"), *((f"pdu{i + 1}", number, feeds) for (i, number), feeds in fed)])


def shut_ports(plan: Plan, switch: int) -> list[str]:
    """Ports of a switch that are shut in a new lab: all trunks but the first one between sw1 and each other switch."""
    return [
        plan.trunk_port(switch, peer, lane)
        for peer in range(len(plan.switches))
        if peer != switch
        for lane in range(plan.links_per_pair)
        if lane or 0 not in (switch, peer)
    ]


def _startup(plan: Plan, switch: int) -> str:
    """A startup configuration: no spanning tree, redundant links shut, EEE at its factory default."""
    model = plan.switches[switch]
    lines = [f"hostname {plan.switch_name(switch)}", "no spanning-tree"]
    if model.family == "netgear_m4300":
        lines = ["configure", f'hostname "{plan.switch_name(switch)}"', "no spanning-tree"]
    for port in shut_ports(plan, switch):
        lines += [f"interface {port}", "shutdown", "exit"]
    if model.family == "netgear_m4300":
        lines += ["exit"]
    return "\n".join(lines) + "\n"


def draw(plan: Plan) -> dict[str, str]:
    """All generated files of a lab: path below the lab's folder -> text."""
    files = {
        "hosts.yml": _hosts_yml(plan),
        "cables.csv": _cables_csv(plan),
        "outlets.csv": _outlets_csv(plan),
    }
    for switch in range(len(plan.switches)):
        files[f"twin/startup/{plan.switch_name(switch)}.cfg"] = _startup(plan, switch)
    return files


def main() -> None:
    """Write every lab's files."""
    for plan in PLANS:
        for name, text in draw(plan).items():
            path = FOLDER / plan.name / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
