"""Watts that follow from what ports do, and meters that show them."""
