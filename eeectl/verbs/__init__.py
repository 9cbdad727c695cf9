"""The verbs of `eeectl`, one file each."""
