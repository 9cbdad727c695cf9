"""Labs for tests: small inventories, live labs and people who work on them."""
