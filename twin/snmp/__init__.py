"""SNMP of a switch: the objects that its agent shows, and the SETs that it accepts."""
