"""Ansible playbooks, and what they bring to machines."""
