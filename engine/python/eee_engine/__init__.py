"""802.1Q switches and EEE links on a live or a virtual clock, with TAP devices and SNMP agents."""

from eee_engine._engine import Engine, FabricError, SnmpAgent, VirtualEngine, phy_profiles

__all__ = ["Engine", "FabricError", "SnmpAgent", "VirtualEngine", "phy_profiles"]
