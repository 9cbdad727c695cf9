"""Mains: which outlet feeds what, and sensors inside devices."""
