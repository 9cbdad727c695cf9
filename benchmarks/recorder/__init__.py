"""The recorder of MPI calls: the table of functions, and the C that is generated from it.

`table.py` lists the functions, `messages.py` and its like describe them, `wrappers.py` writes C and what nodes compile.
"""
