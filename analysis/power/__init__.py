"""Watts and joules: windows of a meter, and the powers of switches, ports and nodes that explain them."""
