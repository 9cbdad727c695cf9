"""Readers of traces that other programs wrote: one file a format, `table.py` lists them."""
