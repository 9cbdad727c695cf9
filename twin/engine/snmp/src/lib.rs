//! SNMP v2c and v3 agent: bytes in, bytes out.
