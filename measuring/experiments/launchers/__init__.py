"""What starts the ranks of a program on the nodes: `table.py` lists the launchers, each a pure command line."""
