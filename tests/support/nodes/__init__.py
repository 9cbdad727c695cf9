"""Nodes for agents, and programs that run on them."""
