"""Is a lab as its inventory says: contacts, capabilities, cables."""
