"""Studies: one file that names many simulations of programs, and what papers state about the same ones.

`study` is the file, `expand` its simulations, `results` their folder, `statements` the papers' sentences beside ours.
"""
