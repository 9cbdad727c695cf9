"""Two PowerConnects that start with a VLAN each for their hosts' frames, over a cable each, with all entries."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TREES = {"sw1": 11, "sw2": 12}
TRUNK = {11: "gi1/0/11", 12: "gi1/0/12"}


def mac(number: int, host: int) -> str:
    return f"02:ee:{number:02x}:00:00:{host:02x}"


def home(host: int) -> tuple[str, str]:
    """Hosts 1 to 6 are on sw1, 7 to 12 on sw2."""
    return (f"sw{1 + (host - 1) // 6}", f"gi1/0/{1 + (host - 1) % 6}")


def entry(number: int, switch: str, host: int, vid: int) -> str:
    """The line for a static entry."""
    there, port = home(host)
    return (
        f"mac address-table static {mac(number, host)} vlan {vid} interface {port if there == switch else TRUNK[vid]}"
    )


def write_lab(parent: Path, state: Path, number: int, count: int = 12) -> Path:
    """Write the lab's files; addresses have `number` in them."""
    name = f"r{number}"
    folder = parent / name
    (folder / "twin" / "startup").mkdir(parents=True)
    hosts = "".join(
        f"        n{n:02}: {{ansible_host: 198.18.{number}.{n}, data_address: 198.19.{number}.{n}, "
        f'mac: "{mac(number, n)}"}}\n'
        for n in range(1, count + 1)
    )
    switches = "".join(
        f'        sw{n}: {{ansible_host: 127.{number}.1.{n}, ports: {{"gi1/0/[1:24]": 1000, "te1/0/[1:2]": 10000}}}}\n'
        for n in (1, 2)
    )
    (folder / "hosts.yml").write_text(
        f"""all:
  vars:
    management_network: 198.18.{number}.0/24
    data_network: 198.19.0.0/16
  children:
    switches:
      vars:
        family: dell_powerconnect_55xx
        model: PowerConnect 5524
        password_file: {state}/{name}/secrets/cli_password
        community_file: {state}/{name}/secrets/snmp_write_community
      hosts:
{switches}    nodes:
      vars:
        ansible_user: lab
        ansible_ssh_common_args: -F {state}/{name}/ssh_config
      hosts:
{hosts}""",
        encoding="utf-8",
    )
    cables = [f"{home(n)[0]}:{home(n)[1]},n{n:02}:eth0,1000,copper,no" for n in range(1, count + 1)]
    cables += [f"sw1:{port},sw2:{port},1000,copper,yes" for port in TRUNK.values()]
    (folder / "cables.csv").write_text("end_a,end_b,rate_mbps,kind,switchable\n" + "\n".join(cables) + "\n", "utf-8")
    truth = (ROOT / "inventory" / "virtual" / "twin" / "truth.yaml").read_text(encoding="utf-8")
    kept = [line for line in truth.splitlines() if "sw4:" not in line and line.strip() != "overrides:"]
    (folder / "twin" / "truth.yaml").write_text("\n".join(kept) + "\n", encoding="utf-8")
    for switch, own in TREES.items():
        (folder / "twin" / "startup" / f"{switch}.cfg").write_text(_startup(number, switch, own, count), "utf-8")
    return folder


def _startup(number: int, switch: str, own: int, count: int) -> str:
    lines = [f"hostname {switch}", "no spanning-tree", "vlan database", "vlan 11,12", "exit"]
    for vid in TREES.values():
        far = [n for n in range(1, count + 1) if TREES[home(n)[0]] != vid]
        lines += (entry(number, switch, host, vid) for host in far)
    for vid, port in TRUNK.items():
        lines += [f"interface {port}", "switchport mode general", f"switchport general allowed vlan add {vid} tagged"]
        lines += ["switchport forbidden default-vlan", "switchport general acceptable-frame-type tagged-only", "exit"]
    lines += [
        "interface range gi1/0/1-6",
        "switchport mode general",
        "switchport general allowed vlan add 11,12 untagged",
    ]
    lines += [f"switchport general pvid {own}", "exit"]
    return "\n".join(lines) + "\n"
