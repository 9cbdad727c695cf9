"""What a program's run time owes to sleeping links: its profile, and models of run time."""
