"""Generated pages of docs/reference: ``python -m eee_testbed.eeectl.reference`` writes them; a test compares them."""
