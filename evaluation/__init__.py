"""Measured claims, one file each in `records/`, and the page of figures made of them."""
