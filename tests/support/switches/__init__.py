"""Toy switches, and the twin's switches without a lab."""
