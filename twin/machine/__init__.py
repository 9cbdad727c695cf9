"""What the lab takes from the machine: namespaces, cgroups, the management network, state on disk."""
