"""The Linux bridge, with iproute2 and ethtool over SSH."""
