"""Netgear M4300 (FASTPATH): configuration, command line, shows.

Written from the CLI manual 202-11997, from outputs of real M4300, ICOS and EdgeSwitch devices, and from published
measurements of them; what is from memory is marked [M].

`FAMILY` builds devices (`twin.switch.device.SwitchDevice`), `FastpathCli` is the command line of one
(`twin.cli.ssh_face.SshFace`).
"""

from eee_testbed.twin.families.fastpath.cli import FastpathCli
from eee_testbed.twin.families.fastpath.family import FastpathFamily
from eee_testbed.twin.switch.personality import Family

__all__ = ["FAMILY", "FastpathCli"]

FAMILY: Family = FastpathFamily()
