"""Switches with FASTPATH firmware: Netgear M4300, Dell PowerConnect 62xx and N-series."""
