"""Run with Ansible, as text, in a process of its own: prints an inventory with all its variables, as JSON.

Arguments: the inventory's file, then the names of the variables whose templates are evaluated. Nothing else is: a
secret that is a lookup stays one.

The output is ``{"all": HELD, "hosts": {NAME: HELD}}``; HELD is ``{"variables": {...}, "faults": {VARIABLE: WHY}}``, for
a host with ``"groups": [...]``.
"""

import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ansible.errors import AnsibleError
from ansible.inventory.manager import InventoryManager
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar
from ansible.utils.vars import combine_vars
from ansible.vars.manager import VariableManager
from ansible.vars.plugins import get_vars_from_inventory_sources

VAULT = b"$ANSIBLE_VAULT;"
MAGIC = {
    "ansible_config_file", "ansible_facts", "ansible_playbook_python", "ansible_version", "environment", "group_names",
    "groups", "hostvars", "inventory_dir", "inventory_file", "inventory_hostname", "inventory_hostname_short",
    "omit", "playbook_dir",
}  # fmt: skip
"""What Ansible adds by itself (its documentation, "Special variables")."""


class Unencrypted(DataLoader):  # type: ignore[misc]  # Ansible has no types
    """Reads files of variables, those that `ansible-vault` encrypted as empty: secrets are not for this inventory."""

    def load_from_file(self, file_name: str, *args: Any, **options: Any) -> Any:
        """The content of a file."""
        with Path(self.path_dwim(file_name)).open("rb") as file:
            if file.read(len(VAULT)) == VAULT:
                return {}
        return super().load_from_file(file_name, *args, **options)


def plain(value: Any) -> Any:
    """A value without Ansible's tags; what is encrypted stays hidden."""
    if isinstance(value, Mapping):
        return {str(name): plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    for kind in (bool, int, float, str):
        if isinstance(value, kind):
            return kind(value)
    return None if value is None else "{{ encrypted }}"


def evaluated(loader: Any, values: Mapping[str, Any], needed: Iterable[str]) -> tuple[dict[str, Any], dict[str, str]]:
    """Variables with the needed ones' templates evaluated, and why some could not be."""
    variables = {str(name): plain(value) for name, value in values.items() if name not in MAGIC}
    faults = {}
    templar = Templar(loader=loader, variables=dict(values))
    for name in variables.keys() & set(needed):
        try:
            variables[name] = plain(templar.template(values[name]))
        except AnsibleError as error:
            faults[name] = " ".join(str(error).split())
    return variables, faults


def main(source: str, needed: Iterable[str]) -> None:
    """Print the inventory."""
    loader = Unencrypted()
    inventory = InventoryManager(loader=loader, sources=[source])
    manager = VariableManager(loader=loader, inventory=inventory)
    top = inventory.groups["all"]
    beside = get_vars_from_inventory_sources(loader, [source], [top], "all")
    hosts = {}
    for host in inventory.get_hosts("all"):
        variables, faults = evaluated(loader, manager.get_vars(host=host, include_hostvars=False), needed)
        groups = sorted({"all"} | {group.name for group in host.get_groups()})
        hosts[host.name] = {"groups": groups, "variables": variables, "faults": faults}
    variables, faults = evaluated(loader, combine_vars(top.get_vars(), beside), needed)
    json.dump({"all": {"variables": variables, "faults": faults}, "hosts": hosts}, sys.stdout)


main(sys.argv[1], sys.argv[2:])
