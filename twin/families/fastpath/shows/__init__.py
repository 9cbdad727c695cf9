"""What a FASTPATH switch prints."""
