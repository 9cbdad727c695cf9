"""802.1Q switches and EEE links on a live or a virtual clock, with TAP devices and SNMP agents."""

from eee_engine._engine import (
    EchoWalk,
    Engine,
    FabricError,
    LabClock,
    NetworkSimulation,
    SimulationError,
    SnmpAgent,
    VirtualEngine,
    cap_processors,
    lab_clock_library,
    lab_clock_rate,
    network_facts,
    phy_profiles,
    prove_deadlock_free,
    read_lab_clock,
    zero_load_cycles,
)

__all__ = [
    "EchoWalk",
    "Engine",
    "FabricError",
    "LabClock",
    "NetworkSimulation",
    "SimulationError",
    "SnmpAgent",
    "VirtualEngine",
    "cap_processors",
    "lab_clock_library",
    "lab_clock_rate",
    "network_facts",
    "phy_profiles",
    "prove_deadlock_free",
    "read_lab_clock",
    "zero_load_cycles",
]
