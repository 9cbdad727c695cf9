"""Speed of the tool compared with alternatives in the same run; `python -m tests.speed.NAME` runs one."""
