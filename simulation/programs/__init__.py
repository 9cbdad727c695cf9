"""Programs that are generated: the MPI calls of benchmarks and proxy applications, written down from their sources.

`table.py` lists them, one module each; `part.py` is what their parameters share, `grid.py` who sits where, `halo.py`
and `loops.py` what several of them do, `grain.py` fits their compute time.
"""
