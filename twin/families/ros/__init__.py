"""Dell PowerConnect 55xx (RADLAN/Marvell ROS): the family, its configuration and its command line.

`FAMILY` builds devices (`twin.switch.device.SwitchDevice`), `RosCli` is the command line of one
(`twin.cli.ssh_face.SshFace`).
"""

from eee_testbed.twin.families.ros.cli import RosCli
from eee_testbed.twin.families.ros.personality import RosFamily
from eee_testbed.twin.switch.personality import Family

__all__ = ["FAMILY", "RosCli"]

FAMILY: Family = RosFamily()
