"""The command line `eeectl`."""
