"""Executes a saved configuration, line by line, as the switch does at boot."""

from __future__ import annotations

from typing import TYPE_CHECKING

from eee_testbed.twin.cli.grammar import Fault
from eee_testbed.twin.families.fastpath.actions import Configure, Enter, Leave
from eee_testbed.twin.switch.personality import Refused

if TYPE_CHECKING:
    from eee_testbed.twin.families.fastpath.personality import FastpathPersonality


def execute(personality: FastpathPersonality, text: str) -> list[str]:
    """Execute every line from privileged exec; skip lines that fail and return them, as a boot log would list them."""
    modes: list[tuple[str, tuple[int, ...]]] = [("exec", ())]
    failed: list[str] = []
    for line in (raw.strip() for raw in text.splitlines()):
        if not line or line.startswith("!"):
            continue
        mode, ports = modes[-1]
        parsed = personality.grammar.parse(mode, line)
        run = None if isinstance(parsed, Fault) else parsed.command.run
        if isinstance(parsed, Fault):
            failed.append(line)
        elif isinstance(run, Enter):
            modes.append((run.mode, run.about(parsed).get("ports", ())))
        elif isinstance(run, Leave):
            del modes[max(1, len(modes) - 1) :]
        elif isinstance(run, Configure):
            before = personality.config
            personality.config = before.__deepcopy__({})
            try:
                run.action(personality, ports, parsed)
            except Refused:
                personality.config = before
                failed.append(line)
        else:
            failed.append(line)
    return failed
