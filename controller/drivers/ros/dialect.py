"""Differences between the families of ROS switches, as data.

ROS (Marvell's, once RADLAN's) runs on the Dell PowerConnect 55xx and on Cisco's SG, SF and CBS series alike; their
command lines differ in little. What rests on memory alone is marked [M], here and where it is used.
"""

from dataclasses import dataclass

from eee_testbed.controller.drivers.login import CISCO_S300, DELL_POWERCONNECT, Login


@dataclass(frozen=True, slots=True)
class Dialect:
    """`eee_tree` is the OID of rlEee (CISCOSB-EEE-MIB); `flap_guard` turns link-flap prevention off, empty: none."""

    login: Login
    eee_tree: str
    speeds_mbps: tuple[int, ...]
    static_entries: int | None
    vlans: int | None
    flap_guard: str = ""


DELL_POWERCONNECT_55XX = Dialect(
    login=DELL_POWERCONNECT,
    eee_tree="1.3.6.1.4.1.89.149",  # derived from Cisco's numbers, not seen on a device [M]
    speeds_mbps=(10, 100, 1000, 10_000),
    static_entries=None,
    vlans=4094,
)
CISCO_SG = Dialect(
    login=CISCO_S300,
    eee_tree="1.3.6.1.4.1.9.6.1.101.149",
    speeds_mbps=(10, 100, 1000, 2500, 5000, 10_000),
    static_entries=None,
    vlans=None,  # 256 on an SG300, 4094 on a CBS350
    flap_guard="link-flap prevention disable",  # Cisco's knowledge base, article kmgmt-2249
)
