"""Completion of command lines by shells: verbs, options, labs, hosts, ports, runs."""
