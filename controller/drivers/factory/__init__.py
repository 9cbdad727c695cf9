"""Switches as they come from the box: what sets one up for a lab, and what it asks at its first login. Pure."""
