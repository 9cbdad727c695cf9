"""Ansible's YAML inventory, read as Ansible reads it, with the line of every variable.

Groups nest (`children`), carry variables (`vars`) and name hosts, also as ranges (`n[01:12]`). A host's variables are
merged from the outermost group inwards, its own last; of two groups at one depth the later name wins. Templates are
passed on as text; `ansible_vars.py` has their values, and what stands in `host_vars/` and `group_vars/`.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from eee_testbed.lab.errors import InventoryError, Problem, UnreadableFile
from eee_testbed.lab.untrusted_files import parse_yaml, read_text
from eee_testbed.lab.yaml_source import plain

_RANGE = re.compile(r"\[(\d+):(\d+)(?::(\d+))?\]|\[([a-z]):([a-z])\]")


ANSIBLE_VARIABLES = frozenset(
    f"ansible_{name}"
    for name in (
        "host", "port", "user", "password", "connection", "timeout", "pipelining", "remote_tmp", "async_dir",
        "executable", "ssh_private_key_file", "ssh_common_args", "ssh_extra_args", "sftp_extra_args",
        "scp_extra_args", "ssh_executable",
        "ssh_pipelining", "ssh_args", "ssh_host", "ssh_port", "ssh_user", "ssh_pass", "ssh_password", "ssh_retries",
        "ssh_transfer_method", "private_key_file", "host_key_checking", "ssh_host_key_checking", "paramiko_password",
        "become", "become_method", "become_user", "become_password", "become_pass", "become_exe", "become_flags",
        "shell_type", "shell_executable", "python_interpreter", "interpreter_python_fallback", "network_os",
        "network_cli_ssh_type", "command_timeout", "connect_timeout", "persistent_connect_timeout",
        "persistent_command_timeout", "facts", "local_temp",
    )
)  # fmt: skip
"""Variables of an inventory that Ansible itself reads (Ansible documentation, "Behavioral inventory parameters")."""


@dataclass(frozen=True, slots=True)
class Variable:
    """A value and the line (1-based) where it stands; `file` is empty for the inventory's own."""

    value: Any
    line: int
    file: str = ""


@dataclass(frozen=True, slots=True)
class Entry:
    """A host of the inventory with all its variables; `groups` are all groups that it is in, `line` its own line."""

    name: str
    line: int
    groups: frozenset[str]
    variables: Mapping[str, Variable]


