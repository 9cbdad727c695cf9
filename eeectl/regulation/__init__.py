"""`eeectl regulate`: which links a program needs, chosen from a pre-run, and what it costs to do without the others."""
