"""Cisco IOS."""
