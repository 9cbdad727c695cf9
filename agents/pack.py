"""An agent as one text, to be run on a node that has nothing of ours: ``ssh NODE python3 - WORDS < text``.

The modules of this folder that an agent imports travel in the text, and nothing is written on the node.
"""

from __future__ import annotations

import ast
from pathlib import Path

_FOLDER = Path(__file__).resolve().parent
_PACKAGE = "eee_testbed.agents"
_LOADER = '''\
"""An agent and the modules that it needs; made by agents/pack.py."""
import sys, types
for _name in ("eee_testbed", {package!r}):
    sys.modules[_name] = types.ModuleType(_name)
for _name, _text in {modules!r}:
    _module = types.ModuleType({package!r} + "." + _name)
    sys.modules[_module.__name__] = _module
    exec(compile(_text, "agents/" + _name.replace(".", "/") + ".py", "exec"), _module.__dict__)
    _package, _, _short = _module.__name__.rpartition(".")
    setattr(sys.modules[_package], _short, _module)
__doc__ = {doc!r}
exec(compile({text!r}, "agents/{agent}.py", "exec"))
'''


def _imported(text: str) -> list[str]:
    """Modules of this folder that a module imports, in their order: "stream", "echo.plan"."""
    modules: list[str] = []
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.ImportFrom):
            continue
        if not f"{node.module}.".startswith(f"{_PACKAGE}."):
            continue
        inside = str(node.module).split(".")[2:]
        if _FOLDER.joinpath(*inside).is_dir():
            modules += [".".join([*inside, alias.name]) for alias in node.names]
        else:
            modules.append(".".join(inside))
    return modules


def _in_order(text: str, done: dict[str, str]) -> None:
    for name in _imported(text):
        if name not in done:
            *packages, module = name.split(".")
            for depth in range(len(packages)):
                done.setdefault(".".join(packages[: depth + 1]), "")
            inner = _FOLDER.joinpath(*packages, f"{module}.py").read_text(encoding="utf-8")
            _in_order(inner, done)
            done[name] = inner


def packed(agent: str) -> str:
    """The text of an agent, such as "echo_probe", with all that it imports; FileNotFoundError for an unknown name."""
    text = (_FOLDER / f"{agent}.py").read_text(encoding="utf-8")
    modules: dict[str, str] = {}
    _in_order(text, modules)
    doc = ast.get_docstring(ast.parse(text))
    return _LOADER.format(package=_PACKAGE, modules=list(modules.items()), doc=doc, text=text, agent=agent)
