"""Fuzzing of everything that is read: `python -m tests.fuzz --minutes 60 --seed N`.

`corpus.py` writes small files of each kind as the product writes them, `mutations.py` damages them, `targets.py` says
who reads them, `engine.py` runs a case and judges it. A case is named by its target, seed and number, and is the same
each time: `python -m tests.fuzz --case TARGET:SEED:NUMBER` repeats it.
"""
