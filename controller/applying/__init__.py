"""Apply plans: announce them in a journal, send, read back, roll back."""
