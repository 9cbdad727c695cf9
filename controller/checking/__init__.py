"""Compares an inventory with its devices: contacts, capabilities, cables."""
