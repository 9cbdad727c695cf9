"""Programs that run alone on a node: one file each, standard library only, copied there and started over SSH."""
