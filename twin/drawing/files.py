"""The files of a drawn lab: inventory, cables, outlets and the switches' startup configurations."""

import csv
import io
from collections.abc import Iterable

from eee_testbed.lab.folder import STATE_ROOT
from eee_testbed.twin.drawing.plan import Plan


def draw(plan: Plan, head: str, watts_note: Iterable[str]) -> dict[str, str]:
    """All files of a lab but the twin's truth: path below the lab's folder -> text.

    `head` is a sentence behind the title of hosts.yml; `watts_note` has the lines of the lab's note on its watts.
    """
    files = {
        "hosts.yml": _hosts_yml(plan, head, watts_note),
        "cables.csv": _cables_csv(plan),
        "outlets.csv": _outlets_csv(plan),
    }
    for switch in range(len(plan.switches)):
        files[f"twin/startup/{plan.switch_name(switch)}.cfg"] = _startup(plan, switch)
    return files


def _hosts_yml(plan: Plan, head: str, watts_note: Iterable[str]) -> str:
    lines = [
        f"# {plan.title}.",
        f"# {head}",
        "all:",
        "  vars:",
        f"    management_network: 198.18.{plan.subnet}.0/24",
        "    data_network: 198.19.0.0/16",
        "    watts_note: >-",
        *(f"      {line}" for line in watts_note),
        "  children:",
        *_switches(plan),
        *_nodes(plan),
        *_strips(plan),
    ]
    return "\n".join(lines) + "\n"


def _secrets(plan: Plan) -> str:
    return f"{STATE_ROOT}/{plan.name}/secrets"


def _switches(plan: Plan) -> list[str]:
    lines = [
        "    switches:",
        "      vars:",
        "        ansible_port: 22",
        "        ansible_user: admin",
        "        ansible_password: \"{{ lookup('ansible.builtin.file', password_file) }}\"",
        f"        password_file: {_secrets(plan)}/cli_password",
        f"        community_file: {_secrets(plan)}/snmp_write_community",
        f"        known_hosts_file: {STATE_ROOT}/{plan.name}/known_hosts",
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
        lines += [
            f"            {plan.switch_name(index)}: {{ansible_host: 127.{plan.loopback}.1.{index + 1}}}"
            for index, held in enumerate(plan.switches)
            if held is model
        ]
    return lines


def _nodes(plan: Plan) -> list[str]:
    lines = [
        "    nodes:",
        "      vars:",
        "        ansible_user: lab",
        f"        ansible_ssh_common_args: -F {STATE_ROOT}/{plan.name}/ssh_config",
        "      hosts:",
    ]
    for index in range(plan.hosts):
        number = index + 1
        lines.append(
            f"        {plan.host_name(index)}: {{ansible_host: 198.18.{plan.subnet}.{number},"
            f' data_address: 198.19.{plan.subnet}.{number}, mac: "02:ee:{plan.subnet:02x}:00:00:{number:02x}"}}'
        )
    return lines


def _strips(plan: Plan) -> list[str]:
    lines = [
        "    strips:",
        "      vars:",
        f"        community_file: {_secrets(plan)}/snmp_write_community",
        "      hosts:",
    ]
    lines += [
        f"        pdu{index + 1}: {{ansible_host: 127.{plan.loopback}.2.{index + 1}, family: {strip.family},"
        f" model: {strip.name}, outlets: {strip.outlet_count}}}"
        for index, strip in enumerate(plan.strips)
    ]
    return lines


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
    rows += [
        (*(f"{plan.switch_name(switch)}:{port}" for switch, port in ends), 1000, "copper", "yes")
        for ends in plan.trunks()
    ]
    return _table(rows)


def _outlets_csv(plan: Plan) -> str:
    """The first strips feed the switches, the others the nodes; a single strip feeds all."""
    switches = [plan.switch_name(index) for index in range(len(plan.switches))]
    hosts = [plan.host_name(index) for index in range(plan.hosts)]
    sockets = [
        (index, number) for index, strip in enumerate(plan.strips) for number in range(1, strip.outlet_count + 1)
    ]
    last = sockets[len(switches) - 1][0]
    for_hosts = [socket for socket in sockets if socket[0] > last] or sockets[len(switches) :]
    fed = [*zip(sockets, switches, strict=False), *zip(for_hosts, hosts, strict=False)]
    return _table([("strip", "outlet", "feeds"), *((f"pdu{i + 1}", number, feeds) for (i, number), feeds in fed)])


def _startup(plan: Plan, switch: int) -> str:
    """A startup configuration: no spanning tree, redundant links shut, EEE at its factory default."""
    fastpath = plan.switches[switch].family == "netgear_m4300"
    name = plan.switch_name(switch)
    lines = ["configure", f'hostname "{name}"'] if fastpath else [f"hostname {name}"]
    lines += ["no spanning-tree"]
    for port in plan.shut_ports(switch):
        lines += [f"interface {port}", "shutdown", "exit"]
    lines += ["exit"] if fastpath else []
    return "\n".join(lines) + "\n"
