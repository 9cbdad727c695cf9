"""Watts and joules: a meter's windows, and the powers of switches, ports and nodes fitted to them."""
