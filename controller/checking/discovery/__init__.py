"""Find the switches and strips of a management network, and draft an inventory of them."""
