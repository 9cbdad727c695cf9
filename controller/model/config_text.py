"""Lines of switches' configurations that drivers write and that no setting of a state holds. Pure."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

WHOLE_SWITCH: Final = "switch"
"""The block of lines that stand outside of all others."""


@dataclass(frozen=True, slots=True)
class LostLine:
    """A line that a change of one setting replaces, and that no rollback types again.

    `setting` is the name of a field of `PortState`, or of the switch's `SwitchState`.
    """

    setting: str
    line: str


@dataclass(frozen=True, slots=True)
class ConfigText:
    """Lines of one switch, such as a switchport mode that does the same, or what stays of a VLAN that is gone.

    Frames meet no difference. Lines are in the form that `controller.drivers.leftovers` compares.
    """

    blocks: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Lines by block: a port of the lab, `switch` for what stands outside of blocks, `vlan N`. None is empty."""

    lost: Mapping[str, tuple[LostLine, ...]] = field(default_factory=dict)
    """By port, or `switch`: lines that the driver would replace for good."""


def differences(found: ConfigText, wanted: ConfigText) -> Iterator[str]:
    """What differs, a phrase for each line: the lines that are new, and those that are gone."""
    for now, then in ((found.blocks, wanted.blocks), (_texts(found), _texts(wanted))):
        for block in sorted(now.keys() | then.keys()):
            own, old = now.get(block, ()), then.get(block, ())
            yield from (f"{block}: `{line}` is new" for line in own if line not in old)
            yield from (f"{block}: `{line}` is gone" for line in old if line not in own)


def _texts(text: ConfigText) -> Mapping[str, tuple[str, ...]]:
    return {port: tuple(lost.line for lost in lines) for port, lines in text.lost.items()}
