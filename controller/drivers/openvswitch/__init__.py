"""Open vSwitch with OpenFlow rules."""
