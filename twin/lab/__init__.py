"""A virtual lab: up, down, its daemon and its rack."""
