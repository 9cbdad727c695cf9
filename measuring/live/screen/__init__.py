"""Panels as text, and the terminal application that shows them."""
