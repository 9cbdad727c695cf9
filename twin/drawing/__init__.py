"""Files of virtual labs, drawn from a few numbers: the shipped labs, and those of `eeectl lab new`."""
