"""What Ansible alone knows of an inventory: variables from `host_vars/` and `group_vars/`, and templates' values.

`lab/ansible.py` reads hosts.yml. Where files of variables stand beside it, or a variable that is needed is a template,
Ansible itself says what each host has (`in_ansible.py`, in a process of its own: it takes about 2 s). Without Ansible
such an inventory is refused, with the file's name: half of it would be another lab than Ansible's. Files that
`ansible-vault` encrypted as a whole are left out: what is read here are references to secrets, never secrets.
"""

import importlib.util
import json
import re
import subprocess
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from eee_testbed.lab.ansible import Entry, Inventory, Variable
from eee_testbed.lab.errors import InventoryError, Problem

_ENDINGS: Final = ("", ".yml", ".yaml", ".json")
_VAULT: Final = b"$ANSIBLE_VAULT;"
_LONGEST_S: Final = 300.0
_INSTALL: Final = "install ansible-core beside eeectl (`uv pip install ansible-core`)"


def with_ansible(path: Path, written: Inventory, needed: Collection[str], *, installed: bool) -> Inventory:
    """The inventory `written` in the file `path` with all that Ansible adds to it.

    `needed`: the variables that are read here, whose templates are evaluated. InventoryError if Ansible is not
    `installed` and would have to be asked, or says that something is wrong.
    """
    files = _files_beside(path.parent, written)
    templates = _templates(written, needed)
    if not files and not templates:
        return written
    if not installed:
        sentence, remedy = (
            "only Ansible reads this, and it is not installed here",
            f"move it into hosts.yml, or {_INSTALL}",
        )
        problems = [Problem(str(file), 0, "", sentence, remedy) for file in files]
        problems += [
            Problem(str(path), at.line, name, "is a template", f"write its value, or {_INSTALL}")
            for name, at in templates
        ]
        raise InventoryError(problems)
    found = _asked(path, needed)
    problems, entries = [], []
    known = {entry.name: entry for entry in written.entries}
    for name in [*known, *(found["hosts"].keys() - known.keys())]:
        held, entry = found["hosts"][name], known.get(name, Entry(name, 0, frozenset(), {}))
        groups = frozenset(held["groups"])
        own = [file for file in files if _names(file) == ("host_vars", name)]
        shared = [file for file in files if _names(file)[0] == "group_vars" and _names(file)[1] in groups]
        variables = _variables(held["variables"], entry.variables, (*own, *reversed(shared)))
        problems += _faults(path, held["faults"], variables)
        entries.append(replace(entry, groups=groups, variables=variables))
    shared = [file for file in files if _names(file) == ("group_vars", "all")]
    variables = _variables(found["all"]["variables"], written.variables, shared)
    problems += _faults(path, found["all"]["faults"], variables)
    if problems:
        raise InventoryError(list(dict.fromkeys(problems)))
    return Inventory(tuple(entries), variables)


def is_installed() -> bool:
    """Whether Ansible runs with this Python."""
    return importlib.util.find_spec("ansible") is not None


def _files_beside(folder: Path, written: Inventory) -> list[Path]:
    """Files of variables that Ansible reads for hosts and groups of the inventory; those of others it leaves alone."""
    names = {
        "host_vars": sorted(entry.name for entry in written.entries),
        "group_vars": sorted({"all", "ungrouped"}.union(*(entry.groups for entry in written.entries))),
    }
    files: list[Path] = []
    for place, every in names.items():
        for name in every:
            for ending in _ENDINGS:
                files += _within(folder / place / f"{name}{ending}")
    return files


def _within(path: Path) -> Iterator[Path]:
    """A file, or those below a folder that Ansible reads, without encrypted ones, which hold secrets of playbooks."""
    if path.is_file():
        with path.open("rb") as file:
            if file.read(len(_VAULT)) != _VAULT:
                yield path
    elif path.is_dir():
        for inner in sorted(path.iterdir()):
            if not inner.name.startswith(".") and (inner.is_dir() or inner.suffix in _ENDINGS):
                yield from _within(inner)


def _names(file: Path) -> tuple[str, str]:
    """`host_vars` or `group_vars`, and of which host or group a file is."""
    place = next(part for part in file.parents if part.name in {"host_vars", "group_vars"})
    name = file.relative_to(place).parts[0]
    ending = Path(name).suffix
    return place.name, name.removesuffix(ending) if ending in _ENDINGS else name


def _templates(written: Inventory, needed: Collection[str]) -> Iterable[tuple[str, Variable]]:
    held = (written.variables, *(entry.variables for entry in written.entries))
    templates = {
        (name, variable.line): variable
        for variables in held
        for name, variable in variables.items()
        if name in needed and is_template(variable.value)
    }
    return [(name, variable) for (name, _), variable in templates.items()]


def is_template(value: Any) -> bool:
    """Whether a value, or a part of one, is a template of Jinja."""
    if isinstance(value, Mapping):
        return any(is_template(item) for item in value.values())
    if isinstance(value, list):
        return any(map(is_template, value))
    return isinstance(value, str) and ("{{" in value or "{%" in value)


def _asked(path: Path, needed: Collection[str]) -> Any:
    """The inventory as Ansible has it."""
    program = Path(__file__).with_name("in_ansible.py").read_text(encoding="utf-8")
    command = [sys.executable, "-P", "-c", program, str(path), *sorted(needed)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_LONGEST_S, check=False)
    except subprocess.TimeoutExpired as error:
        sentence = f"Ansible did not read it within {_LONGEST_S:.0f} s"
        raise InventoryError([Problem(str(path), 0, "", sentence, "try `ansible-inventory --list`")]) from error
    if done.returncode:
        said = " ".join((done.stderr.strip().splitlines() or ["nothing"])[-1].split())
        sentence = f"Ansible cannot read it: {said}"
        raise InventoryError([Problem(str(path), 0, "", sentence, "try `ansible-inventory --list`, and correct it")])
    return json.loads(done.stdout)


def _variables(
    values: Mapping[str, Any], written: Mapping[str, Variable], files: Iterable[Path]
) -> Mapping[str, Variable]:
    """Values with the places where they stand: the first of `files` that has the name, else where hosts.yml has it."""
    texts = [(file, file.read_text(encoding="utf-8", errors="replace").splitlines()) for file in files]
    variables = {}
    for name, value in values.items():
        at = re.compile(rf"""\s*["']?{re.escape(name)}["']?\s*:""")
        places = (
            (str(file), number) for file, lines in texts for number, line in enumerate(lines, 1) if at.match(line)
        )
        in_hosts_file = written.get(name)
        file, line = next(places, (in_hosts_file.file, in_hosts_file.line) if in_hosts_file else ("", 0))
        variables[name] = Variable(value, line, file)
    return variables


def _faults(path: Path, faults: Mapping[str, str], variables: Mapping[str, Variable]) -> Iterator[Problem]:
    for name, why in faults.items():
        place = variables[name]
        sentence = f"is a template that Ansible cannot evaluate ({why})"
        yield Problem(place.file or str(path), place.line, name, sentence, "write the value")
