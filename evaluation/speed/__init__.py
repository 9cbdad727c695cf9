"""Speed of the tool compared with alternatives in the same run; `python -m evaluation.speed.NAME` runs one."""
