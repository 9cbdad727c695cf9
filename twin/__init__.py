"""The virtual lab: real frames, real SSH, real SNMP, watts that follow from the ports."""
