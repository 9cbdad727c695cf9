"""Mains: which outlet feeds which device, and power sensors inside devices."""
