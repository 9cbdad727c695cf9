"""The twin's engine: 802.1Q switches, EEE links, a live clock on TAP devices and an SNMP agent."""

from eee_engine._engine import Engine, FabricError, SnmpAgent, VirtualEngine, phy_profiles

__all__ = ["Engine", "FabricError", "SnmpAgent", "VirtualEngine", "phy_profiles"]
