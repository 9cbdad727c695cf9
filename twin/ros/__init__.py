"""Dell PowerConnect 55xx (RADLAN/Marvell ROS): the family, its configuration and its command line."""

from twin.personality import Family
from twin.ros.personality import RosFamily

FAMILY: Family = RosFamily()
