"""802.1Q switches and EEE links on a live or a virtual clock, with TAP devices and SNMP agents."""

from eee_engine._engine import (
    Engine,
    FabricError,
    LabClock,
    SnmpAgent,
    VirtualEngine,
    cap_processors,
    lab_clock_library,
    lab_clock_rate,
    phy_profiles,
    read_lab_clock,
)

__all__ = [
    "Engine",
    "FabricError",
    "LabClock",
    "SnmpAgent",
    "VirtualEngine",
    "cap_processors",
    "lab_clock_library",
    "lab_clock_rate",
    "phy_profiles",
    "read_lab_clock",
]
