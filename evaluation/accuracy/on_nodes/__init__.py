"""Programs that travel to the hosts of a lab; they need Python 3.9 and mpi4py alone."""
