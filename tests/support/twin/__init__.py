"""Parts of the twin on a test bench."""
