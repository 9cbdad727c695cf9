"""A lab with addresses of its own: three switches of two families, two cables between each two, two hosts at each."""

import re
from pathlib import Path

from tests.support.labs.lab_files import DELL, NETGEAR, SmallLab, virtual_truth

_TRUNKS = ((1, 2, (5, 6)), (2, 3, (7, 8)), (1, 3, (9, 10)))
"""Switch, switch, ports at both ends."""

_SWITCHES = {"sw1": DELL, "sw2": NETGEAR, "sw3": DELL}


def port(switch: str, number: int) -> str:
    """An end as cables.csv writes it."""
    return f"{switch}:{'' if _SWITCHES[switch] is NETGEAR else 'gi'}1/0/{number}"


def write_lab(parent: Path, number: int) -> Path:
    """Write the folder of a lab in 198.18.`number`.0/24; its switches have a name, and else the factory's settings."""
    rows = [f"{port(f'sw{1 + n // 2}', 1 + n % 2)},n0{n + 1}:eth0,1000,copper,no" for n in range(6)]
    rows += [f"{port(f'sw{a}', p)},{port(f'sw{b}', p)},1000,copper,yes" for a, b, ports in _TRUNKS for p in ports]
    startup = {
        switch: f'configure\nhostname "{switch}"\nexit\n' if model is NETGEAR else f"hostname {switch}\n"
        for switch, model in _SWITCHES.items()
    }
    return SmallLab(number, _SWITCHES, 6, rows, startup).write(parent, f"apply{number}", hasty_truth())


def hasty_truth() -> str:
    """The virtual lab's truth, with switches that boot, and links that come up, as fast as a test would like."""
    hasty = re.sub(r"boot_s: [\d.]+", "boot_s: 2.0", virtual_truth())
    hasty = re.sub(r"interruption_s: \{.*\}", "interruption_s: {10: 0.3, 100: 0.3, 1000: 0.4, 10000: 0.4}", hasty)
    return re.sub(r"interruption_s: [\d.]+", "interruption_s: 0.3", hasty)
