"""What each family offers over SNMP."""
