"""What a lab should be, what it is, and the safe way between."""
