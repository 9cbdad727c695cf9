"""The generated pages of docs/reference: ``python -m eeectl.reference`` writes them; a test compares them."""
