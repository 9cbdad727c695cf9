"""MPI programs as files, and their replay on simulated networks.

`calls.py` has the calls, `program.py` the file, `rank_calls.py` writes a rank's calls, `readers/` imports traces of
other formats, `records.py` makes what the engine takes.
"""
