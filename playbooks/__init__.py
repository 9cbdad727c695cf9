"""Ansible playbooks, and the files that they install."""
