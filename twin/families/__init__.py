"""The switch families of the twin, one folder each."""
