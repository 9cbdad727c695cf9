"""A script for comparison: log in with netmiko, then one `send_config_set` for each port in series.

``python -m evaluation.speed.netmiko_ports LAB FILE`` reads JSON: switch name to a list of sets of lines. It uses one
session for each switch, and neither saves nor reads back.
"""

import json
import sys
from pathlib import Path

import netmiko

from eee_testbed.controller.drivers.table import driver_of
from eee_testbed.lab.credentials import read_secret
from eee_testbed.lab.folder import find_lab, load_lab


def main() -> None:
    """Send every set of lines."""
    lab = load_lab(find_lab(sys.argv[1]))
    for name, sets in json.loads(Path(sys.argv[2]).read_text(encoding="utf-8")).items():
        switch = lab.switch(name)
        login = driver_of(switch).login
        if login is None:
            sys.exit(f"{name} has no terminal for netmiko: use a lab of switches that have one.")
        connection = netmiko.ConnectHandler(
            device_type=login.netmiko_type,
            host=switch.address,
            port=switch.ssh_port,
            username=switch.user,
            password=read_secret(switch.password, name) if switch.password else None,
            secret="",
        )
        connection.enable()
        for lines in sets:
            connection.send_config_set(lines)
        connection.disconnect()


if __name__ == "__main__":
    main()
