"""The verbs of `eeectl lab`, one file a group."""
