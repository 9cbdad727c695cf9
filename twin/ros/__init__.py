"""Dell PowerConnect 55xx (RADLAN/Marvell ROS): the family, its configuration and its command line.

`FAMILY` builds devices (`twin.device.SwitchDevice`), `RosCli` is the command line of one (`twin.ssh_face.SshFace`).
"""

from twin.personality import Family
from twin.ros.cli import RosCli
from twin.ros.personality import RosFamily

__all__ = ["FAMILY", "RosCli"]

FAMILY: Family = RosFamily()