@dataclass(slots=True)
class _Group:
    line: int
    depth: int = 0
    parents: set[str] = field(default_factory=set)
    variables: dict[str, Variable] = field(default_factory=dict)
    hosts: dict[str, dict[str, Variable]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Inventory:
    """All hosts in the order of the file, and the variables of the group `all`."""

    entries: tuple[Entry, ...]
    variables: Mapping[str, Variable]


def expand_range(pattern: str) -> list[str]:
    """Write out Ansible's ranges: `n[01:03]` is n01, n02, n03; `[a:c]` works too; ValueError for a range that falls."""
    span = _RANGE.search(pattern)
    if span is None:
        if "[" in pattern or "]" in pattern:
            raise ValueError(f"'{pattern}' is not a range such as n[01:12]")
        return [pattern]
    if span[4]:
        names = [chr(code) for code in range(ord(span[4]), ord(span[5]) + 1)]
    else:
        width = len(span[1]) if span[1].startswith("0") else 0
        step = int(span[3] or 1)
        if not step:
            raise ValueError(f"the range in '{pattern}' has a step of 0")
        names = [str(number).zfill(width) for number in range(int(span[1]), int(span[2]) + 1, step)]
    if not names:
        raise ValueError(f"the range in '{pattern}' is empty: its end comes before its beginning")
    head, tail = pattern[: span.start()], pattern[span.end() :]
    return [head + name + rest for name in names for rest in expand_range(tail)]


class _Reader:
    def __init__(self, file: str) -> None:
        self.file = file
        self.groups: dict[str, _Group] = {}
        self.host_lines: dict[str, int] = {}
        self.problems: list[Problem] = []

    def complain(self, line: int, key: str, sentence: str, remedy: str) -> None:
        self.problems.append(Problem(self.file, line, key, sentence, remedy))

    def mapping(self, value: Any, line: int, key: str) -> Mapping[Any, Any]:
        if value is None:
            return {}
        if isinstance(value, Mapping):
            return value
        self.complain(line, key, "must be a mapping", f"write `{key}:` and its entries below it, each `name: value`")
        return {}

    def variables(self, value: Any, line: int, key: str) -> dict[str, Variable]:
        entries = self.mapping(value, line, key)
        return {str(name): Variable(plain(item), line_of(entries, name, line)) for name, item in entries.items()}

    def group(self, name: str, body: Any, line: int, parents: Sequence[str]) -> None:
        if name in parents:
            self.complain(line, name, "the group is inside itself", "remove it from its own children")
            return
        group = self.groups.setdefault(name, _Group(line))
        group.depth = max(group.depth, len(parents))
        group.parents.update(parents)
        parts = self.mapping(body, line, name)
        for part, value in parts.items():
            at = line_of(parts, part, line)
            if part == "vars":
                group.variables.update(self.variables(value, at, "vars"))
            elif part == "hosts":
                self.hosts(group, value, at)
            elif part == "children":
                children = self.mapping(value, at, "children")
                for child, inner in children.items():
                    self.group(str(child), inner, line_of(children, child, at), (*parents, name))
            else:
                self.complain(at, str(part), "is not a part of a group", "use vars, hosts or children")

    def hosts(self, group: _Group, value: Any, line: int) -> None:
        hosts = self.mapping(value, line, "hosts")
        for pattern, inner in hosts.items():
            at = line_of(hosts, pattern, line)
            try:
                names = expand_range(str(pattern))
            except ValueError as error:
                self.complain(at, str(pattern), str(error), "write it as name[first:last]")
                continue
            for name in names:
                self.host_lines.setdefault(name, at)
                group.hosts.setdefault(name, {}).update(self.variables(inner, at, name))

    def entries(self) -> Iterator[Entry]:
        order = sorted(self.groups, key=lambda name: (self.groups[name].depth, name))
        for host, line in self.host_lines.items():
            direct = {name for name, group in self.groups.items() if host in group.hosts}
            held = direct.union(*(self.groups[name].parents for name in direct))
            merged: dict[str, Variable] = {}
            for name in order:
                if name in held:
                    merged.update(self.groups[name].variables)
            for name in order:
                merged.update(self.groups[name].hosts.get(host, {}))
            yield Entry(host, line, frozenset(held), merged)


def line_of(mapping: Mapping[Any, Any], key: Any, otherwise: int) -> int:
    """Say in which line (1-based) a key of a mapping read by ruamel.yaml stands."""
    position = getattr(mapping, "lc", None)
    data = getattr(position, "data", None) or {}
    return int(data[key][0]) + 1 if key in data else otherwise


def read_ansible(path: Path) -> Inventory:
    """Read an inventory file; InventoryError lists everything in it that Ansible would not take either."""
    file = str(path)
    try:
        text = read_text(path, "a lab is a folder with hosts.yml, cables.csv and outlets.csv, saved as UTF-8")
        tree = parse_yaml(text, file, "correct that", round_trip=True)
    except UnreadableFile as error:
        raise InventoryError([Problem(file, error.line, "", error.sentence, error.remedy)]) from error
    reader = _Reader(file)
    top = reader.mapping(tree, 1, "all")
    if "all" not in top:
        reader.complain(1, "all", "the group `all` is missing", "begin the file with `all:`")
    for name, body in top.items():
        reader.group(str(name), body, line_of(top, name, 1), () if name == "all" else ("all",))
    if reader.problems:
        raise InventoryError(reader.problems)
    return Inventory(tuple(reader.entries()), reader.groups["all"].variables)
