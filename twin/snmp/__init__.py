"""A switch's SNMP agent: what it shows, and the SETs that it accepts."""
