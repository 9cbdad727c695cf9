"""MPI programs: one file each says how it is run, whether its answer is right, and which figures it gives."""
