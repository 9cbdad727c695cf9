"""What is missing on this machine and in a lab, with the command that mends each."""
