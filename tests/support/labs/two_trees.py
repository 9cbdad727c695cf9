"""Two PowerConnects that start with a VLAN each for their hosts' frames, over a cable each, with all entries."""

from pathlib import Path

from tests.support.labs.lab_files import DELL, SmallLab, mac, virtual_truth

TREES = {"sw1": 11, "sw2": 12}
TRUNK = {11: "gi1/0/11", 12: "gi1/0/12"}


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
    cables = [f"{home(n)[0]}:{home(n)[1]},n{n:02}:eth0,1000,copper,no" for n in range(1, count + 1)]
    cables += [f"sw1:{port},sw2:{port},1000,copper,yes" for port in TRUNK.values()]
    startup = {switch: _startup(number, switch, own, count) for switch, own in TREES.items()}
    lab = SmallLab(number, {"sw1": DELL, "sw2": DELL}, count, cables, startup)
    return lab.write(parent, f"r{number}", virtual_truth(), state)


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
